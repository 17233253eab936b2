"""The claims of a paper: comparisons of scores, norms and costs, and the verdicts."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from analogyqa.cells import Cell, claim_cells, claim_sides, norm_cells, systems_with_costs
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.claims import judge_claims, question_norms, with_norms_and_costs
from analogyqa.evaluation.significance import holm
from analogyqa.evaluation.summary import LearnedCount, Values
from analogyqa.report.ledger_pages import claims_table
from analogyqa.report.table_formats import to_markdown
from analogyqa.runs.cost import STEPS, Cost, Costs
from analogyqa.schemas import INSIDE, write_table
from analogyqa.settings.coordinates import SCORE
from analogyqa.settings.run import Config
from builders.report import (
    CONFERENCE,
    HYPERBOLIC,
    SYSTEMS,
    WORKSHOP,
    is_tuned,
    make_config,
    make_paper,
    repository_config,
    with_cross_validation,
)

QUESTIONS = [f"q{number:02}" for number in range(30)]
SHARED = {"dataset": "wikiqa", "measure": "mrr"}
CELLS = SHARED | {"subset": "comb"}
OF_ANALOGY = CELLS | {"system": "analogy"}


def compare(better: str | dict, worse: str | dict, **cells) -> dict:
    better, worse = (
        {"system": side} if isinstance(side, str) else side for side in (better, worse)
    )
    return {"better": better, "worse": worse, "cells": cells}


def make_claim(*comparisons: dict, cells: dict = CELLS, **changes) -> dict:
    values = {"claim": "a | b", "where": "Table 9"}
    return {**values, "cells": cells, "comparisons": list(comparisons), **changes}


def scores(mean: float, name: str, spread: float = 0.1) -> pd.DataFrame:
    """Return values of two seeds with this mean; the noise over questions depends on `name`."""
    noise = np.random.default_rng(list(map(ord, name))).normal(0, spread, len(QUESTIONS))
    return pd.DataFrame([mean + noise - noise.mean()] * 2, columns=QUESTIONS)


def lookup(**means: float) -> Values:
    """Return a lookup in which a run has the given mean of its system, or of a detail of it.

    The details, such as "glove who", are the subset, p and tuned hyperparameters.
    """

    def values(cell: Cell, measure: str) -> pd.DataFrame | None:
        details = [cell.subset, dict(cell.overrides).get("p", "30"), *(["tuned"] * is_tuned(cell))]
        names = [f"{cell.system} {detail}" for detail in details]
        names += [] if is_tuned(cell) else [cell.system]
        mean = next((means[name] for name in names if name in means), None)
        return None if mean is None else scores(mean, cell.system)

    return values


def judge(claims: dict, values: Values, config: Config | None = None) -> pd.DataFrame:
    frame = judge_claims([make_paper(**claims)], config or make_config(), values, {})[0]
    return frame.set_index(["claim", "hyperparameters"])


def verdicts(claim: dict, **means: float) -> list[str]:
    return judge({"one": claim}, lookup(**means))["verdict"].tolist()


UNTRAINED = make_claim(compare("glove", "word2vec"))
TRAINED = make_claim(compare("analogy", "similarity"))
BY_P = make_claim(compare({"p": 30}, {"p": 10}), cells=OF_ANALOGY)


class TestVerdict:
    def test_the_level_is_one_minus_the_confidence(self):
        values = lookup(glove=0.54, word2vec=0.5)
        p_value = judge({"one": UNTRAINED}, values).loc["one", ""]["p_value"]
        assert 0.001 < p_value < 0.4
        for confidence, verdict in ((1 - p_value * 1.1, "holds"), (1 - p_value * 0.9, "undecided")):
            config = make_config(bootstrap={"confidence": confidence})
            assert judge({"one": UNTRAINED}, values, config)["verdict"].tolist() == [verdict]

    @pytest.mark.parametrize(
        ("wins", "needs", "verdict"),
        [(2, 2, "holds"), (1, 2, "fails"), (1, 1, "holds"), (0, 1, "fails"), (2, 3, "fails"),
         (3, 3, "holds")],
    )  # fmt: skip
    def test_the_needed_number_of_comparisons_must_hold(self, wins, needs, verdict):
        subsets = ("who", "when", "where")
        pairs = [compare("glove", "word2vec", subset=subset) for subset in subsets]
        means = {f"glove {subset}": 0.3 + 0.4 * (n < wins) for n, subset in enumerate(subsets)}
        claim = make_claim(*pairs, cells=SHARED, needs=needs)
        assert verdicts(claim, **means, word2vec=0.5) == [verdict]

    def test_a_claim_that_needs_all_comparisons_is_undecided_if_one_is(self):
        claim = make_claim(compare("glove", "word2vec"), compare("glove", "random"))
        assert verdicts(claim, glove=0.7, word2vec=0.5, random=0.7) == ["undecided"]

    def test_p_values_are_corrected_over_all_judged_claims_of_a_paper(self):
        values = lookup(glove=0.54, word2vec=0.5, random=0.1)
        unknown = make_claim(compare("glove", "nobody"))
        claims = {"close": UNTRAINED, "clear": make_claim(compare("glove", "random"))}
        alone = [judge({name: claims[name]}, values)["p_value"].iloc[0] for name in claims]
        paper = make_paper(unknown=unknown, **claims)
        together = judge_claims([paper], make_config(), values, {})[0]["p_value"]
        assert pd.isna(together.iloc[0])
        assert together.iloc[1:3].tolist() == pytest.approx(holm(alone))
        # Those of another paper, and our own, are corrected separately.
        others = make_paper(name="other", close=UNTRAINED, ours=UNTRAINED | {"where": "ours"})
        both = judge_claims([paper, others], make_config(), values, {})[0]
        assert both["p_value"].iloc[1:].tolist() == pytest.approx([*holm(alone), *alone[:1] * 2])
        assert both["ours"].tolist() == [False] * 4 + [True]

    @pytest.mark.parametrize(
        ("better", "worse", "verdict"),
        [
            ({"system": "random", "measure": "map"}, {"system": "random"}, "holds"),
            # The same word2vec.
            ({"system": "sum", "window": 5}, {"system": "mappsent", "window": 5}, "holds"),
            ({"system": "sum", "dim": 300}, {"system": "mappsent", "dim": 100}, "undecided"),
        ],
    )
    def test_sides_of_the_same_runs_are_compared_seed_by_seed(self, better, worse, verdict):
        def values(cell: Cell, measure: str) -> pd.DataFrame:
            is_better = cell.system == "sum" or measure == "map"
            values_by_seed = np.array([[0.2], [0.8]]) + np.zeros((2, len(QUESTIONS)))
            return pd.DataFrame(values_by_seed + 0.05 * is_better, columns=QUESTIONS)

        sides = ({"measure": "map_official"} | side for side in (better, worse))
        claim = make_claim(
            compare(*sides), cells={"dataset": "semeval2016-related", "subset": "all"}
        )
        rows = judge({"one": claim}, values, repository_config())
        assert rows["verdict"].tolist() == [verdict]


class TestPrimary:
    """Claims that are tested at the full level, and also by cross-validation."""

    def config(self, systems=("analogy", "similarity"), definitions: dict | None = None) -> Config:
        study = {"measures": ["mrr"], "datasets": ["wikiqa"], "systems": list(systems)}
        config = make_config(systems=definitions)
        tiny = {"tiny2020": config.studies["diallo2019"]}
        config = config.model_copy(update={"studies": config.studies | tiny})
        return with_cross_validation(config, "tiny2020", **study)

    def values(self, cell: Cell, measure: str) -> pd.DataFrame:
        """Analogy is behind on the paper's split, and ahead in both folds."""
        fold = dict(cell.overrides).get("fold")
        ahead = (0.1 if fold else -0.1) if cell.system == "analogy" else 0
        frame = scores(0.5 + ahead, cell.system)
        return frame.add_prefix(f"{fold}:") if fold else frame

    def judge(self, claims: dict, **changes) -> pd.DataFrame:
        frame = judge_claims([make_paper(**claims)], self.config(**changes), self.values, {})[0]
        return frame.set_index(["claim", "protocol", "hyperparameters"])

    @pytest.mark.parametrize(
        ("claim", "systems"),
        [(TRAINED, ("analogy", "similarity")), (TRAINED | {"primary": "paper"}, ("analogy",))],
        ids=["a secondary claim", "a system that is not cross-validated"],
    )
    def test_only_primary_claims_on_cross_validated_systems_are_judged_by_cross_validation(
        self, claim, systems
    ):
        assert "cross-validated" not in str(self.judge({"one": claim}, systems=systems).index)

    def test_a_fused_system_counts_the_training_runs_of_its_parts_in_all_folds(self):
        parts_by_system = {"f": ["analogy", "similarity"], "g": ["lwda", "similarity"]}
        systems = SYSTEMS | {
            name: {"title": "F", "ranker": {"name": "fused", "parts": parts}}
            for name, parts in parts_by_system.items()
        }
        config = self.config(("f", "g"), definitions=systems)
        paper = make_paper(one=make_claim(compare("f", "g"), primary="paper"))
        learned = {
            Cell(system, "wikiqa", "comb", (("fold", f"{fold}of2"),)): LearnedCount(3, 3)
            for system in ("analogy", "lwda", "similarity")
            for fold in (1, 2)
        }
        learned[Cell("analogy", "wikiqa", "comb", (("fold", "2of2"),))] = LearnedCount(1, 3)
        learned[Cell("similarity", "wikiqa", "comb", (("fold", "1of2"),))] = LearnedCount(0, 3)
        learned[Cell("lwda", "wikiqa", "comb", (("fold", "1of2"),))] = LearnedCount(0, 3)
        rows = judge_claims([paper], config, self.values, learned)[0].set_index("protocol")
        assert rows["reason"].to_dict() == {
            "paper": "",
            "cross-validated": "f learned in 7 of 12 training runs, "
            "g learned in 6 of 12 training runs",
        }
        assert rows["verdict"].to_dict() == {
            "paper": "undecided",
            "cross-validated": "undecided",
        }

    def test_references_stand_beside_each_judgement_by_its_protocol(self):
        """Of these, "random" is not cross-validated, and "nobody" is not configured."""
        claim = make_claim(compare("analogy", "similarity"), primary="cross-validated")
        references = {"references": ["glove", "similarity", "random", "nobody"]}
        paper = make_paper(one=claim).model_copy(update=references)
        config = self.config(systems=("analogy", "similarity", "glove"))
        rows = judge_claims([paper], config, self.values, {})[0]
        beside = rows.set_index(["protocol", "hyperparameters"])["beside"].to_dict()
        assert beside["cross-validated", "paper"] == "glove 0.500"
        assert beside["paper", "paper"] == beside["paper", "tuned"] == "glove 0.500, random 0.500"
        cells = {
            cell.path for cell in claim_cells(config, paper) if cell.system in ("glove", "random")
        }
        names = ["glove/wikiqa/comb/fold=1of2", "glove/wikiqa/comb/fold=2of2"]
        assert cells == {*names, "glove/wikiqa/comb/default", "random/wikiqa/comb/default"}

    @pytest.mark.parametrize("protocol", ["paper", "cross-validated"])
    def test_one_judgement_decides_a_primary_claim_and_its_others_are_sensitivity(self, protocol):
        rows = self.judge({"one": TRAINED | {"primary": protocol}})["role"].droplevel("claim")
        roles = dict.fromkeys(rows.index, "sensitivity") | {(protocol, "paper"): "primary"}
        assert rows.to_dict() == roles and rows.iloc[0] == "primary" and len(rows) == 3

    def test_a_claim_that_no_fold_can_decide_has_no_verdict(self):
        rows = self.judge({"one": TRAINED | {"primary": "cross-validated"}}, systems=("analogy",))
        first = rows.loc[("one", "cross-validated", "paper")]
        assert (first["role"], first["verdict"]) == ("primary", "not run")
        assert first["reason"] == "these systems are not cross-validated here"

    def test_primary_judgements_form_a_family_and_so_do_secondary_claims(self):
        primary = TRAINED | {"primary": "cross-validated"}
        alone = {
            name: self.judge({"one": claim})["p_value"].droplevel("claim")
            for name, claim in {"primary": primary, "secondary": TRAINED}.items()
        }
        claims = {"a": primary, "b": primary, "c": TRAINED, "d": TRAINED, "e": TRAINED}
        rows = self.judge(claims)["p_value"]
        folds, split = ("cross-validated", "paper"), ("paper", "paper")
        assert rows["a", *folds] == pytest.approx(2 * alone["primary"][folds])
        assert rows["a", *split] == alone["primary"][split]  # sensitivity
        assert rows["c", *split] == pytest.approx(min(1, 3 * alone["secondary"][split]))


