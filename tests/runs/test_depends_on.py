"""The code that a result depends on is reached by name, and hashed without its texts."""

import shutil
import sys
from contextlib import suppress
from itertools import chain, product
from pathlib import Path

import pytest
import torch

from analogyqa.encoders.specs import ENCODERS
from analogyqa.objectives.specs import OBJECTIVES
from analogyqa.rankers.specs import RANKERS
from analogyqa.runs import depends_on, train
from analogyqa.runs.depends_on import LIBRARY, Definition, code_hash, content_hash, reached
from analogyqa.runs.train import plugin_code, weights_code
from analogyqa.settings.systems import System
from analogyqa.training.specs import OPTIMISERS
from builders.cells import toy_job, trained_system

SCRIPTS = Path(__file__).parents[2] / "workflow_scripts"


def forget():
    for function in vars(depends_on).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Replace our library by an empty one, and return a function that writes its modules."""
    monkeypatch.setattr(depends_on, "LIBRARY", tmp_path)

    def write(name: str, text: str = "") -> None:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        forget()

    yield write
    forget()


def test_the_content_hash_ignores_the_order_of_keys_only():
    assert content_hash({"a": 1, "b": [1, 2]}) == content_hash({"b": [1, 2], "a": 1})
    assert content_hash({"a": 1, "b": [1, 2]}) != content_hash({"a": 1, "b": [2, 1]})


def names_of(*starts, **options):
    return {f"{module.removeprefix('analogyqa.')}:{name}" for module, name in
            reached(*starts, **options)}  # fmt: skip


def test_names_are_followed_wherever_they_stand(library):
    library("a.py", "from analogyqa.b import x\nONE = 1\ndef f(): return x + ONE\nunused = 1")
    library("b.py", "x: int = 2\nx += 1\ndef g():\n    from analogyqa.package import d\n    d.y")
    library("package/__init__.py", "from analogyqa.e import z")
    library("package/d.py", "y = lambda: analogyqa_e\nfrom analogyqa import e as analogyqa_e")
    library("e.py", "class Z: pass\nz = Z()")
    assert names_of("analogyqa.a") == {"a:f", "a:ONE", "a:unused", "b:x", "b:"}
    assert names_of("analogyqa.a", without=("analogyqa.b",)) == {"a:f", "a:ONE", "a:unused"}
    everything = {"b:x", "b:", "b:g", "package.d:y", "e:Z", "e:z"}
    assert names_of("analogyqa.b") == everything
    library("script.py", "from analogyqa.package import z\nimport numpy\n")
    assert names_of(depends_on.LIBRARY / "script.py") == {"e:Z", "e:z"}


def test_settings_specs_and_type_checking_imports_are_ignored(library):
    library("a.py", "if TYPE_CHECKING:\n    from analogyqa.b import B\nx: B = plan()\n"
            "from analogyqa.cells import plan\nRANKED = {}\ny = RANKED")  # fmt: skip
    for name in ("b.py", "plan.py", "package/specs.py"):
        library(name, "B = plan = SPECS = 1")
    library("settings/__init__.py", "x = 1")
    library("c.py", "from analogyqa.settings import x\nfrom analogyqa.package.specs import SPECS\n"
            "both = x, SPECS")  # fmt: skip
    library("script.py", "from analogyqa.a import x, y\nfrom analogyqa.c import both")
    assert names_of(depends_on.LIBRARY / "script.py") == {"a:x", "a:y", "c:both"}


CODE = '''"""A module."""
from analogyqa.other import helper
from numpy import add as join

def start(values, scale=2):
    """Return a sum."""
    log.info("adding %s", values)
    if not values:
        raise ValueError(f"no values: {values}")
    return join(helper(values), scale)
'''
HELPER = "def helper(values):\n    return -sum(values)\n"


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        ("A module", "A long module", True),
        ("    log", "    # why\n\n    log", True),
        ("Return a sum", "Return the sum", True),
        ('"adding %s", values', '"%d values", len(values)', True),
        ("no values: {values}", "{values} has no value", True),
        ("ValueError(f", "TypeError(f", False),
        ("analogyqa.other import", "analogyqa.moved import", True),
        ("analogyqa.other import", "analogyqa.changed import", False),
        ("add as", "subtract as", False),
        ("scale=2", "scale=3", False),
        ("not values", "values", False),
    ],
)
def test_texts_and_places_do_not_count_but_code_does(library, old, new, is_same):
    for name in ("other", "moved"):
        library(f"{name}.py", HELPER)
    library("changed.py", HELPER.replace("-", ""))
    library("a.py", CODE)
    before = code_hash("analogyqa.a")
    assert CODE.count(old) == 1
    library("a.py", CODE.replace(old, new))
    assert (code_hash("analogyqa.a") == before) == is_same


def test_the_hash_tells_functions_of_one_name_apart(library):
    library("other.py", HELPER)
    library("changed.py", HELPER.replace("-", ""))
    hashes = set()
    for modules in (("other", "changed"), ("changed", "other")):
        for module, name in zip(modules, ("first", "second"), strict=True):
            uses = f"from analogyqa.{module} import helper\ndef {name}(): helper()\n"
            library(f"{name}.py", uses)
        hashes.add(code_hash("analogyqa.first", "analogyqa.second"))
    assert len(hashes) == 2


# The real library


PAIRWISE = trained_system("cosine", loss="pairwise")


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory):
    """A copy of the library, and the key of a system's weights by its code."""
    copy = shutil.copytree(LIBRARY, tmp_path_factory.mktemp("copy") / "analogyqa")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(depends_on, "LIBRARY", copy)
        forget()
        return copy, weights_code(PAIRWISE)


