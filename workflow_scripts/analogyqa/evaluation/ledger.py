"""The ledger: every published number next to ours, with a verdict."""

from collections.abc import Sequence

import pandas as pd

from analogyqa.evaluation.number_kinds import TableEntry, our_values
from analogyqa.evaluation.results import Results
from analogyqa.evaluation.summary import LEDGER, to_frame
from analogyqa.evaluation.verdicts import NOT_COMPARABLE, NOT_RUN, OTHER_DATA
from analogyqa.settings.artefacts import CITED, Published
from analogyqa.settings.coordinates import SCORE
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config

# Printed values that differ by less are the same value, rounded or cut off: in three decimals, or
# as a share of the unit of the last digit.
SAME_VALUE, SAME_SHARE = 0.0007, 0.7


def build_ledger(
    papers: Sequence[Paper],
    config: Config,
    results: Results,
    only: tuple[str, str] | None = None,
) -> pd.DataFrame:
    """Compare every published number with ours: columns `LEDGER`.

    A published value is one run of the paper's system on the same questions. It is therefore
    compared with the prediction interval of one more run of ours; if all seeds agree, it is
    compared with our value at the printed precision. A value that one run on so many items cannot
    give is compared with the interval of a mean of `attainable_runs` runs. A trained system has a
    row with the paper's hyperparameters and, if the configuration tunes it, another with those
    tuned on dev. A value that the paper cites has no row. `only` is a paper and an artefact, to
    leave out all others.
    """
    repeats = find_repeats(papers)
    rows = []
    for paper in papers:
        for name, artefact in paper.artefacts.items():
            if only not in (None, (paper.paper, name)):
                continue
            for number in artefact.numbers():
                if number.kind == CITED or number.published is None:
                    continue
                key = (paper.paper, name, number.row, number.column)
                start = dict(zip(("paper", "artefact", "row", "column"), key, strict=True)) | {
                    "scale": artefact.scale,
                    "published": number.published,
                    "repeats": repeats.get(key, ""),
                }
                remark = artefact.remark_on(number.row, number.column)
                for row in our_values(TableEntry(number, artefact, paper), config, results):
                    rows.append(start | _with_remark(row, remark, config))
    return to_frame(rows, LEDGER)


def ledger_key(row: dict) -> tuple[str, ...]:
    """Return what a row of a ledger, or of a table, is about: the same in both."""
    return tuple(row[name] for name in ("paper", "artefact", "row", "column", "hyperparameters"))


def _with_remark(row: dict, remark: str, config: Config) -> dict:
    """Return a row with the remark of its artefact; values of other data are not compared."""
    if row["verdict"] == NOT_RUN:
        return row
    if not config.comparable:
        return row | {"verdict": NOT_COMPARABLE, "reason": OTHER_DATA}
    return row | {"reason": "; ".join(filter(None, [row.get("reason"), remark]))}


def find_repeats(papers: Sequence[Paper]) -> dict[tuple[str, str, str, str], str]:
    """Return, for each score that was printed before, where.

    The keys are paper, artefact, row and column.

    Equal values under the same conditions are the same score if they are of one system, or in two
    papers: the second paper may give it to another system.
    """
    earlier: list[tuple[Paper, str, Published]] = []
    notes = {}
    for paper in papers:
        for name, artefact in paper.artefacts.items():
            for number in artefact.numbers():
                if number.kind != SCORE or number.published is None:
                    continue
                first = next(
                    (
                        (location, known)
                        for other, location, known in earlier
                        if _is_same(known, number, in_one_paper=other is paper)
                    ),
                    None,
                )
                if first:
                    location, known = first
                    system = known.coordinates.system
                    is_other = system != number.coordinates.system
                    for_whom = f", there for another system ({system})" if is_other else ""
                    key = (paper.paper, name, number.row, number.column)
                    notes[key] = f"also printed in {location}{for_whom}"
                else:
                    location = f"{name} of {paper.paper} ({number.row}, {number.column})"
                    earlier.append((paper, location, number))
    return notes


def _is_same(first: Published, second: Published, in_one_paper: bool) -> bool:
    limit = min(SAME_VALUE, SAME_SHARE * max(first.step, second.step))
    return (
        abs((first.published or 0) - (second.published or 0)) < limit
        and (not in_one_paper or first.coordinates.system == second.coordinates.system)
        and first.coordinates.agrees_with(second.coordinates)
    )