class TestDidNotLearn:
    """Analogy ranks better on `who` and worse on `when`, and some training runs did not learn."""

    def judge(self, failed: str, **claim) -> pd.DataFrame:
        pairs = [compare("analogy", "similarity", subset=subset) for subset in ("who", "when")]
        claims = {"one": make_claim(*pairs, cells=SHARED, **claim), "other": TRAINED}
        values = lookup(**{"analogy who": 0.7, "analogy when": 0.3, "analogy": 0.5}, similarity=0.5)
        learned = {Cell("analogy", "wikiqa", failed): LearnedCount(1, 3)}
        return judge_claims([make_paper(**claims)], make_config(), values, learned)[0]

    @pytest.mark.parametrize(
        ("needs", "failed", "verdict"),
        [(1, "who", "did not learn"), (1, "when", "holds"),
         (2, "who", "fails"), (2, "when", "did not learn")],
    )  # fmt: skip
    def test_only_a_claim_that_rests_on_these_runs_has_no_verdict(self, needs, failed, verdict):
        row = self.judge(failed, needs=needs).iloc[0]
        assert row["verdict"] == verdict
        assert row["reason"] == f"analogy ({failed}) learned in 1 of 3 training runs"

    def test_effect_and_family_are_as_if_the_runs_had_learned(self):
        failed, learned = (self.judge(subset, needs=2) for subset in ("when", "where"))
        changed = ["verdict", "equivalent", "reason"]
        assert failed.drop(columns=changed).equals(learned.drop(columns=changed))
        assert (
            failed["equivalent"].iloc[0] == "" and (failed["verdict"] != learned["verdict"]).any()
        )


