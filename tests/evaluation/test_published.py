"""The ledger: published values, the summary of runs, and verdicts."""

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from analogyqa.cells import Cell, why_no_run
from analogyqa.evaluation.published import COMPUTED, build_ledger, compare_numbers, find_repeats
from analogyqa.evaluation.spread import summarise
from analogyqa.evaluation.summary import DECIMALS, Results, Values, csv_text, summarise_runs
from analogyqa.evaluation.verdicts import verdict
from analogyqa.measures import MEASURES
from analogyqa.runs.cost import Cost
from analogyqa.schemas import SPLITS
from analogyqa.settings.artefacts import CITED, Artefact, Published
from analogyqa.settings.coordinates import COST, SCORE, Coordinates
from analogyqa.settings.load import PAPERS
from analogyqa.settings.paper import Paper, load_paper
from analogyqa.settings.run import Config
from builders.report import (
    CONFERENCE,
    HYPERBOLIC,
    MAPPING,
    TYPES,
    WORKSHOP,
    is_tuned,
    make_config,
    make_paper,
    make_run,
    make_summary,
    repository_config,
)

POINTS = {"sweeps": {"p": [10, 30, 50]}}
CELL = Cell("analogy", "wikiqa", "comb")
VALUES = np.array([[1.0, 0.5, 0.25]] * 2)


def published_counts() -> dict:
    counts: dict = {
        name: {"questions": {split: {} for split in SPLITS}} for name in ("wikiqa", "trecqa")
    }
    for number in CONFERENCE.artefacts["table2"].numbers():
        coordinates = number.coordinates
        counts[coordinates.dataset]["questions"][coordinates.split][coordinates.subset] = int(
            number.published
        )
    return counts


def equal_values(cell: Cell, measure: str) -> pd.DataFrame:
    """Return the same values for every run."""
    return pd.DataFrame(np.full((2, 9), 0.6))


def make_ledger(
    config: Config | None = None,
    summary: pd.DataFrame | None = None,
    counts: dict | None = None,
    values: Values = equal_values,
) -> pd.DataFrame:
    config = config or make_config(**POINTS)
    summary = make_summary(config, CONFERENCE) if summary is None else summary
    return ledger_of(CONFERENCE, config, Results(summary, values, counts or published_counts()))


def ledger_of(paper: Paper, config: Config, results: Results) -> pd.DataFrame:
    return build_ledger(compare_numbers([paper], config, results))


def pick(ledger: pd.DataFrame, artefact: str, row: str, column: str) -> pd.DataFrame:
    rows = ledger[ledger["artefact"].eq(artefact)]
    rows = rows[rows["row"].eq(row) & rows["column"].eq(column)]
    return rows.set_index("hyperparameters")


class TestPublishedValues:
    def test_published_values_agree_with_each_other(self):
        table2, table3, table4 = (
            CONFERENCE.artefacts[name].published for name in ("table2", "table3", "table4")
        )
        types = np.array([table2["Who"], table2["When"], table2["Where"]])
        assert types.sum(axis=0).tolist() == table2["Comb."]
        assert all(low < high for low, high in table3.values())
        assert round(table3["This work"][1], 3) == table4["Comb."][2]
        # The workshop paper prints another digit or two.
        for row, values in WORKSHOP.artefacts["table1"].published.items():
            assert values == pytest.approx(table3[row], abs=1e-3)

    @pytest.mark.parametrize(
        "paper", [CONFERENCE, WORKSHOP, MAPPING, HYPERBOLIC], ids=lambda paper: paper.paper
    )
    def test_coordinates_of_numbers_and_claims_are_configured(self, paper):
        config = repository_config()
        artefacts = paper.artefacts.values()
        numbers = [number for artefact in artefacts for number in artefact.numbers()]
        coordinates = {number.coordinates for number in numbers if number.kind != CITED}
        for artefact in artefacts:
            if artefact.is_figure:
                coordinates |= {point[-1] for point in artefact.points(config.sweeps)}
        claims = paper.claims.values()
        coordinates |= {side for claim in claims for pair in claim.sides() for side in pair}
        assert len(coordinates) > 20
        reasons = {why_no_run(item, config) for item in coordinates} - {""}
        assert all(reason.startswith("only its costs are measured") for reason in reasons)

    def test_tables_of_mappsent_agree_with_each_other(self):
        """This confirms the coordinates of Tables 1 and 2, and the dimension of Table 5."""
        values = {
            name: {
                number.coordinates.key: number.published
                for number in MAPPING.artefacts[name].numbers()
                if number.kind == SCORE and number.published is not None
            }
            for name in ("table1", "table2", "table3", "table4", "table5", "table6")
        }
        larger = values["table3"] | values["table4"] | values["table5"]
        for name in ("table1", "table2", "table4", "table5"):
            shared = values[name].keys() & larger.keys()
            assert all(values[name][key] == larger[key] for key in shared), name
            assert name in ("table4", "table5") or len(shared) == 6
        # Four values of the table are also compared with the vectors that the authors published.
        systems = [system for system, *_ in values["table3"]]
        assert (len(systems), systems.count("authors")) == (148, 4)


