"""The numbers behind explanations: scores by prototype, and principal components."""

import numpy as np
import pytest

from analogyqa.rankers import Encoded, build_ranker
from analogyqa.training.explanation import principal_components, prototype_scores
from builders.cells import untrained_system


@pytest.mark.parametrize("compare", ["cosine", "distance"])
def test_a_score_is_the_maximum_over_single_prototypes(compare):
    generator = np.random.default_rng(0)
    sides = [generator.normal(size=(rows, 4)).astype(np.float32) for rows in (5, 5, 3, 3)]
    pairs, prototypes = np.indices((5, 3)).reshape(2, -1)
    encoded = Encoded(np.zeros(5, dtype=int), *sides, prototypes, pairs)
    options = {"name": "analogy", "compare": compare}
    ranker = build_ranker(untrained_system(options))
    scores, best = ranker.scores(encoded)
    by_prototype = prototype_scores(ranker, encoded)
    np.testing.assert_allclose(by_prototype.max(axis=1), scores, rtol=1e-6)
    assert by_prototype.argmax(axis=1).tolist() == best.tolist()


def test_two_components_keep_a_plane_and_report_their_shares_of_the_variance():
    generator = np.random.default_rng(0)
    plane, axes = generator.normal(size=(20, 2)), generator.normal(size=(2, 7))
    points, shares = principal_components(plane @ axes)
    assert sum(shares) == pytest.approx(1)
    distances = [np.linalg.norm(rows - rows[:1], axis=1) for rows in (points, plane @ axes)]
    np.testing.assert_allclose(*distances)
    _, shares = principal_components(np.eye(4))
    assert shares == pytest.approx((1 / 3, 1 / 3))
    assert principal_components(np.ones((3, 4)))[1] == (0, 0)
