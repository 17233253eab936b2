"""Comparisons of two runs, as claims, cross-validation and sensitivity need them."""

from collections.abc import Mapping

import pandas as pd

from analogyqa.cells import Cell
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.significance import Comparison, compare_paired, compare_unpaired, holm
from analogyqa.evaluation.summary import DECIMALS, shared_seeds
from analogyqa.measures import item_strata
from analogyqa.settings.run import Config

# The columns of a comparison in tables.
COMPARED = dict.fromkeys(["difference", "low", "high", "p_greater", "p_less"], "float64")


def compare_runs(
    names: tuple[str, str],
    first: pd.DataFrame,
    second: pd.DataFrame,
    config: Config,
    same_runs: bool = False,
    unpaired: bool = False,
) -> Comparison:
    """Compare the scores of two runs.

    Args:
        names: The names of the runs, for messages.
        first, second: The scores [seeds, items].
        same_runs: Whether row i of both is from one run.
        unpaired: Whether the runs have different items on purpose, such as two subsets.

    Raises AnalogyQAError if the items differ and the runs are not `unpaired`.
    """
    both, level = (first.to_numpy(), second.to_numpy()), level_of(config)
    shared = shared_seeds(first), shared_seeds(second)
    if unpaired:
        strata = item_strata(first), item_strata(second)
        return compare_unpaired(*both, level, strata, shared)
    if list(first.columns) != list(second.columns):
        raise AnalogyQAError(
            f"The runs {names[0]} and {names[1]} have different questions. "
            "Delete both, then run the same command again to rebuild them."
        )
    return compare_paired(
        *both, level, same_runs=same_runs, strata=item_strata(first), shared=shared
    )


def share_runs(first: Cell, second: Cell, config: Config) -> bool:
    """Return whether each seed of two cells rests on the same random run.

    It does for systems that score with other weights of one training run, and for untrained systems
    over the same word2vec, which is trained once for each seed.
    """
    cells = (first, second)
    if any(config.uses_training(cell.system) for cell in cells):
        return len({cell.with_weights(config) for cell in cells}) == 1
    vectors = {config.system_at(cell.system, cell.overrides).word_vectors for cell in cells}
    name = config.systems[first.system].vectors
    return len(vectors) == 1 and name is not None and config.vectors[name].is_word2vec


def top_group(runs: Mapping[str, pd.DataFrame], config: Config) -> set[str]:
    """Return the run with the highest mean and those not significantly different from it.

    `runs` are scores [seeds, items] by name. Raises AnalogyQAError if their items differ.
    """
    if not runs:
        return set()
    best, compared = compare_with_best(runs, config)
    return {best, *tied_with_best(compared, config)}


def compare_with_best(
    runs: Mapping[str, pd.DataFrame], config: Config
) -> tuple[str, dict[str, dict[str, float]]]:
    """Return the run with the highest mean, and its comparison with each other run."""
    best = max(runs, key=lambda name: runs[name].to_numpy().mean())
    return best, {
        name: round_comparison(compare_runs((best, name), runs[best], scores, config))
        for name, scores in runs.items()
        if name != best
    }


def tied_with_best(compared: Mapping[str, dict[str, float]], config: Config) -> list[str]:
    """Return the runs that are not significantly different from the best one.

    The tests are paired and two-sided, with Holm's correction for their number.
    """
    adjusted = holm([p_value_of(row) for row in compared.values()])
    return [name for name, p in zip(compared, adjusted, strict=True) if p >= level_of(config)]


def round_comparison(compared: Comparison) -> dict[str, float]:
    """Return the numbers of a comparison, rounded as in tables."""
    return {name: round(getattr(compared, name), DECIMALS) for name in (*COMPARED, "detectable")}


def p_value_of(row: dict) -> float:
    """Return the two-sided p-value of a row with both one-sided p-values."""
    return min(1.0, 2 * min(row["p_greater"], row["p_less"]))


def level_of(config: Config) -> float:
    """Return the level of all tests: the complement of the configured confidence."""
    return round(1 - config.bootstrap.confidence, DECIMALS)
