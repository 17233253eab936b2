"""The authors' own sentence vectors of MappSent: what they reproduce of the paper, and what not.

ANALOGYQA_MIRROR=... .venv/bin/python -m pytest tests/real_data/test_mappsent.py
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from analogyqa.corpora.semeval import read_ids
from analogyqa.corpora.table import build_corpus
from analogyqa.measures import mean_values, measure_items
from analogyqa.schemas import SPLITS
from analogyqa.settings.load import read_config
from analogyqa.settings.overrides import as_overrides
from analogyqa.text import as_one_word
from analogyqa.training.data import cell_data
from analogyqa.training.scoring import score_untrained
from analogyqa.vectors.files import known_vectors
from builders.mirror import MIRROR, REGISTRY, ROOT, needs
from builders.projects import Project

UNIT, CENTRED, MAPPED = (
    MIRROR / REGISTRY[f"mappsent-sentence-vectors-{name}"].file
    for name in ("unit", "centred", "mapped")
)
GOLD, PRED = (
    MIRROR / REGISTRY[name].file for name in ("semeval2017-related-gold", "mappsent-scores")
)
# The cells, with the MAP of each on the 2017 test. Table 3 prints .4554 for the first, and .4736.
HERE = "mapping.mean_of=train+test@mapping.normalise=unit+centre@sentence_vectors=authors-unit"
CELLS = {"sentence_vectors=authors-unit": 0.46776}
CELLS |= dict.fromkeys([HERE, "sentence_vectors=authors-centred"], 0.47357)
CELLS |= dict.fromkeys(["default", "mapping.negatives=lowest"], 0.47357)  # with their matrix
# Table 5, from three components on.
NOT_REPRODUCED = {0.4907, 0.4929}

pytestmark = needs(PRED)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The folder with the runs of the authors' sentence vectors, by the pipeline."""
    project = Project(tmp_path_factory.mktemp("mappsent"))
    mirrors = [str(MIRROR.resolve())]
    config = {"papers": ["mappsent"], "only": ["authors"], "seeds": 1, "mirrors": mirrors}
    project.write_config(config | {"output_dir": "results"})
    folder = project.results / "runs/authors/semeval2017-ids/all"
    project.make(
        *(f"{folder.relative_to(project.folder)}/{cell}/metrics.parquet" for cell in CELLS)
    )
    return folder


def official(scores: pd.DataFrame) -> float:
    """Return the official MAP over all questions of the test, also those without an answer."""
    is_answerable = scores.groupby("question_id", observed=True)["label"].transform("any")
    answerable = scores.loc[is_answerable].astype({"question_id": str, "candidate_id": str})
    groups = dict.fromkeys(answerable["question_id"], "")
    unanswerable = scores.loc[~is_answerable, "question_id"].astype(str).unique()
    return mean_values(measure_items(answerable, groups, unanswerable))["map_official"]


@pytest.mark.parametrize(("cell", "value"), CELLS.items())
def test_the_pipeline_gives_these_values(runs, cell, value):
    metrics = pd.read_parquet(runs / cell / "metrics.parquet")
    is_map = (metrics["split"] == "test") & (metrics["measure"] == "map_official")
    assert is_map.sum() == 88
    assert round(metrics.loc[is_map, "value"].mean(), 5) == value


def cosines(path) -> np.ndarray:
    """Return the cosines of the 880 pairs of the test, in double precision."""
    vectors = {}
    for line in path.read_text().splitlines()[1:]:
        name, *values = line.split()
        vectors[name] = np.float64(values) / max(np.linalg.norm(np.float64(values)), 1e-9)
    pairs = [line.split("\t")[:2] for line in GOLD.read_text().splitlines()]
    return np.float64([vectors[first] @ vectors[second] for first, second in pairs])


def test_the_authors_scores_are_the_cosines_of_their_mapped_vectors():
    rows = [line.split("\t") for line in PRED.read_text().splitlines()]
    pairs = list(read_ids(GOLD))
    assert [row[:2] for row in rows] == [[pair.question_id, pair.candidate] for pair in pairs]
    frame = pd.DataFrame(pairs).rename(columns={"candidate": "candidate_id"})
    theirs = np.float64([row[3] for row in rows])
    assert round(official(frame.assign(score=np.float32(theirs))), 5) == 0.47357
    # They replaced cosines that are not positive.
    is_positive, ours = theirs > 0, cosines(MAPPED)
    assert ((ours > 0) == is_positive).all()
    assert np.abs(ours - theirs)[is_positive].max() < 1e-6


def test_the_matrix_moves_no_cosine():
    moved = np.abs(cosines(MAPPED) - cosines(CENTRED))
    assert len(moved) == 880 and moved.max() < 6e-7


READINGS = [
    (UNIT, {}),
    (UNIT, {"mapping.normalise": ["unit", "centre"]}),
    (UNIT, {"mapping.normalise": ["unit", "centre"], "mapping.means": "by_side"}),
    (CENTRED, {}),
    (MAPPED, {}),
]


@pytest.mark.parametrize("train", [["train-part1"], ["train-part1", "test2017"]], ids=len)
def test_no_reading_of_component_removal_gives_the_printed_values(train):
    """Two hundred of them: which vectors, which components of which sentences, and how many.

    One component comes near the best printed value, where .4677 is printed.
    """
    files = {"train": str(UNIT), "dev": str(UNIT), "test": str(GOLD)}
    parts = {"train": train, "dev": train[:1], "test": ["test2017"]}
    corpus = build_corpus("ids", "semeval_ids", files, {}, parts=parts)
    pairs = {split: corpus[corpus["split"] == split].reset_index(drop=True) for split in SPLITS}
    config = read_config(ROOT / "config.yaml")
    values = {}
    for (path, changes), centred in product(READINGS, (False, True)):
        vectors, rows = known_vectors(path, {*corpus["question"], *corpus["candidate"]})
        system = config.systems["authors"]
        empty = pd.DataFrame(columns=["question_type", "rank", "candidate_id"])
        data = cell_data(system, pairs, empty, {}, (vectors, rows, as_one_word), corpus)
        for count in range(1, 21):
            overrides = {**changes, "components": count, "centred_components": centred}
            changed = config.system_at("authors", as_overrides(overrides))
            scores = score_untrained(data, changed, 0, ["test"])
            values[path, *map(str, changes.values()), centred, count] = official(scores)
    assert len(values) == 200
    assert not {round(value, 4) for value in values.values()} & NOT_REPRODUCED
    best = max(values, key=values.get)
    assert 0.49 < values[best] < 0.493 and best[-1] in (1, 2)
