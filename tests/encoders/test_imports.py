"""Modules that are slow to import are not imported by jobs that do not use them."""

import subprocess
import sys

import pytest

from analogyqa.encoders.specs import ENCODERS
from builders.projects import clean_environment

UNTRAINED = [
    entry.module for entry in ENCODERS.values() if not (entry.trained or entry.gives_words)
]
SCORING = f"""
import analogyqa.training.scoring, {", ".join(UNTRAINED)}
from analogyqa.pretrained.transformer import find_model
assert find_model("all-MiniLM-L6-v2") and not find_model("other")
"""
TRAINING = """
import torch
from analogyqa.settings.systems import Training
from analogyqa.training.adam import Adam
weight = torch.nn.Parameter(torch.ones(2))
weight.grad = torch.ones(2)
Adam([weight], Training()).step()
"""


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        pytest.param(SCORING, {"torch", "transformers", "sentence_transformers"}, id="scoring"),
        pytest.param(TRAINING, {"torch._dynamo"}, id="training"),
    ],
)
def test_slow_modules_are_not_imported(code, modules):
    script = f"{code}\nimport sys\nassert not {modules} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], env=clean_environment(), check=True)
