"""The cells that artefacts, claims and studies ask for."""

import shlex
from pathlib import Path

import pytest
import yaml
from snakemake.target_jobs import TargetSpec, parse_target_jobs_cli_args
from snakemake_interface_executor_plugins.utils import encode_target_jobs_cli_args

from analogyqa import cells as planned
from analogyqa.cells import (
    Cell,
    cell_at,
    load_papers,
    reported_cells,
    sensitivity_cells,
    why_no_run,
)
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.significance import share_runs
from analogyqa.settings.base import merge
from analogyqa.settings.coordinates import Coordinates
from analogyqa.settings.load import read_config
from analogyqa.settings.paper import OWN
from analogyqa.settings.run import leave_out
from builders.papers import CONFIG, PAPER

ROOT = Path(__file__).parents[2]
TUNED = (("hyperparameters", "tuned"),)
DATA = ("toy both", "toy who")
POINT = "analogy toy both p="
SELECTED = {
    f"analogy toy both {overrides}" for overrides in ("loss=hinge", "dropout=0 negatives.count=4")
}
CELLS = {
    *(f"{system} {data}" for system in ("analogy", "mean", "mean-cosine") for data in DATA),
    *(f"analogy {data} hyperparameters=tuned" for data in DATA),
    *(f"{POINT}2", f"{POINT}4", "baseline toy who", *SELECTED),
}
OWN_DATA = "datasets: {mine: {title: Mine, reader: wikiqa, train: b/a, dev: b/b, test: b/c}}"
OWN_SYSTEM = "systems: {net: {title: Net, encoder: cnn, vectors: some, ranker: cosine, p: 2}}"


def labels(cells) -> set[str]:
    return {cell.label for cell in cells}


def at(system: str = "analogy", **changes) -> Coordinates:
    return Coordinates(**{"system": system, "dataset": "toy", "subset": "who"} | changes)


@pytest.mark.parametrize(
    ("over", "gone", "new"),
    [
        ("{}", set(), set()),
        ("sweeps: {p: [2, 3]}", {f"{POINT}4"}, set()),
        ("sweeps: {p: [5]}", {f"{POINT}2", f"{POINT}4"}, {f"{POINT}5"}),
        ("prototypes: {p: 2}", {f"{POINT}2"}, {f"{POINT}3"}),
        ("extra_rows: {table1: []}", {f"mean-cosine {data}" for data in DATA}, set()),
        ("extra_rows: {table1: [mean]}", {f"mean-cosine {data}" for data in DATA}, set()),
        ("systems: {mean: null}", {f"mean {data}" for data in DATA}, set()),
        ("systems: {mean-cosine: null}", {f"mean-cosine {data}" for data in DATA}, set()),
        ("left_out: {mean: no room}", {f"mean {data}" for data in DATA}, set()),
        ("systems: {mean: {only_costs: {toy: slow}}}", {f"mean {data}" for data in DATA}, set()),
        ("systems: {mean: {only_costs: {other: slow}, most_seeds: 1}}", set(), set()),
        ("{systems: {baseline: null}, sensitivity: null}", {"baseline toy who"}, set()),
        ("subsets: {who: null}", {label for label in CELLS if "who" in label}, set()),
        ("sensitivity: null", set(), set()),
        ("selection: null", {*SELECTED, *(label for label in CELLS if "tuned" in label)}, set()),
        ("selection: {subset: who}", SELECTED, {cell.replace("both", "who") for cell in SELECTED}),
        (OWN_SYSTEM, set(), {f"net {data}" for data in DATA}),
        # Settings are chosen on the paper's own data.
        (OWN_DATA, set(), {f"{system} mine {subset}" for subset in ("who", "both", "all")
                           for system in ("analogy", "baseline", "mean", "words", "mean-cosine",
                                          "stored", "random")}),
    ],
)  # fmt: skip
def test_a_change_adds_and_removes_only_its_own_cells(papers, over, gone, new):
    assert labels(papers.cells(over)) == CELLS - gone | new


FUSED = """
systems: {both: {title: F, ranker: {name: fused, parts: {baseline: [0], stored: [0, 1]}}}}
extra_rows: {table1: [both]}
"""