class TestVerdict:
    @given(st.tuples(*[st.floats(0, 1)] * 3).map(sorted))
    def test_intervals_include_their_bounds(self, numbers):
        low, middle, high = numbers
        for inside in numbers:
            assert verdict(inside, low, high) == "reproduced"
            assert verdict(inside, low, high, [middle]) == "inconclusive"
            assert verdict(inside, low, high, [high + 2.1]) == "reproduced"
        assert verdict(low, middle, high) == ("higher" if low < middle else "reproduced")
        assert verdict(high, low, middle) == ("lower" if middle < high else "reproduced")

    @given(st.floats(0, 1), st.floats(0.01, 0.3), st.floats(0, 1), st.floats(-0.5, 0.5))
    def test_only_an_interval_narrower_than_half_of_the_margin_reproduces(
        self, published, width, place, difference
    ):
        low = published - place * width
        judged = verdict(published, low, low + width, [published + 2, published + difference])
        assume(abs(2 * width - abs(difference)) > 1e-6 and 0.001 < place < 0.999)
        assert judged == ("reproduced" if width < abs(difference) / 2 else "inconclusive")


MRR = {"subset": "comb", "measure": "mrr"}
OFFICIAL = {"subset": "all", "measure": "map_official"}
WIDE = {"components": 2, "window": 5, "dim": 800, "shortest_word": 3}


@pytest.mark.parametrize(
    ("paper", "coordinates", "count", "some"),
    [
        (CONFERENCE, {"system": "analogy", "dataset": "trecqa"} | MRR, 2, {0.837, 0.875}),
        (CONFERENCE, {"system": "glove", "dataset": "trecqa"} | MRR, 0, set()),
        # Two tables have this system and measure, one with embeddings and one with baselines.
        (CONFERENCE, {"system": "analogy", "dataset": "wikiqa"} | MRR, 6,
         {0.475, 0.453, 0.404, 0.486, 0.609, 0.678}),
        # ARC-I, which is cited, has the same value.
        (HYPERBOLIC, {"system": "ap-cnn", "dataset": "semeval"} | OFFICIAL, 6, {0.771}),
        # Any dimension, window and components: in window 5 of 2017 and dimension 800, these are
        # Arora, Arora PCA, MappSent- and MappSent- PCA.
        (MAPPING, {"system": "mappsent", "dataset": "semeval2017-related"} | OFFICIAL | WIDE, 44,
         {0.4422, 0.4526, 0.4515, 0.4578}),
    ],
)  # fmt: skip
def test_competitors_are_the_other_systems_in_a_table(paper, coordinates, count, some):
    competitors = paper.competitors(Coordinates(**coordinates))
    assert len(competitors) == count and some <= {*competitors}