class TestPrecision:
    def row(
        self,
        difference: float,
        spread: float,
        config: Config | None = None,
        copies: int = 1,
        **claim,
    ) -> pd.Series:
        def values(cell: Cell, measure: str) -> pd.DataFrame:
            ahead = difference if cell.system == "glove" else 0
            return scores(0.5 + ahead, cell.system, spread)

        artefacts = {
            "table1": {
                "title": "t",
                "cells": CELLS,
                "columns": {"C": {}},
                "rows": {"A": {"system": "glove"}, "B": {"system": "word2vec"}},
                "published": {"A": [0.6], "B": [0.5]},
            }
        }
        claims = {f"claim{number}": UNTRAINED | claim for number in range(copies)}
        paper = make_paper(artefacts, **claims)
        return judge_claims([paper], config or make_config(), values, {})[0].iloc[0]

    def test_a_small_and_precise_difference_is_equivalent(self):
        row = self.row(0.001, 0.02)
        assert (row["verdict"], row["equivalent"]) == ("equivalent", "yes")
        # Half of the published difference, .6 against .5.
        assert row["margin"] == 0.05
        assert -0.05 < row["low"] < row["effect"] < row["high"] < 0.05

    @pytest.mark.parametrize(("copies", "verdict"), [(1, "equivalent"), (4, "undecided")])
    def test_equivalence_is_corrected_for_the_number_of_claims(self, copies, verdict):
        assert self.row(0.001, 0.12, copies=copies)["verdict"] == verdict

    def test_a_claim_with_several_comparisons_is_never_equivalent(self):
        row = self.row(0.001, 0.02, comparisons=[compare("glove", "word2vec")] * 2)
        assert (row["margin"], row["equivalent"]) == (0.05, "no")

    def test_an_imprecise_difference_is_undecided_and_needs_more_questions(self):
        row = self.row(0.01, 0.3)
        assert (row["verdict"], row["equivalent"]) == ("undecided", "no")
        assert row["paper_effect"] == 0.1 and row["detectable"] > 0.1
        assert row["effect_ratio"] == pytest.approx(row["effect"] / 0.1)
        assert 0.05 < row["power"] < 0.8 and row["items_needed"] > row["n_items"] == 30

    def test_the_published_difference_does_not_count_for_other_data(self):
        other = make_config(comparable=False)
        row = self.row(0.001, 0.02, other)
        assert row[["paper_effect", "power", "items_needed", "margin"]].isna().all()
        assert (row["verdict"], row["equivalent"]) == ("undecided", "no")
        row = self.row(0.001, 0.02, other, margin=0.04)
        assert (row["verdict"], row["margin"]) == ("equivalent", 0.04)

    def test_a_detectable_effect_has_the_stated_power(self):
        row = self.row(0.0, 0.19)
        assert row["detectable"] == pytest.approx(0.1, abs=0.015)
        assert row["power"] == pytest.approx(0.8, abs=0.1)

    @pytest.mark.parametrize(("difference", "verdict"), [(-0.02, "holds"), (-0.06, "fails")])
    def test_a_claim_with_a_tolerance_holds_within_it(self, difference, verdict):
        assert self.row(difference, 0.01, tolerance=0.03)["verdict"] == verdict
        assert self.row(difference, 0.01)["verdict"] == "fails"

    def test_the_effect_is_that_of_the_weakest_needed_comparison(self):
        subsets = ("who", "when", "where")
        pairs = [compare("glove", "word2vec", subset=subset) for subset in subsets]
        means = dict(zip(subsets, (0.9, 0.6, 0.7), strict=True))
        values = lookup(**{f"glove {name}": mean for name, mean in means.items()}, word2vec=0.5)
        for needs, effect in ((1, 0.4), (2, 0.2), (3, 0.1)):
            claim = make_claim(*pairs, cells=SHARED, needs=needs)
            assert judge({"one": claim}, values)["effect"].tolist() == [pytest.approx(effect)]


