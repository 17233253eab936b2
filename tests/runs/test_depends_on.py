"""The code that a result depends on is computed from its imports."""

from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest

from analogyqa.encoders.specs import ENCODERS
from analogyqa.examples.specs import EXAMPLES
from analogyqa.objectives.specs import OBJECTIVES
from analogyqa.rankers.specs import RANKERS
from analogyqa.runs import depends_on
from analogyqa.runs.depends_on import LIBRARY, code_hash, content_hash, imported, sha256
from analogyqa.runs.train import system_modules
from analogyqa.settings.systems import System
from analogyqa.training.specs import OPTIMISERS

SCRIPTS = Path(__file__).parents[2] / "workflow_scripts"
TRAINING = "analogyqa.training.loop"


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Replace our library by an empty one, and return a function that writes its modules."""
    monkeypatch.setattr(depends_on, "LIBRARY", tmp_path)

    def write(name: str, text: str = "") -> None:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        depends_on._imports.cache_clear()
        code_hash.cache_clear()

    yield write
    depends_on._imports.cache_clear()
    code_hash.cache_clear()


def test_a_file_has_the_sha256_of_its_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256(tmp_path / "a") == expected


def test_the_content_hash_ignores_the_order_of_keys_only():
    assert content_hash({"a": 1, "b": [1, 2]}) == content_hash({"b": [1, 2], "a": 1})
    assert content_hash({"a": 1, "b": [1, 2]}) != content_hash({"a": 1, "b": [2, 1]})


def test_imports_are_followed_wherever_they_stand(library):
    library("a.py", "from analogyqa.b import x\nimport numpy\n")
    library("b.py", "def f():\n    import analogyqa.package.c\n")
    library("package/__init__.py")
    library("package/c.py", "from analogyqa.package import d\nfrom analogyqa import e\n")
    library("package/d.py", "from analogyqa.a import y\n")
    library("e.py")
    assert imported("analogyqa.a") == {
        f"analogyqa.{name}" for name in ("a", "b", "package", "package.c", "package.d", "e")
    }


def test_settings_specs_and_type_checking_imports_are_ignored(library):
    library("a.py", "if TYPE_CHECKING:\n    from analogyqa.b import B\nimport analogyqa.plan\n")
    for name in ("b.py", "plan.py", "package/specs.py"):
        library(name)
    library("settings/__init__.py")
    library("c.py", "from analogyqa.settings import x\nfrom analogyqa.package.specs import y\n")
    assert imported("analogyqa.a", "analogyqa.c") == {"analogyqa.a", "analogyqa.c"}


def test_the_hash_of_a_script_depends_on_its_imports(library, tmp_path):
    library("a.py")
    script = tmp_path / "script.py"
    script.write_text("from analogyqa.a import x\n")
    before = code_hash(script)
    library("other.py", "# changed")
    assert code_hash(script) == before
    library("a.py", "# changed")
    assert code_hash(script) != before


@pytest.mark.parametrize("package", ["report", "tracking", "settings", "sources", "pretrained"])
def test_training_does_not_depend_on_unrelated_packages(package):
    """An edit there must not repeat a training run."""
    entries = [*ENCODERS.values(), *RANKERS.values(), *OBJECTIVES.values()]
    entries += [*EXAMPLES.values(), *OPTIMISERS.values()]
    modules = imported(TRAINING, *(entry.module for entry in entries))
    assert modules
    assert not [name for name in modules if name.split(".")[1] == package]


def importers_of(file, entry_points):
    """Return the names of the entry points that import a file of the library."""
    module = ".".join(("analogyqa", *Path(file).with_suffix("").parts)).removesuffix(".__init__")
    assert (LIBRARY / file).exists()
    return {name for name, modules in entry_points.items() if module in imported(*modules)}


# Every system as the rules hash it: trained by each loss, with each ranker and each encoder.
ENTRY_POINTS = {}
for ranker, encoder, loss in product(RANKERS, [None, *ENCODERS], [None, *OBJECTIVES]):
    vectors = "v" if encoder and ENCODERS[encoder].needs_vectors else None
    parts = {"parts": ["a", "b"]} if RANKERS[ranker].reads == "scores" else {}
    training = {"training": {"loss": loss}} if loss else {}
    names = {"encoder": encoder, "vectors": vectors, "ranker": {"name": ranker, **parts}}
    with suppress(ValueError):  # the combination is not allowed
        system = System(title="S", **names, **training)
        if system.trained == bool(loss):
            script = "train_encoder" if loss else "fuse_scores" if parts else "score_candidates"
            ENTRY_POINTS[ranker, encoder, loss] = (
                SCRIPTS / f"{script}.py",
                *system_modules(system),
            )


@pytest.mark.parametrize(
    ("file", "users"),
    [
        ("rankers/analogy.py", {"analogy", "hybrid"}),
        ("rankers/cosine.py", {"cosine", "hybrid"}),
        (
            "rankers/energy.py",
            {"analogy", "cosine", "scaled_cosine", "hybrid", "ap_cnn", "ap_bilstm"},
        ),
        ("rankers/mapped.py", {"mapped"}),
        ("rankers/padding.py", {"ap_cnn", "ap_bilstm", "mp_cnn", "ai_cnn", "compare_aggregate"}),
        ("rankers/mp_cnn.py", {"mp_cnn"}),
        ("rankers/hyperbolic.py", {"hyperbolic"}),
        ("rankers/bm25.py", {"bm25"}),
        (
            "objectives/contrastive.py",
            {"printed", "hinge", "lwda", "lwda_distance", "lwda_euclidean"},
        ),
        ("objectives/both_sides.py", {"lwda", "lwda_distance", "lwda_euclidean"}),
        ("objectives/pairwise.py", {"pairwise"}),
        ("objectives/mix.py", {"mix"}),
        ("examples/mix.py", {"mix"}),
        ("encoders/gru.py", {"bigru", "untrained_bigru"}),
        ("encoders/cnn.py", {"cnn"}),
        ("encoders/mean.py", {"mean", "sum", "unit_mean"}),
        ("encoders/random.py", {"random"}),
    ],
)
def test_a_system_depends_only_on_its_own_plug_ins(file, users):
    assert importers_of(file, ENTRY_POINTS) == {name for name in ENTRY_POINTS if users & set(name)}


def test_every_plug_in_is_used_by_a_system():
    used = {module for _, *modules in ENTRY_POINTS.values() for module in modules}
    used |= {OPTIMISERS[name].module for name in OPTIMISERS}  # any system may use each of them
    entries = [*RANKERS.values(), *OBJECTIVES.values(), *ENCODERS.values()]
    entries += [*EXAMPLES.values(), *OPTIMISERS.values()]
    assert used == {entry.module for entry in entries}


@pytest.mark.parametrize("file", ["training/loop.py", "measures.py", "rankers/__init__.py"])
def test_every_training_run_depends_on_shared_modules(file):
    assert {name for name in ENTRY_POINTS if name[2]} <= importers_of(file, ENTRY_POINTS)


def test_only_scripts_that_write_reports_depend_on_the_report_package():
    scripts = {path.stem: (path,) for path in SCRIPTS.glob("*.py")}
    users = {
        script
        for file in LIBRARY.glob("report/*.py")
        for script in importers_of(f"report/{file.name}", scripts)
    }
    assert "write_ledger" in users
    reports = {"judge_claims", "render_table", "draw_figure", "write_ledger"}
    reports |= {"write_sensitivity", "write_cross_validation", "write_pairs", "write_report"}
    reports |= {"explain_examples"}  # for its page
    assert users <= reports


def test_the_hash_covers_a_new_template_but_no_hidden_file(library):
    library("page.py")
    before = code_hash("analogyqa.page")
    library("templates/.page.html.swp", "of an editor")
    assert code_hash("analogyqa.page") == before
    library("templates/page.html", "<p>")
    assert code_hash("analogyqa.page") != before


def test_every_script_depends_on_some_code():
    scripts = list(SCRIPTS.glob("*.py"))
    assert len(scripts) > 15
    for script in scripts:
        # These belong to no rule.
        assert script.stem in ("slurm_patience", "run_script") or imported(script), script
