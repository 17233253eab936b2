"""The device that a configuration stands for on a machine."""

import os

import pytest
import torch

from analogyqa.errors import AnalogyQAError
from analogyqa.training.devices import _driver, device_for, machine_of, note_machine, set_numerics

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    """Put back the numerics of this process."""
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    before = matmul.allow_tf32, cudnn.allow_tf32, cudnn.benchmark
    matmul.allow_tf32 = cudnn.allow_tf32 = cudnn.benchmark = True
    yield
    matmul.allow_tf32, cudnn.allow_tf32, cudnn.benchmark = before
    torch.use_deterministic_algorithms(False)


@pytest.fixture
def without_cuda(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.mark.parametrize(
    ("requested", "available", "chosen"),
    [("auto", True, "cuda"), ("auto", False, "cpu"), ("cpu", True, "cpu"), ("cuda", True, "cuda")],
)
def test_the_device_is_the_one_asked_for(monkeypatch, requested, available, chosen):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: available)
    assert device_for(requested).type == chosen


def test_cuda_where_there_is_none_is_explained(without_cuda):
    with pytest.raises(AnalogyQAError, match=r"device: cuda is asked for, .*device: auto"):
        device_for("cuda")


@pytest.mark.parametrize(
    ("requested", "given", "warnings"),
    [("auto", "0", 1), ("auto", "", 0), ("auto", None, 0), ("cpu", "0", 0)],
)
def test_a_gpu_that_was_given_and_cannot_be_used_is_one_warning(
    without_cuda, monkeypatch, caplog, requested, given, warnings
):
    if given is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
    assert device_for(requested).type == "cpu"
    assert len(caplog.records) == warnings
    assert all("given GPU 0" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("given", [None, ":16:8"])
def test_a_gpu_computes_in_float32_and_in_one_order(monkeypatch, given):
    if given:
        monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", given)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    device_for("auto")
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == (given or ":4096:8")
    assert not torch.backends.cuda.matmul.allow_tf32
    assert not torch.backends.cudnn.allow_tf32
    assert not torch.backends.cudnn.benchmark
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.is_deterministic_algorithms_warn_only_enabled()


def test_on_a_cpu_nothing_is_set():
    set_numerics(CPU)
    assert "CUBLAS_WORKSPACE_CONFIG" not in os.environ
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_cpu_is_known_by_its_instructions():
    capability = torch.backends.cpu.get_cpu_capability()
    assert machine_of(CPU) == {"device": "cpu", "instructions": capability}


def test_a_gpu_is_known_by_its_model_and_all_that_drives_it(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Some GPU")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.backends.cudnn, "version", lambda: 91000)
    machine = machine_of(CUDA)
    assert list(machine) == ["device", "gpu", "driver", "cuda", "cudnn"]
    assert [machine[key] for key in ("device", "gpu", "cuda", "cudnn")] == [
        "cuda", "Some GPU", "13.0", 91000,
    ]  # fmt: skip


def test_the_driver_is_what_the_system_says(tmp_path):
    assert _driver(tmp_path / "version") is None
    (tmp_path / "version").write_text(
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n"
        "GCC version:  gcc version 12.2.0\n"
    )
    assert _driver(tmp_path / "version") == "580.95.05"


def test_a_training_that_stays_on_one_kind_of_machine_notes_it_once(caplog):
    state = {"epoch": 0}
    for epoch in (0, 3, 5):
        state["epoch"] = epoch
        note_machine(state, CPU, "it")
    assert state["machines"] == [{"after_epoch": 0, **machine_of(CPU)}]
    assert not caplog.records


def test_another_kind_of_machine_is_noted_and_said(monkeypatch, caplog):
    state = {"epoch": 0}
    for epoch, instructions in ((0, "AVX2"), (4, "AVX512"), (6, "AVX2")):
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda it=instructions: it)
        state["epoch"] = epoch
        note_machine(state, CPU, "it")
    assert [each["after_epoch"] for each in state["machines"]] == [0, 4, 6]
    assert [record.getMessage() for record in caplog.records] == [
        f"it: goes on after epoch {epoch} on another kind of machine (device cpu, instructions "
        f"{now}; before: device cpu, instructions {before}). Its bytes may differ from those of a "
        "training on one kind."
        for epoch, now, before in ((4, "AVX512", "AVX2"), (6, "AVX2", "AVX512"))
    ]
