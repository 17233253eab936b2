"""The costs of training: counted, timed in turns, and read back."""

import json

from analogyqa.cells.cell import system_settings
from analogyqa.runs import cost
from analogyqa.runs.cost import STEPS, measure_costs, processor, read_costs
from analogyqa.settings.systems import System

TRAINING = {"loss": "mix", "sentence_dim": 4, "batch_size": 4, "negatives": {"count": 2}}


def system(ranker, **training):
    values = {"title": "S", "encoder": "nbow", "vectors": "v", "ranker": ranker}
    return System(**values, training=TRAINING | training)


def measure(systems, files, path):
    settings = {"systems": {name: system_settings(one) for name, one in systems.items()}}
    settings |= {"question_types": None, "lowercase": dict.fromkeys(systems, True)}
    measure_costs(settings, files.corpus, {"v": files.vectors}, "cpu", path)


def test_trained_parameters_and_equally_many_steps_are_counted(cell_files, tmp_path, monkeypatch):
    path = tmp_path / "costs" / "toy" / "all.json"
    path.parent.mkdir(parents=True)
    turns, take_steps = [], cost._take_steps

    def recorded_steps(learner):
        for step in take_steps(learner):
            turns.append(learner.system.ranker.name)
            yield step

    monkeypatch.setattr(cost, "_take_steps", recorded_steps)
    systems = {"near": system("hyperbolic"), "wide": system("cosine", sentence_dim=8)}
    measure(systems, cell_files(types=None, p=1), path)
    costs = read_costs([path])
    assert set(costs) == {("toy", "all", "near"), ("toy", "all", "wide")}
    near, wide = costs["toy", "all", "near"], costs["toy", "all", "wide"]
    dim = (wide.parameters - 8) // 8
    assert near.values("parameters") == [(dim + 1) * 4 + 2]
    assert wide.values("parameters") == [(dim + 1) * 8]
    for system_cost in (near, wide):
        epochs = [seconds * near.batches for seconds in system_cost.seconds]
        assert system_cost.values("seconds_per_epoch") == epochs
        assert len(epochs) == STEPS and min(epochs) > 0 and near.batches > 1
        assert system_cost.machine == f"{processor()}, one thread"
    assert "git_commit" in json.loads(path.read_text())
    assert turns == ["hyperbolic", "cosine"] * (STEPS + 1)
