"""Counts of the real data.

TrecQA: 1 question of TRAIN and DEV each and 5 of TEST have no candidates and are left out.
"""

import pandas as pd
import pytest

from analogyqa.corpora.specs import READERS
from analogyqa.corpora.table import build_corpus, count_questions
from analogyqa.schemas import SPLITS
from analogyqa.settings.load import load_config
from analogyqa.vectors.files import build_vocabulary, select_vectors
from builders.mirror import FASTTEXT, FILES, MIRROR, QUESTION_TYPES, REGISTRY, build, needs

CQA = MIRROR / "semeval-cqa"
# The mirror lacks part 1 of the train split of 2016.
SEMEVAL = {
    "train": "semeval2016-cqa-train-part2",
    "dev": "semeval2016-cqa-dev",
    "test": "semeval2016-cqa-test",
}
pytestmark = [*needs(MIRROR), pytest.mark.draw]


@pytest.fixture(scope="module")
def corpora():
    return {name: build(name) for name in FILES}


def registered(name):
    return str(MIRROR / REGISTRY[name].file)


def read(reader, path):
    return list(READERS[reader].load()(path))


# The file, and its questions, pairs, correct pairs and questions with a correct candidate.
@pytest.mark.parametrize(
    ("reader", "path", "counts"),
    [
        ("wikiqa", MIRROR / FILES["wikiqa"]["train"], (2118, 20360, 1040, 873)),
        ("wikiqa", MIRROR / FILES["wikiqa"]["dev"], (296, 2733, 140, 126)),
        ("wikiqa", MIRROR / FILES["wikiqa"]["test"], (633, 6165, 293, 243)),
        ("trecqa", MIRROR / FILES["trecqa"]["train"], (1229, 53417, 6403, 1229)),
        ("trecqa", MIRROR / "trecqa/TRAIN.xml", (93, 4718, 348, 83)),
        ("trecqa", MIRROR / FILES["trecqa"]["dev"], (81, 1148, 222, 78)),
        ("trecqa", MIRROR / FILES["trecqa"]["test"], (95, 1517, 284, 89)),
        ("selqa", MIRROR / "selqa/selqa-ass-dev.json", (785, 9377, 893, 785)),
        ("selqa", MIRROR / "selqa/selqa-ass-test.json", (1590, 19435, 1798, 1590)),
        ("semeval", registered("semeval2016-cqa-train-part2"), (379, 3790, 1364, 344)),
        ("semeval", registered("semeval2016-cqa-dev"), (244, 2440, 818, 211)),
        ("semeval", registered("semeval2016-cqa-test"), (327, 3270, 1329, 315)),
        ("semeval", registered("semeval2015-cqa-dev"), (290, 1529, 813, 240)),
        ("semeval", registered("semeval2015-cqa-test"), (319, 1876, 946, 279)),
    ],
)
def test_questions_pairs_correct_pairs_and_questions_with_one(reader, path, counts):
    pairs = read(reader, path)
    correct = [pair.question_id for pair in pairs if pair.label]
    questions = {pair.question_id for pair in pairs}
    assert (len(questions), len(pairs), len(correct), len({*correct})) == counts


@pytest.mark.parametrize(
    ("name", "with_both"), [("wikiqa", [857, 122, 237]), ("trecqa", [1162, 65, 68])]
)
def test_questions_with_both_kinds_of_candidates(corpora, name, with_both):
    labels = corpora[name].groupby(["split", "question_id"])["label"].agg(["max", "min"])
    assert (labels["max"] > labels["min"]).groupby("split").sum()[[*SPLITS]].tolist() == with_both
    counts = labels["max"].groupby("split").sum()
    assert {split: by_type["all"] for split, by_type in count_questions(corpora[name]).items()} == {
        split: counts[split] for split in SPLITS
    }


def test_the_fasttext_vectors_cover_most_of_the_vocabulary(corpora):
    sentences = pd.concat(
        [corpus[column] for corpus in corpora.values() for column in ("question", "candidate")]
    )
    vocabulary = build_vocabulary(sentences, lowercase=True)
    vectors, has_vector = select_vectors(FASTTEXT, vocabulary, "random")
    assert vectors.shape == (len(vocabulary), 300)
    assert has_vector.mean() > 0.7


