"""A trained cell is looked into by its checkpoint, without training again."""

import pytest
from pretrained import tiny

from analogyqa.encoders import minilm
from analogyqa.errors import AnalogyQAError
from analogyqa.plan import Cell
from analogyqa.runs.choose import resolve_system
from analogyqa.runs.inside import write_inside
from analogyqa.runs.train import checkpoint_path, table_hashes, train_cell
from analogyqa.schemas import SCORES, read_table
from analogyqa.schemas.inside import INSIDE
from analogyqa.settings.systems import System
from analogyqa.training import loop

TRAINING = {"loss": "mix", "sentence_dim": 4, "max_epochs": 1, "dropout": 0.0}
HYPERBOLIC = {"name": "hyperbolic", "gradient": "euclidean"}
NET = {"encoder": "nbow", "vectors": "some", "ranker": HYPERBOLIC}
CELL = Cell("net", "toy", "all")


def system(**training):
    return System(title="N", **NET, training=TRAINING | training)


@pytest.fixture
def files(cell_files):
    return {seed: cell_files(seed, types=None)._replace(prototypes=None, quadruples={})
            for seed in (3, 4)}  # fmt: skip


@pytest.fixture
def trained(files, tmp_path):
    sources = {"train": "toy"}
    folders = tmp_path / "checkpoints", tmp_path / "run"
    train_cell(CELL, None, system(), "paper", files, sources, True, "cpu", *folders)
    return tmp_path / "run"


def look(files, folder, system, seed=3, name="inside.parquet"):
    checkpoints = folder.parent / "checkpoints"
    write_inside(CELL, None, system, seed, files[seed], True, checkpoints, folder / name)
    return folder / name


def test_nothing_is_trained_again(trained, files, monkeypatch):
    monkeypatch.setattr(loop, "train_seed", None)
    inside = read_table(look(files, trained, system()), INSIDE)
    scores = read_table(trained / "scores.parquet", SCORES)
    ranked = scores[(scores["seed"] == 3) & (scores["split"] == "test")]["candidate_id"]
    candidates = inside[inside["kind"] == "candidate"]["id"]
    assert candidates.tolist() == ranked.tolist()


def test_an_encoder_with_its_own_vocabulary_shows_its_word_pieces(
    cell_files, monkeypatch, tmp_path
):
    model = tiny.save_bert(tmp_path / "minilm")
    monkeypatch.setattr(minilm, "_folder", lambda: model)
    files = {3: cell_files(3)._replace(vectors=None)}
    training = {"max_epochs": 1, "dropout": 0.1, "loss": "pairwise"}
    system = System(title="M", encoder="minilm", ranker="cosine", p=3, training=training)
    folders, types = (tmp_path / "checkpoints", tmp_path / "run"), ["who", "when", "where"]
    train_cell(CELL, types, system, "paper", files, {"train": "toy"}, True, "cpu", *folders)
    path = tmp_path / "run" / "inside.parquet"
    write_inside(CELL, types, system, 3, files[3], True, folders[0], path)
    inside = read_table(path, INSIDE).set_index("kind")
    assert "[CLS]" in set(inside.loc["word", "text"])
    assert inside.loc["question", "words"].iloc[0][0] == "[CLS]"
    assert (inside["norm"] > 0).all()


def test_each_seed_has_its_own_table(trained, files):
    first, other = (
        read_table(look(files, trained, system(), seed, f"{seed}.parquet"), INSIDE)
        for seed in (3, 4)
    )
    assert first["text"].tolist() == other["text"].tolist()
    assert (first["norm"] != other["norm"]).mean() > 0.9


@pytest.mark.parametrize("why", ["deleted", "another training"])
def test_a_missing_checkpoint_is_one_message_with_the_remedy(trained, files, why):
    changed = system(max_epochs=2) if why == "another training" else system()
    if why == "deleted":
        for path in (trained.parent / "checkpoints").glob("*.pt"):
            path.unlink()
    name = checkpoint_path(
        trained.parent / "checkpoints", None, changed, 3, table_hashes(files[3]), True
    ).name
    message = rf"{name}: .* net toy all seed 3 is missing.* Delete .*run/run\.json, then"
    with pytest.raises(AnalogyQAError, match=message):
        look(files, trained, changed)
    assert not (trained / "inside.parquet").exists()


def test_a_damaged_checkpoint_leaves_no_table(trained, files):
    for path in (trained.parent / "checkpoints").glob("*.pt"):
        path.write_bytes(b"no checkpoint")
    with pytest.raises(AnalogyQAError, match="damaged checkpoint"):
        look(files, trained, system())
    assert not (trained / "inside.parquet").exists()


def test_the_system_of_a_cell_is_the_only_or_the_chosen_one(tmp_path):
    settings = {name: NET | {"training": {"loss": "mix", "margin": margin}}
                for name, margin in (("a", 0.25), ("b", 0.5))}  # fmt: skip
    assert resolve_system(settings, None)[0] == "a"
    record = tmp_path / "selection.json"
    record.write_text('{"tuned": "b"}')
    hyperparameters, tuned = resolve_system(settings, record)
    assert (hyperparameters, tuned.training.margin) == ("b", 0.5)