def test_the_parts_of_fused_systems_are_cells(papers):
    """With the overrides that affect them."""
    new = {f"{system} {data}" for system in ("both", "baseline", "stored") for data in DATA}
    gone = {f"mean-cosine {data}" for data in DATA}
    assert labels(papers.cells(FUSED)) == CELLS - gone | new
    config = papers.load(FUSED)
    cell = cell_at(at("both", p=2, dropout=0.4, fold="1of3"), config)
    parts = {name: dict(part.overrides) for name, part in cell.parts(config).items()}
    fold = {"fold": "1of3"}
    assert parts == {
        "baseline": {"p": "2", "dropout": "0.4"} | fold,
        "stored": fold,
        "stored-shift1": {"fold": "1of3-shift1"},  # the next seed in the same partition
    }
    assert config.system_at("both", cell.overrides).training == config.systems["both"].training
    assert Cell("stored", "toy", "both").parts(config) == {}


def test_a_fused_system_is_left_out_with_the_overrides_of_its_part(papers):
    config = leave_out(papers.load(FUSED), {"baseline dropout=0.4@p=2": "too long"})
    assert why_no_run(at("both", p=2, dropout=0.4), config) == "too long"
    assert why_no_run(at("both", p=2), config) == ""
    config = leave_out(papers.load(FUSED), {"baseline toy p=2": "long", "both other p=2": "never"})
    assert why_no_run(at("both", p=2), config) == "long"
    config = leave_out(papers.load(FUSED), {"stored": "no vectors"})
    assert why_no_run(at("both"), config) == "no vectors"
    reason = "it fuses 2 seeds of stored, but `seeds` gives only 1"
    assert why_no_run(at("both"), papers.load(FUSED + "seeds: 1")) == reason


def test_another_paper_changes_no_cell(papers):
    late = PAPER.replace("paper: small", "paper: late").replace("mean}", "stored}")
    papers.write("late", "over: small\n", late.replace("[2, 3, 4]", "[4, 5]"))
    cells = papers.cells("papers: small late")
    new = {*(f"stored {data}" for data in DATA), f"{POINT}5"}
    assert labels(cells) == CELLS | new
    assert labels(papers.cells("papers: late")) <= labels(cells)


def test_a_selection_compares_its_choices_and_the_paper(papers):
    config = papers.load("selection: {hyperparameters: {same: {dropout: 0.25}}}")
    cells = planned.selection_cells(config, "analogy", "toy")
    assert {name: cell.overrides for name, cell in cells.items()} == {
        "paper": (),
        "hinge": (("loss", "hinge"),),
        "drawn": (("dropout", "0"), ("negatives.count", "4")),
        "same": (),
    }
    varied = config.hyperparameter_choices("analogy", (("loss", "hinge"), ("p", "2")))
    assert list(varied) == ["loss=hinge"]
    with pytest.raises(AnalogyQAError, match=r"baseline: .*no selection"):
        config.hyperparameter_choices("baseline", TUNED)


SENSITIVITY = {
    ("paper", ""): ("", ""),
    ("loss", "workshop"): ("loss=lwda", ""),  # no effect on the baseline
    ("loss", "stated"): ("", ""),
    ("case", "kept"): ("vectors=cased", "vectors=cased"),
    ("aggregation", "mean"): ("aggregate=mean", ""),
    ("questions", "dropped"): ("drop_all_correct=dev", "drop_all_correct=dev"),
}


def test_the_cells_of_the_sensitivity_table(papers):
    config = papers.load()
    assert {key: cell.label for key, cell in sensitivity_cells(config, "small").items()} == {
        (system, "toy", *variation): f"{system} toy both {overrides[index]}".strip()
        for index, system in enumerate(("analogy", "baseline"))
        for variation, overrides in SENSITIVITY.items()
    }
    assert set(planned.varied_systems(config)) == {
        *(f"analogy {overrides}" for overrides in ("loss=lwda", "vectors=cased", "aggregate=mean")),
        "baseline vectors=cased",
    }


def test_a_system_runs_without_a_variation_that_is_left_out(papers):
    config = leave_out(papers.load(), {"analogy vectors=cased": "no vectors"})
    case_cells = {key for key in sensitivity_cells(config, "small") if "case" in key}
    assert case_cells == {("baseline", "toy", "case", "kept")}
    for override in ({}, {"drop_all_correct": ["dev"]}):  # of the data set, not of the system
        assert why_no_run(at(vectors="cased", **override), config) == "no vectors"
    assert labels(reported_cells(config, load_papers(config, papers.folder))) == CELLS