class TestHyperparameters:
    def test_trained_systems_are_judged_with_the_papers_and_with_tuned_hyperparameters(self):
        means = {"analogy": 0.7, "similarity": 0.5, "analogy tuned": 0.6}
        rows = judge({"one": TRAINED}, lookup(**means, **{"similarity tuned": 0.8}))
        assert rows["verdict"].to_dict() == {("one", "paper"): "holds", ("one", "tuned"): "fails"}
        rows = judge({"one": TRAINED}, lookup(**means))
        assert rows["verdict"].tolist() == ["holds", "not run"]
        assert (
            rows["reason"].iloc[1].startswith("no run similarity/wikiqa/comb/hyperparameters=tuned")
        )

    @pytest.mark.parametrize(
        ("other", "expected"), [("lwda", ["holds"]), ("glove", ["holds", "fails"])]
    )
    def test_a_tuned_system_is_not_compared_with_a_trained_one_that_is_not_tuned(
        self, other, expected
    ):
        claim = make_claim(compare("analogy", other))
        values = {"analogy": 0.7, "analogy tuned": 0.4, other: 0.5}
        assert verdicts(claim, **values) == expected

    @pytest.mark.parametrize(
        ("claim", "expected"),
        [(UNTRAINED, [""]), (make_claim(compare("lwda", "glove")), ["paper"]), (BY_P, ["paper"]),
         (make_claim(compare({"p": 30, "system": "analogy"}, "glove")), ["paper", "tuned"])],
        ids=["untrained", "no choice", "points of an override", "the configured point"],
    )  # fmt: skip
    def test_tuned_hyperparameters_are_judged_only_where_they_are_run(self, claim, expected):
        rows = judge({"one": claim}, lookup())
        assert rows.index.get_level_values("hyperparameters").tolist() == expected


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (make_claim(compare("nobody", "gone")), "system nobody is not configured; no weights"),
        (make_claim(compare("glove", "word2vec"), cells=CELLS | {"dataset": "mine"}),
         "data set mine is not configured"),
        (make_claim(compare({"p": 30}, {"p": 20}), cells=OF_ANALOGY),
         "p = 20 is not among the points of sweeps.p"),
        (UNTRAINED, "no run glove/wikiqa/comb/default, word2vec/wikiqa/comb/default"),
        (make_claim(cells={}, not_measured="the data are not public"), "the data are not public"),
    ],
)  # fmt: skip
def test_a_claim_that_is_not_judged_gives_each_reason_once(claim, reason):
    config = make_config(left_out={"gone": "no weights"}, sweeps={"p": [10, 30]})
    row = judge({"one": claim}, lookup(), config).iloc[0]
    assert (row["verdict"], row["reason"], row["evidence"]) == ("not run", reason, "")


