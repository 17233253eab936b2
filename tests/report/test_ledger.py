"""Published values, the summary of the runs, and the verdicts."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.errors import AnalogyQAError
from analogyqa.measures import summarise
from analogyqa.plan import cells_of
from analogyqa.report.ledger import build_ledger, settings_of, verdict
from analogyqa.report.summary import (
    DECIMALS,
    LEDGER,
    SUMMARY,
    read_csv,
    read_runs,
    summarise_runs,
    typed,
    write_csv,
)
from analogyqa.schemas import METRICS, SPLITS
from analogyqa.settings.paper import Paper, load_paper
from analogyqa.settings.run import Config, load_config

ROOT = Path(__file__).parents[2]
PAPER_FILE = ROOT / "papers" / "diallo2019" / "paper.yaml"
PAPER = load_paper(PAPER_FILE)
WORKSHOP = load_paper(ROOT / "papers" / "lwda2019" / "paper.yaml")
CURVE = [10, 30, 50]
DATASETS = ("wikiqa", "trecqa")


def make_config(**changes) -> Config:
    dataset = {"reader": "wikiqa", "train": "a", "dev": "b", "test": "c"}
    trained = {"encoder": "bigru", "vectors": "wiki"}
    mean = {"encoder": "mean", "vectors": "wiki"}
    values = {
        "output_dir": "results",
        "seeds": 2,
        "datasets": {
            "wikiqa": dataset | {"title": "WikiQA"},
            "trecqa": dataset | {"title": "TrecQA"},
        },
        "vectors": {"wiki": {"source": "wiki.vec"}},
        "models": {
            "analogy": trained | {"title": "Analogy", "ranker": "analogy"},
            "similarity": trained | {"title": "Baseline", "ranker": "cosine"},
            "glove": mean | {"title": "Glove", "ranker": "analogy"},
            "word2vec": mean | {"title": "Word2Vec", "ranker": "analogy"},
            "glove-cosine": mean | {"title": "Glove", "ranker": "cosine"},
        },
        "prototypes": {"p": 30, "curve": CURVE},
        "selection": {"models": ["analogy"], "settings": {"no_dropout": {"dropout": 0.0}}},
    }
    return load_config(values | changes)


def make_summary(config: Config, **changes) -> pd.DataFrame:
    """Every run of a configuration, with the same values unless `changes` says otherwise."""
    rows = [
        {
            **cell._asdict(),
            "metric": metric,
            "mean": 0.6,
            "sd": 0.01,
            "ci_low": 0.5,
            "ci_high": 0.7,
            "n_seeds": 2,
            "n_questions": 20,
            "tied_candidates": 0,
            "setting": "no_dropout" if "+" in cell.model else "",
            "provenance": f"made up for {cell.model}",
            **changes,
        }
        for cell in cells_of(config)
        for metric in ("map", "mrr")
    ]
    return typed(rows, SUMMARY)


def published_counts() -> dict:
    counts: dict = {name: {split: {} for split in SPLITS} for name in ("wikiqa", "trecqa")}
    for cell in PAPER.artefacts["table2"].numbers():
        counts[cell.where.dataset][cell.where.split][cell.where.subset] = int(cell.published)
    return counts


def make_ledger(config: Config, summary: pd.DataFrame | None = None, counts=None) -> pd.DataFrame:
    summary = make_summary(config) if summary is None else summary
    return build_ledger([PAPER], config, summary, counts or published_counts())


def pick(ledger: pd.DataFrame, artefact: str, row: str, column: str) -> pd.DataFrame:
    here = ledger["artefact"].eq(artefact) & ledger["row"].eq(row) & ledger["column"].eq(column)
    return ledger[here].set_index("setting")


def make_run(name: str = "analogy", trained: bool = True, **settings) -> tuple[dict, pd.DataFrame]:
    cell = {"model": name, "dataset": "wikiqa", "subset": "comb", "p": 30}
    settings = {
        "model": {"encoder": "bigru" if trained else "mean"},
        "training": {"dropout": 0.5} if trained else None,
        "setting": "paper",
        "sources": {"train": "wikiqa-train"},
        "vectors": {"name": "wiki", "origin": "wiki-news"},
        "sentence_vectors": None,
    } | settings
    metrics = pd.DataFrame(
        [
            (seed, split, f"{split}{question}", "who", ap, ap, 2)
            for seed in (0, 1)
            for split, values in (("dev", [0.0]), ("test", [1.0, 0.5, 0.25]))
            for question, ap in enumerate(values)
        ],
        columns=METRICS.names,
    )
    return {"cell": cell, "settings": settings}, metrics


def paper_values() -> dict:
    return yaml.safe_load(PAPER_FILE.read_text(encoding="utf-8"))


def load_changed(tmp_path: Path, values: dict) -> Paper:
    path = tmp_path / "paper.yaml"
    path.write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")
    return load_paper(path)


class TestPublishedValues:
    @pytest.mark.parametrize(
        ("artefact", "count"),
        [("table2", 24), ("table3", 10), ("table4", 12), ("table5", 12),
         ("figure6", 2), ("figure7", 2)],
    )  # fmt: skip
    def test_every_printed_value_is_there(self, artefact, count):
        assert len(list(PAPER.artefacts[artefact].numbers())) == count

    def test_the_totals_of_table_2_are_the_sums_of_its_types(self):
        rows = PAPER.artefacts["table2"].published
        types = np.array([rows["Who"], rows["When"], rows["Where"]])
        assert types.sum(axis=0).tolist() == rows["Comb."]

    def test_mrr_is_never_below_map_in_table_3(self):
        assert all(low < high for low, high in PAPER.artefacts["table3"].published.values())

    def test_tables_3_and_4_agree_on_the_paper_s_own_system(self):
        table3, table4 = PAPER.artefacts["table3"], PAPER.artefacts["table4"]
        assert round(table3.published["This work"][1], 3) == table4.published["Comb."][2]

    def test_each_file_bears_the_name_of_its_paper(self):
        for path in (ROOT / "papers").glob("*/paper.yaml"):
            assert load_paper(path).paper == path.parent.name

    def test_the_workshop_paper_prints_the_values_of_table_3_with_another_digit_or_two(self):
        table1, table3 = WORKSHOP.artefacts["table1"], PAPER.artefacts["table3"]
        for workshop, conference in zip(table1.numbers(), table3.numbers(), strict=True):
            assert workshop.published == pytest.approx(conference.published, abs=1e-3)

    @pytest.mark.parametrize("paper", [PAPER, WORKSHOP], ids=lambda paper: paper.paper)
    def test_all_models_data_sets_and_numbers_of_prototypes_are_configured(self, paper):
        config = load_config(yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8")))
        cells = [c.where for a in paper.artefacts.values() for c in a.numbers()]
        cells += [
            side for claim in paper.claims.values() for pair in claim.sides() for side in pair
        ]
        assert {where.model for where in cells} - {None} <= set(config.models)
        assert {where.dataset for where in cells} <= set(config.datasets)
        points = {config.prototypes.p, *config.prototypes.curve}
        assert {where.p for where in cells} - {None} <= points

    def test_every_claim_that_has_to_be_judged_is_listed(self):
        assert list(PAPER.claims) == [
            "pretrained-do-not-preserve",
            "averages-beat-dedicated",
            "mrr-above-map",
            *(f"{kind}-{data}" for kind in ("types", "overall", "tam") for data in DATASETS),
            *(f"best-p-{data}-{metric}" for metric in ("map", "mrr") for data in DATASETS),
        ]


class TestPaperFile:
    def test_an_unknown_key_is_named_with_its_place(self, tmp_path):
        values = paper_values()
        values["artefacts"]["table4"]["columns"]["Analogy"]["modle"] = "analogy"
        with pytest.raises(
            AnalogyQAError, match=r"unknown key artefacts\.table4\.columns\.Analogy\.modle"
        ):
            load_changed(tmp_path, values)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"published": {"Who": [0.5]}}, "published has rows"),
            ({"cells": {"dataset": "wikiqa"}}, "'metric', 'model', 'subset'.* needed"),
            ({"cells": {"dataset": "wikiqa", "metric": "mrr", "subset": "who"}}, "given twice"),
            ({"cells": {"dataset": "wikiqa", "metric": "p@1"}}, "table4.cells.metric"),
            ({"value": "scores"}, "table4.value"),
        ],
    )
    def test_an_impossible_table_is_refused(self, tmp_path, change, message):
        values = paper_values()
        values["artefacts"]["table4"] |= change
        with pytest.raises(AnalogyQAError, match=message):
            load_changed(tmp_path, values)

    @pytest.mark.parametrize(
        ("row", "message"),
        [([0.663, 0.702], "2 values for 3 columns"), ([663, 0.7, 0.7], "663.0 is above 1"),
         (["0.663", 0.7, 0.7], "Who.0"), ([-0.663, 0.7, 0.7], "Who.0")],
    )  # fmt: skip
    def test_a_mistyped_row_is_refused(self, tmp_path, row, message):
        values = paper_values()
        values["artefacts"]["table4"]["published"]["Who"] = row
        with pytest.raises(AnalogyQAError, match=message):
            load_changed(tmp_path, values)

    def test_a_file_that_is_not_yaml_is_named(self, tmp_path):
        path = tmp_path / "broken.yaml"
        path.write_text("paper: [", encoding="utf-8")
        with pytest.raises(AnalogyQAError, match=r"broken\.yaml: cannot be read"):
            load_paper(path)

    def test_a_missing_key_is_named(self, tmp_path):
        values = paper_values()
        del values["citation"]
        with pytest.raises(AnalogyQAError, match="key citation is missing"):
            load_changed(tmp_path, values)


class TestVerdict:
    @pytest.mark.parametrize("published", [0.5, 0.6, 0.7])
    def test_reproduced_within_the_interval_and_on_its_bounds(self, published):
        assert verdict(published, 0.5, 0.7) == "reproduced"

    def test_ours_above_the_published_is_higher(self):
        assert verdict(0.499999, 0.5, 0.7) == "higher"

    def test_ours_below_the_published_is_lower(self):
        assert verdict(0.700001, 0.5, 0.7) == "lower"

    @given(st.tuples(*[st.floats(0, 1)] * 3).map(sorted))
    def test_one_of_three_ordered_numbers_decides(self, numbers):
        low, middle, high = numbers
        assert verdict(middle, low, high) == "reproduced"
        assert verdict(low, middle, high) == ("higher" if low < middle else "reproduced")
        assert verdict(high, low, middle) == ("lower" if middle < high else "reproduced")

    @given(st.floats(0, 1), st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted))
    def test_swapping_the_scale_swaps_higher_and_lower(self, published, interval):
        swapped = {"higher": "lower", "lower": "higher", "reproduced": "reproduced"}
        low, high = interval
        assert verdict(-published, -high, -low) == swapped[verdict(published, low, high)]


class TestSummary:
    def test_only_the_test_split_counts(self):
        summary = summarise_runs([make_run()], make_config().bootstrap)
        assert summary["mean"].tolist() == [round(1.75 / 3, DECIMALS)] * 2
        assert summary["n_questions"].tolist() == [3, 3]
        assert summary["n_seeds"].tolist() == [2, 2]
        assert summary["tied_candidates"].tolist() == [12, 12]

    def test_interval_and_mean_are_those_of_the_metrics(self):
        bootstrap = make_config().bootstrap
        record, metrics = make_run()
        row = summarise_runs([(record, metrics)], bootstrap).iloc[0]
        test = metrics[metrics["split"] == "test"]
        expected = summarise(test, bootstrap.samples, bootstrap.confidence)["map"]
        assert tuple(row[list(expected._fields)]) == pytest.approx(expected, abs=1e-6)

    def test_a_trained_run_names_data_vectors_and_the_setting_it_resolved_to(self):
        run = make_run("analogy+chosen", setting="no_dropout")
        row = summarise_runs([run], make_config().bootstrap).iloc[0]
        assert row["setting"] == "no_dropout"
        assert row["provenance"] == (
            "trained here: on wikiqa-train, vectors wiki-news, setting no_dropout"
        )

    def test_an_untrained_run_names_its_vectors_and_has_no_setting(self):
        row = summarise_runs([make_run("glove", trained=False)], make_config().bootstrap).iloc[0]
        assert (row["setting"], row["provenance"]) == ("", "mean of wiki-news")

    def test_a_run_of_sentence_vectors_names_their_origin(self):
        run = make_run(
            "infersent", trained=False, vectors=None, sentence_vectors={"origin": "published"}
        )
        assert summarise_runs([run], make_config().bootstrap)["provenance"].eq("published").all()

    def test_a_run_without_an_encoder_names_its_ranker(self):
        model = {"encoder": None, "ranker": "bm25"}
        run = make_run("bm25", trained=False, vectors=None, model=model)
        assert summarise_runs([run], make_config().bootstrap)["provenance"].eq("bm25").all()

    def test_a_run_without_vectors_names_its_encoder(self):
        run = make_run("random", trained=False, vectors=None, model={"encoder": "random"})
        assert summarise_runs([run], make_config().bootstrap)["provenance"].eq("random").all()

    def test_a_damaged_record_is_named(self, tmp_path):
        (tmp_path / "run.json").write_text("{")
        with pytest.raises(AnalogyQAError, match=r"run\.json: cannot be read"):
            list(read_runs([tmp_path / "run.json"], ["metrics.parquet"]))


class TestLedger:
    def test_every_published_number_has_its_row(self):
        ledger = make_ledger(make_config())
        cells = {
            (name, cell.row, cell.column)
            for name, artefact in PAPER.artefacts.items()
            for cell in artefact.numbers()
        }
        assert set(zip(ledger["artefact"], ledger["row"], ledger["column"], strict=True)) == cells
        assert ledger["published"].notna().all()

    def test_a_selected_model_has_a_row_at_each_of_its_two_settings(self):
        config = make_config()
        rows = pick(make_ledger(config), "table4", "Who", "Analogy")
        assert rows["provenance"].to_dict() == {
            "paper": "made up for analogy",
            "chosen": "made up for analogy+chosen",
        }

    def test_a_trained_model_that_selects_nothing_has_the_paper_s_setting_only(self):
        rows = pick(make_ledger(make_config()), "table4", "Who", "Baseline")
        assert rows.index.tolist() == ["paper"]

    def test_an_untrained_model_has_no_setting(self):
        assert settings_of("glove", make_config()) == {"": "glove"}

    def test_a_score_is_judged_against_its_interval(self):
        ledger = make_ledger(make_config())
        who = pick(ledger, "table4", "Who", "Analogy").loc["paper"]
        where = pick(ledger, "table4", "Where", "Analogy").loc["paper"]
        assert (who["verdict"], where["verdict"]) == ("lower", "reproduced")
        glove = pick(ledger, "table3", "Glove", "WikiQA MAP").loc[""]
        assert (glove["verdict"], glove["mean"], glove["n_questions"]) == ("higher", 0.6, 20)

    def test_a_model_that_is_left_out_says_why(self):
        config = make_config(left_out={"tam": "no names to be had"})
        tam = pick(make_ledger(config), "table5", "Comb.", "Tam et al.").loc[""]
        assert (tam["verdict"], tam["reason"]) == ("not run", "no names to be had")
        assert np.isnan(tam["mean"])

    def test_what_is_not_configured_is_named(self):
        config = make_config()
        models = {name: m for name, m in config.models.items() if name != "glove"}
        datasets = {"wikiqa": config.datasets["wikiqa"]}
        less = config.model_copy(
            update={"models": models, "datasets": datasets, "subsets": ["who", "comb"]}
        )
        ledger = make_ledger(less, counts={"wikiqa": published_counts()["wikiqa"]})
        for place, reason in {
            ("table2", "Who", "TrecQA dev"): "data set trecqa is not configured",
            ("table3", "Glove", "WikiQA MRR"): "model glove is not configured",
            ("table4", "When", "Analogy"): "subset when is not configured",
            ("table5", "Who", "Analogy"): "data set trecqa is not configured",
            ("figure6", "TrecQA", "MAP"): "data set trecqa is not configured",
        }.items():
            row = pick(ledger, *place).iloc[0]
            assert (row["verdict"], row["reason"]) == ("not run", reason)

    def test_a_run_that_is_missing_is_named(self):
        config = make_config()
        ledger = make_ledger(config, make_summary(config).iloc[:0])
        row = pick(ledger, "table4", "Who", "Analogy").loc["chosen"]
        assert row["reason"] == "no run analogy+chosen/wikiqa/who/p30"

    def test_equal_counts_reproduce_table_2(self):
        ledger = make_ledger(make_config())
        table2 = ledger[ledger["artefact"] == "table2"]
        assert len(table2) == 24
        assert table2["verdict"].eq("reproduced").all()
        assert (table2["mean"] == table2["published"]).all()

    def test_a_count_off_by_one_and_its_total_are_misses(self):
        counts = published_counts()
        counts["wikiqa"]["dev"]["who"] += 1
        counts["trecqa"]["test"]["when"] -= 1
        ledger = make_ledger(make_config(), counts=counts)
        verdicts = {
            (row["row"], row["column"]): row["verdict"]
            for row in ledger[ledger["artefact"] == "table2"].to_dict("records")
            if row["verdict"] != "reproduced"
        }
        assert verdicts == {
            ("Who", "WikiQA dev"): "higher",
            ("Comb.", "WikiQA dev"): "higher",
            ("When", "TrecQA test"): "lower",
            ("Comb.", "TrecQA test"): "lower",
        }

    def test_other_data_are_not_comparable_but_listed_with_the_published_values(self):
        ledger = make_ledger(make_config(comparable=False))
        assert ledger["verdict"].eq("not comparable").all()
        assert ledger["reason"].str.startswith("our data are not the paper's").all()
        assert ledger["published"].notna().all()
        tam = pick(ledger, "table4", "Who", "Tam et al.").iloc[0]
        assert tam["reason"].endswith("not run: model tam is not configured")


class TestBestP:
    def curve(self, means: dict[int, float], config: Config | None = None) -> pd.Series:
        config = config or make_config()
        summary = make_summary(config)
        for p, mean in means.items():
            here = summary["model"].eq("analogy") & summary["p"].eq(p)
            summary.loc[here & summary["subset"].eq("comb"), "mean"] = mean
        return pick(make_ledger(config, summary), "figure7", "WikiQA", "MRR").loc["paper"]

    def test_the_highest_mean_decides(self):
        row = self.curve({10: 0.5, 30: 0.7, 50: 0.6})
        assert (row["mean"], row["verdict"], row["metric"]) == (30, "reproduced", "best_p")
        assert row[["sd", "ci_low", "ci_high"]].isna().all()

    @pytest.mark.parametrize(("best", "judged"), [(10, "lower"), (50, "higher")])
    def test_another_best_p_is_a_miss(self, best, judged):
        row = self.curve({best: 0.9})
        assert (row["mean"], row["verdict"]) == (best, judged)

    def test_of_equal_means_the_smallest_p_counts_and_the_tie_is_told(self):
        row = self.curve({10: 0.5, 30: 0.7, 50: 0.7})
        assert (row["mean"], row["verdict"]) == (30, "reproduced")
        assert row["reason"] == "equal means at p = 30, 50; the smallest counts"

    @pytest.mark.parametrize("curve", [[], [30]])
    def test_a_single_point_has_no_best(self, curve):
        row = self.curve({}, make_config(prototypes={"p": 30, "curve": curve}))
        assert (row["verdict"], row["reason"]) == (
            "not run",
            "prototypes.curve has fewer than two points to compare",
        )

    def test_a_curve_without_the_published_p_cannot_be_judged(self):
        row = self.curve({}, make_config(prototypes={"p": 30, "curve": [10, 20]}))
        assert (row["verdict"], row["reason"]) == ("not run", "p = 30 is not in prototypes.curve")

    def test_a_missing_point_is_named(self):
        config = make_config()
        summary = make_summary(config)
        ledger = make_ledger(config, summary[summary["p"] != 50])
        row = pick(ledger, "figure6", "WikiQA", "MAP").loc["paper"]
        assert row["reason"] == "no run of analogy on wikiqa at p = [50]"


class TestCSV:
    def test_a_ledger_survives_the_round_trip(self, tmp_path):
        ledger = make_ledger(make_config())
        write_csv(ledger, tmp_path / "ledger.csv")
        pd.testing.assert_frame_equal(read_csv(tmp_path / "ledger.csv", LEDGER), ledger)

    def test_a_text_that_looks_missing_stays_a_text(self, tmp_path):
        summary = make_summary(make_config(), provenance="NA", sd=float("nan"))
        write_csv(summary, tmp_path / "summary.csv")
        pd.testing.assert_frame_equal(read_csv(tmp_path / "summary.csv", SUMMARY), summary)

    def test_the_same_runs_give_the_same_bytes(self, tmp_path):
        for name in ("a.csv", "b.csv"):
            summary = summarise_runs([make_run()], make_config().bootstrap)
            write_csv(make_ledger(make_config(), summary), tmp_path / name)
        assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()

    def test_other_columns_are_refused(self, tmp_path):
        write_csv(make_summary(make_config()), tmp_path / "summary.csv")
        with pytest.raises(AnalogyQAError, match=r"summary\.csv: columns"):
            read_csv(tmp_path / "summary.csv", LEDGER)

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(AnalogyQAError, match=r"none\.csv"):
            read_csv(tmp_path / "none.csv", LEDGER)
