"""The plug-ins of the pages, each added to a copy of the library by a file and a line."""

import json
import shutil
import subprocess
import sys

import pytest

from pages import EXTENDING, ROOT, plugins, texts_of

RANK = """
import numpy as np
from analogyqa.rankers import Encoded, build_ranker
from analogyqa.settings import overrides as ov
from analogyqa.settings.base import merge
from analogyqa.settings.systems import System

values = {"title": "N", "encoder": "random", "ranker": "near"}
ov.require_overrides({"power": 1})
changed = merge(values, ov.changes((("power", "1"),)))
shift, none = np.array([[3, 4]], dtype="f4"), np.zeros((0, 2), dtype="f4")
for system in map(System.model_validate, (values, changed)):
    pairs = Encoded(np.zeros(1, int), shift, 0 * shift, none, none, *[np.zeros(0, int)] * 2)
    (score,), (best,) = build_ranker(system).scores(pairs)
    print(ov.override_value(system, "power"), score, best)
System.model_validate(values | {"ranker": {"name": "near", "powr": 1}})
"""
READ = """
from analogyqa.corpora.table import build_corpus

def corpus_of(name):
    files = {"train": "one.jsonl", "dev": "one.jsonl", "test": f"{name}.jsonl"}
    return build_corpus("mine", "nested", files, {"who": ["who"]}, {})

corpus = corpus_of("mine")
columns = ["question_id", "candidate", "label", "question_type"]
print(corpus.loc[corpus["split"] == "test", columns].to_csv(index=False))
corpus_of("wrong")
"""
MEASURE = """
import pandas as pd
from analogyqa.measures import means_of, measure_items

columns = ["question_id", "candidate_id", "label", "score"]
scores = pd.DataFrame([("q", "a", 0, 0.9), ("q", "b", 1, 0.5)], columns=columns)
print(means_of(measure_items(scores, {"q": "who"}))["ndcg_at_10"])
"""


@pytest.fixture
def library(tmp_path):
    shutil.copytree(ROOT / "workflow_scripts" / "analogyqa", tmp_path / "analogyqa")
    return tmp_path / "analogyqa"


def add_line(specs, dictionary, line):
    text = specs.read_text()
    opening = f"{dictionary} = {{\n"
    assert text.count(opening) == 1
    specs.write_text(text.replace(opening, f"{opening}    {line}\n"))


def add_plugin(package, spec, dictionary):
    """Add the file and the line that the page shows for a plug-in."""
    ((code, line, name),) = plugins(spec)
    (package / f"{name}.py").write_text(code)
    add_line(package / "specs.py", dictionary, line)


def run(script, folder):
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )


def test_a_ranker_with_an_option_is_a_file_and_a_line(library):
    add_plugin(library / "rankers", "RankerSpec", "RANKERS")
    done = run(RANK, library.parent)
    assert done.stdout.split() == ["2", "-5.0", "-1", "1", "-7.0", "-1"], done.stderr
    assert "no option 'powr'; did you mean power?" in done.stderr


def test_a_reader_is_a_file_and_a_line(library):
    add_plugin(library / "corpora", "ReaderSpec", "READERS")
    answers = {"one": [["he", 1]], "mine": [["he", 1], ["she", 0]], "wrong": [["he", 2]]}
    for name, given in answers.items():
        row = {"id": "q1", "question": "who ?", "answers": given}
        (library.parent / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    done = run(READ, library.parent)
    assert done.stdout.split()[1:] == ["q1,he,1,who", "q1,she,0,who"], done.stderr
    assert "wrong.jsonl, line 1" in done.stderr


def test_a_measure_is_a_line(library):
    (line,) = [text for text in texts_of("python", EXTENDING) if ": RankedMeasure(" in text]
    add_line(library / "measures.py", "RANKED", line)
    done = run(MEASURE, library.parent)
    # The correct candidate is second: 1 / log2(3).
    assert float(done.stdout) == pytest.approx(0.63093, abs=1e-5), done.stderr