# Cross-validation


CROSS_VALIDATION = (
    "cross_validation: {subset: who, folds: 2, datasets: null, systems: [analogy, baseline, words]}"
)
SYSTEMS = ("analogy", "baseline", "words")


def folds(*systems: str, subset: str = "who", count: int = 2) -> set[str]:
    names = [f"{number}of{count}" for number in range(1, count + 1)]
    return {f"{system} toy {subset} fold={name}" for system in systems for name in names}


@pytest.fixture
def cross_validated(papers):
    """The small paper with cross-validation and a primary claim."""
    paper = PAPER.replace("    claim: c", "    primary: paper\n    claim: c")
    papers.write("small", CONFIG + CROSS_VALIDATION, paper)
    return papers


@pytest.mark.parametrize(
    ("over", "new"),
    [
        ("{}", folds(*SYSTEMS)),
        ("cross_validation: {folds: 3}", folds(*SYSTEMS, count=3)),
        ("cross_validation: {subset: all}", folds(*SYSTEMS, subset="all")),
        ("cross_validation: {systems: [words]}", folds("words")),
        ("cross_validation: null", set()),
    ],
)
def test_every_system_is_cross_validated_at_the_papers_setting(cross_validated, over, new):
    cells = cross_validated.cells(over)
    assert labels(cells) == CELLS | new
    assert {planned.without_fold(cell.corpus) for cell in cells} == {"toy"}


@pytest.mark.parametrize(("named", "dataset"), [("null", "toy"), ("[mine]", "mine")])
def test_a_study_uses_the_papers_data_sets_or_those_it_names(cross_validated, named, dataset):
    studies = [f"{key}: {{datasets: {named}}}" for key in ("sensitivity", "cross_validation")]
    config = cross_validated.load("\n".join([OWN_DATA, *studies]))
    for cells_by_key in (sensitivity_cells, planned.cross_validation_cells):
        assert {name for _, name, *_ in cells_by_key(config, "small")} == {dataset}


def test_a_system_that_is_left_out_is_not_cross_validated(cross_validated):
    pairs = "cross_validation: {pairs: {gone: [analogy, words], kept: [baseline, words]}}"
    config = leave_out(cross_validated.load(pairs), {"analogy": "no room"})
    assert list(config.studies["small"].cross_validation.pairs) == ["kept"]
    kept = {system for system, _ in planned.cross_validation_cells(config, "small")}
    assert kept == {"baseline", "words"}


def test_a_system_that_is_left_out_on_one_data_set_runs_on_the_others(cross_validated):
    """And so does what fuses it."""
    fused = "systems: {both: {title: B, ranker: {name: fused, parts: [words, baseline]}}}"
    left = "left_out: {baseline toy: too long}"
    study = "cross_validation: {systems: [words, baseline, both]}"
    config = cross_validated.load(f"{OWN_DATA}\n{fused}\n{left}\n{study}")
    config.studies["small"].cross_validation.datasets[:] = ["mine", "toy"]
    assert set(planned.cross_validation_cells(config, "small")) == {
        *((system, "mine") for system in ("words", "baseline", "both")), ("words", "toy")
    }  # fmt: skip
    for system, reason in (("words", ""), ("baseline", "too long"), ("both", "too long")):
        assert why_no_run(at(system), config) == reason
        assert not why_no_run(at(system, dataset="mine"), config)


def test_a_system_waits_for_the_cell_on_all_questions_that_it_starts_from(cross_validated):
    after = {"title": "S", "encoder": "bigru", "vectors": "some", "ranker": "analogy", "p": 3}
    systems = {"baseline": {"training": {"loss": "listwise"}}}
    over = {"systems": systems | {"after": after | {"starts_from": "baseline"}}}
    text = yaml.safe_dump(over | {"cross_validation": {"systems": ["after"]}})
    cells, config = cross_validated.cells(text), cross_validated.load(text)
    started = {cell.prerequisite(config) for cell in cells if cell.system == "after"}
    assert labels(started) == {"baseline toy all", *folds("baseline", subset="all")}
    assert started <= set(cells)
    varied = Cell("after", "toy", "who", (("dropout", "0"), ("p", "2")))
    assert varied.prerequisite(config) == Cell("baseline", "toy", "all")
    assert Cell("analogy", "toy", "who").prerequisite(config) is None


