"""Checkpoints: the states from which training runs resume."""

import io
from pathlib import Path
from typing import TYPE_CHECKING

from analogyqa.errors import explain_damage
from analogyqa.files import atomic_path

if TYPE_CHECKING:
    import torch

ENCODER = "encoder"  # the name of the encoder in a model, which may also have a ranker


def save_state(state: dict, path: str | Path) -> None:
    """Write the state of a training run atomically."""
    import torch

    # In memory first: on a full disk, PyTorch's own writer aborts without naming the cause.
    serialized = io.BytesIO()
    torch.save(state, serialized)
    with atomic_path(path) as temporary:
        temporary.write_bytes(serialized.getvalue())


def encoder_weights(state: dict, version: str) -> dict[str, "torch.Tensor"]:
    """Return the weights of the encoder after the epoch that dev chose.

    `version` is that of the weights, as in `System.scoring_weights`.
    """
    prefix = f"{ENCODER}."
    return {
        name.removeprefix(prefix): value
        for name, value in state["best"][version]["weights"].items()
        if name.startswith(prefix)
    }


def load_state(path: str | Path, device: "torch.device") -> dict:
    """Read a state that `save_state` wrote; raises AnalogyQAError when the file is damaged."""
    import torch

    remedy = (
        "Delete it and run the same command again; training will then start from the first epoch."
    )
    with explain_damage(path, "damaged checkpoint", remedy):
        state = torch.load(path, map_location=device, weights_only=True)
        if not isinstance(state, dict):
            raise ValueError(f"a {type(state).__name__}")
        return state
