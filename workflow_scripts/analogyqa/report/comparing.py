"""Two runs held against each other, as claims, cross-validation and sensitivity do it."""

from collections.abc import Mapping

import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.report.significance import Paired, compare_apart, compare_paired, holm
from analogyqa.report.summary import DECIMALS
from analogyqa.settings.run import Config

# What tables have of a comparison.
COMPARED = dict.fromkeys(
    ["difference", "low", "high", "p_greater", "p_less", "p_equivalent"], "float64"
)


def compare_runs(
    names: tuple[str, str],
    first: pd.DataFrame,
    second: pd.DataFrame,
    config: Config,
    same_runs: bool = False,
    apart: bool = False,
) -> Paired:
    """Compare the values [seeds, items] of two runs, which messages call by `names`.

    Raises AnalogyQAError when they have other questions, unless they are meant to be `apart`.
    """
    if apart:
        return compare_apart(first.to_numpy(), second.to_numpy(), level_of(config))
    if list(first.columns) != list(second.columns):
        raise AnalogyQAError(
            f"the runs {names[0]} and {names[1]} have other questions. "
            "Delete them, then run the same command again to rebuild them."
        )
    both = first.to_numpy(), second.to_numpy()
    return compare_paired(*both, level_of(config), same_runs=same_runs)


def top_group(runs: Mapping[str, pd.DataFrame], config: Config) -> set[str]:
    """Return the run of the highest mean and those that are not told from it.

    By paired tests with it, two-sided, with Holm's correction for their number.

    Args:
        runs: what messages call them to their values [seeds, items].
        config: the level, see `level_of`.

    Raises AnalogyQAError when they have other questions.
    """
    if not runs:
        return set()
    best = max(runs, key=lambda name: runs[name].to_numpy().mean())
    others = [name for name in runs if name != best]
    compared = [compare_runs((best, name), runs[best], runs[name], config) for name in others]
    adjusted = holm([p_value_of(rounded(each)) for each in compared])
    return {best} | {
        name for name, p in zip(others, adjusted, strict=True) if p >= level_of(config)
    }


def rounded(compared: Paired) -> dict[str, float]:
    """Return the numbers of a comparison as tables have them."""
    names = ("difference", "low", "high", "p_greater", "p_less", "p_equivalent", "detectable")
    return {name: round(getattr(compared, name), DECIMALS) for name in names}


def p_value_of(row: dict) -> float:
    """Return the two-sided p-value of a row that has both one-sided ones."""
    return min(1.0, 2 * min(row["p_greater"], row["p_less"]))


def level_of(config: Config) -> float:
    """Return the p-value below which a claim is decided."""
    return round(1 - config.bootstrap.confidence, DECIMALS)
