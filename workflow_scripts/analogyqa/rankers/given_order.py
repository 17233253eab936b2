"""Keep the candidates in the order of the data, such as the order of a search engine."""

from collections.abc import Sequence

import numpy as np


class GivenOrderRanker:
    """score = -(the position of the candidate in the data)."""

    def __init__(self, *unused: object) -> None:
        pass

    def scores(
        self,
        questions: Sequence[str],
        candidates: Sequence[str],
        collection: Sequence[str],
        lowercase: bool,
    ) -> np.ndarray:
        """Score m pairs without reading them: float32 [m]."""
        return -np.arange(len(candidates), dtype=np.float32)
