"""All quadruples of a split by one matrix product against encoding each quadruple."""

import cells
import numpy as np
import plain
import torch
from measure import in_turn, record

from analogyqa.encoders import build_encoder
from analogyqa.rankers import build_ranker
from analogyqa.settings.systems import System, Training
from analogyqa.training.scoring import array_encoder, score_split

# A larger batch would need more memory and save no time.
BATCH, ROUNDS = 256, 1


def main() -> None:
    data = cells.drawn_cell()
    encoder = build_encoder("bigru", data.word_vectors, Training(), cells.SEED).eval()
    system = System(title="", encoder="bigru", vectors="drawn", ranker="analogy")
    ranker = build_ranker(system)
    encode, found = array_encoder(encoder, torch.device("cpu")), {}

    def ours() -> None:
        found["ours"] = score_split(encode, data, "test", ranker)[0]

    def each_quadruple() -> None:
        found["other"] = plain.analogy_scores(encoder, data, "test", BATCH)

    seconds = in_turn({"ours": ours, "other": each_quadruple}, ROUNDS)
    np.testing.assert_allclose(found["ours"], found["other"], atol=1e-4)
    count = len(data.splits["test"].rows)
    name = f"{cells.data_name()}, {count:,} quadruples of test"
    record("scoring", name, "s", **seconds, packages=["torch"])


if __name__ == "__main__":
    main()
