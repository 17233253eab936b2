"""What explanations are computed from."""

import numpy as np
import pytest

from analogyqa.rankers import Encoded, build_ranker
from analogyqa.training.explanation import principal_components, prototype_scores
from small_cells import untrained_system


@pytest.mark.parametrize("compare", ["cosine", "distance"])
def test_a_score_is_the_maximum_of_what_prototypes_give_alone(compare):
    generator = np.random.default_rng(0)
    sides = [generator.normal(size=(rows, 4)).astype(np.float32) for rows in (5, 5, 3, 3)]
    pairs, prototypes = np.indices((5, 3)).reshape(2, -1)
    encoded = Encoded(np.zeros(5, dtype=int), *sides, prototypes, pairs)
    options = {"name": "analogy", "compare": compare}
    ranker = build_ranker(untrained_system(options))
    scores, best = ranker.scores(encoded)
    alone = prototype_scores(ranker, encoded)
    np.testing.assert_allclose(alone.max(axis=1), scores, rtol=1e-6)
    assert alone.argmax(axis=1).tolist() == best.tolist()


def test_two_dimensions_keep_all_of_a_plane_and_say_what_they_lose():
    generator = np.random.default_rng(0)
    plane, axes = generator.normal(size=(20, 2)), generator.normal(size=(2, 7))
    points, shares = principal_components(plane @ axes)
    assert sum(shares) == pytest.approx(1)
    distances = [np.linalg.norm(all_ - all_[:1], axis=1) for all_ in (points, plane @ axes)]
    np.testing.assert_allclose(*distances)
    _, shares = principal_components(np.eye(4))
    assert shares == pytest.approx((1 / 3, 1 / 3))
    assert principal_components(np.ones((3, 4)))[1] == (0, 0)
