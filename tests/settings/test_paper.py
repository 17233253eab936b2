"""A paper.yaml: what claims compare, which are refused, and competitors of a number."""

import pytest

from analogyqa.settings.coordinates import Coordinates
from analogyqa.settings.paper import Claim, Paper
from builders.report import make_config, make_paper, with_cross_validation

CELLS = {"dataset": "toy", "subset": "who", "measure": "mrr"}
PAIR = {"better": {"system": "a"}, "worse": {"system": "b"}}
OF_A = {"system": "a", "dataset": "toy", "subset": "who"}
BY_NORM = {"better": {"norm": "question"}, "worse": {"norm": "answer"}}
NORMS = {"cells": OF_A, "comparisons": [BY_NORM]}
BY_MEASURE = {"better": {"measure": "map"}, "worse": {"measure": "mrr"}}
BY_SUBSET = {"better": {"subset": "who"}, "worse": {"subset": "when"}}
OF_SUBSETS = {"system": "a", "dataset": "toy", "measure": "mrr"}


def make_claim(**changes) -> Claim:
    values = {"claim": "c", "where": "Table 9", "cells": CELLS, "comparisons": [PAIR]}
    return Claim.model_validate(values | changes)


def without(*keys: str) -> dict:
    return {key: value for key, value in CELLS.items() if key not in keys}


def test_cells_apply_to_both_sides_and_all_comparisons_are_needed_by_default():
    pairs = [PAIR | {"cells": {"subset": subset}} for subset in ("who", "when")]
    claim = make_claim(cells=without("subset"), comparisons=pairs)
    sides = [side.key for side in claim.sides()[0]]
    assert sides == [(system, "toy", "who", "mrr", ()) for system in ("a", "b")]
    assert claim.needed == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        # Comparisons
        ({"comparisons": []}, "comparisons"),
        ({"not_measured": "no data"}, "comparisons"),
        ({"cells": without("subset")}, "a: subset is missing"),
        ({"comparisons": [PAIR | {"worse": {}}]}, "comparisons: system is missing"),
        ({"comparisons": [PAIR | {"worse": PAIR["better"]}]}, "a is compared with itself"),
        ({"comparisons": [PAIR | {"better": {"system": "a", "dataset": "toy"}}]}, "given twice"),
        ({"cells": CELLS | {"split": "test"}}, "a: remove split"),
        ({"cells": CELLS | {"pp": 1}}, "'pp' is not an override"),
        ({"needs": 2}, "needs: give at most 1, the number"),
        ({"needs": 0}, "needs"),
        # Primary claims
        ({"not_measured": "no data", "comparisons": [], "primary": "paper"}, "primary"),
        ({"cells": OF_SUBSETS, "comparisons": [BY_SUBSET], "primary": "paper"}, "the same subset"),
        (NORMS | {"primary": "paper"}, "single comparison of scores"),
        # Norms and costs
        (NORMS | {"tolerance": 0.1}, "compares no scores"),
        (NORMS | {"times": 2}, "compares no costs"),
        (NORMS | {"comparisons": [BY_NORM, BY_MEASURE]}, r"one kind, .*\['norm', 'score'\]"),
        ({"cells": without("measure") | {"cost": "parameters"}}, "nothing to test"),
    ],
)
def test_an_impossible_claim_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        make_claim(**changes)


@pytest.mark.parametrize(
    ("where", "ours"),
    [
        ("ours", True),
        ("ours: a reading of section 3", True),
        ("section 3, not ours: cited", False),
        ("Table 1", False),
    ],
)
def test_a_claim_may_be_ours_with_an_explanation(where, ours):
    assert make_claim(where=where).ours == ours


TABLE = {"title": "T", "cells": without("measure"), "rows": {"A": {"system": "a"}}}
SCORED = TABLE | {"columns": {"MRR": {"measure": "mrr"}}, "published": {"A": [0.5]}}
COUNTS = {"dataset": "toy", "subset": "who", "split": "dev", "count": "pairs"}


def test_the_main_table_is_the_first_with_published_scores_or_named():
    counted = SCORED | {"cells": COUNTS, "columns": {"N": {}}, "rows": {"A": {}}}
    unpublished = {name: part for name, part in SCORED.items() if name != "published"}
    tables = dict(zip(("table1", "table2", "table3"), (counted, unpublished, SCORED), strict=True))
    paper = make_paper(tables)
    assert paper.main_tables == ["table3"]
    assert paper.model_copy(update={"main": ["table2", "figure1"]}).main_tables == ["table2"]
    assert make_paper({"table1": counted}).main_tables == []
    with pytest.raises(ValueError, match=r"main: .*table4"):
        Paper.model_validate(paper.model_dump(exclude_unset=True) | {"main": ["table4"]})


def test_a_pair_is_primary_where_cross_validated_claims_are_about_it():
    """Of these claims the one of "map" is about another measure, and that of "split" not primary.

    Data set "c" is left out, and "d" is not cross-validated.
    """
    pair = {"better": {"system": "analogy"}, "worse": {"system": "similarity"}}
    changes = {
        "a": {"primary": "cross-validated", "margin": 0.02},
        "b": {"primary": "paper"},
        "c": {"primary": "cross-validated"},
        "d": {"primary": "cross-validated"},
    }
    at = {"subset": "comb", "measure": "mrr"}
    claims = {
        name: {"claim": "c", "where": "w", "cells": at | {"dataset": name}, "comparisons": [pair]}
        | changes[name]
        for name in changes
    }
    claims["map"] = claims["b"] | {"cells": at | {"dataset": "b", "measure": "map"}}
    claims["map"]["primary"] = "cross-validated"
    study = {"datasets": ["a", "b"], "systems": ["analogy", "similarity"]}
    study |= {
        "measures": ["mrr"],
        "pairs": {"both": study["systems"], "back": study["systems"][::-1]},
    }
    config = with_cross_validation(make_config(left_out={"c": "no room"}), "tiny2020", **study)
    paper = make_paper(**claims)
    assert paper.primary_pairs(config) == {"both": {"a": 0.02, "c": None}}
    assert paper.primary_pairs(config.model_copy(update={"left_out": {}})) == {}  # one is left
    assert paper.primary_pairs(make_config()) == {}


@pytest.mark.parametrize(("cited", "competitors"), [({}, [0.4]), ({"Cited": 0.5}, [0.4, 0.5])])
def test_only_a_cited_value_that_equals_a_systems_own_is_a_competitor(cited, competitors):
    """An uncited one is often the same system under another name."""
    systems = {"Ours": {"system": "a"}, "Same": {"system": "b"}, "Other": {"system": "c"}}
    values = {"Ours": 0.5, "Same": 0.5, "Other": 0.4} | cited
    table = {
        "title": "T",
        "cells": without("measure"),
        "columns": {"MRR": {"measure": "mrr"}},
        "rows": systems | dict.fromkeys(cited, "cited"),
        "published": {row: [value] for row, value in values.items()},
    }
    paper = make_paper({"table1": table})
    assert paper.competitors(Coordinates(system="a", **CELLS)) == competitors
