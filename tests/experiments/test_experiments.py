"""The input files and parameters of each job, by the wildcards of its rule."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from analogyqa.cells.configured import configured_cell
from analogyqa.errors import AnalogyQAError
from analogyqa.experiments.checks import check_jobs, require_targets
from analogyqa.experiments.experiment import growing, load_experiment, one_of, with_overrides
from analogyqa.experiments.inputs import Inputs
from analogyqa.experiments.outputs import Outputs
from analogyqa.experiments.parameters import Parameters, _package_hash
from analogyqa.files import read_yaml
from analogyqa.settings.base import merge

ROOT = Path(__file__).parents[2]
OUT = "results/demo"


def sample(**changes):
    """Return the experiment of the bundled sample, with changes."""
    values = merge(read_yaml(ROOT / "config.yaml"), read_yaml(ROOT / "sample/config.yaml"))
    return load_experiment(merge(values, changes), environ={})


@pytest.fixture(scope="module")
def inputs():
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)  # the paths of the sample
        yield Inputs(sample(sentence_vectors={"sif": {"encoder": "sif", "vectors": "fasttext"}}))


@pytest.fixture(scope="module")
def parameters(inputs):
    return Parameters(inputs)


def cell(path: str) -> SimpleNamespace:
    """Return the wildcards of a job that runs a cell."""
    names = ("system", "dataset", "subset", "overrides")
    return SimpleNamespace(**dict(zip(names, path.split("/"), strict=True)))


TRAINED = cell("analogy/wikiqa/who/default")
CORPORA = [f"{OUT}/corpora/{name}.parquet" for name in ("wikiqa", "trecqa")]
PROTOTYPES = [f"{OUT}/prototypes/wikiqa/who/seed{seed}.parquet" for seed in (0, 1)]


def quadruples(stem: str) -> list[str]:
    return [f"{OUT}/quadruples/wikiqa/who/p10/seed{seed}/{stem}.parquet" for seed in (0, 1)]


def test_a_trained_cell_reads_a_file_for_each_seed(inputs):
    assert inputs.run_cell(TRAINED) == {
        "corpus": f"{OUT}/corpora/wikiqa.parquet",
        "vectors": f"{OUT}/vectors/wikiqa/fasttext.npy",
        "prototypes": PROTOTYPES,
        "train-1-per-pair": quadruples("train-1-per-pair"),
        "dev": quadruples("dev"),
        "test": quadruples("test"),
    }


def test_systems_have_only_the_inputs_that_they_read(inputs):
    assert inputs.run_cell(cell("bm25/trecqa/comb/default")) == {
        "corpus": f"{OUT}/corpora/trecqa.parquet"
    }
    hyperqa = inputs.run_cell(cell("hyperqa/wikiqa/comb/default"))
    assert set(hyperqa) == {"corpus", "vectors"}  # its loss draws pairs
    tam = inputs.run_cell(cell("tam/wikiqa/who/default"))
    assert tam["corpus"] == f"{OUT}/rewritten/wikiqa/entity.parquet"


def test_a_tuned_cell_waits_for_the_selection(monkeypatch):
    monkeypatch.chdir(ROOT)
    selection = {"systems": {"similarity": None, "tam": None, "analogy": ["no_dropout"]}}
    inputs = Inputs(sample(selection=selection))
    files = inputs.run_cell(cell("analogy/wikiqa/comb/hyperparameters=tuned"))
    assert files["selection"] == f"{OUT}/selection/analogy/wikiqa.json"
    wildcards = SimpleNamespace(system="analogy", dataset="wikiqa")
    overrides = {"paper": "default", "no_dropout": "dropout=0"}
    assert inputs.choose_hyperparameters(wildcards)["files"] == [
        f"{OUT}/runs/analogy/wikiqa/comb/{name}/history.parquet" for name in overrides.values()
    ]
    parameters = Parameters(inputs, "snakemake").choose_hyperparameters(wildcards)
    assert parameters["names"] == list(overrides)


def test_a_fold_has_its_own_corpus_and_the_vectors_of_its_data_set(inputs):
    files = inputs.run_cell(cell("analogy/wikiqa/comb/fold=1of2"))
    assert files["corpus"] == f"{OUT}/corpora/wikiqa@fold=1of2.parquet"
    assert files["vectors"] == f"{OUT}/vectors/wikiqa/fasttext.npy"
    assert files["prototypes"][0] == f"{OUT}/prototypes/wikiqa@fold=1of2/comb/seed0.parquet"


def test_a_cell_reads_the_files_of_its_own_seeds_only(monkeypatch):
    monkeypatch.chdir(ROOT)
    inputs = Inputs(sample(seeds={"default": 1, "cross_validation": 2}))
    assert inputs.run_cell(TRAINED)["prototypes"] == PROTOTYPES[:1]
    folded = [f"{OUT}/prototypes/wikiqa@fold=1of2/who/seed{seed}.parquet" for seed in (0, 1)]
    assert inputs.run_cell(cell("analogy/wikiqa/who/fold=1of2"))["prototypes"] == folded
    assert inputs.prototypes("wikiqa", "who") == PROTOTYPES


def test_an_unknown_override_ends_with_a_suggestion(inputs):
    with pytest.raises(SystemExit, match="did you mean dropout"):
        inputs.run_cell(cell("analogy/wikiqa/who/dropuot=0"))


RULES = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "rules").glob("*.smk")))


@pytest.mark.parametrize(
    ("variable", "functions"), [("INPUTS", Inputs), ("OUTPUTS", Outputs), ("PARAMS", Parameters)]
)
def test_every_function_that_a_rule_names_exists(variable, functions):
    names = set(re.findall(rf"{variable}\.(\w+)", RULES))
    assert len(names) > 5
    assert [name for name in names if not callable(getattr(functions, name, None))] == []


# The wildcards of a job of each rule, in the sample.
JOBS = {
    "build_corpus": SimpleNamespace(corpus="wikiqa@fold=1of2"),
    "find_entities": SimpleNamespace(corpus="wikiqa"),
    "rewrite_questions": SimpleNamespace(corpus="wikiqa", rewriting="entity"),
    "train_vectors": SimpleNamespace(vectors="fasttext"),
    "select_vectors": SimpleNamespace(vectors="fasttext", dataset="wikiqa"),
    "encode_sentences": SimpleNamespace(corpus="wikiqa", sentence_vectors="sif"),
    "choose_prototypes": SimpleNamespace(corpus="wikiqa", subset="comb"),
    "build_training_quadruples": SimpleNamespace(corpus="wikiqa", subset="comb"),
    "build_evaluation_quadruples": SimpleNamespace(corpus="wikiqa", subset="comb"),
    "train_encoder": TRAINED,
    "look_inside": TRAINED,
    "find_decisions": TRAINED,
    "explain_examples": TRAINED,
    "keep_weights": TRAINED,
    "score_candidates": cell("bm25/trecqa/comb/default"),
    "render_table": SimpleNamespace(paper="diallo2019", number="4"),
    "draw_figure": SimpleNamespace(paper="diallo2019", number="6"),
}


@pytest.mark.parametrize("rule", JOBS)
def test_parameters_are_json_with_the_hash_of_the_code(parameters, rule):
    values = getattr(parameters, rule)(JOBS[rule])
    assert json.loads(json.dumps(values)) == values
    assert re.fullmatch("[0-9a-f]{64}", values["code"])


def test_reports_depend_on_the_code_of_the_packages_that_they_decide_by(parameters, monkeypatch):
    before = parameters.report("write_ledger")["decisions"]
    assert parameters.write_report()["decisions"] == before
    monkeypatch.setattr("analogyqa.experiments.parameters._REPORTS_DECIDE_BY", ("cells", "tasks"))
    assert parameters.report("write_ledger")["decisions"] != before


def test_a_spacy_model_is_a_parameter_by_its_names_and_not_by_its_path(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    (tmp_path / "moved").mkdir()
    experiment = sample(lemmas={"model": "moved", "keep": ["NOUN"]}, mirrors=[str(tmp_path)])
    assert experiment.available.lemmas == str(tmp_path / "moved")
    values = Parameters(Inputs(experiment)).lemmatise_corpus(SimpleNamespace(corpus="wikiqa"))
    assert (values["model"], values["keep"]) == (["moved"], ["NOUN"])


def test_a_fused_system_reads_the_files_of_its_parts(monkeypatch):
    monkeypatch.chdir(ROOT)
    both = {"title": "Both", "ranker": {"name": "fused", "parts": ["analogy", "bm25"]}}
    inputs = Inputs(sample(systems={"both": both}))
    files = inputs.fuse_scores(cell("both/wikiqa/who/default"))
    folders = [f"{OUT}/runs/{name}/wikiqa/who/default" for name in ("analogy", "bm25")]
    assert files["scores"] == [f"{folder}/scores.parquet" for folder in folders]
    assert files["records"] == [f"{folder}/run.json" for folder in folders]
    values = Parameters(inputs).fuse_scores(cell("both/wikiqa/who/default"))
    assert values["parts"] == ["analogy", "bm25"]


@pytest.mark.parametrize(
    ("system", "before", "after", "seeds", "trained"),
    [
        ("fasttext-cosine", "", "", [0, 1, 2], None),
        ("analogy", "", "@trained_on=wikiqa+who", [0, 1, 2], "default"),
        ("analogy", "dropout=0@", "@trained_on=wikiqa+who", [0], "dropout=0"),
    ],
)
def test_analogies_are_solved_with_the_seeds_of_the_cell_that_trains_the_encoder(
    monkeypatch, tmp_path, system, before, after, seeds, trained
):
    monkeypatch.chdir(ROOT)
    (tmp_path / "capitals.tsv").write_text("Rome\tItaly\nParis\tFrance\nOslo\tNorway\n")
    pairs = {"title": "P", "reader": "relations", "test": str(tmp_path)}
    inputs = Inputs(sample(datasets={"pairs": pairs}, seeds={"default": 3, "variations": 1}))
    wildcards = SimpleNamespace(system=system, dataset="pairs", before=before, after=after)
    assert Parameters(inputs).solve_analogies(wildcards)["seeds"] == seeds
    weights = trained and f"{OUT}/runs/analogy/wikiqa/who/{trained}/weights.pt"
    assert inputs.solve_analogies(wildcards).get("weights") == weights


def test_the_targets_are_the_tables_and_figures_of_the_papers(inputs):
    targets = Outputs(inputs).tables_and_figures()
    assert f"{OUT}/tables/diallo2019/table4.tex" in targets
    assert f"{OUT}/figures/lwda2019/figure1.svg" in targets
    assert len(targets) == len(set(targets)) == 3 * 12
    assert Outputs(inputs).cross_validation() == [
        f"{OUT}/tables/diallo2019/{name}.csv" for name in ("cross_validation", "pairs")
    ]


@pytest.mark.parametrize(
    "left_out",
    [("wikiqa", "trecqa"), ("analogy wikiqa", "analogy trecqa", "similarity wikiqa",
                            "similarity trecqa")],
)  # fmt: skip
def test_a_study_without_any_cell_has_no_targets(monkeypatch, left_out):
    monkeypatch.chdir(ROOT)
    outputs = Outputs(Inputs(sample(left_out=dict.fromkeys(left_out, "no room"))))
    assert (outputs.cross_validation(), outputs.sensitivity()) == ([], [])


def test_a_paper_with_comparable_numbers_has_a_figure_of_its_verdicts(inputs, monkeypatch):
    assert Outputs(inputs).verdict_figures() == []
    monkeypatch.chdir(ROOT)
    comparable = Inputs(sample(comparable=True))
    assert f"{OUT}/figures/diallo2019/verdicts.svg" in Outputs(comparable).verdict_figures()


def test_a_table_reads_only_the_runs_that_it_shows(inputs):
    counts = Outputs(inputs).render_table(SimpleNamespace(paper="diallo2019", number="2"))
    assert counts["records"] == []
    assert counts["corpora"] == CORPORA
    scores = Outputs(inputs).render_table(SimpleNamespace(paper="lwda2019", number="1"))
    assert {Path(file).parts[3] for file in scores["records"]} <= {"lwda", "similarity", "tam"}
    assert len(scores["records"]) == len(scores["metrics"]) > 0
    curve = Outputs(inputs).draw_figure(SimpleNamespace(paper="diallo2019", number="7"))
    assert {Path(file).parts[3:6] for file in curve["records"]} == {
        ("analogy", dataset, "comb") for dataset in ("wikiqa", "trecqa")
    }


@pytest.mark.parametrize("finds_entities", [True, False])
def test_pairs_of_systems_read_the_corpora_even_without_entities(monkeypatch, finds_entities):
    monkeypatch.chdir(ROOT)
    changes = {} if finds_entities else {"named_entities": {"model": "missing"}}
    files = Outputs(Inputs(sample(**changes))).write_pairs(SimpleNamespace(paper="diallo2019"))
    assert files["corpora"] == [f"{OUT}/corpora/wikiqa.parquet"]
    assert files["entities"] == [f"{OUT}/entities/wikiqa.parquet"] * finds_entities
    assert {Path(file).parts[3:6] for file in files["records"]} == {
        (system, "wikiqa", "comb") for system in ("analogy", "similarity")
    }


def test_a_run_with_other_settings_is_refused_unless_snakemake_makes_it_again(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(ROOT)
    results = str(tmp_path / "out")
    before, now = sample(output_dir=results), sample(output_dir=results, prototypes={"p": 5})
    configured = configured_cell(before.config, Inputs(before).job_cell(TRAINED))
    record = Path(results, "runs/analogy/wikiqa/who/default/run.json")
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({"configured": configured}))
    Inputs(before, lambda *_: False).run_cell(TRAINED)
    Inputs(now, lambda *_: True).run_cell(TRAINED)
    with pytest.raises(SystemExit, match=r"run\.json: .*p: 10, now 5"):
        Inputs(now, lambda *_: False).run_cell(TRAINED)


def test_a_view_reads_the_table_of_each_panel(inputs):
    decisions = Outputs(inputs).render_table(SimpleNamespace(paper="diallo2019", number="6"))
    folders = [f"{OUT}/runs/analogy/{name}/comb/default" for name in ("wikiqa", "trecqa")]
    assert decisions == {"tables": [f"{folder}/decisions.parquet" for folder in folders]}
    examples = Outputs(inputs).render_table(SimpleNamespace(paper="diallo2019", number="1"))
    assert examples == {"tables": CORPORA}
    decision_inputs = inputs.find_decisions(TRAINED)
    assert decision_inputs["prototypes"] == PROTOTYPES
    assert decision_inputs["scores"] == f"{OUT}/runs/analogy/wikiqa/who/default/scores.parquet"
    assert Outputs(inputs).examples() == [f"{folder}/examples.json" for folder in folders]
    example_inputs = inputs.explain_examples(TRAINED)
    assert example_inputs["decisions"] == f"{OUT}/runs/analogy/wikiqa/who/default/decisions.parquet"


def test_typed_targets_are_checked_and_other_arguments_are_not(inputs):
    require_targets(["--cores", "2", "wrong", f"{OUT}/ledger.csv"], inputs.experiment)
    with pytest.raises(AnalogyQAError, match="did you mean table7"):
        require_targets([f"{OUT}/tables/diallo2019/table99.csv"], inputs.experiment)


def test_the_encoders_of_the_jobs_are_checked(inputs, monkeypatch):
    checked: list[str] = []
    monkeypatch.setattr("analogyqa.experiments.checks.check_encoder", checked.append)
    jobs = [
        SimpleNamespace(rule=SimpleNamespace(name="run"), wildcards=wildcards)
        for wildcards in ({"system": "analogy"}, {"system": "bm25"}, {"system": "fasttext"}, {})
    ]
    check_jobs(jobs, inputs.experiment)
    assert checked == ["bigru", "mean"]


def test_question_types_are_not_checked_before_all_files_are_here(monkeypatch):
    monkeypatch.chdir(ROOT)
    experiment = sample(question_types={"who": ["whose"]})
    job = SimpleNamespace(
        rule=SimpleNamespace(name="build_corpus"), wildcards=SimpleNamespace(corpus="wikiqa")
    )
    job.wildcards.items = lambda: [("corpus", "wikiqa")]
    with pytest.raises(AnalogyQAError, match="of type who"):
        check_jobs([job], experiment)
    experiment.available.splits["wikiqa"]["dev"] = ["not_downloaded.tsv"]
    check_jobs([job], experiment)


def test_folders_that_cannot_be_written_to_are_refused_before_anything_is_read(
    monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(AnalogyQAError, match=r"^output_dir: .*file is a file"):
        sample(output_dir="file/demo")
    (tmp_path / ".snakemake").touch()
    with pytest.raises(AnalogyQAError, match=r"^Snakemake's own files: .*snakemake is a file"):
        sample(output_dir="demo")


def test_patterns_match_whole_names():
    assert re.fullmatch(one_of(["a.b", "c"]), "a.b") and not re.fullmatch(one_of(["a.b"]), "axb")
    assert not re.search(one_of([]), "")
    assert re.fullmatch(with_overrides(["toy"]), "toy@fold=1of2")
    assert not re.fullmatch(with_overrides(["toy"]), "toys")


def test_a_resource_doubles_with_each_attempt():
    assert [growing(20)(None, attempt) for attempt in (1, 2, 3)] == [20, 40, 80]


def test_locks_and_copies_of_an_editor_do_not_change_the_hash_of_a_package(tmp_path, monkeypatch):
    monkeypatch.setattr("analogyqa.experiments.parameters.LIBRARY", tmp_path)
    (tmp_path / "cells").mkdir()
    (tmp_path / "cells" / "cell.py").write_text("1")
    package_hash = _package_hash.__wrapped__
    before = package_hash("cells")
    (tmp_path / "cells" / ".#cell.py").symlink_to("user@host.1234")  # by Emacs, to nowhere
    for name in ("._cell.py", "cell (copy).py", "Copy of cell.py", "cell-checkpoint.py"):
        (tmp_path / "cells" / name).write_text("2")
    assert package_hash("cells") == before
    (tmp_path / "cells" / "new.py").write_text("2")
    assert package_hash("cells") != before