EDITS = {
    "measures.py": [("RANKED = {", 'RANKED = {"p_at_2": RankedMeasure("", "", P @ 2),', True)],
    "training/loop.py": [
        ("the training has diverged", "the loss is infinite", True),
        ("Train one seed, and score", "Train one seed; score", True),
        ("value > before", "value < before", False),
        ("analogyqa.training.data import split_evenly",
         "analogyqa.measures import split_evenly", True),
    ],
    "files.py": [("import os", "import os as os", True)],
    "evaluation/claims.py": [("import ", "import os\nimport ", True)],
    # Neighbours in a file do not count: other losses, encoders, optimisers and batches.
    "objectives/losses.py": [
        ("margin - energies", "margin + energies", False),
        ("energies - margin", "energies + margin", True),
    ],
    "encoders/word_vectors.py": [("1 - self.rate", "1 + self.rate", False)],
    "encoders/networks.py": [("nn.GRU", "nn.RNN", False), ("nn.LSTM", "nn.RNN", True)],
    "training/optimisers.py": [("0.999", "0.99", False), ("START = 0.1", "START = 0", True)],
    "training/batches.py": [
        ("train.rows[members]", "train.rows[-members]", False),
        ("generator.permutation(correct)", "correct", True),
    ],
    "training/data.py": [("system.p,", "1 + system.p,", False)],
    "rankers/analogy.py": [
        ("[energy(vectors[quadruples.c]", "[-energy(vectors[quadruples.c]", False),
        ("[quadruple_energies(", "[-quadruple_energies(", True),
    ],
    "rankers/energy.py": [("first == 0", "first != 0", False)],
    "text.py": [("token.lower()", "token.upper()", False)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("file", "old", "new", "is_same"),
    [(file, *edit) for file, edits in EDITS.items() for edit in edits],
)
def test_only_what_changes_weights_changes_the_key(unchanged, monkeypatch, file, old, new, is_same):
    library, before = unchanged
    monkeypatch.setattr(depends_on, "LIBRARY", library)
    path, moved = library / file, library / "measures.py"
    contents = {at: at.read_text() for at in (path, moved)}
    try:
        assert old in contents[path]
        if "split_evenly" in old:
            definition = (library / "training/data.py").read_text()
            start = definition.index("def split_evenly")
            text = definition[start : definition.index("def ranked_sentences")]
            moved.write_text(f"{contents[moved]}\nimport math\n{text}")
        path.write_text(path.read_text().replace(old, new, 1))
        forget()
        assert (weights_code(PAIRWISE) == before) == is_same
    finally:
        for at, content in contents.items():
            at.write_text(content)
        forget()


def test_the_measure_that_selects_epochs_is_part_of_the_key(monkeypatch):
    systems = [trained_system(select_by=name) for name in ("mrr", "map")]
    before_mrr, before_map = map(weights_code, systems)
    monkeypatch.setitem(train.RANKED, "mrr", train.RANKED["p_at_1"])
    now_mrr, now_map = map(weights_code, systems)
    assert before_map == now_map and len({before_mrr, before_map, now_mrr}) == 3


@pytest.mark.parametrize(
    "system",
    [
        trained_system(),
        trained_system("hyperbolic", "nbow", loss="pairwise", optimiser="adagrad"),
        trained_system("ai_cnn", "words", loss="listwise", weight_averaging=0.5),
        trained_system("cosine", "cnn", loss="mix"),
    ],
)
def test_the_key_covers_every_function_that_a_training_run_calls(
    write_cell_files, tmp_path, system
):
    """The code is found by reading it, so this compares it with what really runs."""
    job = toy_job(system, {0: write_cell_files(tmp_path, 0)})
    called = set()

    def note(frame, event, _):
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("analogyqa."):
            called.add((module, frame.f_code.co_qualname.partition(".")[0]))

    for name in ("imports", "training"):
        sys.setprofile(note if name == "training" else None)
        try:
            train.train_one(job, 0, torch.device("cpu"), tmp_path / f"{name}.pt")
        finally:
            sys.setprofile(None)
    starts = (*train._WEIGHTS, *plugin_code(system))
    covered = reached(*starts)
    left_out = ("analogyqa.settings", "analogyqa.cells", "analogyqa.plugin", "analogyqa.runs.train",
                "analogyqa.arithmetic")  # fmt: skip
    missing = {at for at in called - covered if not at[0].startswith(left_out)}
    assert len(called & covered) > 20 and missing == set()


def test_training_does_not_depend_on_unrelated_packages():
    """An edit there must not repeat a training run."""
    specs = chain(*map(dict.values, (ENCODERS, RANKERS, OBJECTIVES, OPTIMISERS)))
    modules = modules_of(*train._WEIGHTS, *(entry.definition for entry in specs))
    packages = {name.split(".")[1] for name in modules}
    unrelated = {"evaluation", "report", "tracking", "settings", "sources", "pretrained"}
    assert "training" in packages and not packages & unrelated


def modules_of(*starts):
    return {module for module, _ in reached(*starts)}


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
            path = SCRIPTS / f"{script}.py"
            ENTRY_POINTS[ranker, encoder, loss] = (path, *plugin_code(system))

ANALOGY = {"analogy", "analogy_of_other_type", "hybrid"}
PAIR_ENCODERS = {"ap_cnn", "ap_bilstm"}


@pytest.mark.parametrize(
    ("definition", "users"),
    [
        ("rankers.analogy.AnalogyRanker", ANALOGY),
        ("rankers.analogy.CosineRanker", {"cosine", "hybrid"}),
        (
            "rankers.energy.energy",
            {*ANALOGY, "cosine", "scaled_cosine", "centroid", "mix_coded", *PAIR_ENCODERS},
        ),
        ("rankers.networks.word_mask", {*PAIR_ENCODERS, "mp_cnn", "ai_cnn", "compare_aggregate"}),
        ("objectives.losses.contrastive", {"printed", "hinge", "lwda"}),
        ("training.batches.mixed_batches", {"mix"}),
        ("encoders.fixed.MeanEncoder", {"mean", "sum", "unit_mean"}),
        ("encoders.minilm.vocabulary", {"minilm"}),
    ],
)
def test_a_system_depends_only_on_its_own_plug_ins(definition, users):
    at = Definition(*f"analogyqa.{definition}".rsplit(".", 1))
    found = {name for name, starts in ENTRY_POINTS.items() if at in reached(*starts)}
    assert found == {name for name in ENTRY_POINTS if users & set(name)}


def test_only_scripts_that_write_reports_depend_on_the_report_package():
    modules = {path.stem: " ".join(modules_of(path)) for path in SCRIPTS.glob("*.py")}
    # These belong to no rule.
    assert {name for name in modules if not modules[name]} <= {"slurm_patience", "run_script"}
    users = {name for name in modules if "analogyqa.report." in modules[name]}
    assert "write_ledger" in users
    drawn = {"render_table", "draw_figure", "draw_forest"}
    reports = drawn | {"judge_claims", "explain_examples"}
    assert users <= reports | {name for name in modules if name.startswith("write_")}


def test_the_hash_covers_a_new_template_but_no_hidden_file(library):
    library("page.py", "x = 1")
    before = code_hash("analogyqa.page")
    library("templates/.page.html.swp", "of an editor")
    assert code_hash("analogyqa.page") == before
    library("templates/page.html", "<p>")
    assert code_hash("analogyqa.page") != before
