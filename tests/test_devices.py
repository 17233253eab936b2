"""The device that a configuration stands for on a machine."""

import pytest
import torch

from analogyqa.devices import device_for
from analogyqa.errors import AnalogyQAError


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
