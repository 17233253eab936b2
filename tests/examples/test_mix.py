"""An epoch of mix sampling: every right pair that has rivals, with wrong ones of its question."""

import numpy as np
import pytest

from analogyqa.examples.files import CellFiles, load_cell
from analogyqa.examples.mix import epoch_batches
from analogyqa.settings.systems import Training

COUNT = 3


@pytest.fixture
def data(cell_files):
    files = cell_files(types=None, p=1)
    own = CellFiles(files.corpus, files.vectors, None, {})
    return load_cell(own, None, 1, lowercase=True, trains=True)


def pairs_of(data, batch):
    """Return the batch as (question, candidate, label), a row for each right pair."""
    texts = np.array(list(data.sentences.index))[batch.sentences]
    rows = zip(texts[batch.c], texts[batch.d], batch.labels, strict=True)
    rows = list(rows)
    return [rows[start : start + 2 + COUNT] for start in range(0, len(rows), 2 + COUNT)]


def epoch(data, seed=0, number=1, **training):
    own = Training(loss="mix", negatives={"count": COUNT}, **{"batch_size": 4} | training)
    return list(epoch_batches(data, own, seed, number))


def test_each_correct_pair_comes_once_with_wrong_candidates(data):
    pairs = data.splits["train"].pairs
    texts = pairs.groupby("question")
    found = [group for batch in epoch(data) for group in pairs_of(data, batch)]
    for group in found:
        (question, _, label), *wrong = group
        assert label == 1 and len(wrong) == 1 + COUNT
        own = texts.get_group(question)
        for other, candidate, wrong_label in wrong:
            assert (other, wrong_label) == (question, 0)
            assert candidate in set(own.loc[own["label"] == 0, "candidate"])
    rivals = pairs.groupby("question_id")["label"].transform("min").eq(0)
    expected = pairs[rivals & pairs["label"].eq(1)]
    assert sorted((group[0][0], group[0][1]) for group in found) == sorted(
        zip(expected["question"], expected["candidate"], strict=True)
    )


def test_batch_sizes_and_unique_sentences(data):
    batches = epoch(data)
    sizes = [len(pairs_of(data, batch)) for batch in batches]
    assert max(sizes) <= 4 and max(sizes) - min(sizes) <= 1
    for batch in batches:
        assert len(set(batch.sentences)) == len(batch.sentences)
        assert len(batch.a) == len(batch.b) == 0


def test_an_epoch_depends_on_seed_and_number(data):
    def drawn(*at):
        return [batch.sentences[batch.d].tolist() for batch in epoch(data, *at)]

    assert drawn(0, 1) == drawn(0, 1)
    assert drawn(0, 1) != drawn(0, 2)
    assert drawn(0, 1) != drawn(1, 1)


def test_a_training_split_without_wrong_candidates_has_no_batch(data):
    part = data.splits["train"]
    right = part.labels == 1
    own = part._replace(
        pairs=part.pairs[right].reset_index(drop=True),
        **{name: getattr(part, name)[right] for name in ("questions", "candidates", "labels")},
    )
    assert epoch(data._replace(splits={**data.splits, "train": own})) == []