class TestEvidence:
    def test_the_evidence_gives_means_difference_and_p_value_of_each_comparison(self):
        pairs = [compare("glove", "word2vec", subset=name) for name in ("who", "when")]
        values = lookup(**{"glove who": 0.7, "glove when": 0.3, "word2vec": 0.5})
        claims = {"one": make_claim(*pairs, cells=SHARED)}
        who, when = judge(claims, values)["evidence"].iloc[0].split("; ")
        assert who.startswith("glove (who) 0.700, word2vec (who) 0.500 (+0.200 [+0.1")
        assert who.endswith("], p ≤ 0.0002)")
        assert when.startswith("glove (when) 0.300, word2vec (when) 0.500 (-0.200 [-0.2")
        assert when.endswith("], p ≤ 0.0002)")

        paper = make_paper(**claims).model_copy(update={"references": ["random", "lwda"]})
        values = lookup(random=0.2, word2vec=0.5, glove=0.7)  # of the other one, nothing has run
        (beside,) = judge_claims([paper], make_config(), values, {})[0]["beside"]
        assert beside == "random (who) 0.200, random (when) 0.200"

        evidence = judge({"one": BY_P}, lookup(**{"analogy 30": 0.7, "analogy 10": 0.5}))
        assert evidence["evidence"].iloc[0].startswith("analogy (p = 30) 0.700, analogy (p = 10) ")

    def test_the_comparisons_name_the_runs(self):
        values = lookup(glove=0.6, word2vec=0.5)
        row = judge_claims([make_paper(one=UNTRAINED)], make_config(), values, {})[1].iloc[0]
        assert row["better"] == "glove/wikiqa/comb/default mrr"
        assert row["worse"] == "word2vec/wikiqa/comb/default mrr"
        assert (row["mean_better"], row["mean_worse"], row["difference"]) == (0.6, 0.5, 0.1)
        assert row["p_greater"] < 0.001 < row["p_less"]

    def test_runs_on_different_questions_are_refused(self):
        def values(cell: Cell, measure: str) -> pd.DataFrame:
            frame = scores(0.5, cell.system)
            return frame if cell.system == "glove" else frame.rename(columns={"q00": "q99"})

        with pytest.raises(
            AnalogyQAError, match=r"glove/wikiqa/comb/default and word2vec.* different"
        ):
            judge({"one": UNTRAINED}, values)


