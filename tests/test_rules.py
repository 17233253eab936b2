"""The files, parameters and targets of the jobs, by the wildcards of their rules."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml

from analogyqa.runs.depends_on import package_hash
from analogyqa.workflow import load_workflow, make_job
from builders.projects import REPOSITORY

OUT = "results/demo"
CELL = ("system", "dataset", "subset", "overrides")
ARTEFACT = ("paper", "artefact")
COMPARED = {"systems": ["analogy", "similarity"], "pairs": {"contrastive": None}}
# A paper on the data of the sample.
PAPER = {"papers": ["diallo2019"], "sensitivity": None, "cross_validation": COMPARED}
TRAINED = "analogy/wikiqa/who/default"
PROTOTYPES = [f"{OUT}/prototypes/wikiqa/who/seed{seed}.parquet" for seed in (0, 1)]


class Jobs:
    """The jobs of the bundled sample with two seeds, with changes of its configuration."""

    def __init__(self, folder: Path, **changes):
        path = folder / "changes.yaml"
        path.write_text(yaml.safe_dump({"seeds": 2} | changes))
        sample = REPOSITORY / "sample" / "config.yaml"
        with patch.dict(os.environ):  # which the Snakefile sets for jobs
            self.workflow = load_workflow([sample, path])
        # All workflows of a process share the names that their rules see.
        self.names = dict(self.workflow.globals)

    def job(self, rule: str, wildcards: str = "", names: tuple[str, ...] = CELL):
        self.workflow.globals.update(self.names)
        values = dict(zip(names, wildcards.split("/"), strict=True)) if wildcards else {}
        return make_job(self.workflow, rule, values)

    def inputs(self, *arguments) -> dict[str, list[str]]:
        """Return the files that a job reads, by name, without names that have none."""
        files = self.job(*arguments).input.items()
        return {name: [value] if isinstance(value, str) else list(value)
                for name, value in files if value}  # fmt: skip


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    stored = {"sif": {"encoder": "sif", "vectors": "fasttext"}}
    both = {"title": "Both", "ranker": {"name": "fused", "parts": ["analogy", "bm25"]}}
    folder = tmp_path_factory.mktemp("sample")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(REPOSITORY)  # the paths of the sample
        yield Jobs(folder, sentence_vectors=stored, systems={"both": both})


@pytest.fixture
def changed(tmp_path, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    return lambda **changes: Jobs(tmp_path, **changes)


JOBS = [
    ("build_corpus", "wikiqa@fold=1of2-partition1", ("corpus",)),
    ("find_entities", "wikiqa", ("corpus",)),
    ("rewrite_questions", "wikiqa/entity", ("corpus", "rewriting")),
    ("train_vectors", "fasttext", ("vectors",)),
    ("select_vectors", "wikiqa/fasttext", ("dataset", "vectors")),
    ("encode_sentences", "wikiqa/sif", ("corpus", "sentence_vectors")),
    ("choose_prototypes", "wikiqa/comb", ("corpus", "subset")),
    ("choose_prototypes", "wikiqa@fold=1of2/comb", ("corpus", "subset")),
    ("build_training_quadruples", "wikiqa/comb/5/1/pair",
     ("corpus", "subset", "p", "number", "per")),
    ("build_evaluation_quadruples", "wikiqa/comb/5", ("corpus", "subset", "p")),
    *((name, TRAINED, CELL) for name in ("train_encoder", "look_inside", "find_decisions",
                                         "explain_examples", "keep_weights")),
    ("train_encoder", "analogy/wikiqa/comb/fold=1of2", CELL),
    ("train_encoder", "hyperqa/wikiqa/comb/default", CELL),  # its loss draws pairs
    ("train_encoder", "tam/wikiqa/who/default", CELL),
    ("score_candidates", "bm25/trecqa/comb/default", CELL),
    ("fuse_scores", "both/wikiqa/who/default", CELL),
    *(("render_table", f"sample/table{number}", ARTEFACT) for number in (1, 2, 4, 6)),
    *(("draw_figure", name, ARTEFACT) for name in ("sample/figure6", "sample/figure7")),
    ("write_ledger", "", ()),
    ("write_report", "", ()),
    ("import_to_mlflow", "", ()),
]  # fmt: skip


def files_of(job) -> Iterator[str]:
    """Yield a line for each name of the inputs and outputs of a job, with the first files."""
    for kind, files in (("reads", job.input), ("makes", job.output)):
        names = {file: name for name, value in files.items()
                 for file in ([value] if isinstance(value, str) else value)}  # fmt: skip
        for name in dict.fromkeys(names.get(file, "files") for file in files):
            paths = [file for file in files if names.get(file, "files") == name]
            more = f" and {len(paths) - 6} more" if len(paths) > 6 else ""
            yield f"  {kind} {name}: {' '.join(paths[:6])}{more}"


def test_jobs_read_and_make_the_files_as_reviewed(jobs, golden):
    lines = []
    for rule, wildcards, names in JOBS:
        lines += [f"{rule} {wildcards}", *files_of(jobs.job(rule, wildcards, names))]
    golden("\n".join(lines).replace(f"{OUT}/", ""), "jobs.txt")


def test_a_tuned_cell_waits_for_the_selection(changed):
    systems = {"similarity": None, "tam": None, "analogy": ["no_dropout", "same"]}
    selection = {"systems": systems, "hyperparameters": {"same": {"dropout": 0.5}}}
    jobs = changed(**PAPER, selection=selection, training={"dropout": 0.5})
    files = jobs.inputs("train_encoder", "analogy/wikiqa/comb/hyperparameters=tuned")
    assert files["selection"] == [f"{OUT}/selection/analogy/wikiqa.json"]
    choice = jobs.job("choose_hyperparameters", "analogy/wikiqa", ("system", "dataset"))
    assert list(choice.input) == [
        f"{OUT}/runs/analogy/wikiqa/comb/{name}/history.parquet"
        for name in ("default", "dropout=0", "default")
    ]
    assert choice.params.settings["names"] == ["paper", "no_dropout", "same"]


def test_a_cell_reads_the_files_of_its_own_seeds_only(changed):
    jobs = changed(seeds={"default": 1, "comb": 1, "cross_validation": 2})
    assert jobs.inputs("train_encoder", TRAINED)["prototypes"] == PROTOTYPES[:1]
    folded = [f"{OUT}/prototypes/wikiqa@fold=1of2/who/seed{seed}.parquet" for seed in (0, 1)]
    assert jobs.inputs("train_encoder", "analogy/wikiqa/who/fold=1of2")["prototypes"] == folded
    chosen = jobs.job("choose_prototypes", "wikiqa/who", ("corpus", "subset"))
    assert list(chosen.output) == PROTOTYPES


@pytest.mark.parametrize(("fold", "partitions"), [("1of2", [0, 1]), ("1of2-shift1", [1, 0])])
def test_the_prototypes_of_each_seed_are_those_of_its_partition(jobs, fold, partitions):
    job = jobs.job("choose_prototypes", f"wikiqa@fold={fold}/comb", ("corpus", "subset"))
    names = [f"wikiqa@fold=1of2-partition{number}" for number in partitions]
    assert list(job.input) == [f"{OUT}/corpora/{name}.parquet" for name in names]


def test_folds_of_the_plan_share_sentence_vectors_that_are_not_fitted(changed):
    vectors = {name: {"encoder": name, "vectors": "fasttext"} for name in ("dct", "sif")}
    systems = {name: {"title": name, "sentence_vectors": name, "ranker": "cosine"}
               for name in vectors}  # fmt: skip
    study = {"systems": ["dct", "sif"], "pairs": {"baseline": None}}
    jobs = changed(sentence_vectors=vectors, systems=systems, cross_validation=study)
    for system, fold, stores in (
        ("dct", "1of2", ["wikiqa"]),
        ("dct", "1of3", ["wikiqa@fold=1of3-partition0", "wikiqa@fold=1of3-partition1"]),
        ("sif", "1of2", ["wikiqa@fold=1of2-partition0", "wikiqa@fold=1of2-partition1"]),
    ):
        files = jobs.inputs("score_candidates", f"{system}/wikiqa/comb/fold={fold}")
        paths = [f"{OUT}/sentence_vectors/{store}/{system}.npy" for store in stores]
        assert files["sentence_vectors"] == paths
    names = ("wikiqa/dct", "trecqa/dct", "wikiqa@fold=1of3-partition0/dct", "wikiqa/sif")
    encoding = [
        jobs.job("encode_sentences", name, ("corpus", "sentence_vectors")) for name in names
    ]
    assert [job.params.with_training for job in encoding] == [True, False, False, False]


def test_a_fitted_system_reads_the_vectors_of_wrong_training_candidates(changed):
    vectors = {"dct": {"encoder": "dct", "vectors": "fasttext"}}
    for ranker, expected in (("mapped", True), ("cosine", False)):
        system = {"title": "S", "sentence_vectors": "dct", "ranker": ranker}
        jobs = changed(sentence_vectors=vectors, systems={"s": system}, cross_validation=None)
        job = jobs.job("encode_sentences", "wikiqa/dct", ("corpus", "sentence_vectors"))
        assert job.params.with_training == expected


def test_a_resource_doubles_with_each_attempt(jobs):
    resources = jobs.names["growing"](mem_mb=20, runtime=1)
    assert [resources["mem_mb"](None, attempt) for attempt in (1, 2, 3)] == [20, 40, 80]


@pytest.mark.parametrize(
    ("rule", "overrides", "meant"),
    [("train_encoder", "dropuot=0", "dropout"), ("train_encode", "default", "train_encoder")],
)
def test_an_unknown_name_ends_with_a_suggestion(jobs, rule, overrides, meant):
    with pytest.raises(SystemExit, match=f"did you mean {meant}"):
        jobs.inputs(rule, f"analogy/wikiqa/who/{overrides}")


@pytest.mark.parametrize(("rule", "wildcards", "names"), JOBS)
def test_settings_are_json_with_the_keys_that_the_script_reads(jobs, rule, wildcards, names):
    job = jobs.job(rule, wildcards, names)
    settings = job.params.settings
    assert json.loads(json.dumps(settings)) == settings
    assert re.fullmatch("[0-9a-f]{64}", job.params.code)
    script = Path(job.rule.basedir, job.rule.script).read_text("utf-8")
    assert {*re.findall(r'settings\["(\w+)"\]', script)} <= settings.keys()
    assert {*re.findall(r"params\.(\w+)", script)} <= {*job.params.keys()}


def test_a_spacy_model_is_a_parameter_by_its_names_and_not_by_its_path(changed, tmp_path):
    (tmp_path / "moved").mkdir()
    jobs = changed(lemmas={"model": "moved", "keep": ["NOUN"]}, mirrors=[str(tmp_path)])
    settings = jobs.job("lemmatise_corpus", "wikiqa", ("corpus",)).params.settings
    assert settings == {"model": ["moved"], "keep": ["NOUN"]}


def test_analogies_are_solved_with_the_seeds_of_the_cell_that_trains_the_encoder(changed, tmp_path):
    (tmp_path / "capitals.tsv").write_text("Rome\tItaly\nParis\tFrance\nOslo\tNorway\n")
    pairs = {"title": "P", "reader": "relations", "test": str(tmp_path)}
    jobs = changed(datasets={"pairs": pairs}, seeds={"default": 3, "variations": 1})
    names = ("system", "dataset", "before", "after")
    for wildcards, seeds, trained in (
        ("fasttext-cosine/pairs//", [0, 1, 2], None),
        ("analogy/pairs//@trained_on=wikiqa+who", [0, 1, 2], "default"),
        ("analogy/pairs/dropout=0.5@/@trained_on=wikiqa+who", [0], "dropout=0.5"),
    ):
        job = jobs.job("solve_analogies", wildcards, names)
        assert {tuple(values["seeds"]) for values in job.params.settings.values()} == {tuple(seeds)}
        weights = [f"{OUT}/runs/analogy/wikiqa/who/{trained}/weights.pt"] if trained else []
        assert list(job.input.weights) == weights


def test_the_targets_are_the_tables_and_figures_of_the_papers(jobs):
    targets = {path.removeprefix(f"{OUT}/") for path in jobs.job("all").input}
    assert {"tables/sample/table4.tex", "figures/sample/figure8.svg"} < targets
    assert {f"tables/sample/{name}.csv" for name in ("cross_validation", "pairs")} < targets
    assert sum(bool(re.search(r"/(table|figure)\d", path)) for path in targets) == 3 * 10
    assert list(jobs.job("write_ledger").output.verdicts) == [f"{OUT}/figures/sample/verdicts.svg"]
    assert "figures/sample/forest.svg" not in targets  # it has one data set
    examples = f"{OUT}/runs/analogy/wikiqa/comb/default/examples.json"
    assert examples in jobs.job("write_report").input


def test_a_study_without_any_cell_has_no_targets(changed):
    systems = ("analogy", "similarity")
    left_out = [f"{name} {dataset}" for name in systems for dataset in ("wikiqa", "trecqa")]
    jobs = changed(left_out=dict.fromkeys(left_out, "no room"))
    assert not any("cross_validation" in path for path in jobs.job("all").input)
    assert list(jobs.job("sensitivity").input) == []


def test_pairs_on_several_data_sets_have_a_forest_plot(changed):
    jobs = changed(**PAPER)
    assert f"{OUT}/figures/diallo2019/forest.svg" in jobs.job("all").input
    (read,) = jobs.job("draw_forest", "diallo2019", ("paper",)).input
    assert read == f"{OUT}/tables/diallo2019/pairs.csv"


@pytest.mark.parametrize("finds_entities", [True, False])
def test_pairs_of_systems_read_the_corpora_even_without_entities(changed, finds_entities):
    changes = {} if finds_entities else {"named_entities": {"model": "missing"}}
    files = changed(**changes).inputs("write_pairs", "sample", ("paper",))
    assert files["corpora"] == [f"{OUT}/corpora/wikiqa.parquet"]
    assert ("entities" in files) == finds_entities
    assert {Path(file).parts[3:6] for file in files["records"]} == {
        (system, "wikiqa", "comb") for system in ("analogy", "similarity")
    }


def test_locks_and_copies_of_an_editor_do_not_change_the_hash_of_a_package(tmp_path, monkeypatch):
    monkeypatch.setattr("analogyqa.runs.depends_on.LIBRARY", tmp_path)
    (tmp_path / "cells").mkdir()
    (tmp_path / "cells" / "cell.py").write_text("1")
    fresh_hash = package_hash.__wrapped__
    before = fresh_hash("cells")
    (tmp_path / "cells" / ".#cell.py").symlink_to("user@host.1234")  # by Emacs, to nowhere
    for name in ("._cell.py", "cell (copy).py", "Copy of cell.py", "cell-checkpoint.py"):
        (tmp_path / "cells" / name).write_text("2")
    assert fresh_hash("cells") == before
    (tmp_path / "cells" / "new.py").write_text("2")
    assert fresh_hash("cells") != before
