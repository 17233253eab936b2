"""Cross-validation: the joined folds, the table, the page and the figure."""

from functools import cache, partial

import numpy as np
import pandas as pd
import pytest

from analogyqa.cells import Cell, cross_validation_cells
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation import significance
from analogyqa.measures import RANKED
from analogyqa.report.cross_validation import (
    ANSWER,
    CROSS_VALIDATION,
    EVERY,
    PAIRS,
    QUESTION,
    answer_types,
    build_cross_validation,
    build_pairs,
    cross_validation_table,
    pairs_table,
    question_types,
    questions_page,
    shared_notes,
)
from analogyqa.report.interval_plot import draw_cross_validation, draw_pairs
from analogyqa.report.table_formats import to_markdown
from analogyqa.schemas import CORPUS, ENTITIES, SPLITS
from analogyqa.settings.run import Config
from analogyqa.settings.studies import CrossValidation
from builders.golden import figure_text
from builders.report import (
    CONFERENCE,
    cells_in_markdown,
    make_config,
    with_cross_validation,
)

pytestmark = pytest.mark.usefixtures("fewer_permutations")
PAPER = CONFERENCE.paper
SYSTEMS = ("analogy", "similarity", "random")
# The questions that each of the two folds tests, with their differences from the mean score.
ITEMS = {
    "1of2": {"train:a": 0.1, "train:b": 0.0, "dev:a": -0.1},
    "2of2": {"train:c": 0.02, "train:d": -0.02, "dev:b": 0.2, "test:a": 0.3},
}
# The mean of these differences by the split that the questions come from.
ORIGINS = {"train": 0.1 / 4, "dev": 0.05, "test": 0.3}
MEANS = {"analogy": 0.6, "similarity": 0.5, "random": 0.2}


def make_study_config(
    datasets=("wikiqa",), systems=SYSTEMS, measures=("mrr", "map"), **changes
) -> Config:
    """Return a configuration in which the first paper cross-validates in two folds."""
    study = {"datasets": list(datasets), "systems": list(systems), "measures": list(measures)}
    return with_cross_validation(make_config(datasets, **changes), PAPER, **study)


def run_values(cell: Cell, measure: str, means=None) -> pd.DataFrame:
    """Return the values of two seeds that differ by 0.02; AP is half of RR."""
    items = ITEMS[dict(cell.overrides)["fold"]]
    mean = (means or MEANS)[cell.system]
    values = mean + np.add.outer([-0.01, 0.01], list(items.values()))
    return pd.DataFrame(values if measure == "mrr" else values / 2, [0, 1], list(items))


def make_frame(config=None, missing=(), learnt=None, values=run_values) -> pd.DataFrame:
    """Return the table without the runs in `missing`, each given as "system fold"."""

    def lookup(cell: Cell, measure: str) -> pd.DataFrame | None:
        is_missing = f"{cell.system} {dict(cell.overrides)['fold']}" in missing
        return None if is_missing else values(cell, measure)

    config = config or make_study_config()
    study = config.studies[PAPER].cross_validation
    return build_cross_validation(PAPER, study, config, lookup, learnt or {})


@cache
def plain_frame() -> pd.DataFrame:
    return make_frame()


def pick(frame, system="analogy", origin=EVERY, measure="mrr") -> pd.Series:
    keys = {"system": system, "origin": origin, "measure": measure}
    return frame[(frame[list(keys)] == list(keys.values())).all(axis=1)].squeeze()


def learnt_folds(config: Config, **counts: int) -> dict[Cell, bool]:
    """Return which folds learnt: as many of each system as `counts` says."""
    return {
        cell: number < counts[system]
        for (system, _), cells in cross_validation_cells(config, PAPER).items()
        if system in counts
        for number, cell in enumerate(cells)
    }


