"""The tables of a paper, our numbers beside the published: one frame, three formats."""

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

from analogyqa.config import CHOSEN, PAPER, Config
from analogyqa.ledger import (
    HIGHER,
    LEDGER,
    LOWER,
    NOT_RUN,
    OTHER_DATA,
    REPRODUCED,
    Artefact,
    Paper,
    by_cell,
    settings_of,
    typed,
)

IN_PAPER, NOT_IN_PAPER = "paper", "not in the paper"
MARKS = {REPRODUCED: "=", HIGHER: "↑", LOWER: "↓"}

_FIRST = ("paper", "artefact", "block", "row", "column", "model", "ranked_by")
_FRAME = dict.fromkeys(_FIRST, "str") | LEDGER
_LATEX = {
    **{character: "\\" + character for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
}


class Value(NamedTuple):
    """The text of a cell; a part that does not apply is empty."""

    ours: str
    interval: str = ""
    published: str = ""


class Block(NamedTuple):
    """A part of a table: names of the label columns and of the value columns, and the rows."""

    heading: str
    labels: list[str]
    columns: list[str]
    rows: list[tuple[list[str], list[Value]]]


class Table(NamedTuple):
    """A table for people (`blocks`, `notes`) and for programs (`frame`, a row for each value)."""

    label: str
    title: str
    blocks: list[Block]
    notes: list[str]
    frame: pd.DataFrame


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
        notes=[*_notes(artefact, frame, config, found), f"Published: {paper.citation}"],
        frame=frame,
    )


