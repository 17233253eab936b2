"""The tables of the papers, with ours beside the published values."""

from collections.abc import Callable

import pandas as pd

from analogyqa.report.ledger import OTHER_DATA, settings_of
from analogyqa.report.summary import LEDGER, by_cell, typed
from analogyqa.report.table_formats import (
    IN_PAPER,
    NOT_IN_PAPER,
    Block,
    Table,
    Value,
    count_text,
    full_text,
    short_text,
)
from analogyqa.report.table_notes import notes_of
from analogyqa.settings.paper import Artefact, Paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import CHOSEN

_FIRST = ("paper", "artefact", "block", "row", "column", "model", "ranked_by")
_FRAME = dict.fromkeys(_FIRST, "str") | LEDGER


def build_table(
    paper: Paper, name: str, ledger: pd.DataFrame, summary: pd.DataFrame, config: Config
) -> Table:
    """Return a table of a paper; configured models that it lacks come in a block of their own.

    Args:
        paper: the published values.
        name: which of its tables, such as `table4`.
        ledger: of columns LEDGER.
        summary: of columns SUMMARY, for the models that the paper lacks.
        config: what the runs were made with.
    """
    artefact = paper.artefacts[name]
    found = by_cell(summary)
    published = ledger[(ledger["paper"] == paper.paper) & (ledger["artefact"] == name)]
    rows = _rows_in_paper(artefact, published, config)
    if artefact.value == "score":
        start = {"paper": paper.paper, "artefact": name}
        rows += [start | row for row in _rows_not_in_paper(artefact, config, found)]
    frame = typed(rows, _FRAME)
    title = f"Table {name.removeprefix('table')} of {paper.paper}: {artefact.title}"
    return Table(
        label=f"tab:{paper.paper}-{name}",
        title=title if config.comparable else f"{title} ({OTHER_DATA})",
        blocks=_blocks(artefact, frame),
        notes=[*notes_of(artefact, frame, config, found), f"Published: {paper.citation}"],
        frame=frame,
    )


def _rows_in_paper(artefact: Artefact, published: pd.DataFrame, config: Config) -> list[dict]:
    rows = []
    for row in published.to_dict("records"):
        model = artefact.where(row["row"], row["column"]).model
        ranker = config.models[model].ranker if model in config.models else ""
        rows.append({**row, "block": IN_PAPER, "model": model or "", "ranked_by": ranker})
    return rows


def _rows_not_in_paper(artefact: Artefact, config: Config, found: dict) -> list[dict]:
    in_paper = {cell.where.model for cell in artefact.numbers()}
    rows = []
    for name, model in config.models.items():
        if name in in_paper:
            continue
        for setting, model_id in settings_of(name, config).items():
            for row, column, where in artefact.cells_of(model.title):
                run = found.get(
                    (model_id, where.dataset, where.subset, config.p_of(name), where.metric)
                )
                if run is not None:
                    ours = {"row": row, "column": column, "model": name, "setting": setting}
                    described = {"block": NOT_IN_PAPER, "ranked_by": model.ranker}
                    rows.append(run | ours | described)
    return rows


def _blocks(artefact: Artefact, frame: pd.DataFrame) -> list[Block]:
    """Lay the values out as in the paper; systems that it lacks are rows of the last block."""
    if artefact.value == "questions":
        return [_block("", frame, {"Type": "row"}, "column", count_text)]
    frame = frame.assign(system=_systems(artefact, frame))
    paper = frame[frame["block"] == IN_PAPER]
    others = frame[frame["block"] == NOT_IN_PAPER]
    system = {"System": "system", "ranked by": "ranked_by"}
    if artefact.systems_in_rows:
        blocks = [
            _block("In the paper", paper, system, "column", full_text),
            _block("Not in the paper", others, system, "column", full_text),
        ]
    else:
        chosen, types = paper["setting"] == CHOSEN, {"Type": "row"}
        blocks = [
            _block("At the paper's setting", paper[~chosen], types, "column", full_text),
            _block("At the setting chosen on dev", paper[chosen], types, "column", full_text),
            _block("Not in the paper: mean [interval]", others, system, "row", short_text),
        ]
    return [block for block in blocks if block.rows]


def _block(
    heading: str,
    frame: pd.DataFrame,
    labels: dict[str, str],
    across: str,
    text: Callable[[dict], Value],
) -> Block:
    """Spread the values over the distinct entries of the column `across`, in their order."""
    columns = list(frame[across].unique())
    # A row of systems is known by its model too: two models may bear the same title.
    key = [*labels.values(), *(["model"] if "system" in labels.values() else [])]
    cells: dict[tuple, dict[str, Value]] = {}
    for row in frame.to_dict("records"):
        cells.setdefault(tuple(row[name] for name in key), {})[row[across]] = text(row)
    rows = [
        (list(names[: len(labels)]), [values.get(column, Value("")) for column in columns])
        for names, values in cells.items()
    ]
    return Block(heading, list(labels), columns, rows)


def _systems(artefact: Artefact, frame: pd.DataFrame) -> list[str]:
    """Return the system of each row, with its setting when it has been trained."""
    names = frame["row" if artefact.systems_in_rows else "column"]
    return [
        f"{name}, {setting} setting" if setting else name
        for name, setting in zip(names, frame["setting"], strict=True)
    ]
