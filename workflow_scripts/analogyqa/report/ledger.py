"""The ledger: every published number next to ours, with a verdict."""

from collections.abc import Sequence

import pandas as pd

from analogyqa.report.kinds import TableEntry, our_values
from analogyqa.report.results import Results
from analogyqa.report.summary import LEDGER, typed
from analogyqa.report.verdicts import NOT_COMPARABLE, NOT_RUN, OTHER_DATA
from analogyqa.settings.coordinates import SCORE, Coordinates
from analogyqa.settings.paper import CITED, Paper, Published
from analogyqa.settings.run import Config

# Printed values that differ by less are the same value, rounded or cut off.
SAME_VALUE = 0.0007

# Paper, artefact, row and column of a published value.
_Printed = tuple[str, str, str, str]


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
    tuned on dev. A value that the paper cites has no row.

    Args:
        papers: the published values.
        config: the configured data sets, systems and sweeps.
        results: our values.
        only: a paper and an artefact, to leave out all others.
    """
    repeats = repeated(papers)
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
                    rows.append(start | _if_comparable(_with_remark(row, remark), config))
    return typed(rows, LEDGER)


def _with_remark(row: dict, remark: str) -> dict:
    return row | {"reason": "; ".join(filter(None, [row.get("reason"), remark]))}


def _if_comparable(row: dict, config: Config) -> dict:
    if config.comparable or row["verdict"] == NOT_RUN:
        return row
    return row | {"verdict": NOT_COMPARABLE, "reason": OTHER_DATA}


def repeated(papers: Sequence[Paper]) -> dict[_Printed, str]:
    """Return the scores that are also printed earlier, each with a note on where.

    Equal values of one measure on the same data are the same score, even if the paper gives them
    to different systems.
    """
    earlier: list[tuple[str, Coordinates, float]] = []
    notes = {}
    for paper in papers:
        for name, artefact in paper.artefacts.items():
            for number in artefact.numbers():
                if number.kind != SCORE or number.published is None:
                    continue
                coordinates = number.coordinates
                same = next((score for score in earlier if _is_same(score, number)), None)
                if same is None:
                    location = f"{name} of {paper.paper} ({number.row}, {number.column})"
                    earlier.append((location, coordinates, number.published))
                    continue
                is_other = same[1].system != coordinates.system
                for_whom = f", there for another system ({same[1].system})" if is_other else ""
                key = (paper.paper, name, number.row, number.column)
                notes[key] = f"also printed in {same[0]}{for_whom}"
    return notes


def _is_same(earlier: tuple[str, Coordinates, float], number: Published) -> bool:
    _, first, value = earlier
    second, published = number.coordinates, number.published
    return (
        (
            (first.dataset, first.subset, first.measure)
            == (second.dataset, second.subset, second.measure)
        )
        and published is not None
        and abs(value - published) < SAME_VALUE
    )
