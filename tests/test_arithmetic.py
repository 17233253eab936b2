"""Arithmetic that is the same on every processor; tests/workflow has whole jobs, emulated."""

import platform

import numpy as np
import pytest
import torch

from analogyqa.arithmetic import (
    AVX2,
    MISSING_VARIABLES,
    portability_gaps,
    processor,
    replace_kernels,
)

CPUINFO = "processor\t: 0\nmodel name\t: A CPU @ 2 GHz\nflags\t\t: fpu sse2 {}\n" * 2


@pytest.fixture(scope="module")
def kernels():
    """Results of PyTorch's kernels and of those that replace them, by name."""
    draw = torch.Generator().manual_seed(0)
    left, right = (torch.rand(shape, generator=draw) for shape in ((7, 50), (20, 50)))
    first, second = (torch.rand(3, 5, 5, generator=draw) for _ in range(2))
    bias = torch.rand(20, generator=draw)

    torch.manual_seed(0)
    lstm_layer = torch.nn.LSTM(50, 6)

    def compute() -> dict[str, torch.Tensor]:
        weight = right.clone().requires_grad_()
        loss = torch.nn.functional.linear(left, weight, bias).sqrt().sum()
        loss.backward()
        gradient = weight.grad
        assert gradient is not None
        return {
            "sqrt": left.sqrt(),
            "sqrt of a scalar": left[0, 0].sqrt(),
            "sqrt of columns": left.T[::2].sqrt(),
            "sqrt_": left.clone().sqrt_(),
            "sqrt.out": torch.sqrt(left, out=torch.empty(0)),
            "sqrt in double precision": left.double().sqrt(),
            "mm": left @ right.T,
            "mm of bfloat16": (left.bfloat16() @ right.T.bfloat16()),
            "bmm": first @ second.transpose(1, 2),
            "addmm": torch.addmm(bias, left, right.T, beta=2, alpha=3),
            "addmm without a sum": torch.addmm(bias * torch.nan, left, right.T, beta=0),
            "baddbmm": torch.baddbmm(first, first, second, beta=0.5),
            "gradient": gradient,
            "LSTM": lstm_layer(left[:, None])[0],
        }

    native = compute()
    lstm = torch.nn.LSTM.forward
    library = replace_kernels.__wrapped__()
    try:
        return native, compute()
    finally:
        library._destroy()
        torch.nn.LSTM.forward = lstm


def test_replaced_kernels_compute_the_same_functions(kernels):
    native, replaced = kernels
    for name, expected in native.items():
        assert replaced[name].dtype == expected.dtype and replaced[name].shape == expected.shape
        tolerance = {"rtol": 0.02, "atol": 0} if "bfloat16" in name else {}
        torch.testing.assert_close(replaced[name], expected, **tolerance)


def test_roots_are_rounded_correctly_and_products_are_those_of_numpy(kernels):
    _, replaced = kernels
    exact = np.sqrt(replaced["sqrt in double precision"].square().numpy()).astype(np.float32)
    np.testing.assert_array_equal(replaced["sqrt"].numpy(), exact)
    for name in ("sqrt_", "sqrt.out"):
        assert torch.equal(replaced[name], replaced["sqrt"])


def test_gaps_are_variables_that_were_not_set_and_missing_instructions(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    assert portability_gaps(cpuinfo) == [*MISSING_VARIABLES, AVX2]
    for flags, gaps in (("avx2 avx512f", []), ("avx", [AVX2])):
        cpuinfo.write_text(CPUINFO.format(flags, flags))
        assert portability_gaps(cpuinfo) == MISSING_VARIABLES + gaps


def test_a_cpu_is_named_by_its_model_if_known(tmp_path):
    assert processor(tmp_path / "missing") == platform.machine()
    (tmp_path / "cpuinfo").write_text(CPUINFO)
    assert processor(tmp_path / "cpuinfo") == "A CPU @ 2 GHz"