ANALOGY = "also printed in table3 of diallo2019 (This work, WikiQA MRR)"
# Papers, the place of a value in the last one, and the earlier place that is named for it.
REPEATS = [
    ("diallo2019", "table4", "Comb.", "Analogy", ANALOGY),
    ("diallo2019 lwda2019", "table1", "This work", "MRR",
     f"{ANALOGY}, there for another system (analogy)"),
    # 75.48 and 75.52 are in one row; 78.81 is printed in Table 1, too.
    ("mappsent", "table3", "Arora, window 5", "2016, 500", None),
    ("mappsent", "table3", "Arora PCA, window 20", "2016, 300",
     "also printed in table1 of mappsent (Arora PCA, MAP)"),
    # Equal values of other systems or overrides:
    ("mappsent", "table3", "Arora PCA, window 20", "2016, 100", None),  # 78.03, as MappSent, 5
    ("mappsent", "table3", "MappSent PCA (1), window 5", "2016, 800", None),  # 77.91, as with 300
    ("mappsent", "table3", "MappSent- PCA, window 10", "2017, 800", None),  # 45.33, as Arora PCA
    ("mappsent", "table4", "9", "Arora", None),  # 8 components
    # .96 for one encoder and one kind of sentence, and again for others.
    ("mappsent sentence_analogies", "table6", "InferSentV2", "Negation", None),
    # Rows of ours for one printed value, and a column that the authors' code fills twice.
    ("mappsent", "table6", "One side, unit length only", "2016, window 20, dimension 300",
     "also printed in table1 of mappsent (MappSent, MAP)"),
    ("sentence_analogies", "table4", "GloVe", "3CosMul-U",
     "also printed in table4 of sentence_analogies (GloVe, 3CosAdd-U)"),
]  # fmt: skip


@pytest.mark.parametrize(("papers", "artefact", "row", "column", "first"), REPEATS)
def test_a_repeated_value_refers_to_the_first_one(papers, artefact, row, column, first):
    names = papers.split()
    repeats = find_repeats([load_paper(PAPERS / name / "paper.yaml") for name in names])
    assert repeats.get((names[-1], artefact, row, column)) == first
    assert "lwda2019" not in names or sum(key[0] == "lwda2019" for key in repeats) == 10


class TestSummary:
    def summary(self, trained: bool = True, **facts) -> pd.DataFrame:
        values = {"map": VALUES, "tied_candidates": VALUES * 4}
        values |= {"all_correct": np.array([[1.0, 0, 0]] * 2)}
        run = make_run(CELL, values, trained, **facts)
        return summarise_runs([run], make_config(substitutes={"wiki-news": "theirs"}))

    def test_the_summary_has_the_test_split_of_each_measure(self):
        summary, bootstrap = self.summary(), make_config().bootstrap
        assert summary["measure"].tolist() == list(MEASURES)
        zeros = [0] * (len(MEASURES) - 1)
        assert summary["mean"].tolist() == [round(1.75 / 3, DECIMALS), *zeros]
        row = summary.iloc[0]
        assert row[["n_items", "n_seeds", "tied_candidates"]].tolist() == [3, 2, 14]
        assert row[["all_correct", "mean_of_others"]].tolist() == [1, 0.375]
        assert row[["system", "dataset", "subset", "overrides"]].tolist() == [*CELL[:3], "default"]
        expected = summarise(VALUES, bootstrap.samples, bootstrap.confidence)
        assert row[list(expected)].to_dict() == pytest.approx(expected, abs=1e-6)

    @pytest.mark.parametrize(
        ("facts", "substitute"),
        [
            ({}, "wiki-news for theirs"),
            ({"stores": {"sentence_vectors": {"name": "nli", "origin": "a wiki-news, b"}}},
             "wiki-news for theirs"),
            ({"stores": {}, "sources": {"train": "a", "entities": "wiki-news"}},
             "wiki-news for theirs"),
            ({"stores": {"vectors": {"name": "wiki", "origin": "wiki-newspaper"}}}, ""),
        ],
        ids=["vectors", "sentence vectors", "entities", "another name"],
    )  # fmt: skip
    def test_substitutes_are_named(self, facts, substitute):
        assert self.summary(**facts)["substitute"].eq(substitute).all()

    @pytest.mark.parametrize(
        ("trained", "facts", "hyperparameters", "provenance"),
        [
            (True, {"hyperparameters": "bare"}, "bare",
             "trained here: on wikiqa-train, vectors wiki-news, hyperparameters bare"),
            (True, {"hyperparameters": "bare", "stores": {}}, "bare",
             "trained here: on wikiqa-train, hyperparameters bare"),
            (True, {"hyperparameters": "bare", "stores": {}, "sources": {"dev": "a", "test": "b"}},
             "bare", "trained here: on a, b, hyperparameters bare"),
            (False, {}, "", "mean of wiki-news"),
            (False, {"stores": {"sentence_vectors": {"origin": "ours"}}}, "", "ours"),
            (False, {"stores": {}, "system": {"encoder": None, "ranker": {"name": "bm25"}}},
             "", "bm25"),
            (False, {"stores": {}, "system": {"encoder": "random"}}, "", "random"),
        ],
        ids=["trained", "trained without vectors", "cross-validated only", "of vectors",
             "of sentence vectors", "of a ranker", "of nothing"],
    )  # fmt: skip
    def test_the_summary_gives_the_provenance_of_a_run(
        self, trained, facts, hyperparameters, provenance
    ):
        summary = self.summary(trained, **facts)
        assert summary["hyperparameters"].eq(hyperparameters).all()
        assert summary["provenance"].eq(provenance).all()


