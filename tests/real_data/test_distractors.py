"""The sentence pairs of the mirror: no distractor is an answer or an input of a question."""

import pytest

from analogyqa.analogies.distractors import letters
from analogyqa.analogies.induce import induce_category
from analogyqa.pretrained.nli import read_nli
from analogyqa.settings.load import load_config
from builders.mirror import MIRROR, REGISTRY, needs

PARSER = MIRROR / "models/en_core_web_sm"
CONFIG = load_config({"papers": ["sentence_analogies"], "output_dir": "results", "seeds": 1})
WITH_DISTRACTORS = [name for name, category in CONFIG.categories.items() if category.distractors]

pytestmark = needs(PARSER)


def registered(files):
    return [str(MIRROR / REGISTRY[alternatives[0]].file) for alternatives in files]


@pytest.mark.parametrize("name", WITH_DISTRACTORS)
def test_no_distractor_is_a_sentence_of_its_category(name):
    category = CONFIG.categories[name]
    inference = {path: read_nli([path]) for path in registered(category.inference)}
    texts, triplets = registered(category.texts), registered(category.triplets)
    frame = induce_category(category, "", texts, inference, str(PARSER), 0, triplets)
    sentences = {letters(text) for text in [*frame["first"], *frame["second"]]}
    distractors = [letters(text) for texts in frame["distractors"] for text in texts]
    assert len(distractors) == 5 * len(frame) > 100
    assert not sentences & {*distractors}
