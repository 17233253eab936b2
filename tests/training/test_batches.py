"""Batches of an epoch: quadruples, questions with candidates, or correct pairs with wrong ones."""

from collections import Counter
from itertools import chain

import numpy as np
import pytest

from analogyqa.objectives.specs import OBJECTIVES
from analogyqa.settings.systems import Negatives, Training
from analogyqa.training.batches import quadruple_batches
from analogyqa.training.data import load_cell
from builders.cells import COMB, quadruple_texts, trained_system, written_quadruples

BATCH_SIZE = 4
DRAWS = ["listwise", "mix", "mix_coded"]
MIX_COUNT = 3  # wrong candidates among which the objective `mix` chooses the hardest
GROUP = 2 + MIX_COUNT  # a correct candidate, a random one, and those


@pytest.fixture
def data(cell_files):
    files = cell_files(types=None, p=1).without_prototypes()
    return load_cell(files, None, trained_system("cosine"), lowercase=True)


def draw_batches(data, loss, seed=0, epoch=1, count=MIX_COUNT, **negatives):
    negatives = {"count": count, **negatives}
    training = Training(loss=loss, batch_size=BATCH_SIZE, negatives=negatives)
    return list(OBJECTIVES[loss].draws.load()(data, training, seed, epoch))


def read_pairs(data, batch):
    """Return the rows (question, candidate, label) of a batch."""
    texts = np.array(list(data.sentences.index))[batch.sentences]
    return list(zip(texts[batch.c], texts[batch.d], batch.labels.tolist(), strict=True))


def read_groups(data, batches):
    """Return the rows of batches of `mix` for each correct pair, by batch."""
    pairs = [read_pairs(data, batch) for batch in batches]
    return [[rows[i : i + GROUP] for i in range(0, len(rows), GROUP)] for rows in pairs]


def pairs_with_rivals(data):
    pairs = data.splits["train"].pairs
    has_wrong = pairs.groupby("question_id")["label"].transform("min").eq(0)
    return pairs.loc[has_wrong, ["question", "candidate", "label"]]


@pytest.mark.parametrize("draws", ["printed", *DRAWS])
def test_an_epoch_depends_on_seed_and_number(data, cell, draws):
    source = cell if draws == "printed" else data

    def drawn(*numbers):
        batches = draw_batches(source, draws, *numbers, count=1)
        return [read_pairs(source, batch) for batch in batches]

    assert drawn(0, 1) == drawn(0, 1)
    assert drawn(0, 1) != drawn(0, 2)
    assert drawn(0, 1) != drawn(1, 1)


@pytest.mark.parametrize("draws", DRAWS)
def test_a_training_split_without_wrong_candidates_has_no_batch(data, draws):
    train = data.splits["train"]
    is_correct = train.labels == 1
    columns = ("questions", "candidates", "labels")
    correct = train._replace(
        pairs=train.pairs[is_correct].reset_index(drop=True),
        **{name: getattr(train, name)[is_correct] for name in columns},
    )
    assert draw_batches(data._replace(splits={**data.splits, "train": correct}), draws) == []


def test_listwise_each_question_with_wrong_candidates_comes_once(data):
    expected = pairs_with_rivals(data).itertuples(index=False, name=None)
    batches = draw_batches(data, "listwise", count=100)
    assert sorted(pair for batch in batches for pair in read_pairs(data, batch)) == sorted(expected)
    questions = [{question for question, *_ in read_pairs(data, batch)} for batch in batches]
    assert max(map(len, questions)) <= BATCH_SIZE
    assert max(map(len, questions)) - min(map(len, questions)) <= 1
    assert sum(map(len, questions)) == len(set().union(*questions))


def test_listwise_wrong_candidates_are_limited(data):
    pairs = data.splits["train"].pairs
    expected, drawn = pairs.groupby(["question", "label"]).size(), []
    for epoch in range(1, 6):
        batches = draw_batches(data, "listwise", 0, epoch, count=1)
        rows = [pair for batch in batches for pair in read_pairs(data, batch)]
        assert len(set(rows)) == len(rows)
        for question in {question for question, *_ in rows}:
            labels = [label for asked, _, label in rows if asked == question]
            assert labels.count(1) == expected.get((question, 1), 0)
            assert labels.count(0) == 1
        drawn.append(sorted(rows))
    assert expected[:, 0].max() > 1
    assert any(rows != drawn[0] for rows in drawn)


def test_mix_each_correct_pair_comes_once_with_wrong_candidates(data):
    batches = draw_batches(data, "mix")
    groups = read_groups(data, batches)
    sizes = list(map(len, groups))
    assert max(sizes) <= BATCH_SIZE and max(sizes) - min(sizes) <= 1
    assert all(len(batch.a) == len(batch.b) == 0 for batch in batches)
    pairs = pairs_with_rivals(data)
    wrong = set(pairs[pairs["label"] == 0].itertuples(index=False, name=None))
    for first, random, *pool in chain(*groups):
        wrong_pairs = {row for row in wrong if row[0] == first[0]}
        assert first[2] == 1 and len(pool) == MIX_COUNT and random in wrong_pairs
        # The pool has different wrong candidates; the correct one fills the rest.
        drawn = [row for row in pool if row != first]
        assert len(set(drawn)) == len(drawn) == min(len(wrong_pairs), MIX_COUNT)
        assert set(drawn) <= wrong_pairs
    correct = pairs[pairs["label"] == 1].itertuples(index=False, name=None)
    assert sorted(group[0] for group in chain(*groups)) == sorted(correct)


