"""An epoch of whole questions: each that has wrong candidates, with all of its pairs."""

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


def epoch(data, seed=0, number=1, size=4):
    return list(epoch_batches(data, Training(loss="listwise", batch_size=size), seed, number))


def texts_of(data, batch):
    texts = np.array(list(data.sentences.index))[batch.sentences]
    return list(zip(texts[batch.c], texts[batch.d], batch.labels.tolist(), strict=True))


def test_each_question_that_has_rivals_comes_once_with_all_its_candidates(data):
    pairs = data.splits["train"].pairs
    rivals = pairs.groupby("question_id")["label"].transform("min").eq(0)
    expected = pairs.loc[rivals, ["question", "candidate", "label"]]
    found = [pair for batch in epoch(data) for pair in texts_of(data, batch)]
    assert sorted(found) == sorted(expected.itertuples(index=False, name=None))


def test_a_batch_holds_whole_questions_as_many_as_it_may(data):
    counts = [len({question for question, *_ in texts_of(data, batch)}) for batch in epoch(data)]
    assert max(counts) <= 4 and max(counts) - min(counts) <= 1
    whole = [{question for question, *_ in texts_of(data, batch)} for batch in epoch(data)]
    assert sum(map(len, whole)) == len(set().union(*whole))


def test_an_epoch_follows_from_its_seed_and_number_alone(data):
    def drawn(*at):
        return [batch.sentences[batch.d].tolist() for batch in epoch(data, *at)]

    assert drawn(0, 1) == drawn(0, 1)
    assert drawn(0, 1) != drawn(0, 2)
    assert drawn(0, 1) != drawn(1, 1)


def test_a_training_split_without_wrong_candidates_has_no_batch(data):
    part = data.splits["train"]
    all_right = part._replace(labels=np.ones_like(part.labels))
    assert epoch(data._replace(splits={**data.splits, "train": all_right})) == []