def test_a_cell_with_other_weights_waits_for_the_training_run_that_has_them(cross_validated):
    systems = {"baseline": {"training": {"weight_averaging": 0.9}, "scores_with": "last"}}
    first = cross_validated.load(yaml.safe_dump({"systems": systems})).systems["baseline"]
    systems["averages"] = first.model_dump() | {"title": "A", "scores_with": "averaged"}
    config = cross_validated.load(yaml.safe_dump({"systems": systems}))
    overrides = (("fold", "1of2"),)
    cell = Cell("averages", "toy", "who", overrides)
    prerequisite = cell.prerequisite(config)
    assert prerequisite == Cell("baseline", "toy", "who", overrides)
    assert share_runs(cell, prerequisite, config)
    assert not share_runs(cell._replace(system="analogy"), prerequisite, config)
    assert prerequisite.prerequisite(config) is None


@pytest.mark.parametrize(
    ("changes", "paper", "expected"),
    [
        ({}, "small", folds("analogy")),
        ({"system": "mean"}, "small", set()),
        ({"p": 2}, "small", set()),
        ({"subset": "both"}, "small", set()),
        ({"dataset": "mine"}, "small", set()),
        ({}, OWN, set()),
    ],
)
def test_the_folds_of_coordinates(cross_validated, changes, paper, expected):
    cells = planned.fold_cells(at(**changes), cross_validated.load(), paper)
    assert labels(cells) == expected


def test_a_data_set_without_a_train_split_is_only_cross_validated(cross_validated):
    config = cross_validated.load("datasets: {toy: {train: []}}")
    assert "toy has no train split (datasets.toy.train)" in why_no_run(at(), config)
    assert why_no_run(at(fold="1of2"), config) == ""
    assert labels(reported_cells(config, load_papers(config, cross_validated.folder))) == {
        *folds(*SYSTEMS)
    }


def test_a_primary_claim_compares_the_folds_of_both_sides_too(cross_validated):
    config = cross_validated.load()
    (paper,) = load_papers(config, cross_validated.folder).values()
    split = {"analogy toy who", "analogy toy who hyperparameters=tuned", "baseline toy who"}
    sides = folds("analogy", "baseline")
    assert labels(planned.claim_cells(config, paper)) == split | sides
    paper.claims["better"] = paper.claims["better"].model_copy(update={"primary": None})
    assert labels(planned.claim_cells(config, paper)) == split


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"system": "old"}, "no room"),
        ({"system": "nobody"}, "system nobody is not configured"),
        ({"dataset": "none"}, "data set none is not configured"),
        ({"subset": "why"}, "subset why is not configured"),
        ({"subset": "all"}, ""),
        ({"p": 7}, "p = 7 is not among the points of sweeps.p"),
        ({"vectors": "gone"}, "analogy.vectors: 'gone' is not configured"),
        ({"loss": "pairwise"},
         "analogy: the loss pairwise has no prototypes, which ranker: analogy needs"),
        ({"rewriting": "entity"}, "analogy.rewriting: the section named_entities is missing"),
        ({"system": "mean", "loss": "hinge"}, ""),
    ],
)  # fmt: skip
def test_why_there_is_no_run(papers, changes, reason):
    config = papers.load("{sweeps: {p: [2]}, left_out: {old: no room}, named_entities: null}")
    assert why_no_run(at(**changes), config) == reason


@pytest.mark.parametrize(
    ("system", "reason"),
    [
        ("mean", ""),
        ("lemmas", "lemmas reads lemmas, and analogies are between whole sentences"),
        ("sif", "sif weights words by training sentences, and there are none"),
        ("words", "words gives no sentence vectors"),
    ],
)
def test_analogies_are_between_whole_sentences_with_equal_weights(papers, system, reason):
    average = "title: L, encoder: mean, ranker: cosine"
    config = papers.load(
        "{categories: {places: {title: P, rule: templates, pairs: 6, words: [[data/w.txt], w], "
        "templates: ['{}', 'We went to {}.']}}, "
        "datasets: {pairs: {title: P, reader: relations, categories: [places]}}, "
        "vectors: {lemmas: {texts: [some.txt], lemmas: true, dim: 4}}, "
        "lemmas: {model: m, keep: [NOUN]}, "
        f"systems: {{lemmas: {{{average}, vectors: lemmas}}, "
        f"sif: {{{average}, vectors: some, weighting: sif}}}}}}"
    )
    solving = at(system, dataset="pairs", subset="places", solver="3cosadd")
    assert why_no_run(solving, config) == reason