@pytest.mark.parametrize("is_comparable", [True, False])
def test_the_page_is_as_reviewed(is_comparable, golden):
    """A primary claim is judged by two protocols, in one of which a system did not learn."""
    claims = {"one": UNTRAINED, "two": make_claim(compare("nobody", "glove"))}
    claims |= {"ours": UNTRAINED | {"where": "ours"}, "first": TRAINED | {"primary": "paper"}}
    paper = make_paper(**claims).model_copy(update={"references": ["random"]})
    config = TestPrimary().config().model_copy(update={"comparable": is_comparable})
    learned = {Cell("analogy", "wikiqa", "comb", (("fold", "2of2"),)): LearnedCount(0, 2)}
    frame = judge_claims([paper], config, TestPrimary().values, learned)[0]
    page = to_markdown(claims_table(frame, [paper, make_paper(name="claimless")], config))
    golden(page, f"claims_{'' if is_comparable else 'other_'}data.md")


def test_the_papers_printed_values_support_all_claims_but_one():
    """The printed values count as runs without noise; claims without such values are left out."""
    verdict_of_claim = {}
    for paper in (CONFERENCE, WORKSHOP):
        frame = judge_claims([paper], repository_config(), printed_by(paper), {})[0]
        frame = frame[frame["hyperparameters"].isin(["paper", ""]) & frame["evidence"].ne("")]
        verdict_of_claim |= {(paper.paper, row.claim): row.verdict for row in frame.itertuples()}
    unsupported = {claim for claim, verdict in verdict_of_claim.items() if verdict != "holds"}
    assert unsupported == {
        ("diallo2019", "averages-beat-dedicated"),
        ("lwda2019", "averages-beat-dedicated"),
    }
    assert len(verdict_of_claim) == 15


