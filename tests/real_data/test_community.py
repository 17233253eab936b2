"""SemEval's and Yahoo's questions."""

import pytest

from analogyqa.corpora.specs import READERS
from analogyqa.corpora.table import build_corpus
from analogyqa.schemas import SPLITS
from analogyqa.settings.load import load_config
from builders.mirror import MIRROR, REGISTRY, needs

CQA = MIRROR / "semeval-cqa"
pytestmark = needs(CQA)

# The mirror lacks part 1 of the train split of 2016.
SEMEVAL = {
    "train": "semeval2016-cqa-train-part2",
    "dev": "semeval2016-cqa-dev",
    "test": "semeval2016-cqa-test",
}


def pairs_of(reader, path):
    return list(READERS[reader].load()(path))


def path_of(name):
    return str(MIRROR / REGISTRY[name].file)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("semeval2016-cqa-train-part2", (379, 3790, 1364, 344)),
        ("semeval2016-cqa-dev", (244, 2440, 818, 211)),
        ("semeval2016-cqa-test", (327, 3270, 1329, 315)),
        ("semeval2015-cqa-dev", (290, 1529, 813, 240)),
        ("semeval2015-cqa-test", (319, 1876, 946, 279)),
    ],
)
def test_questions_pairs_correct_pairs_and_questions_with_one(name, counts):
    pairs = pairs_of(name.partition("-")[0].rstrip("0123456789"), path_of(name))
    questions = {pair.question_id for pair in pairs}
    answerable = {pair.question_id for pair in pairs if pair.label}
    assert (len(questions), len(pairs), sum(p.label for p in pairs), len(answerable)) == counts


@pytest.mark.parametrize("split", ["dev", "test"])
def test_the_labels_are_those_of_the_gold_files(split):
    name = f"SemEval2016-Task3-CQA-QL-{split}-subtaskA.xml.subtaskA.relevancy"
    rows = [line.split("\t") for line in (CQA / "gold" / name).read_text().splitlines()]
    pairs = pairs_of("semeval", path_of(SEMEVAL[split]))
    assert [(pair.question_id, pair.label) for pair in pairs] == [
        (row[0], int(row[-1] == "true")) for row in rows
    ]


@pytest.mark.parametrize("split", SPLITS)
def test_without_repetitions_the_files_of_all_subtasks_hold_the_same_pairs(split):
    path = path_of(SEMEVAL[split])
    merged, subtask = pairs_of("semeval", path.replace("-subtaskA", "")), pairs_of("semeval", path)
    assert [(pair.question_id, pair.label) for pair in merged] == [
        (pair.question_id, pair.label) for pair in subtask
    ]
    # A quotation mark ends one test question in one of the files only.
    bare = [[text.rstrip('"') for text in pair[2:4]] for pair in merged]
    assert bare == [[text.rstrip('"') for text in pair[2:4]] for pair in subtask]


def test_the_splits_share_no_question_and_make_a_corpus():
    files = {split: path_of(name) for split, name in SEMEVAL.items()}
    corpus = build_corpus("semeval", "semeval", files, {}, {})
    assert corpus.groupby("split").size().to_dict() == {"train": 3790, "dev": 2440, "test": 3270}
    questions = corpus.drop_duplicates(["split", "question"])
    assert not questions["question"].duplicated().any()


def test_hyperqa_trains_on_the_files_of_2015_without_test_questions():
    """Five of the 988 questions, with 79 of the 7195 pairs, have the text of a test question."""
    config = load_config({"papers": ["hyperqa"], "output_dir": "out", "seeds": 1})
    dataset = config.datasets["semeval"]
    files = {split: [path_of(name) for (name,) in dataset.split_files(split)] for split in SPLITS}
    corpus = build_corpus("semeval", "semeval", files, {}, {})
    counts = corpus.groupby("split").agg({"question_id": "nunique", "candidate_id": "count"})
    assert counts.loc["train"].tolist() == [983, 7116]
    texts = corpus["question"].str.casefold()
    assert not set(texts[corpus["split"] == "train"]) & set(texts[corpus["split"] != "train"])