def to_markdown(table: Table) -> str:
    """Return the table as GitHub Markdown whose source is aligned too."""
    parts = [f"# {table.title}"]
    for block in table.blocks:
        if block.heading:
            parts.append(f"## {block.heading}")
        lines = [[*block.labels, *block.columns]]
        lines += [
            [*labels, *(" ".join(filter(None, value)) for value in values)]
            for labels, values in block.rows
        ]
        lines = [[text.replace("|", r"\|") for text in line] for line in lines]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        lines.insert(1, ["-" * width for width in widths])
        parts.append(
            "\n".join("| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines)
        )
    parts.append("\n".join(f"- {note}" for note in table.notes))
    return "\n\n".join(parts) + "\n"


def to_latex(table: Table) -> str:
    """Return the table as LaTeX for \\input; of packages it needs booktabs."""
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}[tbp]",
        r"\centering\small",
        rf"\caption{{{escape_latex(table.title)}}}",
        rf"\label{{{table.label}}}",
    ]
    for block in table.blocks:
        if block.heading:
            lines.append(rf"\par\medskip\textit{{{escape_latex(block.heading)}}}\par\smallskip")
        lines += [
            rf"\begin{{tabular}}{{{'l' * len(block.labels)}{'c' * len(block.columns)}}}",
            r"\toprule",
            _latex_row(_escaped([*block.labels, *block.columns])),
            r"\midrule",
            *(
                _latex_row([*_escaped(labels), *map(_latex_value, values)])
                for labels, values in block.rows
            ),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    lines += [
        r"\par\medskip",
        r"\begin{minipage}{\linewidth}\footnotesize",
        *(escape_latex(note) + r"\par" for note in table.notes),
        r"\end{minipage}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escape_latex(text: str) -> str:
    """Return LaTeX that prints `text` as it stands."""
    return "".join(_LATEX.get(character, character) for character in text)


def _escaped(texts: list[str]) -> list[str]:
    return [escape_latex(text) for text in texts]


def _latex_row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_value(value: Value) -> str:
    text = escape_latex(" ".join(filter(None, [value.ours, value.published])))
    if not value.interval:
        return text
    return rf"\shortstack{{{text}\\{{\footnotesize {escape_latex(value.interval)}}}}}"


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
            _block("Not in the paper: mean [interval]", others, system, "row", _short_text),
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


def _notes(artefact: Artefact, frame: pd.DataFrame, config: Config, found: dict) -> list[str]:
    """Say what a stranger needs to read the numbers."""
    if artefact.value == "questions":
        notes = [
            "Counted: questions with at least one correct candidate, by their first word in lower "
            "case; Comb. is the sum of the types.",
            "A cell: ours (published) mark.",
        ]
    else:
        confidence = f"{config.bootstrap.confidence * 100:g}%"
        notes = [
            _data_note(artefact, frame, config),
            "Protocol: the epoch is chosen by dev MRR and the test split is scored once, for that "
            f"epoch; by analogy, the score of a candidate is its {_aggregates(config)} over the "
            f"p = {config.prototypes.p} prototypes of the question's type.",
            "A cell: mean ± standard deviation over seeds [interval] (published) mark.",
            f"{confidence} intervals: bootstrap over seeds and questions "
            f"({config.bootstrap.samples} samples).",
            _ties_note(artefact, frame, config, found),
        ]
    return [
        *notes,
        _marks_note(artefact, config),
        *_settings_notes(artefact, frame, config, found),
        *_origin_notes(artefact, frame),
    ]


def _aggregates(config: Config) -> str:
    words = {"max": "highest", "mean": "mean"}
    used = {model.aggregate for model in config.models.values() if model.ranker == "analogy"}
    return " or ".join(words[name] for name in sorted(used))


def _data_note(artefact: Artefact, frame: pd.DataFrame, config: Config) -> str:
    questions: dict[str, dict[str, int]] = {}
    for row in frame[(frame["block"] == IN_PAPER) & frame["mean"].notna()].to_dict("records"):
        where = artefact.where(row["row"], row["column"])
        questions.setdefault(where.dataset, {})[where.subset] = row["n_questions"]
    data = "; ".join(
        f"{config.datasets[name].title}, test split, questions: "
        + ", ".join(f"{subset} {count}" for subset, count in counts.items())
        for name, counts in questions.items()
    )
    return f"Data: {data or 'none'}. Seeds: {len(config.seeds)}."


def _marks_note(artefact: Artefact, config: Config) -> str:
    if not config.comparable:
        return f"No marks: {OTHER_DATA}, the published values are for orientation only."
    same = "equal" if artefact.value == "questions" else "the published value lies in our interval"
    return (
        f"Marks: {MARKS[REPRODUCED]} reproduced ({same}), {MARKS[HIGHER]} ours is higher, "
        f"{MARKS[LOWER]} ours is lower."
    )


def _run_of(row: dict, artefact: Artefact, config: Config, found: dict) -> dict | None:
    """Return the summary of the run that a row of the frame shows."""
    where = artefact.where(row["row"], row["column"])
    model = row["model"]
    if model not in config.models:
        return None
    model_id = settings_of(model, config).get(row["setting"])
    return found.get((model_id, where.dataset, where.subset, config.p_of(model), where.metric))


def _ties_note(artefact: Artefact, frame: pd.DataFrame, config: Config, found: dict) -> str:
    runs = [_run_of(row, artefact, config, found) for row in frame.to_dict("records")]
    tied = {(run["model"], run["subset"]): run["tied_candidates"] for run in runs if run}
    counts = ", ".join(
        f"{model} {subset} {count}" for (model, subset), count in tied.items() if count
    )
    if not counts:
        return "Ties: none, no two candidates of a question have the same score."
    return f"Tied candidates, over all seeds: {counts}; trec_eval ranks the last id first."


def _settings_notes(
    artefact: Artefact, frame: pd.DataFrame, config: Config, found: dict
) -> list[str]:
    notes = []
    if (frame["setting"] == PAPER).any():
        notes.append(f"Paper's setting: {_changes(config.training.model_dump())}.")
    for name in frame.loc[frame["setting"] == PAPER, "model"].unique():
        if own := config.models[name].training:
            notes.append(f"{config.models[name].title}: {_changes(own)}, the rest as above.")
    names = frame["row" if artefact.systems_in_rows else "column"]
    chosen: dict[str, list[str]] = {}
    for name, row in zip(names, frame.to_dict("records"), strict=True):
        if row["setting"] != CHOSEN:
            continue
        if run := _run_of(row, artefact, config, found):
            systems = chosen.setdefault(run["setting"], [])
            systems += [name] if name not in systems else []
    for setting, systems in chosen.items():
        changes = config.selection.settings.get(setting, {})
        what = f" ({_changes(changes)})" if changes else ""
        subset = config.selection.subset
        notes.append(f"Setting chosen on {subset} by {', '.join(systems)}: {setting}{what}.")
    return notes


def _changes(training: dict) -> str:
    flat = pd.json_normalize(training, sep=" ").to_dict("records")[0]
    return ", ".join(f"{key} {value}".replace("_", " ") for key, value in flat.items())


def _origin_notes(artefact: Artefact, frame: pd.DataFrame) -> list[str]:
    """Group the systems by where their numbers come from, and by why they have none."""
    origins: dict[bool, dict[str, list[str]]] = {True: {}, False: {}}
    names = frame["row" if artefact.systems_in_rows else "column"]
    for name, row in zip(names, frame.to_dict("records"), strict=True):
        has_run = bool(row["provenance"])
        why = row["provenance"] or row["reason"].removeprefix(f"{OTHER_DATA}; {NOT_RUN}: ")
        systems = origins[has_run].setdefault(why, [])
        systems += [name] if name not in systems else []
    return [
        f"{heading}: "
        + "; ".join(f"{', '.join(systems)} ({why})" for why, systems in group.items())
        + "."
        for heading, group in (("Origin", origins[True]), ("Not run", origins[False]))
        if group
    ]


def _number(value: float) -> str:
    """Return three decimals, the zero before the point left out."""
    return f"{value:.3f}".removeprefix("0")


def _published(value: float) -> str:
    """Return a score as printed, with three decimals at least."""
    text = f"{value:g}".removeprefix("0")
    return text + "0" * (4 - len(text)) if text.startswith(".") else f"{value:.3f}"


def count_text(row: dict) -> Value:
    ours = NOT_RUN if pd.isna(row["mean"]) else f"{row['mean']:.0f}"
    return Value(ours, published=_with_mark(f"({row['published']:.0f})", row))


def full_text(row: dict) -> Value:
    published = "" if pd.isna(row["published"]) else f"({_published(row['published'])})"
    if pd.isna(row["mean"]):
        return Value(NOT_RUN, published=published)
    spread = f" ± {_number(row['sd'])}" if row["n_seeds"] > 1 else ""
    return Value(_number(row["mean"]) + spread, _interval(row), _with_mark(published, row))


def _short_text(row: dict) -> Value:
    return Value(_number(row["mean"]), _interval(row))


def _interval(row: dict) -> str:
    return f"[{_number(row['ci_low'])}, {_number(row['ci_high'])}]"


def _with_mark(published: str, row: dict) -> str:
    return " ".join(filter(None, [published, MARKS.get(row["verdict"], "")]))
