"""Modules that are slow to import are not imported by jobs that do not use them."""

import subprocess
import sys

import pytest

from builders.projects import clean_environment

SCORING = """
import analogyqa.encoders.fixed, analogyqa.training.scoring
from analogyqa.pretrained.hugging_face import find_model
assert find_model("all-MiniLM-L6-v2") and not find_model("other")
"""
TRAINING = """
import torch
from analogyqa.settings.systems import Training
from analogyqa.training.optimisers import Adam
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