def test_own_data_get_a_table_and_a_figure(papers):
    config = papers.load(f"{OWN_DATA}\n{OWN_SYSTEM}")
    all_papers = load_papers(config, papers.folder)
    assert list(all_papers) == ["small", OWN]
    paper = all_papers[OWN]
    assert set(paper.artefacts) == {"table1", "figure1"}
    for name in paper.artefacts:
        cells = planned.artefact_cells(config, paper, name)
        assert {(cell.dataset, cell.subset) for cell in cells} == {
            ("mine", "who"), ("mine", "both"), ("mine", "all")
        }  # fmt: skip
        assert {cell.system for cell in cells} == set(config.systems)
    assert planned.extra_systems(config, paper, "table1") == []
    assert planned.extra_systems(config, all_papers["small"], "table1") == ["mean-cosine", "net"]


@pytest.mark.parametrize(
    ("dataset", "over", "types"),
    [
        ("toy", "datasets: {toy: {questions: null}}", {"who", "when"}),  # the table's `both`
        ("mine", "{}", {"who"}),
        ("mine", "datasets: {mine: {questions: {dev: {when: 3}}}}", {"who", "when"}),
    ],
)
def test_a_data_set_has_the_question_types_that_are_only_counted(papers, dataset, over, types):
    config = papers.load(yaml.safe_dump(merge(yaml.safe_load(OWN_DATA), yaml.safe_load(over))))
    table = "{title: T, cells: {dataset: toy, count: questions, split: dev}, "
    table += "columns: {N: {}}, rows: {Both: {subset: both}, All: {subset: all}}}"
    counting = PAPER.replace("  table1:", f"  table2: {table}\n  table1:")
    papers.write("small", CONFIG, counting)
    small = {"small": load_papers(config, papers.folder)["small"]}
    cells = [Cell("mean", "mine", "who"), Cell("mean", "other", "both")]
    counted = planned.dataset_question_types(config, small, cells, dataset)
    assert counted == {name: [name] for name in types}


def test_costs_are_measured_for_trained_systems_without_quadruples(papers):
    systems = papers.load("systems: {baseline: {training: {loss: listwise}}}").systems
    assert [name for name in systems if planned.has_costs(systems[name])] == ["baseline"]


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ("prototypes: {p: 6}", r"p = 6 \(analogy toy both\): more than the 5 .* who in .*1 to 5"),
        ("sweeps: {p: [2, 9]}", r"p = 9 \(analogy toy both p=9\): more than .* allowed: 1 to 5"),
    ],
)
def test_more_prototypes_than_questions_are_refused(papers, over, message):
    with pytest.raises(AnalogyQAError, match=message):
        papers.cells(over)
    assert papers.cells(f"{{{over}, datasets: {{toy: {{questions: null}}}}}}")


def test_a_paper_with_another_name_than_its_folder_is_refused(papers):
    papers.write("small", CONFIG, PAPER.replace("paper: small", "paper: other"))
    with pytest.raises(AnalogyQAError, match=r"small/paper\.yaml: .*'other'"):
        papers.cells()


def test_the_wildcards_of_every_cell_reach_a_cluster_unchanged():
    """Snakemake hands them to the job on its command line, outside quotes."""
    config = read_config(ROOT / "config.yaml")
    cells = reported_cells(config, load_papers(config))
    assert len({cell.path for cell in cells}) == len(cells)
    for cell in cells:
        vectors = config.system_at(cell.system, cell.overrides).word_vectors
        names = ("system", "dataset", "subset", "overrides", "corpus", "vectors")
        values = (*cell.path.split("/"), cell.corpus, vectors or "none")
        wildcards = dict(zip(names, values, strict=True))
        (argument,) = encode_target_jobs_cli_args([TargetSpec("rule", wildcards)])
        assert shlex.split(argument) == [argument] and not set(argument) & set("*?[]~!#$&;|<>(){}")
        assert parse_target_jobs_cli_args([argument]) == [TargetSpec("rule", wildcards)]
    assert any(len(cell.overrides) > 1 for cell in cells)