def without_systems_and_data() -> pd.DataFrame:
    config = make_config(datasets=("wikiqa",), left_out={"tam": "no entities"}, **POINTS)
    systems = {name: system for name, system in config.systems.items() if name != "glove"}
    subsets = {"who": ["who"], "comb": ["who"]}
    config = config.model_copy(update={"systems": systems, "subsets": subsets})
    return make_ledger(config, counts={"wikiqa": published_counts()["wikiqa"]})


def without_runs() -> pd.DataFrame:
    empty = make_summary(make_config(), CONFERENCE).iloc[:0]
    return make_ledger(None, empty, {"trecqa": published_counts()["trecqa"]}, lambda *_: None)


def with_other_and_required_counts() -> pd.DataFrame:
    """One more question in a split and one fewer in another; two splits must have these counts."""
    config, counts = make_config(**POINTS), published_counts()
    counts["wikiqa"]["questions"]["dev"]["who"] += 1
    counts["trecqa"]["questions"]["test"]["when"] -= 1
    required = {
        split: {name: counts["trecqa"]["questions"][split][name] for name in TYPES}
        for split in ("train", "dev")
    }
    trecqa = config.datasets["trecqa"].model_copy(update={"questions": required})
    datasets = config.datasets | {"trecqa": trecqa}
    ledger = make_ledger(config.model_copy(update={"datasets": datasets}), counts=counts)
    return ledger[ledger["artefact"] == "table2"]


LEDGERS = {
    "all": lambda: make_ledger(
        summary=make_summary(
            make_config(**POINTS), CONFERENCE, mean=lambda cell, _: 0.6 + is_tuned(cell) / 100
        )
    ),
    "left_out": without_systems_and_data,
    "not_run": without_runs,
    "counts": with_other_and_required_counts,
    "other_data": lambda: make_ledger(make_config(comparable=False, **POINTS)),
}


def with_other_wikiqa(config: Config) -> Config:
    """Return a configuration in which WikiQA has other questions than the paper."""
    wikiqa = config.datasets["wikiqa"].model_copy(update={"comparable": False})
    return config.model_copy(update={"datasets": config.datasets | {"wikiqa": wikiqa}})


class TestLedger:
    @pytest.mark.parametrize("name", LEDGERS)
    def test_the_verdicts_are_as_reviewed(self, name, golden):
        columns = ["artefact", "row", "column", "hyperparameters", "mean", "verdict", "reason"]
        golden(csv_text(LEDGERS[name]()[columns]), f"ledger_{name}.csv")

    def test_only_numbers_of_other_data_have_no_verdict(self):
        config, key = make_config(**POINTS), ["artefact", "row", "column", "hyperparameters"]
        before, after = (
            make_ledger(at).set_index(key) for at in (config, with_other_wikiqa(config))
        )
        is_ours = after["data"].eq("our data")
        assert set(after["verdict"][is_ours]) == {"not comparable", "not run"}
        assert after["mean"].equals(before["mean"])
        shared = before.columns.difference(["data"])
        assert after.loc[~is_ours, shared].equals(before.loc[~is_ours, shared])
        assert 0 < is_ours.sum() < len(after)

    def test_a_substitute_of_several_systems_counts_once(self):
        table = {"title": "T", "cells": {"dataset": "wikiqa", "subset": "comb", "measure": "mrr"}}
        table["columns"] = {"MRR": {}}
        table["rows"] = {name: {"system": name} for name in ("glove", "glove-cosine", "random")}
        table["published"] = {"glove": [0.4], "glove-cosine": [0.5], "random": [0.45]}
        paper, config = make_paper({"table1": table}), make_config()
        facts = {"substitute": "a for b", "mean": lambda cell, _: 0.5 + (cell.system == "random")}
        summary = make_summary(config, paper, provenance="one file", **facts)
        ledger = ledger_of(paper, config, Results(summary)).set_index("row")
        note = "the same substitute as in table1 of tiny2020 (glove, MRR)"
        assert ledger["repeats"].to_dict() == {"glove": "", "glove-cosine": note, "random": ""}

    def test_pairs_are_counted_for_all_question_types_together(self):
        table = {"title": "T", "cells": {"dataset": "wikiqa", "split": "test"}}
        table |= {"columns": {"N": {"count": "pairs"}}, "rows": {"Who": {"subset": "who"}}}
        paper = make_paper({"table1": table | {"published": {"Who": [9]}}})
        results = Results(counts={"wikiqa": {"pairs": {"test": {"all": 9}}}})
        ledger = ledger_of(paper, make_config(), results)
        assert ledger["reason"].item() == "pairs are counted for the subset all only"