class TestFrame:
    def test_a_system_has_a_row_for_each_measure_and_origin(self):
        frame = make_frame(make_study_config(("trecqa", "wikiqa")))
        assert list(frame.columns) == list(CROSS_VALIDATION)
        assert frame[["dataset", "system", "measure", "origin"]].apply(tuple, axis=1).tolist() == [
            (dataset, system, measure, origin)
            for dataset in ("trecqa", "wikiqa")
            for system in SYSTEMS
            for measure in RANKED
            for origin in (EVERY, *SPLITS)
        ]
        assert set(frame["paper"] + frame["subset"]) == {f"{PAPER}comb"}

    def test_the_mean_is_over_the_questions_of_all_folds(self):
        """Not over the folds, of which the second has more questions."""
        row, deviations = pick(plain_frame()), [0.1, 0, -0.1, 0.02, -0.02, 0.2, 0.3]
        assert row["mean"] == pytest.approx(0.6 + sum(deviations) / 7, abs=1e-6)
        assert (row["n_items"], row["n_seeds"], row["folds"]) == (7, 2, 2)
        assert row["sd"] == pytest.approx(0.02 / 2**0.5, abs=1e-6)
        assert row["run_low"] < row["mean"] < row["run_high"]
        assert row["ci_low"] < row["mean"] < row["ci_high"]
        assert row["reason"] == ""
        half = pick(plain_frame(), measure="map")
        assert half["mean"] == pytest.approx(row["mean"] / 2, abs=1e-6)

    def test_a_row_by_origin_has_the_questions_of_that_split(self):
        frame = plain_frame()
        for origin, count in (("train", 4), ("dev", 2), ("test", 1)):
            row = pick(frame, "similarity", origin)
            assert row["n_items"] == count
            assert row["mean"] == pytest.approx(0.5 + ORIGINS[origin], abs=1e-6)
            assert row[["difference", "low", "high", "p_greater", "p_less"]].isna().all()

    def test_a_split_without_a_question_of_the_subset_has_no_row(self):
        def training_values(cell, measure):
            return run_values(cell, measure).filter(like="train:")

        assert set(make_frame(values=training_values)["origin"]) == {EVERY, "train"}

    def test_each_system_is_compared_with_the_first_on_all_questions(self):
        config = make_study_config()
        frame, cells = make_frame(config), cross_validation_cells(config, PAPER)
        scores = [
            pd.concat(
                [run_values(cell, "mrr") for cell in cells[name, "wikiqa"]], axis=1
            ).to_numpy()
            for name in ("analogy", "similarity")
        ]
        row, compared = pick(frame, "similarity"), significance.compare_paired(*scores, 0.05)
        assert row["difference"] == pytest.approx(0.1)
        for name in ("low", "high", "p_greater", "p_less"):
            assert row[name] == pytest.approx(getattr(compared, name), abs=1e-6)
        assert pick(frame, "random")["difference"] == pytest.approx(0.4)
        assert pd.isna(pick(frame)["difference"])  # from itself
        swapped = make_frame(make_study_config(systems=["similarity", "analogy"]))
        assert pick(swapped)["difference"] == pytest.approx(-0.1)

    def test_the_top_group_is_the_best_system_and_those_not_significantly_different(self):
        """The baseline is .01 behind, with noise; the last is .4 behind."""

        def values(cell, measure):
            scores = run_values(cell, measure, MEANS | {"similarity": 0.59})
            scores = pd.DataFrame([scores.mean()] * 2)  # seeds that agree
            return scores + 0.1 * np.cos(scores * 100) if cell.system == "similarity" else scores

        frame = make_frame(values=values)
        assert [pick(frame, system)["top_group"] for system in SYSTEMS] == [True, True, False]
        assert frame.loc[frame["origin"] != EVERY, "top_group"].isna().all()
        incomplete = make_frame(values=values, missing=["analogy 1of2"])
        assert pd.isna(pick(incomplete)["top_group"])
        assert pick(incomplete, "similarity")["top_group"]

    def test_a_missing_fold_gives_a_reason_and_no_numbers(self):
        frame = make_frame(missing=["similarity 2of2"])
        for measure in RANKED:
            row = pick(frame, "similarity", measure=measure)
            assert row["reason"] == "no run similarity/wikiqa/comb/fold=2of2"
            assert row[["mean", "ci_low", "n_items", "difference", "folds_learnt"]].isna().all()
        assert set(frame.loc[frame["system"] == "similarity", "origin"]) == {EVERY}
        assert pick(frame)["mean"] == pick(plain_frame())["mean"]

    def test_a_system_left_out_on_a_data_set_has_a_row_with_the_reason(self):
        config = make_study_config(("wikiqa", "trecqa"), left_out={"similarity trecqa": "too long"})
        frame = make_frame(config)
        assert list(frame["system"].unique()) == list(SYSTEMS)
        row = pick(frame[frame["dataset"] == "trecqa"], "similarity")
        assert (row["reason"], row["folds"]) == ("too long", 0)
        assert pd.isna(row["mean"])
        assert pick(frame[frame["dataset"] == "wikiqa"], "similarity")["reason"] == ""

    def test_no_system_is_compared_with_a_first_system_that_lacks_a_fold(self):
        frame = make_frame(missing=["analogy 1of2", "analogy 2of2"])
        names = " ".join(f"analogy/wikiqa/comb/fold={fold}" for fold in ITEMS)
        assert pick(frame)["reason"] == f"no run {names.replace(' ', ', ')}"
        assert frame["difference"].isna().all()
        assert pick(frame, "random")["mean"] == pick(plain_frame(), "random")["mean"]

    def test_the_folds_that_learnt_are_counted(self):
        config = make_study_config()
        learnt = learnt_folds(config, analogy=2, similarity=1)
        frame = make_frame(config, learnt=learnt)
        counts = [pick(frame, system)["folds_learnt"] for system in SYSTEMS]
        assert counts[:2] == [2, 1]
        assert pd.isna(counts[2])  # it is not trained
        assert pick(frame, origin="train")["folds_learnt"] == 2


