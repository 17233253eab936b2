"""The device that a job computes on."""

import logging
import os

import torch

from analogyqa.errors import AnalogyQAError

log = logging.getLogger(__name__)


def device_for(requested: str) -> torch.device:
    """Return the device that `auto`, `cpu` or `cuda` stands for.

    With `auto` a job that was given a GPU which PyTorch cannot use warns and runs on the CPU.

    Raises AnalogyQAError when cuda is asked for where there is none.
    """
    if requested == "cpu":
        return torch.device("cpu")
    if torch.cuda.is_available():
        return torch.device("cuda")
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    cause = (
        f"PyTorch {torch.__version__} sees no CUDA device on {os.uname().nodename}"
        f"{f', although this job was given GPU {given}' if given else ''}"
    )
    remedy = "look with nvidia-smi whether the driver works, and install a CUDA build of PyTorch"
    if requested == "cuda":
        raise AnalogyQAError(
            f"device: cuda is asked for, but {cause}. Run where there is a GPU ({remedy}), "
            "or set device: auto or cpu in the configuration."
        )
    if given:
        log.warning("Warning: %s; the CPU is used. To use the GPU %s.", cause, remedy)
    return torch.device("cpu")