def test_numbers_of_runs_that_did_not_all_learn_have_no_verdict_and_no_interval():
    config, learned = make_config(**POINTS), {"analogy": 6}
    counts = {"n_learned": lambda cell, _: learned.get(cell.system, 10), "n_trained": 10}
    ledger = make_ledger(config, make_summary(config, CONFERENCE, **counts))
    judged = ledger[ledger["kind"].isin([SCORE, "best"]) & ledger["verdict"].ne("not run")]
    failed = judged["n_learned"].eq(6) | judged["kind"].eq("best")
    assert judged.loc[failed, "verdict"].eq("did not learn").all()
    assert judged.loc[failed, "reason"].str.contains("learned 6 of 10 training runs").all()
    assert judged.loc[failed, ["run_low", "run_high"]].isna().all(axis=None)
    assert judged.loc[failed, "mean"].notna().all() and set(judged["kind"]) == {SCORE, "best"}
    assert judged.loc[~failed, "verdict"].ne("did not learn").all() and (~failed).any()


class TestNoSpread:
    """If all seeds agree, our value is compared at the printed precision."""

    def verdict(self, mean: float, printed: float, scale: float, **spread) -> str:
        config = make_config()
        # The cited value sets the precision of the column.
        published = {"Theirs": [{1: 0.785, 100: 77.87}[scale], "-"], "Ours": [printed, "-"]}
        paper = make_paper({"table1": PER_CENT | {"scale": scale, "published": published}})
        measured = {"mean": mean, "sd": 0.0, "run_low": mean, "run_high": mean, "n_items": 1000}
        summary = make_summary(config, paper, **measured | spread)
        ledger = ledger_of(paper, config, Results(summary, equal_values))
        return ledger["verdict"].item()

    @pytest.mark.parametrize(
        ("mean", "printed", "scale", "spread", "expected"),
        [
            (0.784, 0.785, 1, {}, "lower"),
            (0.7846, 0.785, 1, {}, "reproduced"),
            (0.7854, 0.785, 1, {}, "reproduced"),
            (0.7856, 0.785, 1, {}, "higher"),
            # In a column of three digits, .78 means .780.
            (0.7794, 0.78, 1, {}, "lower"),
            (0.7797, 0.78, 1, {}, "reproduced"),
            (0.78404, 78.4, 100, {}, "reproduced"),
            (0.78406, 78.4, 100, {}, "higher"),
            # A small spread is not widened, and one seed has none.
            (0.78403, 78.4, 100, {"sd": 1e-5, "run_low": 0.78401, "run_high": 0.78405}, "higher"),
            (0.784, 78.4, 100, {"run_low": None, "run_high": None}, "inconclusive"),
        ],
    )
    def test_values_are_compared_at_the_printed_precision(
        self, mean, printed, scale, spread, expected
    ):
        assert self.verdict(mean, printed, scale, **spread) == expected


