"""The claims of a paper: what is refused, what is compared with what, and the verdicts."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from analogyqa.errors import AnalogyQAError
from analogyqa.report.claims import (
    CLAIMS,
    COMPARISONS,
    Values,
    claims_markdown,
    judge_claims,
    values_of,
)
from analogyqa.report.significance import holm
from analogyqa.report.summary import read_csv, write_csv
from analogyqa.schemas import METRICS
from analogyqa.settings.paper import Claim, Paper, load_paper
from analogyqa.settings.run import Config, load_config

QUESTIONS = [f"q{number:02}" for number in range(30)]
CELLS = {"dataset": "wikiqa", "subset": "comb", "metric": "mrr"}
SHARED = {"dataset": "wikiqa", "metric": "mrr"}


def make_config(**changes) -> Config:
    dataset = {"title": "WikiQA", "reader": "wikiqa", "train": "a", "dev": "b", "test": "c"}
    trained = {"encoder": "bigru", "vectors": "wiki"}
    mean = {"encoder": "mean", "vectors": "wiki", "ranker": "analogy"}
    values = {
        "output_dir": "results",
        "seeds": 2,
        "datasets": {"wikiqa": dataset, "other": dataset},
        "vectors": {"wiki": {"source": "wiki.vec"}},
        "models": {
            "analogy": trained | {"title": "Analogy", "ranker": "analogy"},
            "similarity": trained | {"title": "Baseline", "ranker": "cosine"},
            "stubborn": trained | {"title": "Chooses nothing", "ranker": "cosine"},
            "glove": mean | {"title": "Glove"},
            "word2vec": mean | {"title": "Word2Vec"},
            "random": {"title": "Random", "encoder": "random", "ranker": "cosine"},
        },
        "prototypes": {"p": 30, "curve": [10, 30]},
        "selection": {
            "models": ["analogy", "similarity"],
            "settings": {"no_dropout": {"dropout": 0.0}},
        },
    }
    return load_config(values | changes)


def compare(better: str | dict, worse: str | dict, **cells) -> dict:
    sides = {"better": better, "worse": worse}
    sides = {
        name: {"model": side} if isinstance(side, str) else side for name, side in sides.items()
    }
    return sides | {"cells": cells}


def make_claim(*comparisons: dict, cells: dict = CELLS, **more) -> dict:
    text = {"claim": "a | b", "where": "Table 9"}
    return {**text, "cells": cells, "comparisons": list(comparisons), **more}


def make_paper(name: str = "tiny2020", **claims: dict) -> Paper:
    return Paper.model_validate(
        {"paper": name, "citation": "Tiny (2020).", "artefacts": {}, "claims": claims}
    )


def scores(mean: float, name: str, spread: float = 0.1) -> pd.DataFrame:
    """Values of two seeds whose mean is `mean`; each name spreads otherwise over the questions."""
    noise = np.random.default_rng(list(map(ord, name))).normal(0, spread, len(QUESTIONS))
    return pd.DataFrame([mean + noise - noise.mean()] * 2, columns=QUESTIONS)


def lookup(**means: float) -> Values:
    """Every run of a model has the same mean, unless its id with subset or p has another."""

    def values(model_id, dataset, subset, p, metric):
        names = (f"{model_id} {subset}", f"{model_id} {p}", model_id)
        found = [means[name] for name in names if name in means]
        return scores(found[0], model_id) if found else None

    return values


def judge(claims: dict, values: Values, config: Config | None = None) -> pd.DataFrame:
    frame = judge_claims([make_paper(**claims)], config or make_config(), values)[0]
    return frame.set_index(["claim", "setting"])


UNTRAINED = make_claim(compare("glove", "word2vec"))


class TestSchema:
    def check(self, **changes) -> Claim:
        return Claim.model_validate(make_claim(compare("analogy", "glove")) | changes)

    def test_cells_hold_for_both_sides(self):
        claim = self.check(cells=SHARED, comparisons=[compare("analogy", "glove", subset="who")])
        better, worse = claim.sides()[0]
        assert (better.model, better.dataset, better.subset) == ("analogy", "wikiqa", "who")
        assert (worse.model, worse.metric, worse.p) == ("glove", "mrr", None)

    def test_without_needs_all_comparisons_are_needed(self):
        assert self.check(comparisons=[compare("a", "b"), compare("a", "c")]).needed == 2

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"cells": SHARED}, r"'metric', 'model'\] given, .* needed"),
            ({"comparisons": [compare("a", "b", subset="who")]}, "subset.* is given twice"),
            ({"comparisons": [compare("a", "a")]}, "a is compared with itself"),
            ({"comparisons": []}, "comparisons"),
            ({"needs": 2}, "needs: 2 of 1 comparisons"),
            ({"needs": 0}, "needs"),
            (
                {
                    "cells": {"model": "a", "metric": "mrr", "dataset": "wikiqa"},
                    "comparisons": [compare({"subset": "who"}, {"subset": "when"})],
                },
                "the same dataset and subset",
            ),
            ({"cells": CELLS | {"split": "test"}}, "'split'.* given"),
            ({"cells": CELLS | {"p": 0}}, "p"),
        ],
    )
    def test_an_impossible_claim_is_refused(self, changes, message):
        with pytest.raises(ValueError, match=message):
            self.check(**changes)

    def test_an_unknown_key_is_named_with_its_place(self, tmp_path):
        values = {"paper": "tiny", "citation": "Tiny.", "artefacts": {}}
        values["claims"] = {"one": UNTRAINED | {"need": 1}}
        path = tmp_path / "tiny.yaml"
        path.write_text(yaml.safe_dump(values), encoding="utf-8")
        with pytest.raises(AnalogyQAError, match=r"tiny\.yaml: unknown key claims\.one\.need"):
            load_paper(path)


class TestVerdict:
    @pytest.mark.parametrize(
        ("glove", "verdict"), [(0.7, "holds"), (0.3, "fails"), (0.5, "undecided")]
    )
    def test_a_clear_difference_decides_in_its_direction(self, glove, verdict):
        row = judge({"one": UNTRAINED}, lookup(glove=glove, word2vec=0.5)).loc["one", ""]
        assert row["verdict"] == verdict
        assert (row["p_value"] < 0.05) == (verdict != "undecided")

    def test_the_level_is_what_the_confidence_leaves(self):
        values = lookup(glove=0.54, word2vec=0.5)
        raw = judge({"one": UNTRAINED}, values).loc["one", ""]["p_value"]
        assert 0.001 < raw < 0.4
        for confidence, verdict in ((1 - raw * 1.1, "holds"), (1 - raw * 0.9, "undecided")):
            config = make_config(bootstrap={"confidence": confidence})
            assert judge({"one": UNTRAINED}, values, config)["verdict"].tolist() == [verdict]

    @pytest.mark.parametrize(
        ("wins", "needs", "verdict"),
        [(2, 2, "holds"), (1, 2, "fails"), (1, 1, "holds"), (0, 1, "fails"), (2, 3, "fails"),
         (3, 3, "holds")],
    )  # fmt: skip
    def test_as_many_comparisons_as_needed_must_be_true(self, wins, needs, verdict):
        subsets = ("who", "when", "where")
        claim = make_claim(
            *(compare("glove", "word2vec", subset=subset) for subset in subsets),
            cells=SHARED,
            needs=needs,
        )
        means = {f"glove {subset}": 0.3 + 0.4 * (n < wins) for n, subset in enumerate(subsets)}
        row = judge({"one": claim}, lookup(**means, word2vec=0.5)).loc["one", ""]
        assert row["verdict"] == verdict

    def test_one_comparison_that_is_not_shown_leaves_a_claim_that_needs_all_undecided(self):
        claim = make_claim(compare("glove", "word2vec"), compare("glove", "random"))
        row = judge({"one": claim}, lookup(glove=0.7, word2vec=0.5, random=0.7)).loc["one", ""]
        assert row["verdict"] == "undecided"

    def test_p_values_are_corrected_over_the_claims_of_a_paper_that_ran(self):
        values = lookup(glove=0.54, word2vec=0.5, random=0.1)
        claims = {
            "close": UNTRAINED,
            "clear": make_claim(compare("glove", "random")),
            "unknown": make_claim(compare("glove", "nobody")),
        }
        alone = [judge({name: claims[name]}, values)["p_value"].iloc[0] for name in claims][:2]
        together = judge(claims, values)["p_value"]
        assert together.iloc[:2].tolist() == pytest.approx(holm(alone))
        assert pd.isna(together.iloc[2])

    def test_each_paper_is_corrected_for_itself(self):
        papers = [make_paper(name, one=UNTRAINED) for name in ("a", "b")]
        values = lookup(glove=0.54, word2vec=0.5)
        both = judge_claims(papers, make_config(), values)[0]["p_value"]
        assert both.tolist() == [judge({"one": UNTRAINED}, values)["p_value"].iloc[0]] * 2

    def test_two_metrics_of_the_same_runs_are_compared_seed_by_seed(self):
        def values(model_id, dataset, subset, p, metric):
            shaken = np.array([[0.2], [0.8]]) + np.zeros((2, len(QUESTIONS)))
            return pd.DataFrame(shaken + 0.05 * (metric == "mrr"), columns=QUESTIONS)

        sides = ({"model": "glove", "metric": metric} for metric in ("mrr", "map"))
        claim = make_claim(compare(*sides), cells={"dataset": "wikiqa", "subset": "comb"})
        assert judge({"one": claim}, values).loc["one", ""]["verdict"] == "holds"


class TestSettings:
    ANALOGY = make_claim(compare("analogy", "similarity"))

    def test_trained_systems_are_judged_at_the_paper_s_and_at_their_chosen_settings(self):
        values = lookup(
            **{"analogy": 0.7, "similarity": 0.5, "analogy+chosen": 0.6, "similarity+chosen": 0.8}
        )
        rows = judge({"one": self.ANALOGY}, values)
        assert rows["verdict"].to_dict() == {("one", "paper"): "holds", ("one", "chosen"): "fails"}

    @pytest.mark.parametrize("other", ["stubborn", "glove"])
    def test_a_system_without_a_choice_stays_as_it_is(self, other):
        values = lookup(**{"analogy": 0.7, "analogy+chosen": 0.4, other: 0.5})
        rows = judge({"one": make_claim(compare("analogy", other))}, values)
        assert rows["verdict"].tolist() == ["holds", "fails"]

    @pytest.mark.parametrize(
        ("claim", "settings"),
        [
            (UNTRAINED, [""]),
            (make_claim(compare("stubborn", "glove")), ["paper"]),
            (make_claim(compare({"p": 30}, {"p": 10}), cells=CELLS | {"model": "analogy"}),
             ["paper"]),
            (make_claim(compare({"p": 30, "model": "analogy"}, "glove")), ["paper", "chosen"]),
        ],
        ids=["untrained", "no choice", "the curve", "the configured p"],
    )  # fmt: skip
    def test_chosen_settings_count_only_where_they_are_run(self, claim, settings):
        values = lookup(**{"analogy+chosen": 0.6, "analogy": 0.6, "glove": 0.5, "word2vec": 0.5,
                           "stubborn": 0.4})  # fmt: skip
        rows = judge({"one": claim}, values)
        assert [setting for _, setting in rows.index] == settings

    def test_a_model_without_prototypes_is_looked_up_at_none(self):
        seen = []

        def values(*key):
            seen.append(key)

        judge({"one": make_claim(compare("random", "glove"))}, values)
        assert seen == [
            ("random", "wikiqa", "comb", 0, "mrr"),
            ("glove", "wikiqa", "comb", 30, "mrr"),
        ]


class TestNotRun:
    @pytest.mark.parametrize(
        ("claim", "reason"),
        [
            (make_claim(compare("nobody", "gone")), "model nobody is not configured; no weights"),
            (make_claim(compare("glove", "word2vec"), cells=CELLS | {"dataset": "trecqa"}),
             "data set trecqa is not configured"),
            (make_claim(compare({"p": 30}, {"p": 20}), cells=CELLS | {"model": "analogy"}),
             "p = 20 is not in prototypes.curve"),
            (UNTRAINED, "no run glove/wikiqa/comb/p30, word2vec/wikiqa/comb/p30"),
        ],
    )  # fmt: skip
    def test_every_reason_is_given_once(self, claim, reason):
        row = judge({"one": claim}, lookup(), make_config(left_out={"gone": "no weights"})).iloc[0]
        assert (row["verdict"], row["reason"], row["evidence"]) == ("not run", reason, "")

    def test_a_missing_chosen_run_leaves_the_paper_s_setting_judged(self):
        rows = judge({"one": TestSettings.ANALOGY}, lookup(analogy=0.7, similarity=0.5))
        assert rows["verdict"].tolist() == ["holds", "not run"]
        assert rows["reason"].iloc[1].startswith("no run analogy+chosen/wikiqa/comb/p30")


class TestEvidence:
    def test_it_gives_means_difference_and_p_value_of_each_comparison(self):
        claim = make_claim(
            *(compare("glove", "word2vec", subset=name) for name in ("who", "when")), cells=SHARED
        )
        values = lookup(**{"glove who": 0.7, "glove when": 0.3, "word2vec": 0.5})
        assert judge({"one": claim}, values)["evidence"].iloc[0] == (
            "glove (who) 0.700, word2vec (who) 0.500 (+0.200, p = 0.0001); "
            "glove (when) 0.300, word2vec (when) 0.500 (-0.200, p = 1)"
        )

    def test_sides_that_differ_in_p_only_are_told_apart(self):
        claim = make_claim(compare({"p": 30}, {"p": 10}), cells=CELLS | {"model": "analogy"})
        evidence = judge({"one": claim}, lookup(**{"analogy 30": 0.7, "analogy 10": 0.5}))
        assert evidence["evidence"].iloc[0].startswith("analogy (p = 30) 0.700, analogy (p = 10) ")

    def test_the_comparisons_name_the_runs(self):
        config = make_config()
        frame = judge_claims([make_paper(one=UNTRAINED)], config, lookup(glove=0.6, word2vec=0.5))[
            1
        ]
        row = frame.iloc[0].to_dict()
        assert row["better"] == "glove/wikiqa/comb/p30 mrr"
        assert row["worse"] == "word2vec/wikiqa/comb/p30 mrr"
        assert (row["mean_better"], row["mean_worse"], row["difference"]) == (0.6, 0.5, 0.1)
        assert row["p_greater"] < 0.001 < row["p_less"]

    def test_both_frames_survive_the_round_trip(self, tmp_path):
        claims = {"one": UNTRAINED, "two": make_claim(compare("nobody", "glove"))}
        frames = judge_claims(
            [make_paper(**claims)], make_config(), lookup(glove=0.6, word2vec=0.5)
        )
        for frame, columns in zip(frames, (CLAIMS, COMPARISONS), strict=True):
            write_csv(frame, tmp_path / "frame.csv")
            pd.testing.assert_frame_equal(read_csv(tmp_path / "frame.csv", columns), frame)


class TestValues:
    def test_runs_give_their_test_values_by_seed_and_question(self):
        metrics = pd.DataFrame(
            [
                (seed, split, question, "who", 0.1 * seed, value, 0)
                for seed in (1, 0)
                for split, question, value in (
                    ("dev", "d1", 0.9), ("test", "t2", 0.2 + seed), ("test", "t1", 0.1)
                )
            ],
            columns=METRICS.names,
        )  # fmt: skip
        cell = {"model": "glove", "dataset": "wikiqa", "subset": "comb", "p": 30}
        values = values_of([({"cell": cell}, metrics.astype({"question_id": "category"}))])
        mrr = values("glove", "wikiqa", "comb", 30, "mrr")
        assert mrr.columns.tolist() == ["t1", "t2"]
        assert mrr.loc[1].tolist() == [0.1, 1.2]
        assert values("glove", "wikiqa", "comb", 30, "map").loc[1].tolist() == [0.1, 0.1]
        assert values("glove", "wikiqa", "comb", 10, "mrr") is None

    def test_runs_of_other_questions_are_refused(self):
        def values(model_id, *_):
            frame = scores(0.5, model_id)
            return frame if model_id == "glove" else frame.rename(columns={"q00": "q99"})

        with pytest.raises(AnalogyQAError, match=r"glove/wikiqa/comb/p30 and word2vec.* other"):
            judge({"one": UNTRAINED}, values)


class TestPage:
    def page(self, **changes) -> str:
        config = make_config(**changes)
        paper = make_paper(one=UNTRAINED, two=make_claim(compare("nobody", "glove")))
        frame = judge_claims([paper], config, lookup(glove=0.7, word2vec=0.5))[0]
        return claims_markdown(frame, [paper, make_paper("claimless")], config)

    def test_every_claim_has_a_line_with_its_verdict_in_sign_and_word(self):
        lines = [line for line in self.page().splitlines() if r"a \| b" in line]
        cells = [[cell.strip() for cell in line.split(" | ")] for line in lines]
        assert cells[0][1:5] == ["Table 9", "", "🟦 holds", "0.0002"]
        assert "glove 0.700, word2vec 0.500 (+0.200, p = 0.0001)" in cells[0][5]
        assert cells[1][1:5] == ["Table 9", "", "➖ not run", ""]
        assert "model nobody is not configured" in cells[1][5]

    def test_the_verdicts_are_counted(self):
        row = next(line for line in self.page().splitlines() if line.startswith("| tiny2020"))
        assert [cell.strip() for cell in row.strip("|").split("|")] == [
            "tiny2020", "", "1", "0", "0", "1"
        ]  # fmt: skip

    def test_the_notes_say_how_it_was_judged(self):
        page = self.page(bootstrap={"confidence": 0.9})
        assert "paired randomisation test over questions and seeds (10000 draws; 2 seeds)" in page
        assert "below 0.1 it decides" in page
        assert page.rstrip().endswith("- Claims of Tiny (2020).")

    def test_other_data_are_judged_but_named(self):
        assert "our data are not the paper's" not in self.page()
        page = self.page(comparable=False)
        assert page.startswith("# Claims (our data are not the paper's)")
        assert "🟦 holds" in page
        assert "they judge no paper" in page


def test_the_claims_of_the_papers_hold_of_the_values_that_they_print_but_one():
    """Each paper's numbers as if they had no spread; what it does not print is left out."""
    root = Path(__file__).parents[2]
    config = load_config(yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8")))
    verdicts = {}
    for path in sorted((root / "papers").glob("*/paper.yaml")):
        paper = load_paper(path)
        printed = {
            tuple(cell.where.model_dump(include={"model", "dataset", "subset", "metric"}).values()):
            cell.published
            for artefact in paper.artefacts.values() if artefact.value == "score"
            for cell in artefact.numbers()
        }  # fmt: skip

        def values(model, dataset, subset, p, metric, printed=printed):
            mean = printed.get((model, dataset, subset, metric))
            curve = p not in (0, config.prototypes.p)
            return None if mean is None or curve else scores(mean, model + metric, 1e-5)

        frame = judge_claims([paper], config, values)[0]
        judged = frame[frame["setting"].isin(["paper", ""]) & frame["evidence"].ne("")]
        verdicts |= {(paper.paper, row.claim): row.verdict for row in judged.itertuples()}
    against = {key for key, verdict in verdicts.items() if verdict != "holds"}
    assert against == {("diallo2019", "averages-beat-dedicated")}
    assert len(verdicts) == 10
