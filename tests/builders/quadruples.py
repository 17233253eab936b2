"""The quadruples of a cell as texts, from batches and from the tables themselves."""

import numpy as np

from analogyqa.schemas import CORPUS, PROTOTYPES, QUADRUPLES, read_table


def texts_of(data, batch):
    """Return the quadruples of a batch as texts and labels."""
    texts = np.array(list(data.sentences.index))[batch.sentences]
    corners = (texts[corner] for corner in (batch.a, batch.b, batch.c, batch.d))
    return list(zip(*corners, batch.labels.tolist(), strict=True))


def written_quadruples(files):
    """Return the training quadruples as texts and labels, read from the tables themselves."""
    corpus = read_table(files.corpus, CORPUS).set_index("candidate_id")
    prototypes = read_table(files.prototypes, PROTOTYPES)
    prototypes = prototypes.set_index(["question_type", "rank"])["candidate_id"]
    quadruples = read_table(files.quadruples["train"], QUADRUPLES)
    pairs = corpus.loc[quadruples["candidate_id"]]
    keys = list(zip(pairs["question_type"], quadruples["prototype"], strict=True))
    prototype_pairs = corpus.loc[prototypes.loc[keys]]
    columns = [
        table[name] for table in (prototype_pairs, pairs) for name in ("question", "candidate")
    ]
    return list(zip(*columns, pairs["label"], strict=True))
