"""The plug-ins of the pages, each added to a copy of the library by a file and a line."""

import json
import shutil
import subprocess
import sys

import pytest

from builders.pages import EXTENDING, ROOT, plugins, texts_of

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
    print(ov.value_at(system, "ranker.power"), score, best)
System.model_validate(values | {"ranker": {"name": "near", "powr": 1}})
"""
# The ranker `near` with an option `margin`, which training has, too.
SHARED = """
from pathlib import Path
from analogyqa.files import read_yaml
from analogyqa.cells import load_papers
from analogyqa.settings import overrides as ov
from analogyqa.settings.base import merge
from analogyqa.settings.load import load_config

near = {"title": "N", "encoder": "bigru", "vectors": "fasttext", "ranker": "near"}
fused = {"title": "F", "ranker": {"name": "fused", "parts": ["near", "analogy"]}}
over = {"systems": {"near": near, "both": fused}}
base, sample = read_yaml(Path("config.yaml")), read_yaml(Path("sample/config.yaml"))
every = {"papers": sorted(path.parent.name for path in Path("papers").glob("*/config.yaml"))}
for values in (base | every, merge(base, sample)):
    load_papers(config := load_config(merge(values, over)))

both = {"training.margin": 0.25, "ranker.margin": 3}
for system, values in {"near": both, "both": {"training.margin": 0.25}, "analogy": both}.items():
    overrides = config.canonical_overrides(system, ov.as_overrides(values), "wikiqa")
    assert config.canonical_overrides(system, overrides, "wikiqa") == overrides
    changed = config.system_at(system, overrides)
    print(ov.to_text(overrides), changed.training.margin, getattr(changed.ranker, "margin", ""))
    try:
        print(ov.to_text(config.canonical_overrides(system, ov.as_overrides({"margin": 0.25}))))
    except ValueError as error:
        print(error)
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
from analogyqa.measures import mean_values, measure_items

columns = ["question_id", "candidate_id", "label", "score"]
scores = pd.DataFrame([("q", "a", 0, 0.9), ("q", "b", 1, 0.5)], columns=columns)
print(mean_values(measure_items(scores, {"q": "who"}))["ndcg_at_10"])
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


def run(script, folder, path=None):
    command = [sys.executable, "-c", script]
    environment = {"PYTHONPATH": str(path or folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_a_ranker_with_an_option_is_a_file_and_a_line(library):
    add_plugin(library / "rankers", "RankerSpec", "RANKERS")
    done = run(RANK, library.parent)
    assert done.stdout.split() == ["2", "-5.0", "-1", "1", "-7.0", "-1"], done.stderr
    assert "no option 'powr'; did you mean power?" in done.stderr


def test_an_option_may_have_the_name_of_a_key_of_training(library):
    """Other systems keep their names and paths; its own needs the path of the key."""
    checkout = library.parent / "checkout"
    library = shutil.copytree(library, checkout / "workflow_scripts" / "analogyqa")
    for name in ("papers", "sample", "config.yaml", "sources.yaml"):
        (checkout / name).symlink_to(ROOT / name)
    spec = '"near": RankerSpec("analogyqa.rankers.near:NearRanker", options='
    add_line(library / "rankers/specs.py", "RANKERS", spec + "Options.make(margin=(float, 2.0))),")
    done = run(SHARED, checkout, library.parent)
    ambiguous = "margin may be training.margin or ranker.margin: give one of these names"
    assert done.stdout.splitlines() == [
        "ranker.margin=3@training.margin=0.25 0.25 3.0",
        ambiguous,
        "training.margin=0.25 0.1 ",
        ambiguous,
        "margin=0.25 0.25 ",
        "margin=0.25",
    ], done.stderr


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