def test_shared_questions_are_counted_in_the_folds_and_in_the_papers_split(make_corpus):
    train = ("train", "when is it ?", [("1901", 1), ("1950", 0)])
    dev = ("dev", "who ?", [("anna", 1)])
    shared = ("test", "When is it ?", [("anna", 1), ("1999", 0)])
    new = ("test", "where is it ?", [("1950", 0), ("rome", 1)])
    untyped = ("test", "what is it ?", [("1901", 1)])  # of no type of the subset
    unanswered = ("train", "where is it ?", [("rome", 0)])
    corpora = {
        "wikiqa": make_corpus([train, dev, shared, new, untyped, unanswered]),
        "wikiqa@fold=1of2": make_corpus([train, dev, new]),
        "wikiqa@fold=2of2": make_corpus(
            [train, dev, ("test", "where ?", [("lima", 1), ("1901", 0)])]
        ),
        "trecqa": make_corpus([train, dev, ("test", "who is it ?", [("bruno", 1)])]),
    }
    notes = shared_notes(corpora, "comb", make_config())
    expected = [
        ("WIKIQA, the paper's split", "1 of 2 questions, 2 of 4 candidates"),
        ("WIKIQA, all folds", "0 of 2 questions, 2 of 4 candidates"),
        ("TRECQA, the paper's split", "0 of 1 questions, 0 of 1 candidates"),
    ]
    for note, (split, counts) in zip(notes, expected, strict=True):
        assert f"{split}: {counts} " in note
    (note,) = shared_notes({"wikiqa": corpora["wikiqa"]}, "all", make_config())
    assert ": 1 of 3 questions, 3 of 5 candidates " in note


def page(config=None, shared=(), **changes) -> str:
    config = config or make_study_config()
    study, frame = config.studies[PAPER].cross_validation, make_frame(config, **changes)
    return to_markdown(cross_validation_table(frame, CONFERENCE, study, shared, config))


class TestPage:
    def test_the_page_and_the_figure_are_as_reviewed(self, tmp_path, golden):
        """Of a system a run is missing, another one did not learn in one fold."""
        config = make_study_config(("wikiqa", "trecqa"), left_out={"random trecqa": "too long"})
        learnt = learnt_folds(config, analogy=2, similarity=1)
        shared = ["one is shared.", "another is, too."]
        golden(page(config, shared, learnt=learnt), "cross_validation.md")
        draw = partial(draw_cross_validation, make_frame(config), config)
        draw = partial(draw, config.studies[PAPER].cross_validation)
        golden(figure_text(draw, tmp_path), "cross_validation.txt")

    def test_origins_and_differences_use_the_first_measure(self):
        config = make_study_config(measures=["map", "accuracy"])
        head, _, _, row, _ = cells_in_markdown(page(config))
        assert head[1:3] == ["MAP", "Accuracy"]
        difference = pick(make_frame(config), "similarity", measure="map")["difference"]
        assert row[4].startswith(".275 {") and row[6].startswith(f"{difference:+.3f} [")
        assert "- Measures: mean average precision and accuracy." in page(config)

    def test_the_p_value_of_equal_means_is_one(self):
        def values(cell, measure):
            return run_values(cell, measure, MEANS | {"similarity": MEANS["analogy"]})

        assert cells_in_markdown(page(values=values))[3][-1] == "1"

    def test_missing_runs_and_other_data_are_reported(self):
        config = make_study_config(comparable=False)
        text = page(config, missing=[f"{system} 1of2" for system in SYSTEMS])
        title, _, heading = text.splitlines()[:3]
        assert title.endswith("all questions of comb (our data are not the paper's)")
        assert heading == "## WIKIQA, not run"
        assert cells_in_markdown(text)[3] == ["Baseline", *["not run"] * 2, *[""] * 5]
        assert "Baseline on WIKIQA (no run similarity/wikiqa/comb/fold=1of2)" in text
        assert "- Folds that did not learn: none.\n" in text


# Pairs

TYPE_OF = {"a": "who", "b": "who", "c": "when", "d": "when"}
# By how much the first system is better on each question, and the folds that test them.
GAINS = {"train:a": 0.3, "dev:b": 0.1, "train:c": -0.2, "test:d": 0.0}
FOLDS_OF_PAIR = {"1of2": ["train:a", "dev:b"], "2of2": ["train:c", "test:d"]}


@pytest.fixture
def pair_config():
    study = {"datasets": ["wikiqa"], "systems": ["analogy", "similarity"], "measures": ["mrr"]}
    pairs = {"baseline": ["analogy", "similarity"]}
    return with_cross_validation(make_config(("wikiqa",)), PAPER, pairs=pairs, **study)


