"""The code that a result depends on is computed from its imports."""

from pathlib import Path

import pytest

from analogyqa.registry import ENCODERS
from analogyqa.runs import depends_on
from analogyqa.runs.depends_on import code_hash, content_hash, imported, sha256

SCRIPTS = Path(__file__).parents[2] / "workflow_scripts"
TRAINING = "analogyqa.training.loop"


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A small library in place of ours; returns a function that writes a module of it."""
    monkeypatch.setattr(depends_on, "LIBRARY", tmp_path)

    def write(name: str, text: str = "") -> None:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        depends_on._imports_of.cache_clear()
        code_hash.cache_clear()

    yield write
    depends_on._imports_of.cache_clear()
    code_hash.cache_clear()


def test_a_file_has_the_sha256_of_its_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256(tmp_path / "a") == expected


def test_the_content_hash_ignores_the_order_of_keys_only():
    assert content_hash({"a": 1, "b": [1, 2]}) == content_hash({"b": [1, 2], "a": 1})
    assert content_hash({"a": 1, "b": [1, 2]}) != content_hash({"a": 1, "b": [2, 1]})


def test_imports_are_followed_at_whatever_place(library):
    library("a.py", "from analogyqa.b import x\nimport numpy\n")
    library("b.py", "def f():\n    import analogyqa.room.c\n")
    library("room/__init__.py")
    library("room/c.py", "from analogyqa.room import d\nfrom analogyqa import e\n")
    library("room/d.py", "from analogyqa.a import y\n")
    library("e.py")
    assert imported("analogyqa.a") == {
        f"analogyqa.{name}" for name in ("a", "b", "room", "room.c", "room.d", "e")
    }


def test_what_is_a_value_or_for_type_checking_only_is_left_out(library):
    library("a.py", "if TYPE_CHECKING:\n    from analogyqa.b import B\nimport analogyqa.plan\n")
    for name in ("b.py", "plan.py", "registry.py"):
        library(name)
    library("settings/__init__.py")
    library("c.py", "from analogyqa.settings import x\nfrom analogyqa import registry\n")
    assert imported("analogyqa.a", "analogyqa.c") == {"analogyqa.a", "analogyqa.c"}


def test_a_script_counts_by_what_it_imports(library, tmp_path):
    library("a.py")
    script = tmp_path / "script.py"
    script.write_text("from analogyqa.a import x\n")
    before = code_hash(script)
    library("other.py", "# changed")
    assert code_hash(script) == before
    library("a.py", "# changed")
    assert code_hash(script) != before


@pytest.mark.parametrize("room", ["report", "tracking", "settings", "sources", "pretrained"])
def test_no_training_depends_on_a_room_that_it_has_nothing_to_do_with(room):
    """So that an edit there trains nothing."""
    modules = imported(TRAINING, *(entry.module for entry in ENCODERS.values()))
    assert modules
    assert not [name for name in modules if name.split(".")[1] == room]


def test_a_training_depends_on_its_encoder_and_no_other():
    found = imported(TRAINING, ENCODERS["bigru"].module)
    assert "analogyqa.encoders.gru" in found
    assert "analogyqa.encoders.cnn" not in found
    assert {"analogyqa.examples.batches", "analogyqa.measures", "analogyqa.text"} <= found


def test_every_script_depends_on_some_code():
    scripts = list(SCRIPTS.glob("*.py"))
    assert len(scripts) > 15
    for script in scripts:
        assert script.stem == "slurm_patience" or imported(script), script
