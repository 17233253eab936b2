"""The device that a job computes on, how it computes, and what kind of machine it is."""

import logging
import os
import re
from pathlib import Path

import torch

from analogyqa.errors import AnalogyQAError

log = logging.getLogger(__name__)


def device_for(requested: str) -> torch.device:
    """Return the device that `auto`, `cpu` or `cuda` stands for, its numerics set.

    With `auto` a job that was given a GPU which PyTorch cannot use warns and runs on the CPU.

    Raises AnalogyQAError when cuda is asked for where there is none.
    """
    if requested == "cpu":
        return torch.device("cpu")
    if torch.cuda.is_available():
        set_numerics(torch.device("cuda"))
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


def set_numerics(device: torch.device) -> None:
    """Make a GPU compute in whole float32 and, as far as CUDA can, the same bytes each time.

    For each process that computes on one, before its first operation: cuBLAS reads its environment
    variable when CUDA starts. On a CPU nothing is set.
    """
    if device.type != "cuda":
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    # TF32 keeps 10 bits of the mantissa; for cuDNN, which computes the GRU, it is on by default.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = False
    # An encoder may need an operation that has no deterministic form: a warning, not the end.
    torch.use_deterministic_algorithms(True, warn_only=True)


def describe_machine(device: torch.device) -> dict[str, str | int | None]:
    """Return what the last bits of a result may depend on, beside the version of PyTorch.

    Of a GPU its model, its driver (None where the system does not say) and the versions of CUDA and
    cuDNN; of a CPU the instructions that PyTorch uses.
    """
    if device.type != "cuda":
        return {"device": device.type, "instructions": torch.backends.cpu.get_cpu_capability()}
    return {
        "device": device.type,
        "gpu": torch.cuda.get_device_name(device),
        "driver": _driver(),
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
    }


def _driver(path: Path = Path("/proc/driver/nvidia/version")) -> str | None:
    found = re.search(r"Module.*?\s(\d+\.[\d.]+)", path.read_text()) if path.exists() else None
    return found and found[1]


def note_machine(state: dict, device: torch.device, name: str) -> None:
    """Note in the state of a training which machine goes on with it after `state["epoch"]`.

    `state["machines"]` gets an entry only where the kind of machine changes; then the bytes of the
    result may differ from those of a training on one kind, and the log says so.
    """
    machines, machine = state.setdefault("machines", []), describe_machine(device)
    if machines:
        before = {key: value for key, value in machines[-1].items() if key != "after_epoch"}
        if before == machine:
            return
        log.warning(
            "%s: goes on after epoch %d on another kind of machine (%s; before: %s). Its bytes may "
            "differ from those of a training on one kind.",
            *(name, state["epoch"], _listed(machine), _listed(before)),
        )
    machines.append({"after_epoch": state["epoch"], **machine})


def _listed(machine: dict[str, str | int | None]) -> str:
    return ", ".join(f"{key} {value}" for key, value in machine.items())
