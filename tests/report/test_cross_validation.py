"""Cross-validation: the joined folds, the table, the page and the figure."""

from functools import partial
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from analogyqa.cells import Cell, cross_validation_cells
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.summary import LearnedCount
from analogyqa.measures import RANKED
from analogyqa.report.figures import draw_cross_validation, draw_forest, draw_pairs
from analogyqa.report.studies import (
    ANSWER,
    EVERY,
    ORIGIN,
    PAIRS,
    QUESTION,
    answer_types,
    build_cross_validation,
    build_folds,
    build_pairs,
    cross_validation_table,
    pairs_table,
    question_origins,
    question_types,
    questions_page,
    shared_notes,
)
from analogyqa.report.table_formats import to_markdown
from analogyqa.schemas import CORPUS, ENTITIES
from analogyqa.settings.run import Config
from builders.golden import figure_text
from builders.report import (
    CONFERENCE,
    cells_in_markdown,
    make_config,
    make_paper,
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
MEANS = {"analogy": 0.6, "similarity": 0.5, "random": 0.2}


def make_study_config(
    datasets=("wikiqa",), systems=SYSTEMS, measures=("mrr", "map"), pairs=None, **changes
) -> Config:
    """Return a configuration in which the first paper cross-validates in two folds."""
    study = {"datasets": list(datasets), "systems": list(systems), "measures": list(measures)}
    return with_cross_validation(
        make_config(datasets, **changes), PAPER, pairs=pairs or {}, **study
    )


def run_values(cell: Cell, measure: str, means=MEANS) -> pd.DataFrame:
    """Return the values of two seeds that differ by 0.02; AP is half of RR."""
    items = ITEMS[dict(cell.overrides)["fold"]]
    values = means[cell.system] + np.add.outer([-0.01, 0.01], list(items.values()))
    return pd.DataFrame(values if measure == "mrr" else values / 2, [0, 1], list(items))


def make_frame(config=None, missing=(), learned=None, values=run_values) -> pd.DataFrame:
    """Return the table without the runs in `missing`, each given as "system fold"."""

    def lookup(cell: Cell, measure: str) -> pd.DataFrame | None:
        is_missing = f"{cell.system} {dict(cell.overrides)['fold']}" in missing
        return None if is_missing else values(cell, measure)

    config = config or make_study_config()
    study = config.studies[PAPER].cross_validation
    return build_cross_validation(PAPER, study, config, lookup, learned or {})


def pick(frame, system="analogy", origin=EVERY, measure="mrr") -> pd.Series:
    keys = {"system": system, "origin": origin, "measure": measure}
    return frame[(frame[list(keys)] == list(keys.values())).all(axis=1)].squeeze()


def learned_folds(config: Config, **learned: int) -> dict[Cell, LearnedCount]:
    """Return how many of two training runs learned in each fold of some systems."""
    return {
        cell: LearnedCount(learned[system], 2)
        for (system, _), cells in cross_validation_cells(config, PAPER).items()
        if system in learned
        for cell in cells
    }


class TestFrame:
    def test_a_split_without_a_question_of_the_subset_has_no_row(self):
        frame = make_frame(values=lambda *at: run_values(*at).filter(like="train:"))
        assert set(frame["origin"]) == {EVERY, "train"}

    def test_the_top_group_is_the_best_system_and_those_not_significantly_different(self):
        """The baseline is .01 behind, with noise; the last is .4 behind."""

        def values(cell, measure):
            scores = run_values(cell, measure, MEANS | {"similarity": 0.59})
            scores = pd.DataFrame([scores.mean()] * 2)  # seeds that agree
            return scores + 0.1 * np.cos(scores * 100) if cell.system == "similarity" else scores

        frame = make_frame(values=values)
        assert [pick(frame, system)["top_group"] for system in SYSTEMS] == [True, True, False]

    def test_a_system_without_a_run_has_a_reason_and_is_compared_with_none(self):
        config = make_study_config(("wikiqa", "trecqa"), left_out={"random trecqa": "too long"})
        frame = make_frame(config, missing=["analogy 1of2", "analogy 2of2", "similarity 2of2"])
        at_wikiqa, at_trecqa = (part for _, part in frame.groupby("dataset", sort=False))
        folds = ", ".join(f"analogy/wikiqa/comb/fold={fold}" for fold in ITEMS)
        reasons = [pick(at_wikiqa, system)["reason"] for system in SYSTEMS]
        assert reasons == [f"no run {folds}", "no run similarity/wikiqa/comb/fold=2of2", ""]
        assert pick(at_trecqa, "random")["reason"] == "too long"
        row = pick(at_wikiqa, "similarity")
        assert row[["mean", "ci_low", "n_items", "n_trained", "top_group"]].isna().all()
        assert frame["difference"].isna().all()
        assert pd.notna(pick(at_wikiqa, "random")["mean"])


def test_shared_questions_are_counted_in_the_folds_and_in_the_papers_split(make_corpus):
    train = ("train", "when is it ?", [("1901", 1), ("1950", 0)])
    dev = ("dev", "who ?", [("anna", 1)])
    shared = ("test", "When is it ?", [("anna", 1), ("1999", 0)])
    new = ("test", "where is it ?", [("1950", 0), ("rome", 1)])
    untyped = ("test", "what is it ?", [("1901", 1)])  # of no type of the subset
    unanswered = ("train", "where is it ?", [("rome", 0)])
    corpora = {
        "wikiqa": make_corpus([train, dev, shared, new, untyped, unanswered]),
        "wikiqa@fold=1of2-partition0": make_corpus([train, dev, new]),
        "wikiqa@fold=2of2-partition0": make_corpus(
            [train, dev, ("test", "where ?", [("lima", 1), ("1901", 0)])]
        ),
        "trecqa": make_corpus([train, dev, ("test", "who is it ?", [("bruno", 1)])]),
    }
    notes = shared_notes(corpora, "comb", make_config())
    notes += shared_notes({"wikiqa": corpora["wikiqa"]}, "all", make_config())
    expected = [
        "WIKIQA, the paper's split: 1 of 2 questions, 2 of 4 candidates ",
        "WIKIQA, all folds of all seeds: 0 of 2 questions, 2 of 4 candidates ",
        "TRECQA, the paper's split: 0 of 1 questions, 0 of 1 candidates ",
        "WIKIQA, the paper's split: 1 of 3 questions, 3 of 5 candidates ",
    ]
    assert all(text in note for note, text in zip(notes, expected, strict=True))


def page(config: Config, shared=(), **changes) -> str:
    study, frame = config.studies[PAPER].cross_validation, make_frame(config, **changes)
    return to_markdown(cross_validation_table(frame, CONFERENCE, study, shared, config))


# The folds of two questions of each original split, in each of two seeds.
PARTITIONS = {"train:a": "12", "train:b": "11", "dev:a": "21", "test:a": "22"}


def test_the_differences_of_each_fold_and_seed_reach_table_and_test():
    """The effect of a training set is that of its fold and seed, on the first system only."""
    effects = {"1": (0.1, 0.3), "2": (0.2, -0.1)}

    def values(cell: Cell, measure: str) -> pd.DataFrame:
        fold = dict(cell.overrides)["fold"][0]
        is_first = cell.system == "analogy"
        rows = [
            [
                0.5 + is_first * effects[fold][seed] if at[seed] == fold else np.nan
                for seed in (0, 1)
            ]
            for at in PARTITIONS.values()
        ]
        return pd.DataFrame(np.transpose(rows), [3, 4], list(PARTITIONS))

    config = make_study_config(systems=SYSTEMS[:2], measures=["mrr"])
    study = config.studies[PAPER].cross_validation
    frame = build_folds(PAPER, study, config, values)
    assert frame[["seed", "fold", "n_items", "difference"]].to_numpy().tolist() == [
        [3, 1, 2, 0.1], [3, 2, 2, 0.2], [4, 1, 2, 0.3], [4, 2, 2, -0.1],
    ]  # fmt: skip
    row = pick(build_cross_validation(PAPER, study, config, values, {}), "similarity")
    assert row["difference"] == pytest.approx(frame["difference"].mean())
    assert row["high"] - row["low"] > 0.5


class TestPage:
    def test_the_page_and_the_figure_are_as_reviewed(self, tmp_path, golden):
        """Of a system a run is missing, another one learned in half of its training runs."""
        config = make_study_config(("wikiqa", "trecqa"), left_out={"random trecqa": "too long"})
        learned = learned_folds(config, analogy=2, similarity=1)
        shared = ["one is shared.", "another is, too."]
        golden(page(config, shared, learned=learned), "cross_validation.md")
        study, frame = config.studies[PAPER].cross_validation, make_frame(config)
        draw = partial(draw_cross_validation, frame, config, study)
        golden(figure_text(draw, tmp_path), "cross_validation.txt")
        assert {*frame["measure"]} == {*RANKED}
        assert (
            frame.loc[frame["origin"].ne(EVERY), ["difference", "top_group"]].isna().all(axis=None)
        )

    def test_missing_runs_and_other_data_are_reported(self):
        missing = [f"{system} 1of2" for system in SYSTEMS]
        text = page(make_study_config(comparable=False), missing=missing)
        title, _, heading = text.splitlines()[:3]
        assert title.endswith("all questions of comb (our data are not the paper's)")
        assert heading == "## WIKIQA, not run"


# Pairs

TYPES = {"a": "who", "b": "who", "c": "when", "d": "when"}
# By how much the first system is better on each question, and the folds that test them.
GAINS = {"train:a": 0.3, "dev:b": 0.1, "train:c": -0.2, "test:d": 0.0}
PAIR_FOLDS = {"1of2": ["train:a", "dev:b"], "2of2": ["train:c", "test:d"]}
PAIR_CONFIG = make_study_config(
    systems=SYSTEMS[:2], measures=["mrr"], pairs={"baseline": list(SYSTEMS[:2])}
)
PAIR = (PAPER, PAIR_CONFIG.studies[PAPER].cross_validation, PAIR_CONFIG)


@pytest.fixture
def corpus():
    rows = [
        (
            split,
            item,
            f"{TYPES[item]} is {item} ?",
            f"{item}-{label}",
            "text",
            label,
            TYPES[item],
        )
        for split, item in (name.split(":") for name in GAINS)
        for label in (0, 1)
    ]
    rows.append(("test", "e", "what is e ?", "e-1", "text", 1, None))
    return pd.DataFrame(rows, columns=CORPUS.names)


def pair_values(cell: Cell, measure: str) -> pd.DataFrame:
    items = PAIR_FOLDS[dict(cell.overrides)["fold"]]
    first = np.array([GAINS[item] for item in items]) * (cell.system == "analogy")
    return pd.DataFrame(0.5 + np.add.outer([-0.01, 0.01], first), [0, 1], items)


def no_run(cell: Cell, measure: str) -> None:
    return None


def test_the_answer_type_depends_on_the_right_candidates(corpus):
    entities = [
        ("train", "a", "a-1", "Ada Lovelace", "KIND"),
        ("dev", "b", "b-1", "42", "KIND"),
        ("dev", "b", "b-1", "a dozen", "KIND"),
        ("train", "c", "c-0", "1999", "KIND"),  # of a wrong candidate
    ]
    types = answer_types(corpus, pd.DataFrame(entities, columns=ENTITIES.names))
    assert types == {
        "train:a": "entity", "dev:b": "number", "train:c": "clause", "test:d": "clause"
    }  # fmt: skip
    nothing = answer_types(corpus, pd.DataFrame(entities[:0], columns=ENTITIES.names))
    assert nothing == dict.fromkeys(types, "clause")


def test_a_pair_is_compared_on_all_questions_and_in_each_group(corpus):
    groups = {("wikiqa", QUESTION): question_types(corpus)}
    groups["wikiqa", ANSWER] = {"train:a": "entity", "train:c": "number"}
    groups["wikiqa", ORIGIN] = question_origins(corpus)
    frame = build_pairs(*PAIR, pair_values, groups)
    assert list(frame.columns) == list(PAIRS)
    assert frame[["by", "group", "n_items", "difference"]].to_numpy().tolist() == [
        [EVERY, EVERY, 4, pytest.approx(0.05)],
        [QUESTION, "when", 2, pytest.approx(-0.1)],
        [QUESTION, "who", 2, pytest.approx(0.2)],
        [ANSWER, "entity", 1, pytest.approx(0.3)],
        [ANSWER, "number", 1, pytest.approx(-0.2)],
        [ORIGIN, "dev", 1, pytest.approx(0.1)],
        [ORIGIN, "test", 1, pytest.approx(0)],
        [ORIGIN, "train", 2, pytest.approx(0.05)],
    ]
    _, _, first, *_, row = cells_in_markdown(
        to_markdown(pairs_table(frame, CONFERENCE, PAIR_CONFIG))
    )
    assert first[0] == "Analogy against Baseline" and first[1].startswith("+0.050 [")
    assert row[:3] == ["Analogy against Baseline", "origin: train", "2"]
    assert row[3].startswith("+0.050 [")


@pytest.mark.parametrize("has_run", [True, False])
def test_a_pair_is_drawn_once_or_reported_as_not_run(tmp_path, corpus, golden, has_run):
    values = pair_values if has_run else no_run
    frame = build_pairs(*PAIR, values, {})
    text = figure_text(partial(draw_pairs, frame, PAIR_CONFIG), tmp_path)
    questions = questions_page(*PAIR, values, {"wikiqa": corpus})
    if has_run:
        golden(text, "pairs.txt")
    else:
        assert frame["reason"].tolist() == ["not run"] and "text 'not run'" in text
        assert "not run" in to_markdown(pairs_table(frame, CONFERENCE, PAIR_CONFIG))
        assert "##" not in questions


@pytest.mark.parametrize(("count", "shape"), [(1, (1, 1)), (3, (1, 3)), (4, (2, 2)), (5, (2, 3))])
def test_panels_are_in_lines_of_three(count, shape):
    frame = build_pairs(*PAIR, pair_values, {})
    frame = pd.concat([frame.assign(dataset=str(number)) for number in range(count)])
    with patch("analogyqa.report.figures.save_figure") as saved:
        draw_pairs(frame, PAIR_CONFIG, {})
    panels = saved.call_args.args[0].axes
    assert [axes.get_visible() for axes in panels] == [n < count for n in range(len(panels))]
    assert panels[0].get_gridspec().get_geometry() == shape


def forest(datasets: list[str], values=pair_values) -> partial:
    """Return a drawing of a claim about three data sets, two of which may be left out."""
    claim = {"claim": "c", "where": "ours", "primary": "cross-validated"}
    claim["comparisons"] = [{"better": {"system": SYSTEMS[0]}, "worse": {"system": SYSTEMS[1]}}]
    at = {"subset": "comb", "measure": "mrr"}
    claims = {n: claim | {"cells": at | {"dataset": n}} for n in ("wikiqa", "trecqa", "other")}
    claims["wikiqa"] |= {"margin": 0.3}
    left_out = dict.fromkeys(claims.keys() - {*datasets}, "no room")
    pairs = {"both": list(SYSTEMS[:2])}
    config = make_study_config(datasets, SYSTEMS[:2], ["mrr"], pairs, left_out=left_out)
    frame = build_pairs(PAPER, config.studies[PAPER].cross_validation, config, values, {})
    return partial(draw_forest, frame, make_paper(name=PAPER, **claims), config)


def test_a_forest_has_a_row_for_each_data_set_and_their_pooled_difference(tmp_path, golden):
    def values(cell: Cell, measure: str) -> pd.DataFrame:
        """On the second data set, all questions have half the spread, and so half the error."""
        scores = pair_values(cell, measure)
        return scores / 2 if cell.dataset == "trecqa" else scores

    drawing = forest(["wikiqa", "trecqa"], values)
    golden(figure_text(drawing, tmp_path), "forest.txt")
    with patch("analogyqa.report.figures.save_figure") as saved:
        drawing({})
    (axes,) = saved.call_args.args[0].axes
    areas = [squares.get_sizes()[0] for squares in axes.collections]
    assert areas[1] / areas[0] == pytest.approx(4, rel=1e-3)
    frame, _, config = drawing.args
    *_, row = cells_in_markdown(to_markdown(pairs_table(frame, CONFERENCE, config)))
    assert [cell.split(" ")[0] for cell in row] == ["Analogy", "+0.050", "+0.025", "+0.030", "p"]


@pytest.mark.parametrize(("values", "count"), [(pair_values, 1), (no_run, 0)])
def test_data_sets_without_a_run_have_a_row_in_a_forest(tmp_path, values, count):
    text = figure_text(forest(["wikiqa"], values), tmp_path)
    assert text.count("not run'") == 3 - count and "Pooled" not in text
    assert text.count("text '+0.050 [") == count


def test_questions_are_sorted_by_gain_and_by_loss(corpus):
    page = questions_page(*PAIR, pair_values, {"wikiqa": corpus})
    gains, losses = page.split("## ")[1:]
    assert gains.startswith("WIKIQA: largest gains of Analogy over Baseline")
    assert [line.split()[3] for line in gains.splitlines() if line[:1] == "-"] == ["a", "b"]
    assert [line.split()[3] for line in losses.splitlines() if line[:1] == "-"] == ["c"]
    assert "- who is a ? (train; MRR 0.50 to 0.80)" in gains


def test_systems_with_different_questions_are_refused():
    def different_questions(cell: Cell, measure: str) -> pd.DataFrame:
        values = pair_values(cell, measure)
        return values.iloc[:, 1:] if cell.system == "similarity" else values

    with pytest.raises(AnalogyQAError, match="analogy and similarity have different"):
        build_pairs(*PAIR, different_questions, {})
