"""The device that a configuration selects, and the description of the machine."""

import os

import pytest
import torch

from analogyqa.errors import AnalogyQAError
from analogyqa.training import devices
from analogyqa.training.devices import (
    _driver,
    describe_machine,
    device_for,
    note_machine,
    set_numerics,
)

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


@pytest.fixture(autouse=True)
def restore_numerics(monkeypatch):
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    before = matmul.allow_tf32, cudnn.allow_tf32, cudnn.benchmark
    matmul.allow_tf32 = cudnn.allow_tf32 = cudnn.benchmark = True
    yield
    matmul.allow_tf32, cudnn.allow_tf32, cudnn.benchmark = before
    torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize(
    ("requested", "available", "visible", "expected", "warnings"),
    [
        ("auto", True, "0", "cuda", 0),
        ("cuda", True, None, "cuda", 0),
        ("cpu", True, None, "cpu", 0),
        ("cpu", False, "0", "cpu", 0),
        ("auto", False, None, "cpu", 0),
        ("auto", False, "", "cpu", 0),
        ("auto", False, "0", "cpu", 1),
        ("cuda", False, "0", None, 0),
    ],
)
def test_the_requested_device_is_used_and_an_unusable_gpu_gives_a_warning(
    monkeypatch, caplog, requested, available, visible, expected, warnings
):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: available)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    if expected is None:
        with pytest.raises(AnalogyQAError, match=r"device: cuda is requested, .*device: auto"):
            device_for(requested)
    else:
        assert device_for(requested).type == expected
    assert len(caplog.records) == warnings
    assert all("given GPU 0" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("workspace", [None, ":16:8"])
def test_a_gpu_computes_in_float32_and_in_one_order(monkeypatch, workspace):
    if workspace:
        monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", workspace)
    set_numerics(CPU)
    assert not torch.are_deterministic_algorithms_enabled()
    assert os.environ.get("CUBLAS_WORKSPACE_CONFIG") == workspace
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    device_for("auto")
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == (workspace or ":4096:8")
    cudnn = torch.backends.cudnn
    assert not (torch.backends.cuda.matmul.allow_tf32 or cudnn.allow_tf32 or cudnn.benchmark)
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.is_deterministic_algorithms_warn_only_enabled()


@pytest.mark.parametrize(
    ("capabilities", "instructions"),
    [
        ({"amx_bf16": True, "avx512_bf16": True}, "amx_bf16"),
        ({"amx_bf16": False, "avx512_bf16": True}, "avx512_bf16"),
        ({"avx512_bf16": False}, None),
    ],
)
def test_a_processor_without_instructions_for_bfloat16_is_a_warning(
    monkeypatch, caplog, capabilities, instructions
):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    note_machine(state := {"epoch": 0}, CPU, "cell", "bfloat16")
    assert state["machines"][0]["bfloat16"] == instructions
    assert len(caplog.records) == (instructions is None)


def test_a_machine_is_described_by_what_may_change_the_last_bits(monkeypatch):
    capability = torch.backends.cpu.get_cpu_capability()
    assert describe_machine(CPU) == {"device": "cpu", "instructions": capability}
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Some GPU")
    monkeypatch.setattr(devices, "_driver", lambda: "580")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.backends.cudnn, "version", lambda: 91000)
    gpu = {"device": "cuda", "gpu": "Some GPU", "driver": "580", "cuda": "13.0", "cudnn": 91000}
    assert describe_machine(CUDA) == gpu


def test_the_driver_is_read_from_the_system(tmp_path):
    assert _driver(tmp_path / "version") is None
    (tmp_path / "version").write_text(
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n"
        "GCC version:  gcc version 12.2.0\n"
    )
    assert _driver(tmp_path / "version") == "580.95.05"


def test_another_kind_of_machine_is_recorded_and_logged(monkeypatch, caplog):
    state = {}
    machines = {0: "AVX2", 3: "AVX2", 4: "AVX512", 5: "AVX512", 6: "AVX2"}
    for epoch, instructions in machines.items():
        monkeypatch.setattr(
            torch.backends.cpu, "get_cpu_capability", lambda value=instructions: value
        )
        state["epoch"] = epoch
        note_machine(state, CPU, "cell")
    assert state["machines"] == [
        {"after_epoch": epoch, "device": "cpu", "instructions": instructions}
        for epoch, instructions in ((0, "AVX2"), (4, "AVX512"), (6, "AVX2"))
    ]
    assert len(caplog.records) == 2