def test_selqa_has_602_typed_questions_in_folds_that_share_no_article():
    """35 of the 7093 candidates of typed questions are empty, and are left out."""
    files = {split: registered(f"selqa-{split}") for split in ("dev", "test")}
    articles = {
        f"{split}:{pair.question_id}": pair.article
        for split, path in files.items()
        for pair in read("selqa", path)
    }
    assert (len(articles), len(set(articles.values()))) == (785 + 1590, 474)
    corpus = build_corpus("selqa", "selqa", files, QUESTION_TYPES)
    typed = corpus[corpus["question_type"].notna()]
    assert (len(typed), typed["label"].sum()) == (7093 - 35, 651)
    config = load_config({"papers": ["three_datasets"], "output_dir": "out", "seeds": 1})
    expected = config.datasets["selqa"].questions
    assert count_questions(corpus) == {
        "train": {"all": 0},
        "dev": {**expected["dev"], "all": 785},
        "test": {**expected["test"], "all": 1590},
    }
    tested = []
    for number in range(1, 6):
        folded = build_corpus("selqa", "selqa", files, QUESTION_TYPES, fold=f"{number}of5")
        questions = folded.drop_duplicates("question_id")
        sides = questions["question_id"].map(articles).groupby(questions["split"]).nunique()
        assert sides.sum() == 474
        tested.append(questions.loc[questions["split"] == "test", "question_type"].value_counts())
    sizes = pd.DataFrame(tested)[["who", "when", "where"]]
    assert sizes.sum().tolist() == [256, 245, 101]
    assert (sizes.max() - sizes.min()).max() <= 2


@pytest.mark.parametrize("split", ["dev", "test"])
def test_the_labels_of_semeval_are_those_of_the_gold_files(split):
    name = f"SemEval2016-Task3-CQA-QL-{split}-subtaskA.xml.subtaskA.relevancy"
    rows = [line.split("\t") for line in (CQA / "gold" / name).read_text().splitlines()]
    pairs = read("semeval", registered(SEMEVAL[split]))
    assert [(pair.question_id, pair.label) for pair in pairs] == [
        (row[0], int(row[-1] == "true")) for row in rows
    ]


@pytest.mark.parametrize("split", SPLITS)
def test_without_repetitions_the_files_of_all_subtasks_hold_the_same_pairs(split):
    path = registered(SEMEVAL[split])
    # A quotation mark ends one test question in one of the files only.
    merged, subtask = (
        [
            (pair.question_id, pair.label, pair.question.rstrip('"'), pair.candidate.rstrip('"'))
            for pair in read("semeval", file)
        ]
        for file in (path.replace("-subtaskA", ""), path)
    )
    assert merged == subtask


def test_the_splits_of_semeval_share_no_question_and_make_a_corpus():
    files = {split: registered(name) for split, name in SEMEVAL.items()}
    corpus = build_corpus("semeval", "semeval", files, {}, {})
    assert corpus.groupby("split").size().to_dict() == {"train": 3790, "dev": 2440, "test": 3270}
    questions = corpus.drop_duplicates(["split", "question"])
    assert not questions["question"].duplicated().any()


def test_hyperqa_trains_on_the_files_of_2015_without_test_questions():
    """Five of the 988 questions, with 79 of the 7195 pairs, have the text of a test question."""
    config = load_config({"papers": ["hyperqa"], "output_dir": "out", "seeds": 1})
    dataset = config.datasets["semeval"]
    files = {
        split: [registered(name) for (name,) in dataset.split_files(split)] for split in SPLITS
    }
    corpus = build_corpus("semeval", "semeval", files, {}, {})
    train = corpus[corpus["split"] == "train"]
    assert (train["question_id"].nunique(), len(train)) == (983, 7116)
    texts = corpus["question"].str.casefold()
    assert not set(texts[corpus["split"] == "train"]) & set(texts[corpus["split"] != "train"])