PER_CENT = {
    "title": "Per cent",
    "scale": 100,
    "cells": {"dataset": "wikiqa", "subset": "comb"},
    "columns": {"P@1": {"measure": "p_at_1"}, "Acc.": {"measure": "accuracy"}},
    "rows": {"Theirs": "cited", "Ours": {"system": "glove"}},
}


def test_cited_and_missing_values_have_no_row():
    published = {"Theirs": [70.5, "-"], "Ours": [77.87, "-"]}
    paper, config = make_paper({"table1": PER_CENT | {"published": published}}), make_config()
    rows = ledger_of(paper, config, Results(make_summary(config, paper), equal_values))
    rows = rows[["row", "column", "measure", "published", "scale"]]
    assert rows.to_numpy().tolist() == [["Ours", "P@1", "p_at_1", 0.7787, 100]]


@given(st.integers(0, 1000))
def test_a_scaled_value_equals_a_bound_despite_rounding_errors(printed):
    published = {"Theirs": [70.5, "-"], "Ours": [printed / 10, "-"]}
    ours = list(Artefact.model_validate(PER_CENT | {"published": published}).numbers())[2]
    assert verdict(ours.published, printed / 1000, printed / 1000) == "reproduced"


class TestBestPoint:
    def best(self, means: dict[str, float], spread: float = 0.01, **changes) -> pd.Series:
        def values(cell: Cell, measure: str) -> pd.DataFrame:
            point = dict(cell.overrides).get("p", "30")
            noise = np.random.default_rng(int(point)).normal(0, spread, (5, 40))
            return pd.DataFrame(means.get(point, 0.6) + noise)

        ledger = make_ledger(make_config(**POINTS | changes), values=values)
        return pick(ledger, "figure7", "WikiQA", "MRR").loc["paper"]

    @pytest.mark.parametrize(
        ("means", "spread", "point", "expected"),
        [
            ({"30": 0.7}, 0.01, 30, "reproduced"),
            ({"10": 0.9}, 0.01, 10, "lower"),
            ({"50": 0.9}, 0.01, 50, "higher"),
            ({}, 0.3, None, "inconclusive"),
        ],
    )
    def test_the_best_point_is_compared_with_the_published_one(
        self, means, spread, point, expected
    ):
        row = self.best(means, spread)
        assert (row["kind"], row["measure"], row["n_items"]) == ("best", "mrr", 40)
        assert row["verdict"] == expected and row["ci_low"] <= row["mean"] <= row["ci_high"]
        assert (row["ci_low"] == row["ci_high"] == point) == (point is not None)
        assert row["reason"].startswith("share of draws in which each p is the best: 10 ")

    def test_a_published_point_between_two_likely_points_is_not_reproduced(self):
        row = self.best({"10": 0.9, "50": 0.9}, spread=0.3)
        assert row["verdict"] == {10: "lower", 50: "higher"}[row["mean"]]

    @pytest.mark.parametrize(
        ("points", "reason"),
        [([30], "sweeps.p has fewer than two points to compare"),
         ([10, 20], "p = 30 is not among the points of sweeps.p")],
    )  # fmt: skip
    def test_points_that_cannot_be_compared_are_not_run(self, points, reason):
        row = self.best({}, sweeps={"p": points})
        assert (row["verdict"], row["reason"]) == ("not run", reason)

    def test_the_reason_names_a_missing_point(self):
        def values(cell: Cell, measure: str) -> pd.DataFrame | None:
            return None if ("p", "50") in cell.overrides else equal_values(cell, measure)

        row = pick(make_ledger(values=values), "figure6", "WikiQA", "MAP").loc["paper"]
        assert row["reason"] == "no run analogy/wikiqa/comb/p=50"


# Costs and counts


COSTS = {
    ("wikiqa", "all", "hyperqa"): Cost(90_302, 10, [0.1, 0.2], "a machine"),
    ("wikiqa", "all", "ap-bilstm"): Cost(1_804_800, 100, [0.2, 0.4], "a machine"),
}


def cost(published: float | None = None, **coordinates) -> dict:
    coordinates = Coordinates(dataset="wikiqa", subset="all", **coordinates)
    number = Published("row", "column", coordinates, published, COST)
    table = CONFERENCE.artefacts["table4"]
    return COMPUTED[COST](number, table, repository_config(), Results(costs=COSTS))