def printed_by(paper) -> Callable[[Cell, str], pd.DataFrame | None]:
    printed = {
        number.coordinates.key: number.published
        for artefact in paper.artefacts.values()
        for number in artefact.numbers()
        if number.kind == SCORE
    }

    def values(cell: Cell, measure: str) -> pd.DataFrame | None:
        mean = printed.get((*cell[:3], measure, cell.overrides))
        return None if mean is None else scores(mean, cell.system + measure, 1e-5)

    return values


CONFIG = repository_config()
HYPERQA = Cell("hyperqa", "trecqa", "all")
NORMS = {
    "claim": "questions are longer",
    "where": "Figure 5",
    "cells": {"system": "hyperqa", "dataset": "trecqa", "subset": "all"},
    "comparisons": [{"better": {"norm": "question"}, "worse": {"norm": "answer"}}],
}
FASTER = {
    "claim": "ten times faster",
    "where": "Table 7",
    "cells": {"dataset": "wikiqa", "subset": "all", "cost": "seconds_per_epoch"},
    "times": 10,
    "comparisons": [{"better": {"system": "hyperqa"}, "worse": {"system": "ap-bilstm"}}],
}


def inside(*rows: tuple[str, str, int, float]) -> pd.DataFrame:
    """Return an INSIDE table of rows (kind, question, label, norm)."""
    frame = pd.DataFrame(rows, columns=["kind", "question_id", "label", "norm"])
    return frame.assign(id="i", text="t", words=[[]] * len(rows), vector=[[]] * len(rows))


def make_norms(longer_by: float, questions: int = 20) -> pd.DataFrame:
    rows = []
    for number in range(questions):
        answer = 5 + number / questions
        rows.append(("question", f"q{number:02}", -1, answer + longer_by + 0.1 * (number % 3)))
        rows.append(("candidate", f"q{number:02}", 1, answer))
    return inside(*rows)


def make_costs(times: float, noise: float = 0.01) -> Costs:
    """Return costs in which a step of AP-BiLSTM takes `times` as long as one of HyperQA."""
    logs = np.random.default_rng(0).normal(0, noise, (2, STEPS))
    hyperqa, ap_bilstm = np.exp(logs - logs.mean(axis=1, keepdims=True)) * [[0.01], [0.01 * times]]
    return {
        ("wikiqa", "all", "hyperqa"): Cost(9, 50, hyperqa.tolist(), "m"),
        ("wikiqa", "all", "ap-bilstm"): Cost(9, 50, ap_bilstm.tolist(), "m"),
    }


