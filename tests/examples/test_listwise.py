"""An epoch of questions: each that has wrong candidates, with its pairs."""

import numpy as np
import pytest

from analogyqa.examples.files import CellFiles, load_cell
from analogyqa.examples.listwise import epoch_batches
from analogyqa.settings.systems import Training


@pytest.fixture
def data(cell_files):
    files = cell_files(types=None, p=1)
    own = CellFiles(files.corpus, files.vectors, None, {})
    return load_cell(own, None, 1, lowercase=True, trains=True)


def epoch(data, seed=0, number=1, size=4, count=100):
    training = Training(loss="listwise", batch_size=size, negatives={"count": count})
    return list(epoch_batches(data, training, seed, number))


def texts_of(data, batch):
    texts = np.array(list(data.sentences.index))[batch.sentences]
    return list(zip(texts[batch.c], texts[batch.d], batch.labels.tolist(), strict=True))


def test_each_question_with_wrong_candidates_comes_once(data):
    pairs = data.splits["train"].pairs
    rivals = pairs.groupby("question_id")["label"].transform("min").eq(0)
    expected = pairs.loc[rivals, ["question", "candidate", "label"]]
    found = [pair for batch in epoch(data) for pair in texts_of(data, batch)]
    assert sorted(found) == sorted(expected.itertuples(index=False, name=None))


def test_wrong_candidates_are_limited(data):
    pairs = data.splits["train"].pairs
    expected, drawn = pairs.groupby(["question", "label"]).size(), []
    for number in range(1, 6):
        found = [
            pair for batch in epoch(data, 0, number, count=1) for pair in texts_of(data, batch)
        ]
        assert len(set(found)) == len(found)
        for question in {question for question, *_ in found}:
            own = [label for asked, _, label in found if asked == question]
            assert own.count(1) == expected.get((question, 1), 0)
            assert own.count(0) == 1
        drawn.append(sorted(found))
    assert expected[:, 0].max() > 1
    assert any(other != drawn[0] for other in drawn)


def test_a_batch_has_whole_questions(data):
    counts = [len({question for question, *_ in texts_of(data, batch)}) for batch in epoch(data)]
    assert max(counts) <= 4 and max(counts) - min(counts) <= 1
    whole = [{question for question, *_ in texts_of(data, batch)} for batch in epoch(data)]
    assert sum(map(len, whole)) == len(set().union(*whole))


def test_an_epoch_depends_on_seed_and_number(data):
    def drawn(*at):
        return [batch.sentences[batch.d].tolist() for batch in epoch(data, *at)]

    assert drawn(0, 1) == drawn(0, 1)
    assert drawn(0, 1) != drawn(0, 2)
    assert drawn(0, 1) != drawn(1, 1)


def test_a_training_split_without_wrong_candidates_has_no_batch(data):
    part = data.splits["train"]
    all_right = part._replace(labels=np.ones_like(part.labels))
    assert epoch(data._replace(splits={**data.splits, "train": all_right})) == []
