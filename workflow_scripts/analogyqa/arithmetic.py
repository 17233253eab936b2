"""Arithmetic that gives the same results again, and with `arithmetic: portable` on other machines.

PyTorch, NumPy and their libraries choose their code by the processor, so results differ in their
last bits, and training amplifies the difference. Portable arithmetic gives the same bytes on every
x86-64 processor with AVX2: variables fix the code of the libraries, and where they cannot, kernels
of PyTorch are replaced. docs/what-moves-a-score.md has the evidence.
"""

import os
import platform
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

PORTABLE = "portable"  # a value of `arithmetic`; the other one is `native`
# The libraries read these when they are imported.
PORTABLE_VARIABLES = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    # Intel promises equal results of MKL's AVX2 code on Intel's processors only.
    "MKL_CBWR": "COMPATIBLE",
    "OPENBLAS_CORETYPE": "Haswell",
    # NumPy's `exp` differs between AVX-512 and AVX2.
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
}
THREADS = 1  # of a job that computes
AVX2 = "AVX2"  # the instructions of a processor
# Read once: a variable that is set later, when the libraries were imported, has no effect.
MISSING_VARIABLES = [
    name for name, value in PORTABLE_VARIABLES.items() if os.environ.get(name) != value
]
IS_PORTABLE = not MISSING_VARIABLES


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return the model of the CPU, or its architecture if the model is unknown."""
    return _cpuinfo("model name", cpuinfo) or platform.machine()


def portability_gaps(cpuinfo: Path = Path("/proc/cpuinfo")) -> list[str]:
    """Return what portable arithmetic needs and this process lacks: variables, and AVX2."""
    has_avx2 = "avx2" in _cpuinfo("flags", cpuinfo).split()
    return MISSING_VARIABLES + ([] if has_avx2 else [AVX2])


def _cpuinfo(key: str, path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), "")


@contextmanager
def reproducible_arithmetic() -> Iterator[None]:
    """Compute in a `with` block as all jobs do, in THREADS: with more, the last bits differ.

    Import PyTorch before, if it is used. Its kernels are those of `prepare_kernels`.
    """
    from threadpoolctl import threadpool_limits  # needs a moment, and few commands compute

    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else 1
    try:
        if torch:
            torch.set_num_threads(THREADS)
            prepare_kernels()
        with threadpool_limits(THREADS):
            yield
    finally:
        if torch:
            torch.set_num_threads(threads)


def prepare_kernels() -> None:
    """In portable arithmetic, replace kernels of PyTorch for the rest of this process."""
    if IS_PORTABLE:
        replace_kernels()


@cache
def replace_kernels() -> object:
    """Let NumPy compute PyTorch's square roots and matrix products on the CPU.

    MKL approximates roots, and the approximation differs between processors; its products that do
    not differ use SSE2 and take twice the time. NumPy's roots are exact, and OpenBLAS multiplies
    with its kernel for Haswell on all these processors. Half precision is rounded from float32.
    LSTMs are computed without oneDNN, whose LSTM differs between processors.

    Returns what must be kept as long as the kernels are to stay.
    """
    import torch
    from torch.library import Library

    lstm = torch.nn.LSTM.forward

    def lstm_without_onednn(*arguments: object) -> object:
        enabled, *_ = torch.backends.mkldnn.set_flags(False)
        try:
            return lstm(*arguments)  # type: ignore[call-overload]
        finally:
            torch.backends.mkldnn.set_flags(enabled)

    torch.nn.LSTM.forward = lstm_without_onednn  # type: ignore[assignment, method-assign]
    library = Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about kernels that are replaced
        for name, kernel in _KERNELS.items():
            library.impl(name, kernel, "CPU", allow_override=True)
    return library


def _sqrt(x: "Tensor") -> "Tensor":
    return _by_numpy(np.sqrt, x)


def _sqrt_(x: "Tensor") -> "Tensor":
    return x.copy_(_sqrt(x))


def _sqrt_out(x: "Tensor", *, out: "Tensor") -> "Tensor":
    return out.resize_(x.shape).copy_(_sqrt(x))


def _product(first: "Tensor", second: "Tensor") -> "Tensor":
    """Return the product of matrices, or of batches of matrices."""
    return _by_numpy(np.matmul, first, second)


def _sum_of_product(
    x: "Tensor", first: "Tensor", second: "Tensor", *, beta: float = 1, alpha: float = 1
) -> "Tensor":
    product = _product(first, second)
    return product.mul_(alpha).add_(x, alpha=beta) if beta else product.mul_(alpha)


def _by_numpy(function: Callable, *tensors: "Tensor") -> "Tensor":
    import torch

    arrays = [
        (tensor if tensor.element_size() > 2 else tensor.float()).detach().numpy()
        for tensor in tensors
    ]
    return torch.from_numpy(np.asarray(function(*arrays))).to(tensors[0].dtype)


_KERNELS = {
    "sqrt": _sqrt,
    "sqrt_": _sqrt_,
    "sqrt.out": _sqrt_out,
    "mm": _product,
    "bmm": _product,
    "addmm": _sum_of_product,
    "baddbmm": _sum_of_product,
}