@pytest.fixture
def corpus():
    rows = []
    for name in GAINS:
        split, item = name.split(":")
        question_type = TYPE_OF[item]
        question = f"{question_type} is {item} ?"
        rows += [
            (split, item, question, f"{item}-{label}", "text", label, question_type)
            for label in (0, 1)
        ]
    rows.append(("test", "e", "what is e ?", "e-1", "text", 1, None))
    return pd.DataFrame(rows, columns=CORPUS.names)


def study_and(config: Config) -> tuple[CrossValidation, Config]:
    return config.studies[PAPER].cross_validation, config


def pair_values(cell: Cell, measure: str) -> pd.DataFrame:
    items = FOLDS_OF_PAIR[dict(cell.overrides)["fold"]]
    first = np.array([GAINS[item] for item in items]) * (cell.system == "analogy")
    return pd.DataFrame(0.5 + np.add.outer([-0.01, 0.01], first), [0, 1], items)


def no_run(cell: Cell, measure: str) -> None:
    return None


def entities(*rows) -> pd.DataFrame:
    return pd.DataFrame([(*row, "KIND") for row in rows], columns=ENTITIES.names)


def test_the_answer_type_depends_on_the_right_candidates(corpus):
    named_entities = entities(
        ("train", "a", "a-1", "Ada Lovelace"),
        ("dev", "b", "b-1", "42"),
        ("dev", "b", "b-1", "a dozen"),
        ("train", "c", "c-0", "1999"),  # of a wrong candidate
    )
    expected = {"train:a": "entity", "dev:b": "number", "train:c": "clause", "test:d": "clause"}
    assert answer_types(corpus, named_entities) == expected
    assert answer_types(corpus, entities()) == dict.fromkeys(expected, "clause")


def test_a_pair_is_compared_on_all_questions_and_in_each_group(pair_config, corpus):
    groups = {("wikiqa", QUESTION): question_types(corpus)}
    groups["wikiqa", ANSWER] = {"train:a": "entity", "train:c": "number"}
    frame = build_pairs(PAPER, *study_and(pair_config), pair_values, groups)
    assert list(frame.columns) == list(PAIRS)
    keys = ["by", "group", "n_items", "difference"]
    assert frame[keys].to_numpy().tolist() == [
        [EVERY, EVERY, 4, pytest.approx(0.05)],
        [QUESTION, "when", 2, pytest.approx(-0.1)],
        [QUESTION, "who", 2, pytest.approx(0.2)],
        [ANSWER, "entity", 1, pytest.approx(0.3)],
        [ANSWER, "number", 1, pytest.approx(-0.2)],
    ]
    page = to_markdown(pairs_table(frame, CONFERENCE, pair_config))
    assert "| Analogy against Baseline | question: who " in page
    assert "+0.200" in page


def test_a_pair_without_runs_is_reported_as_not_run(pair_config, corpus):
    frame = build_pairs(PAPER, *study_and(pair_config), no_run, {})
    assert frame["reason"].tolist() == ["not run"]
    assert "not run" in to_markdown(pairs_table(frame, CONFERENCE, pair_config))
    page = questions_page(PAPER, *study_and(pair_config), no_run, {"wikiqa": corpus})
    assert "##" not in page


@pytest.mark.parametrize("has_run", [True, False])
def test_the_figure_has_each_pair_once(pair_config, tmp_path, golden, has_run):
    values = pair_values if has_run else no_run
    frame = build_pairs(PAPER, *study_and(pair_config), values, {})
    text = figure_text(partial(draw_pairs, frame, pair_config), tmp_path)
    if has_run:
        golden(text, "pairs.txt")
    else:
        assert "text 'not run'" in text


def test_questions_are_sorted_by_gain_and_by_loss(pair_config, corpus):
    page = questions_page(PAPER, *study_and(pair_config), pair_values, {"wikiqa": corpus})
    gains, losses = page.split("## ")[1:]
    assert gains.startswith("WIKIQA: largest gains of Analogy over Baseline")
    assert [line.split()[3] for line in gains.splitlines() if line[:1] == "-"] == ["a", "b"]
    assert [line.split()[3] for line in losses.splitlines() if line[:1] == "-"] == ["c"]
    assert "- who is a ? (train; MRR 0.50 to 0.80)" in gains


def test_systems_with_different_questions_are_refused(pair_config):
    def different_questions(cell: Cell, measure: str) -> pd.DataFrame:
        values = pair_values(cell, measure)
        return values.iloc[:, 1:] if cell.system == "similarity" else values

    with pytest.raises(AnalogyQAError, match="analogy and similarity have different"):
        build_pairs(PAPER, *study_and(pair_config), different_questions, {})
