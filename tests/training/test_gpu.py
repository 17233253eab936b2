"""A GPU gives what the CPU gives, within the tolerances stated here.

Each test runs on a fake GPU (`builders/fake_gpu.py`), which finds tensors on the wrong device, and,
in the suite `gpu`, on a CUDA device, there with the sample and the sizes of the paper.
Both compute in float32 (TF32 off) and may differ only by the order of operations.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from analogyqa.corpora.table import build_corpus
from analogyqa.encoders import build_encoder
from analogyqa.encoders.specs import ENCODERS
from analogyqa.objectives.specs import OBJECTIVES
from analogyqa.rankers import build_ranker
from analogyqa.schemas import SPLITS
from analogyqa.settings.systems import System
from analogyqa.training import infersent, loop
from analogyqa.training.data import load_cell
from analogyqa.training.devices import describe_machine, device_for
from analogyqa.training.learner import Learner, encode, load_state, save_state
from analogyqa.training.loop import train_seed
from analogyqa.training.optimisers import Adam
from analogyqa.training.scoring import array_encoder, score_split
from builders import fake_gpu
from builders.cells import COMB, stop_after, trained_system

SAMPLE = Path(__file__).parents[2] / "sample"
CPU = torch.device("cpu")
TRAINED = [name for name, entry in ENCODERS.items() if entry.trained and entry.needs_vectors]
torch.set_num_threads(1)

# Tolerances of float32, which has 7 digits: for a vector, for a gradient, which is a sum over all
# tokens of a batch, and for numbers after hundreds of steps.
VECTORS = {"rtol": 1e-4, "atol": 1e-5}
GRADIENTS = {"rtol": 1e-3, "atol": 1e-5}
EPOCHS = {"rtol": 1e-2, "atol": 0.02}

CUDA = pytest.param("cuda", marks=pytest.mark.gpu)
ON_CUDA_ALONE = pytest.mark.parametrize("gpu", [CUDA], indirect=True)
# Training runs take seconds on the fake GPU.
SLOW_ON_THE_FAKE = [pytest.param("fake", marks=pytest.mark.slow), CUDA]


@pytest.fixture(params=["fake", CUDA])
def gpu(request, monkeypatch):
    """A GPU: the fake one, or CUDA with the numerics of a job."""
    if request.param == "cuda":
        if not torch.cuda.is_available():
            pytest.skip(f"no GPU: PyTorch {torch.__version__} sees no CUDA device here")
        yield device_for("cuda")
        return
    for module in (loop, infersent):
        monkeypatch.setattr(module, "save_state", _save)
        monkeypatch.setattr(module, "load_state", _load)
    # With a device, it would make a tensor without values, which the fake GPU does not see.
    monkeypatch.setattr(torch, "tensor", _tensor)
    with fake_gpu.FakeGPU():
        yield fake_gpu.DEVICE


def _tensor(values: list, *, device: torch.device = CPU, make=torch.tensor) -> torch.Tensor:
    return make(values).to(device)


def _save(state: dict, path: Path) -> None:
    save_state(fake_gpu.to_cpu(state), path)


def _load(path: Path, device: torch.device) -> dict:
    return fake_gpu.moved(load_state(path, CPU), device)


@pytest.fixture
def corpus(gpu, corpus):
    if gpu.type != "cuda":
        return corpus
    files = {split: str(SAMPLE / "wikiqa" / f"WikiQA-{split}.tsv") for split in SPLITS}
    return build_corpus("sample", "wikiqa", files, {name: [name] for name in COMB}, {})


@pytest.fixture
def data(gpu, cell_files):
    dim, p = (300, 30) if gpu.type == "cuda" else (8, 3)
    return load_cell(cell_files(dim=dim, p=p), COMB, trained_system(p=p), lowercase=True)


@pytest.fixture
def make_system(gpu):
    """Make a system, by default without dropout, whose masks differ by device."""
    sizes = {} if gpu.type == "cuda" else {"sentence_dim": 8, "batch_size": 4}

    def make(encoder="bigru", ranker="analogy", **values):
        training = {"max_epochs": 3, "patience": 3, "dropout": 0, **sizes, **values}
        return System(title="S", encoder=encoder, vectors="some", ranker=ranker, training=training)

    return make


def on_both(gpu, system, data):
    return [
        build_encoder(system.encoder, data.word_vectors, system.training, 0).to(device)
        for device in (CPU, gpu)
    ]


def assert_close(actual, expected, tolerance):
    torch.testing.assert_close(actual.detach().cpu(), expected.detach().cpu(), **tolerance)


def take_step(encoder, data, system):
    device = next(encoder.parameters()).device
    epoch_batches = system.objective.draws.load()
    batch = next(epoch_batches(data, system.training, 0, 1, system.compares))
    optimiser = Adam(encoder.parameters(), system.training)
    vectors = encode(encoder, data.sentences, batch.sentences, device)
    loss = OBJECTIVES[system.training.loss].load()(
        build_ranker(system), *batch.quadruples(vectors), system.training
    )
    loss.backward()
    gradients = {name: weight.grad.clone() for name, weight in encoder.named_parameters()}
    optimiser.step()
    return loss, gradients, dict(encoder.named_parameters())


@pytest.mark.parametrize(
    ("name", "loss"),
    [*(("bigru", loss) for loss in OBJECTIVES), *((name, "printed") for name in TRAINED[1:])],
)
def test_loss_gradients_and_one_step(gpu, data, make_system, name, loss):
    ranks_pairs = OBJECTIVES[loss].ranks_pairs or loss == "hinge"
    ranker = "cosine" if ranks_pairs else "analogy"
    system = make_system(name, ranker, loss=loss)
    expected, actual = (take_step(encoder, data, system) for encoder in on_both(gpu, system, data))
    assert_close(actual[0], expected[0], VECTORS)
    for key, gradient in expected[1].items():
        assert_close(actual[1][key], gradient, GRADIENTS)
        # The first step of Adam is the sign of a gradient, which rounding decides near 0.
        differs = (actual[2][key].detach().cpu() - expected[2][key].detach()).abs() > 1e-5
        assert differs.float().mean() < 0.01


@pytest.mark.parametrize(
    ("name", "ranker"), [*((name, "analogy") for name in TRAINED), ("bigru", "cosine")]
)
def test_scores(gpu, data, make_system, name, ranker):
    system = make_system(name, ranker)
    expected, actual = (
        score_split(array_encoder(encoder.eval(), device), data, "test", build_ranker(system))
        for device, encoder in zip((CPU, gpu), on_both(gpu, system, data), strict=True)
    )
    np.testing.assert_allclose(actual[0], expected[0], **VECTORS)
    assert (actual[1] == expected[1]).mean() > 0.99  # the best prototype; ties may differ


def train(data, device, system, checkpoint, on_epoch=lambda history: None):
    return train_seed(Learner(system, data, 0, device), checkpoint, "test", on_epoch)


def history_curves(trained):
    """Return the history with one row per epoch, without times."""
    wide = trained.history.pivot(index="epoch", columns="measure", values="value")
    return wide.drop(columns=["seconds", "examples_per_second"])


# On the fake GPU, test_loss_gradients_and_one_step is enough for the other encoders.
CURVES = [
    pytest.param("fake", "bigru", marks=pytest.mark.slow),
    *(pytest.param("cuda", name, marks=pytest.mark.gpu) for name in TRAINED),
]


@pytest.mark.parametrize(("gpu", "name"), CURVES, indirect=["gpu"])
def test_three_epochs(gpu, data, make_system, tmp_path, name):
    expected = history_curves(train(data, CPU, make_system(name), tmp_path / "cpu.pt"))
    actual = history_curves(train(data, gpu, make_system(name), tmp_path / "gpu.pt"))
    curves = ["loss", "dev_map", "dev_mrr"]
    np.testing.assert_allclose(actual[curves], expected[curves], **EPOCHS)
    assert actual["loss"].iloc[-1] < actual["loss"].iloc[0]


@ON_CUDA_ALONE
@pytest.mark.parametrize("name", TRAINED)
def test_a_repeated_training_run_gives_the_same_bytes(gpu, data, make_system, tmp_path, name):
    system = make_system(name, dropout=0.5)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*deterministic")
        first, second = (train(data, gpu, system, tmp_path / f"{time}.pt") for time in (1, 2))
    pd.testing.assert_frame_equal(first.scores, second.scores, check_exact=True)
    pd.testing.assert_frame_equal(*map(history_curves, (first, second)), check_exact=True)


@pytest.mark.parametrize("begins_on_the_gpu", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_training_run_resumes_on_the_other_device_with_a_warning(
    gpu, data, make_system, tmp_path, caplog, begins_on_the_gpu
):
    system = make_system(max_epochs=2)
    first, second = (gpu, CPU) if begins_on_the_gpu else (CPU, gpu)
    expected = train(data, first, system, tmp_path / "whole.pt")
    with pytest.raises(KeyboardInterrupt):
        train(data, first, system, tmp_path / "cut.pt", stop_after(1))
    caplog.clear()
    resumed = train(data, second, system, tmp_path / "cut.pt")
    losses = [history_curves(trained)["loss"] for trained in (resumed, expected)]
    np.testing.assert_allclose(*losses, **EPOCHS)
    assert resumed.machines == [
        {"after_epoch": 0, **describe_machine(first)},
        {"after_epoch": 1, **describe_machine(second)},
    ]
    (warning,) = (record.getMessage() for record in caplog.records if record.levelname == "WARNING")
    assert "test: resuming after epoch 1 on another kind of machine" in warning
    assert f"before: device {first.type}" in warning


@pytest.mark.parametrize("gpu", SLOW_ON_THE_FAKE, indirect=True)
def test_infersent(gpu, tmp_path):
    words = ["a", "man", "dog", "is", "eating", "happy"]
    lines = [f"{word} {' '.join(map(str, np.eye(6)[row]))}\n" for row, word in enumerate(words)]
    (tmp_path / "words.vec").write_text("".join(lines))
    pairs = [("a man", "a dog"), ("a man is", "man"), ("dog is eating", "happy dog")]
    lines = [f"{first}\t{second}\t{label}\n" for label, (first, second) in enumerate(pairs)]
    (tmp_path / "nli.txt").write_text("".join(lines * 50))
    files = [str(tmp_path / "nli.txt")]
    sources = files, files, str(tmp_path / "words.vec")
    weights = []
    for device in (CPU, gpu):
        path, checkpoint = (tmp_path / f"{device.type}.{name}" for name in ("pt", "state"))
        infersent.train(*sources, True, 8, 0, device, checkpoint, path, max_epochs=2)
        weights.append(load_state(path, CPU))
    for key, values in weights[0].items():
        assert_close(weights[1][key], values, EPOCHS)


@ON_CUDA_ALONE
def test_memory_does_not_grow_with_the_epochs(gpu, data, make_system, tmp_path, report_count):
    peaks = []
    for epochs in (1, 1, 4):  # the first training run starts cuDNN
        torch.cuda.reset_peak_memory_stats()
        system = make_system(max_epochs=epochs, patience=9)
        train(data, gpu, system, tmp_path / f"{len(peaks)}.pt")
        peaks.append(torch.cuda.max_memory_allocated())
    report_count(f"{torch.cuda.get_device_name()}: at most {peaks[2] >> 20} MiB of its memory")
    assert peaks[2] < 1.1 * peaks[1]
    assert peaks[2] < 1 << 30
