"""A training step against that of four towers, its own matrix products, and one in bfloat16."""

from collections.abc import Callable
from functools import partial
from itertools import islice

import cells
import plain
import torch
from measure import in_turn, kinds, record
from torch import Tensor
from torch.profiler import profile
from torch.utils._python_dispatch import TorchDispatchMode

from analogyqa.encoders import Encoder, build_encoder
from analogyqa.objectives.losses import printed
from analogyqa.rankers import build_ranker
from analogyqa.settings.systems import System, Training
from analogyqa.training.batches import Batch, quadruple_batches
from analogyqa.training.data import CellData
from analogyqa.training.devices import describe_machine
from analogyqa.training.learner import encode
from analogyqa.training.optimisers import Adam

BATCHES, ROUNDS = 2, 2
PRODUCTS = {"mm", "addmm", "bmm", "_linear_pointwise"}
COPIES = {
    "copy_",
    "cat",
    "index_select",
    "index",
    "index_add_",
    "embedding",
    "fill_",
    "masked_fill_",
}


class Products(TorchDispatchMode):
    """Notes the matrix products of what runs, as calls that repeat them."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Callable[[], object]] = []

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        if operator.overloadpacket.__name__ in PRODUCTS:
            values = [value.detach() if isinstance(value, Tensor) else value for value in args]
            self.calls.append(partial(operator, *values))
        return operator(*args, **(kwargs or {}))

    @torch.no_grad()
    def repeat(self) -> None:
        for call in self.calls:
            call()


def shares(run: Callable[[], object]) -> dict[str, float]:
    """Return the share of the CPU time that each kind of operator takes, in %."""
    with profile() as profiled:
        run()
    seconds = dict.fromkeys(("matrix products", "copies", "all others"), 0.0)
    for event in profiled.key_averages():
        operator = event.key.rpartition("::")[2]
        kind = "copies" if operator in COPIES else "all others"
        seconds["matrix products" if operator in PRODUCTS else kind] += event.self_cpu_time_total
    return {kind: 100 * value / sum(seconds.values()) for kind, value in seconds.items()}


def measure(data: CellData, batches: list[Batch], kind: str) -> None:
    """Record the step on a device, cpu or cuda."""
    training, device = Training(weight_decay=0), torch.device(kind)
    ranker = build_ranker(System(title="", encoder="bigru", vectors="drawn", ranker="analogy"))

    def steps(
        loss_of: Callable[[Encoder, Batch], Tensor], precision: str = "float32"
    ) -> Callable[[], None]:
        """Return a function that takes a step for each batch."""
        chosen = training.model_copy(update={"precision": precision})
        encoder = build_encoder("bigru", data.word_vectors, chosen, cells.SEED).to(device)
        optimiser = Adam(encoder.parameters(), chosen)

        def run() -> None:
            for batch in batches:
                loss = loss_of(encoder, batch)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                loss.item()

        return run

    def our_loss(encoder: Encoder, batch: Batch) -> Tensor:
        vectors = encode(encoder, data.sentences, batch.sentences, device)
        return printed(ranker, *batch.quadruples(vectors), training)

    ours = steps(our_loss)
    four_towers = steps(lambda encoder, batch: plain.batch_loss(encoder, data, batch, training))
    with Products() as products:
        ours()
    ways = {"ours": ours, "other": four_towers, "products": products.repeat}
    if kind == "cpu" and describe_machine(device, "bfloat16")["bfloat16"]:
        ways["bfloat16"] = steps(our_loss, "bfloat16")
    seconds = in_turn(ways, ROUNDS)
    quadruples = sum(len(batch.labels) for batch in batches)
    rate, other = quadruples / seconds["ours"], quadruples / seconds["other"]
    name = cells.data_name()
    record("training step", name, "quadruples/s", rate, other, packages=["torch"], kind=kind)
    if kind == "cpu":  # a GPU would need synchronising
        figures = (seconds["ours"], seconds["products"])
        record("training step: limit", name, "s", *figures, packages=["torch"])
        for operators, share in shares(ours).items():
            record("training step: shares", operators, "%", share, packages=["torch"])
    if "bfloat16" in seconds:
        figures = (seconds["bfloat16"], seconds["ours"])
        record("training step: bfloat16", name, "s", *figures, packages=["torch"])


def main() -> None:
    torch.set_num_threads(1)  # as in a job
    data = cells.drawn_cell()
    batches = list(islice(quadruple_batches(data, Training(), cells.SEED, 1), BATCHES))
    for kind in kinds():
        measure(data, batches, kind)


if __name__ == "__main__":
    main()