def judge_norms_and_costs(
    claim: dict, norms: pd.DataFrame, costs: Costs, folder
) -> tuple[dict, str]:
    """Return the row of a judged claim, and the page with its verdict."""
    path = folder / HYPERQA.path / "inside.parquet"
    path.parent.mkdir(parents=True)
    write_table(norms, INSIDE, path)
    values = with_norms_and_costs(lambda cell, measure: None, [path], costs)
    paper = make_paper(one=claim)
    verdicts, _ = judge_claims([paper], CONFIG, values, {})
    (row,) = verdicts.to_dict("records")
    return row, to_markdown(claims_table(verdicts, [paper], CONFIG))


class TestNorms:
    def test_a_question_has_its_norm_and_the_mean_norm_of_its_right_answers(self):
        norms = question_norms(
            inside(
                ("question", "a", -1, 3.0),
                ("candidate", "a", 1, 1.0),
                ("candidate", "a", 1, 2.0),
                ("candidate", "a", 0, 9.0),
                ("question", "without", -1, 4.0),
                ("word", None, -1, 7.0),
            )
        )
        assert norms.to_dict("index") == {"a": {"question": 3.0, "answer": 1.5}}

    @pytest.mark.parametrize(
        ("longer_by", "verdict"), [(1, "holds"), (-1, "fails"), (-0.1, "undecided")]
    )
    def test_norms_are_compared_by_question(self, tmp_path, longer_by, verdict):
        row, page = judge_norms_and_costs(NORMS, make_norms(longer_by), {}, tmp_path)
        assert (row["verdict"], row["kind"], row["n_items"]) == (verdict, "norm", 20)
        assert row["effect"] == pytest.approx(longer_by + 0.1 * np.mean([n % 3 for n in range(20)]))
        # The margin within which scores are equivalent does not apply to norms.
        assert row["equivalent"] == "no" and pd.isna(row["detectable"])
        assert f"| {row['effect']:+.3f} [" in page


class TestCosts:
    @pytest.mark.parametrize(
        ("factor", "times", "verdict"),
        [(10, 30, "holds"), (10, 3, "fails"), (10, 10, "undecided"), (10, 0.1, "fails"),
         (1, 1.5, "holds")],
    )  # fmt: skip
    def test_costs_are_compared_by_step_and_the_ratio_decides(
        self, tmp_path, factor, times, verdict
    ):
        row, page = judge_norms_and_costs(
            FASTER | {"times": factor}, make_norms(0), make_costs(times), tmp_path
        )
        assert (row["verdict"], row["kind"], row["protocol"]) == (verdict, "cost", "steps")
        assert row["effect"] == pytest.approx(times, rel=0.02)
        assert row["low"] < times * 1.02 and row["high"] > times * 0.98
        assert row["evidence"].startswith(f"hyperqa 0.5, ap-bilstm {0.5 * times:.3g} (")
        assert f"{row['effect']:.3g} times [" in page
        assert "interleaved training steps" in page

    def test_a_claim_about_unmeasured_costs_is_not_run(self, tmp_path):
        row, _ = judge_norms_and_costs(FASTER, make_norms(0), {}, tmp_path)
        assert row["verdict"] == "not run"


class TestRequiredRuns:
    def test_claims_about_norms_need_a_run_and_claims_about_costs_need_none(self):
        paper = make_paper(norms=NORMS, costs=FASTER)
        assert norm_cells(CONFIG, paper) == [HYPERQA]
        assert claim_cells(CONFIG, paper) == [HYPERQA]
        assert systems_with_costs(claim_sides(paper.claims.values()), CONFIG) == {
            ("wikiqa", "all"): ["hyperqa", "ap-bilstm"]
        }

    def test_hyperqa_has_claims_about_scores_norms_and_costs(self):
        claims = HYPERBOLIC.claims.values()
        assert {claim.kind for claim in claims} == {"score", "norm", "cost"}