def test_mix_may_have_only_random_wrong_candidates(data):
    batch = draw_batches(data, "mix", count=1, random=3, hardest=0)[0]
    assert batch.labels[:5].tolist() == [1, 0, 0, 0, 0]


@pytest.mark.parametrize(("epoch", "most"), [(1, 2), (2, 100)])
def test_mix_as_coded_has_all_wrong_candidates_after_the_first_epoch(data, epoch, most):
    pairs = pairs_with_rivals(data)
    wrong = pairs[pairs["label"] == 0].groupby("question")["candidate"].agg(set)
    seen, count = [], 0
    for batch in draw_batches(data, "mix_coded", epoch=epoch):
        rows = read_pairs(data, batch)
        count += len(rows)
        blocks = np.split(np.arange(len(rows)), np.flatnonzero(batch.labels))[1:]
        blocks = [block for block in blocks if len(block) > 1]  # the rest fills gaps
        assert len(blocks) <= BATCH_SIZE
        for block in blocks:
            (question, *_), *others = [rows[row] for row in block]
            drawn = [candidate for _, candidate, _ in others]
            assert len(set(drawn)) == len(drawn) == min(len(wrong[question]), most)
            assert {asked for asked, *_ in others} == {question} and set(drawn) <= wrong[question]
            seen.append(rows[block[0]])
    correct = pairs[pairs["label"] == 1].itertuples(index=False, name=None)
    assert sorted(seen) == sorted(correct)
    assert count == sum(1 + len(wrong[question]) for question, *_ in seen)


# Quadruples


@pytest.fixture
def load(cell_files):
    """Return the tables and the data of a trained system."""

    def load(types=COMB, p=3, **negatives):
        files = cell_files(types=types, p=p, negatives=Negatives(**negatives))
        return files, load_cell(files, types, trained_system(p=p), lowercase=True)

    return load


def draw_quadruples(data, epoch=1, **training):
    batches = quadruple_batches(data, trained_system(**training).training, 0, epoch)
    return [quadruple_texts(data, batch) for batch in batches]


@pytest.mark.parametrize("draw", ["resampled", "fixed"])
@pytest.mark.parametrize(("types", "p"), [(COMB, 3), (None, 1)])
def test_an_epoch_covers_every_question_once_and_a_batch_holds_one_type(load, draw, types, p):
    _, data = load(types, p)
    questions_of_epoch = []
    for quadruples in draw_quadruples(data, batch_size=2, negatives={"draw": draw}):
        questions = {c for _, _, c, _, _ in quadruples}
        assert len({text.split()[0] for a, _, c, _, _ in quadruples for text in (a, c)}) == 1
        assert len(questions) <= 2
        questions_of_epoch += questions
    answerable = set(data.splits["train"].pairs["question"])
    # The only question without a type is the prototype of it, and has no wrong candidate.
    assert sorted(questions_of_epoch) == sorted(answerable - {"what is thing 0 ?"})


@pytest.mark.parametrize("draws", ["printed", *DRAWS])
def test_a_batch_has_each_of_its_sentences_once(cell, draws):
    for batch in draw_batches(cell, draws, count=1):
        used = np.concatenate([batch.a, batch.b, batch.c, batch.d])
        assert sorted(set(used)) == list(range(len(batch.sentences)))
        assert len(set(batch.sentences)) == len(batch.sentences)


@pytest.mark.parametrize("per", ["pair", "question"])
@pytest.mark.parametrize("count", [1, 2])
def test_fixed_draws_are_exactly_the_quadruples_of_the_table(load, per, count):
    negatives = {"draw": "fixed", "per": per, "count": count}
    files, data = load(**negatives)
    for epoch in (1, 2):
        batches = draw_quadruples(data, epoch, negatives=negatives)
        assert Counter(chain(*batches)) == Counter(written_quadruples(files))


def test_shuffled_batches_hold_the_quadruples_of_the_table(load):
    files, data = load()
    options = {"batch_of": "quadruples", "batch_size": 8, "negatives": {"draw": "fixed"}}
    batches = draw_quadruples(data, **options)
    assert {len(batch) for batch in batches} <= {7, 8}
    assert Counter(chain(*batches)) == Counter(written_quadruples(files))
    # A batch mixes the types of questions.
    assert max(len({c.split()[0] for _, _, c, _, _ in batch}) for batch in batches) > 1


@pytest.mark.parametrize("per", ["pair", "question"])
def test_resampled_draws_change_only_the_wrong_candidates(load, per):
    negatives = {"draw": "resampled", "per": per, "count": 2}
    files, data = load(**negatives)
    epochs = [[*chain(*draw_quadruples(data, epoch, negatives=negatives))] for epoch in (1, 2)]
    assert Counter(epochs[0]) != Counter(epochs[1])
    written = written_quadruples(files)
    pairs = data.splits["train"].pairs
    wrong_rows = pairs[pairs["label"] == 0]
    wrong = set(zip(wrong_rows["question"], wrong_rows["candidate"], strict=True))
    for rows in epochs:
        assert Counter(row for row in rows if row[4]) == Counter(row for row in written if row[4])
        assert all((c, d) in wrong for _, _, c, d, label in rows if not label)
        drawn = Counter(row[:3] for row in rows if not row[4])
        assert drawn == Counter(row[:3] for row in written if not row[4])
