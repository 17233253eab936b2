"""Scores of any systems: read from a table, compared in pairs, and ranked."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from analogyqa.corpora.tabular import delimited_rows
from analogyqa.errors import AnalogyQAError, shown
from analogyqa.evaluation.significance import (
    compare_runs,
    compare_with_best,
    row_p_value,
    significance_level,
)
from analogyqa.evaluation.spread import best_shares
from analogyqa.evaluation.summary import DECIMALS, draw_means
from analogyqa.files import decode_text, read_bytes
from analogyqa.settings.studies import Bootstrap

COLUMNS = ("system", "item", "seed", "value")
_DEFAULT = Bootstrap()


def read_scores(path: str | Path) -> dict[str, pd.DataFrame]:
    """Read a delimited table of scores with the columns `system`, `item`, `seed` and `value`.

    Returns:
        By system, a frame of floats [seeds, items]. All have the same items, sorted.

    Raises:
        AnalogyQAError: for a missing column, a value that is no number, a row that is there twice,
            or an item that a system and seed have no value for.
    """
    rows = delimited_rows(decode_text(read_bytes(path), path), path)
    _, header = next(rows)
    if missing := [name for name in COLUMNS if name not in header]:
        raise AnalogyQAError(
            f"{path}, line 1: no column {' and no '.join(missing)}. The columns are "
            f"{shown(header)}; give {', '.join(COLUMNS)}. TREC run files need --qrels FILE."
        )
    positions = [header.index(name) for name in COLUMNS]
    values: dict[str, dict[str, dict[str, float]]] = {}
    lines: dict[tuple[str, ...], int] = {}
    for line, fields in rows:
        *key, text = (fields[position].strip() for position in positions)
        system, item, seed = key
        if not all(key):
            raise AnalogyQAError(f"{path}, line {line}: an empty field. Name {', '.join(COLUMNS)}.")
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise AnalogyQAError(
                f"{path}, line {line}: the value {text!r} is not a number. Write it like 0.5"
            )
        if (first := lines.setdefault((system, item, seed), line)) != line:
            raise AnalogyQAError(
                f"{path}, line {line}: system {system}, item {item}, seed {seed} is also in line "
                f"{first}. Remove one of the lines."
            )
        values.setdefault(system, {}).setdefault(seed, {})[item] = value
    items = sorted({item for _, item, _ in lines})
    for system, seeds in values.items():
        for seed, by_item in seeds.items():
            if missing := [item for item in items if item not in by_item]:
                raise AnalogyQAError(
                    f"{path}: system {system}, seed {seed} has no value for item {missing[0]}. "
                    "Give each system and seed a value for every item, or remove the item."
                )
    if not values:
        raise AnalogyQAError(f"{path}: no scores. Add a line for each system, item and seed.")
    return {
        system: pd.DataFrame.from_dict(seeds, orient="index")[items]
        for system, seeds in values.items()
    }


def compare_systems(
    first: pd.DataFrame,
    second: pd.DataFrame,
    level: float = significance_level(_DEFAULT),
    names: tuple[str, str] = ("first", "second"),
) -> dict[str, float]:
    """Compare two systems by a paired test over items and seeds, see `compare_paired`.

    Args:
        first, second: Scores [seeds, items], with the same items as columns.
        level: The two-sided level of the interval.
        names: The names of both, for messages.

    Returns:
        Both means (`first`, `second`), their `difference` (second minus first) with its interval
        (`low`, `high`), the two-sided `p_value`, and `detectable`, the smallest difference that the
        data would probably have shown.

    Raises:
        AnalogyQAError: if the items differ.
    """
    compared = compare_runs(names[::-1], second, first, level).rounded()
    return {
        "first": round(float(first.to_numpy().mean()), DECIMALS),
        "second": round(float(second.to_numpy().mean()), DECIMALS),
        **{name: compared[name] for name in ("difference", "low", "high")},
        "p_value": row_p_value(compared),
        "detectable": compared["detectable"],
    }


def rank_systems(
    values: Mapping[str, pd.DataFrame], bootstrap: Bootstrap = _DEFAULT
) -> pd.DataFrame:
    """Rank systems by their means, the best first.

    Intervals and ranks come from a bootstrap over items and seeds, in which all systems have the
    same items. A group has its best system and all that are not significantly different from it,
    by paired two-sided tests with Holm's correction; the next group starts with the best of the
    rest. A system may also be inseparable from some of the next group.

    Args:
        values: Scores [seeds, items] by system, with the same items as columns.
        bootstrap: The number of draws, and the confidence of all intervals and tests.

    Returns:
        The columns `system`, `mean` (over items and seeds), `low` and `high` (its interval),
        `group` (1 is that of the best), `rank_low` and `rank_high` (the interval of its rank, where
        1 is the best), `first` (the share of draws in which it is the first; equal systems share a
        draw), `p_value` (of the test against the best; 1 for the best itself), and `detectable`
        (the smallest difference from the best that the data would probably have shown).

    Raises:
        AnalogyQAError: if the items differ.
    """
    tail = (1 - bootstrap.confidence) / 2
    draws = draw_means(values.values(), bootstrap.samples)
    low, high = np.quantile(draws, [tail, 1 - tail], axis=1).round(DECIMALS)
    # One more than the number of better systems, in each draw.
    ranks = np.stack([1 + (draws > means + 1e-12).sum(axis=0) for means in draws])
    rank_low, rank_high = np.quantile(ranks, [tail, 1 - tail], axis=1, method="nearest")
    groups: dict[str, int] = {}
    compared: dict[str, dict[str, float]] = {}
    while rest := {name: scores for name, scores in values.items() if name not in groups}:
        against_best, top = compare_with_best(rest, significance_level(bootstrap))
        compared = compared or against_best
        groups |= dict.fromkeys(top, max(groups.values(), default=0) + 1)
    equal = {"p_greater": 1.0, "p_less": 1.0, "detectable": 0.0}  # the best and itself
    tests = [compared.get(name, equal) for name in values]
    places = {
        "system": list(values),
        "mean": [round(float(scores.to_numpy().mean()), DECIMALS) for scores in values.values()],
        "low": low,
        "high": high,
        "group": [groups[name] for name in values],
        "rank_low": rank_low,
        "rank_high": rank_high,
        "first": best_shares(draws).round(DECIMALS),
        "p_value": list(map(row_p_value, tests)),
        "detectable": [row["detectable"] for row in tests],
    }
    return pd.DataFrame(places).sort_values("mean", ascending=False, kind="stable")
