"""The learner: an encoder, possibly a ranker that learns, their optimiser and weight averages.

Its state is saved as a checkpoint, from which training resumes.
"""

import io
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import Parameter

from analogyqa.encoders import Encoder, build_encoder
from analogyqa.errors import explain_damage
from analogyqa.files import atomic_path
from analogyqa.objectives.specs import OBJECTIVES
from analogyqa.rankers import Quadruples, build_ranker
from analogyqa.settings.systems import System
from analogyqa.text import Sentences
from analogyqa.training.batches import Batch
from analogyqa.training.data import CellData
from analogyqa.training.specs import OPTIMISERS

ENCODER = "encoder"  # the name of the encoder in a model, which may also have a ranker
Number = TypeVar("Number", float, Tensor)


def save_state(state: dict, path: str | Path) -> None:
    """Write the state of a training run atomically."""
    # In memory first: on a full disk, PyTorch's own writer aborts without naming the cause.
    serialized = io.BytesIO()
    torch.save(state, serialized)
    with atomic_path(path) as temporary:
        temporary.write_bytes(serialized.getvalue())


def load_state(path: str | Path, device: torch.device) -> dict:
    """Read a state that `save_state` wrote; raises AnalogyQAError when the file is damaged."""
    remedy = (
        "Delete it and run the same command again; training will then start from the first epoch."
    )
    with explain_damage(path, "damaged checkpoint", remedy):
        state = torch.load(path, map_location=device, weights_only=True)
        if not isinstance(state, dict):
            raise ValueError(f"a {type(state).__name__}")
        return state


def encoder_weights(state: dict, version: str) -> dict[str, Tensor]:
    """Return a version of the encoder's weights (`System.scoring_weights`) after its best epoch."""
    prefix = f"{ENCODER}."
    return {
        name.removeprefix(prefix): value
        for name, value in state["best"][version]["weights"].items()
        if name.startswith(prefix)
    }


class WeightAverages:
    """Averages of weights that start at zero and are corrected for it (Kingma and Ba 2015, 7.2).

    `decay` in [0, 1) is the factor of the old average in each step.
    """

    def __init__(self, parameters: Sequence[Parameter], decay: float) -> None:
        self.parameters = parameters
        self.decay = decay
        self.steps = 0
        self.sums = [torch.zeros_like(parameter) for parameter in parameters]

    @torch.no_grad()
    def update(self) -> None:
        self.steps += 1
        for total, parameter in zip(self.sums, self.parameters, strict=True):
            total.lerp_(parameter, 1 - self.decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Replace the weights by their averages."""
        weights = [parameter.detach().clone() for parameter in self.parameters]
        if self.steps:
            self._set([total / (1 - self.decay**self.steps) for total in self.sums])
        try:
            yield
        finally:
            self._set(weights)

    @torch.no_grad()
    def _set(self, values: Sequence[Tensor]) -> None:
        for parameter, value in zip(self.parameters, values, strict=True):
            parameter.copy_(value)

    def state_dict(self) -> dict:
        return {"sums": self.sums, "steps": self.steps}

    def load_state_dict(self, state: dict) -> None:
        self.sums, self.steps = state["sums"], state["steps"]


def encode(
    encoder: Encoder, sentences: Sentences, numbers: np.ndarray, device: torch.device
) -> Tensor:
    """Encode sentences, given by their numbers [n], in one batch: [n, dim]."""
    words, lengths = sentences.batch(numbers)
    return encoder(torch.from_numpy(words).to(device), torch.from_numpy(lengths))


class Learner:
    """A system whose encoder, ranker or both are being trained on the data of one seed.

    From the seed follow initial weights, dropout, batches and drawn negatives. The device is that
    of `devices.device_for`.
    """

    def __init__(self, system: System, data: CellData, seed: int, device: torch.device) -> None:
        self.system = system
        self.data = data
        self.seed = seed
        self.device = device
        training = system.training
        self.encoder = build_encoder(system.encoder_name, data.word_vectors, training, seed)
        reads_words = system.ranker_spec.reads == "words"
        dim = data.word_vectors.shape[1] if reads_words else training.sentence_dim
        self.ranker = build_ranker(system, dim, seed)
        self.model = nn.ModuleDict({ENCODER: self.encoder})
        if isinstance(self.ranker, nn.Module):
            self.model["ranker"] = self.ranker
        self.model.to(device)
        self.parameters = [weight for weight in self.model.parameters() if weight.requires_grad]
        self.optimiser = OPTIMISERS[training.optimiser].load()(self.parameters, training)
        self._stateful: dict[str, Any] = {"model": self.model, "optimiser": self.optimiser}
        self.averages = None
        if training.weight_averaging:
            self.averages = WeightAverages(self.parameters, training.weight_averaging)
            self._stateful["averages"] = self.averages
        self._objective = OBJECTIVES[training.loss]
        self._loss = self._objective.load()

    def batches(self, epoch: int) -> Iterator[Batch]:
        draw = self._objective.draws.load()
        return draw(self.data, self.system.training, self.seed, epoch, self.system.compares)

    def encode(self, numbers: np.ndarray) -> Tensor:
        return encode(self.encoder, self.data.sentences, numbers, self.device)

    def step(self, batch: Batch) -> tuple[float, Tensor]:
        """Take one step; return the summed loss of the batch, and the vectors of its sentences."""
        self.optimiser.zero_grad()
        vectors = self.encode(batch.sentences)
        quadruples, labels = batch.quadruples(vectors)
        loss = self.loss(self.ranker, quadruples, labels)
        loss.backward()
        self.optimiser.step()
        if self.averages:
            self.averages.update()
        return self.summed(loss.item(), labels), vectors.detach()

    def loss(self, ranker: Any, quadruples: Quadruples, labels: Tensor) -> Tensor:
        """Return the loss of a batch with the energies of a ranker, a scalar."""
        return self._loss(ranker, quadruples, labels, self.system.training)

    def summed(self, loss: Number, labels: Tensor) -> Number:
        """Return the loss of quadruples with labels [n] as a sum; most objectives give the mean."""
        return loss if self._objective.summed else loss * len(labels)

    def weight_versions(self) -> dict[str, AbstractContextManager[None]]:
        """Return the versions of the weights that may score, as contexts that put them in place."""
        versions: dict[str, AbstractContextManager[None]] = {"last": nullcontext()}
        return versions | ({"averaged": self.averages.in_place()} if self.averages else {})

    def state_dict(self) -> dict:
        """Return the state from which training resumes after an epoch."""
        return {name: part.state_dict() for name, part in self._stateful.items()}

    def load_state_dict(self, state: dict) -> None:
        for name, part in self._stateful.items():
            part.load_state_dict(state[name])


def trained_learner(data: CellData, system: System, seed: int, checkpoint: Path) -> Learner:
    """Return a learner on the CPU with the weights of the epoch that dev chose, to score with.

    Raises AnalogyQAError when the checkpoint is damaged.
    """
    cpu = torch.device("cpu")
    learner = Learner(system, data, seed, cpu)
    best = load_state(checkpoint, cpu)["best"][system.scoring_weights]
    learner.model.load_state_dict(best["weights"])
    learner.model.eval()
    return learner
