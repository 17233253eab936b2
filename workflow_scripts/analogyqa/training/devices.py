"""Choose the device of a job, make it compute reproducibly, and describe its machine."""

import logging
import os
import re
from pathlib import Path

import torch

from analogyqa.arithmetic import IS_PORTABLE
from analogyqa.errors import AnalogyQAError

log = logging.getLogger(__name__)
Machine = dict[str, str | int | None]


def device_for(requested: str) -> torch.device:
    """Return the device for `auto`, `cpu` or `cuda`, and set its numerics.

    With `auto`, a job that was given a GPU that PyTorch cannot use warns and runs on the CPU.
    Portable arithmetic is that of the CPU.

    Raises AnalogyQAError when `cuda` is requested but not available.
    """
    if requested == "cpu" or IS_PORTABLE:
        return torch.device("cpu")
    if torch.cuda.is_available():
        set_numerics(torch.device("cuda"))
        return torch.device("cuda")
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    cause = f"PyTorch {torch.__version__} sees no CUDA device on {os.uname().nodename}"
    cause += f", although this job was given GPU {given}" if given else ""
    remedy = "check the driver with nvidia-smi, and install a CUDA build of PyTorch"
    if requested == "cuda":
        raise AnalogyQAError(
            f"device: cuda is requested, but {cause}. Run on a machine with a GPU ({remedy}), "
            "or set device: auto or cpu in the configuration."
        )
    if given:
        log.warning("Warning: %s; using the CPU. To use the GPU, %s.", cause, remedy)
    return torch.device("cpu")


def set_numerics(device: torch.device) -> None:
    """Make a GPU compute in full float32 and, as far as CUDA allows, deterministically.

    Each process must call this before its first operation on a GPU, because cuBLAS reads its
    environment variable when CUDA starts. On a CPU it does nothing.
    """
    if device.type != "cuda":
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    # TF32 keeps only 10 bits of the mantissa, and is on by default in cuDNN, which runs the GRU.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = False
    # An encoder may need an operation that has no deterministic version, so only warn.
    torch.use_deterministic_algorithms(True, warn_only=True)


def describe_machine(device: torch.device, precision: str = "float32") -> Machine:
    """Return what the last bits of a result may depend on, besides the version of PyTorch.

    For a GPU: its model, its driver (None if unknown), and the versions of CUDA and cuDNN. For a
    CPU: the instruction set that PyTorch uses and, with `precision: bfloat16`, its instructions for
    bfloat16, or None.
    """
    if device.type != "cuda":
        capability = torch.backends.cpu.get_cpu_capability()
        machine: Machine = {"device": device.type, "instructions": capability}
        if precision == "bfloat16":
            has = torch.cpu.get_capabilities()
            supported = (key for key in ("amx_bf16", "avx512_bf16", "bf16") if has.get(key))
            machine["bfloat16"] = next(supported, None)
        return machine
    return {
        "device": device.type,
        "gpu": torch.cuda.get_device_name(device),
        "driver": _driver(),
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
    }


def _driver(path: Path = Path("/proc/driver/nvidia/version")) -> str | None:
    match = re.search(r"Module.*?\s(\d+\.[\d.]+)", path.read_text()) if path.exists() else None
    return match and match[1]


def note_machine(state: dict, device: torch.device, name: str, precision: str = "float32") -> None:
    """Add the machine that continues a training run to `state["machines"]`, if its kind changes.

    The log then has a warning, because the last bits of the result may differ from those of a run
    on one kind.
    """
    machines, machine = state.setdefault("machines", []), describe_machine(device, precision)
    if machine.get("bfloat16", "") is None:
        log.warning(
            "%s: training.precision is bfloat16, but this processor has no instructions for it "
            "(AVX512-BF16, AMX or ARM's BF16), so float32 would be faster.",
            name,
        )
    if machines:
        before = {key: value for key, value in machines[-1].items() if key != "after_epoch"}
        if before == machine:
            return
        log.warning(
            "%s: resuming after epoch %d on another kind of machine (%s; before: %s). The result "
            "may differ in its last bits from that of a run on one kind of machine.",
            *(name, state["epoch"]),
            *(", ".join(f"{key} {kind[key]}" for key in kind) for kind in (machine, before)),
        )
    machines.append({"after_epoch": state["epoch"], **machine})
