"""SemEval's questions related to a question."""

import numpy as np
import pytest

from analogyqa.corpora.specs import READERS
from analogyqa.corpora.table import build_corpus
from analogyqa.measures import mean_values, measure_items
from analogyqa.rankers import Texts, build_ranker
from analogyqa.schemas import SPLITS
from analogyqa.settings.load import read_config
from analogyqa.settings.systems import System
from builders.mirror import MIRROR, REGISTRY, ROOT, needs

LINES = MIRROR / REGISTRY["semeval-related"].file

pytestmark = [*needs(LINES), pytest.mark.draw]
READ = READERS["semeval_related"].load()


@pytest.fixture(scope="module")
def datasets():
    """The corpora of the data sets of the paper, by name."""
    files = dict.fromkeys(SPLITS, str(LINES))
    return {
        name: build_corpus(name, dataset.reader, files, {}, {}, (), dataset.parts)
        for name, dataset in read_config(ROOT / "config.yaml").datasets.items()
        if dataset.reader == "semeval_related"
    }


def official(pairs, scores):
    """Return the mean of the official average precision of one split."""
    pairs = pairs.reset_index(drop=True).assign(score=np.float32(scores))
    is_answerable = pairs.groupby("question_id")["label"].transform("any")
    groups = dict.fromkeys(pairs.loc[is_answerable, "question_id"], "")
    unanswerable = pairs.loc[~is_answerable, "question_id"].unique()
    return mean_values(measure_items(pairs[is_answerable], groups, unanswerable))["map_official"]


@pytest.mark.parametrize(
    ("name", "counts", "search_engine", "oracle"),
    [
        ("semeval2016-related", (70, 62, 233), 0.7475, 62 / 70),
        ("semeval2017-related", (88, 59, 163), 0.4185, 59 / 88),
    ],
)
def test_the_search_engine_scores_as_published_and_an_oracle_as_the_labels_allow(
    datasets, name, counts, search_engine, oracle
):
    test = datasets[name][datasets[name]["split"] == "test"]
    answerable = test.loc[test["label"] == 1, "question_id"].nunique()
    assert (test["question_id"].nunique(), answerable, test["label"].sum()) == counts
    ranker = build_ranker(System(title="S", ranker="given_order"))
    texts = Texts(test["question"].tolist(), test["candidate"].tolist(), [], True)
    scores, _ = ranker.scores(texts)
    assert round(official(test, scores), 4) == search_engine
    assert official(test, test["label"]) == pytest.approx(oracle)


def test_both_years_have_one_training_and_dev_split(datasets):
    first, second = (corpus[corpus["split"] != "test"] for corpus in datasets.values())
    assert first.equals(second)
    counts = first.groupby("split")["question_id"].nunique()
    assert counts[["train", "dev"]].tolist() == [200, 50]
    assert first["split"].value_counts()[["train", "dev"]].tolist() == [1999, 500]


@pytest.mark.parametrize(
    ("source", "part", "pairs"),
    [
        ("semeval2016-related-train-part2", "train-part2", 670),
        ("semeval2016-related-dev", "dev", 500),
        ("semeval2016-related-test", "test2016", 700),
    ],
)
def test_the_lines_are_those_of_the_official_xml(source, part, pairs):
    official = [pair[1:5] for pair in READ(MIRROR / REGISTRY[source].file)]
    assert len(official) == pairs
    assert official == [pair[1:5] for pair in READ(LINES) if pair.part == part]


@pytest.mark.parametrize("year", [2016, 2017])
def test_the_labels_are_those_of_the_gold_files(year):
    gold = LINES.parent / "gold" / f"SemEval{year}-Task3-CQA-QL-test.xml.subtaskB.relevancy"
    rows = (line.split("\t") for line in gold.read_text().splitlines())
    expected = [(row[0], int(row[4] == "true")) for row in rows]
    pairs = (pair for pair in READ(LINES) if pair.part == f"test{year}")
    assert [(pair.question_id, pair.label) for pair in pairs] == expected
