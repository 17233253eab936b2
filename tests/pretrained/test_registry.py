import numpy as np
import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources, encode_sentences
from analogyqa.registry import PRETRAINED, Entry

RESOURCES = Resources("weights.bin", "vectors.vec", ["a sentence"], lowercase=True)


@pytest.fixture
def mine(monkeypatch):
    """Register an encoder of one's own that returns what the test says."""

    def register(vectors) -> None:
        entry = Entry("collections:Counter", needs_weights=False, needs_vectors=False)
        monkeypatch.setitem(PRETRAINED, "mine", entry)
        monkeypatch.setattr("collections.Counter", lambda texts, resources: vectors)

    return register


@pytest.mark.parametrize("name", PRETRAINED)
def test_a_registered_encoder_is_there(name):
    assert callable(PRETRAINED[name].load())


NEEDS = [
    (name, key)
    for name, entry in PRETRAINED.items()
    for key in ("weights", "vectors")
    if getattr(entry, f"needs_{key}")
]


@pytest.mark.parametrize(("name", "key"), NEEDS)
def test_a_missing_resource_is_named(name, key):
    with pytest.raises(AnalogyQAError, match=f"{name}: this encoder needs {key}"):
        encode_sentences(name, ["a"], RESOURCES._replace(**{key: None}))


def test_an_encoder_of_ones_own_needs_only_a_line(mine):
    vectors = np.eye(2, dtype=np.float32)
    mine(vectors)
    assert encode_sentences("mine", ["a", "b"], RESOURCES) is vectors


@pytest.mark.parametrize("vectors", [np.eye(2), np.eye(3, dtype="f4"), np.zeros(2, dtype="f4")])
def test_another_shape_or_type_is_a_defect_of_the_encoder(mine, vectors):
    mine(vectors)
    with pytest.raises(TypeError, match=r"collections:Counter returned .* not float32 \[2, d\]"):
        encode_sentences("mine", ["a", "b"], RESOURCES)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_vector_that_is_not_finite_is_named_with_its_sentence(mine, value):
    vectors = np.eye(2, dtype=np.float32)
    vectors[1, 0] = value
    mine(vectors)
    with pytest.raises(AnalogyQAError, match=r"'the second'.*is weights\.bin damaged"):
        encode_sentences("mine", ["the first", "the second"], RESOURCES)
