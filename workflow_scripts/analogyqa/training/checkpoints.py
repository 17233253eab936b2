"""The states of trainings, from which they resume."""

import io
from pathlib import Path
from typing import TYPE_CHECKING

from analogyqa.errors import AnalogyQAError
from analogyqa.files import atomic_path

if TYPE_CHECKING:
    import torch

ENCODER = "encoder"  # of the two parts that a model may have, the other is a ranker


def save_state(state: dict, path: str | Path) -> None:
    """Write the state of a training, tensors among it, atomically."""
    import torch

    # Through memory: on a full disk PyTorch's own writer aborts without naming the cause.
    serialized = io.BytesIO()
    torch.save(state, serialized)
    with atomic_path(path) as temporary:
        temporary.write_bytes(serialized.getvalue())


def encoder_weights(state: dict, kind: str) -> dict[str, "torch.Tensor"]:
    """Return the weights of the encoder in the state of a training: of the epoch dev chose.

    `kind` is `System.scoring_weights`.
    """
    before = f"{ENCODER}."
    return {
        name.removeprefix(before): value
        for name, value in state["best"][kind]["weights"].items()
        if name.startswith(before)
    }


def load_state(path: str | Path, device: "torch.device") -> dict:
    """Return what `save_state` wrote; raises AnalogyQAError when the file is damaged."""
    import torch

    try:
        state = torch.load(path, map_location=device, weights_only=True)
        if not isinstance(state, dict):
            raise ValueError(f"a {type(state).__name__}")
        return state
    except Exception as error:
        raise AnalogyQAError(
            f"{path}: damaged checkpoint ({error}). Delete it and run the same command again; the "
            "training then starts from its first epoch."
        ) from error