EPOCH, STEPS = {"cost": "seconds_per_epoch"}, {"system": "ap-bilstm", "over": "hyperqa"}
SIZE = {"system": "hyperqa", "cost": "parameters"}


@pytest.mark.parametrize(
    ("published", "coordinates", "mean", "bounds", "expected"),
    [
        (90_000, SIZE, 90_302, None, "reproduced"),
        (80_000, SIZE, 90_302, None, "higher"),
        (100_000, SIZE, 90_302, None, "lower"),
        (None, STEPS | {"cost": "parameters"}, 19.986268, None, None),
        (2, {"system": "hyperqa"} | EPOCH, 1.5, [1, 2], "not comparable"),
        (20, STEPS | EPOCH, 20, [20, 20], "reproduced"),
        (32, STEPS | EPOCH, 20, [20, 20], "lower"),
    ],
)
def test_costs_are_given_and_judged_per_epoch_or_as_ratios(
    published, coordinates, mean, bounds, expected
):
    row = cost(published, **coordinates)
    assert (row["mean"], row.get("verdict")) == (pytest.approx(mean), expected)
    if bounds:
        assert [row["run_low"], row["run_high"]] == pytest.approx(bounds)


def test_missing_costs_are_not_run_and_unmeasured_ones_have_no_verdict():
    row = cost(system="mp-cnn", cost="parameters")
    assert (row["verdict"], row["reason"]) == ("not run", "no cost of mp-cnn on wikiqa")
    for system in ("analogy", "bm25"):
        assert not {"mean", "verdict"} & set(cost(system=system, cost="parameters"))
        assert cost(90_000, system=system, cost="parameters")["verdict"] == "not run"


def test_a_score_that_is_not_run_says_what_it_would_cost():
    """An epoch takes 100 times 12 s, and there are 15."""
    costs = {("wikiqa", "all", "ai-cnn"): Cost(10_000_000, 100, [7.2, 16.8], "a machine")}
    cells = {"dataset": "wikiqa", "subset": "all", "measure": "map"}
    table = {"title": "T", "cells": cells, "columns": {"MAP": {}}, "published": {"CNN": [0.7]}}
    paper = make_paper({"table1": table | {"rows": {"CNN": {"system": "ai-cnn"}}}})
    row = ledger_of(paper, repository_config(), Results(costs=costs)).iloc[0]
    assert row["verdict"] == "not run"
    assert row["reason"].endswith("15 epochs of 1,200 s are 5 h for a seed")


COUNTED = """
title: T
cells: {dataset: wikiqa, subset: all, count: pairs}
columns: {Train: {split: train}, Dev: {split: dev}, Test: {split: test}}
rows: {Pairs: {}}
remarks: {Test: Look at it.}
"""


@pytest.mark.parametrize(
    ("printed", "counts", "verdicts"),
    [
        # Counts in thousands are compared rounded or cut off.
        (["20K", "1.1K", 94], [20_360, 1_200, 94], ["reproduced", "higher", "reproduced"]),
        (["20K", "1.1K", 94], [20_999, 1_199, 95], ["reproduced", "reproduced", "higher"]),
        (["20K", "1.1K", 94], [21_000, 1_050, 93], ["higher", "reproduced", "lower"]),
        (["20K", "1.1K", 94], [19_500, 1_049, 94], ["reproduced", "lower", "reproduced"]),
        # From 10,000 on, whole thousands are printed; below 1,000, every digit.
        (["20K", "1.1K", 94], [19_499, 9_999, 999], ["lower", "higher", "higher"]),
        ([1_148, 1_148, 20_360], [1_148, 1_110, 20_000], ["reproduced", "lower", "lower"]),
    ],
)
def test_counts_are_compared_as_they_are_printed(printed, counts, verdicts):
    paper = make_paper({"table1": yaml.safe_load(COUNTED) | {"published": {"Pairs": printed}}})
    pairs = {split: {"all": count} for split, count in zip(SPLITS, counts, strict=True)}
    ledger = ledger_of(paper, make_config(), Results(counts={"wikiqa": {"pairs": pairs}}))
    assert ledger["mean"].tolist() == counts
    assert ledger["verdict"].tolist() == verdicts
    assert ledger["reason"].tolist() == ["", "", "Look at it."]
