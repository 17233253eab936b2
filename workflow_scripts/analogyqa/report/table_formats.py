"""A table as Markdown and as LaTeX."""

import re
from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from analogyqa.evaluation.summary import learned_text
from analogyqa.evaluation.verdicts import MARKS, NOT_COMPARABLE, NOT_RUN, OUR_DATA
from analogyqa.measures import MEASURES
from analogyqa.settings.artefacts import BEST, CITED, DIGITS, NOT_PRINTED
from analogyqa.settings.coordinates import COUNT, SCORE

LINK = re.compile(r"\[([^]]+)\]\(([^)]+)\)")  # a Markdown link: its text and its target
SUBSTITUTE = "†"  # follows the mark of a value that was made with a substitute
WIDE = 0.9
BY_TIES = "‡"  # precedes the accuracy with shared ties


_LATEX = str.maketrans(
    {
        **{character: "\\" + character for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "±": r"$\pm$",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
        "≡": r"$\equiv$",
        "†": r"$\dagger$",
        "‡": r"$\ddagger$",
    }
)


class Value(NamedTuple):
    """A cell of a table: its text in four parts, which may be empty, and facts about it.

    `mark` is that of the `verdict`, which may be followed by SUBSTITUTE. `run` is the path of the
    run with this score. `bold` is whether our value is in the top group, see
    `compare_with_best`. `row` is the row of the table's csv that it shows, None for none.
    """

    ours: str
    interval: str = ""
    published: str = ""
    mark: str = ""
    verdict: str = ""
    run: str = ""
    bold: bool = False
    row: int | None = None

    @property
    def parts(self) -> list[str]:
        """The parts of the text that are not empty."""
        return [part for part in (self.ours, self.interval, self.published, self.mark) if part]


class Block(NamedTuple):
    """A part of a table: the heads of its label and value columns, and its rows.

    The values of a `wrapped` block are words, which LaTeX breaks into lines.
    """

    heading: str
    labels: list[str]
    columns: list[str]
    rows: list[tuple[list[str], list[Value]]]
    wrapped: bool = False


class Table(NamedTuple):
    """A table for people (`blocks`, `notes`) and for programs (`frame`, a row for each value).

    `printed_as` is its number in a paper, such as "Table 4 of diallo2019". Notes may have Markdown
    links, relative to the folder of a paper's tables. Only numbered tables have a `frame`.
    """

    title: str
    blocks: list[Block]
    notes: list[str]
    printed_as: str = ""
    frame: pd.DataFrame = pd.DataFrame()

    @property
    def heading(self) -> str:
        return f"{self.printed_as}: {self.title}" if self.printed_as else self.title


def to_markdown(table: Table) -> str:
    """Return the table as GitHub Markdown with aligned columns."""
    parts = [f"# {table.heading}"]
    for block in table.blocks:
        if block.heading:
            parts.append(f"## {block.heading}")
        lines = [[*block.labels, *block.columns]]
        for labels, values in block.rows:
            marked = (v._replace(ours=f"**{v.ours}**") if v.bold else v for v in values)
            lines.append([*labels, *(" ".join(value.parts) for value in marked)])
        parts.append(markdown_table(lines))
    parts.append("\n".join(f"- {note}" for note in table.notes))
    return "\n\n".join(parts) + "\n"


def markdown_table(lines: list[list[str]]) -> str:
    """Return lines of cells, the heads first, as a GitHub Markdown table with aligned columns."""
    lines = [[text.replace("|", r"\|") for text in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = [lines[0], ["-" * width for width in widths], *lines[1:]]
    return "\n".join("| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows)


def unbroken(text: str) -> str:
    """Return a text that is not broken into lines."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def two_lines(first: str, second: str) -> str:
    """Return a cell of a Markdown table with a small second line, if there is one."""
    return f"{first}<br><sub>{second}</sub>" if second else first


def to_latex(table: Table, label: str) -> str:
    """Return the table as LaTeX for \\input; it needs the package booktabs."""
    # LaTeX numbers tables itself, so the paper's number comes last.
    caption = f"{table.title} ({table.printed_as})" if table.printed_as else table.title
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}[tbp]",
        r"\centering\small",
        rf"\caption{{{escape_latex(caption)}}}",
        rf"\label{{{label}}}",
    ]
    for block in table.blocks:
        if block.heading:
            lines.append(rf"\par\medskip\textit{{{escape_latex(block.heading)}}}\par\smallskip")
        lines += [
            rf"\begin{{tabular}}{{{_column_types(block)}}}",
            r"\toprule",
            _latex_row(block.labels, map(escape_latex, block.columns)),
            r"\midrule",
            *(_latex_row(labels, map(_latex_value, values)) for labels, values in block.rows),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    lines += [
        r"\par\medskip",
        r"\begin{minipage}{\linewidth}\footnotesize",
        *(escape_latex(LINK.sub(r"\1", note)) + r"\par" for note in table.notes),
        r"\end{minipage}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _column_types(block: Block) -> str:
    if not block.wrapped:
        return "l" * len(block.labels) + "c" * len(block.columns)
    count = len(block.labels) + len(block.columns)
    # The rest is the space between the columns.
    return rf"p{{{0.8 / count:.2f}\linewidth}}" * count


def escape_latex(text: str) -> str:
    """Return LaTeX that prints `text` unchanged."""
    return text.translate(_LATEX)


def _latex_row(labels: list[str], cells: Iterable[str]) -> str:
    return " & ".join([*map(escape_latex, labels), *cells]) + r" \\"


def _latex_value(value: Value) -> str:
    ours, *others = map(escape_latex, (value.ours, value.published, value.mark))
    text = " ".join(filter(None, [rf"\textbf{{{ours}}}" if value.bold else ours, *others]))
    if not value.interval:
        return text
    return rf"\shortstack{{{text}\\{{\footnotesize {escape_latex(value.interval)}}}}}"


def three_decimals(value: float) -> str:
    """Return three decimals without the zero before the point."""
    return f"{value:.3f}".removeprefix("0")


def value_text(row: dict, both_intervals: bool = False) -> Value:
    """Return the text of a number, a row of a ledger or summary; without a `kind`, it is a score.

    A score has the prediction interval of one more run, and with `both_intervals` or if its seeds
    do not differ, that for other questions. If the paper has other data, the difference is shown
    instead of a mark. If some of its training runs did not learn, it has
    their counts instead.
    """
    kind, is_printed = row.get("kind", SCORE), pd.notna(row["published"])
    published = f"({_number_text(row['published'], row)})" if is_printed else ""
    mark = MARKS.get(row["verdict"], "")
    if is_printed and row["verdict"] == NOT_COMPARABLE and row.get("data") == OUR_DATA:
        mark = _difference_text(row["mean"] - row["published"], kind)
    mark += SUBSTITUTE if mark and row["substitute"] else ""
    if kind == CITED:
        return Value("" if is_printed else NOT_PRINTED, published=published)
    if pd.isna(row["mean"]):
        has_run = not is_printed if kind in (COUNT, BEST) else row["verdict"] != NOT_RUN
        return Value(NOT_PRINTED if has_run and kind != SCORE else NOT_RUN, published=published)
    if kind != SCORE:
        return Value(_number_text(row["mean"], row), published=published, mark=mark)
    if failed := learned_text(row["n_learned"], row["n_trained"]):
        return Value(f"{three_decimals(row['mean'])}, {failed}", "", published, mark)
    varies = pd.notna(row["run_low"]) and row["run_low"] < row["run_high"]
    spread = f" ± {three_decimals(row['sd'])}" if varies else ""
    intervals = [too_wide(row) or f"[{_range(row, 'run')}]"] if varies else []
    intervals += [f"{{{_range(row, 'ci')}}}"] if both_intervals or not intervals else []
    return Value(three_decimals(row["mean"]) + spread, " ".join(intervals), published, mark)


def too_wide(row: dict) -> str:
    """Return what replaces the prediction interval of a score if one more run may give anything.

    That is, if it covers more than the share WIDE of the values of the `measure`; "" if not.
    """
    measure = MEASURES[row["measure"]]
    is_wide = row["run_high"] - row["run_low"] > WIDE * (measure.largest - measure.smallest)
    return f"interval too wide ({row['n_seeds']} seeds)" if is_wide else ""


def short_text(row: dict) -> Value:
    """Return a mean with the interval for other questions, or with its counts as `value_text`."""
    if pd.isna(row["mean"]):
        return Value(NOT_RUN)
    if failed := learned_text(row["n_learned"], row["n_trained"]):
        return Value(f"{three_decimals(row['mean'])}, {failed}")
    return Value(three_decimals(row["mean"]), f"{{{_range(row, 'ci')}}}")


def _difference_text(difference: float, kind: str) -> str:
    text = f"{difference:+.3f}" if kind == SCORE else f"{difference:+.10g}"
    return text.replace("+0.", "+.").replace("-0.", "-.")


def ties_text(row: dict) -> str:
    """Return the accuracy with shared ties if it is outside the interval for other pairs."""
    shared = row["with_shared_ties"]
    if pd.isna(shared) or row["ci_low"] <= shared <= row["ci_high"]:
        return ""
    return f"{BY_TIES} {three_decimals(shared)}"


def _number_text(value: float, row: dict) -> str:
    """Return a number as its kind is printed; other kinds than these are printed like costs."""
    kind = row.get("kind", SCORE)
    if kind in (COUNT, BEST):
        return f"{value:.10g}"
    if kind == SCORE or (kind == CITED and value < 1):  # with three decimals or more
        text = f"{value:.{DIGITS}g}".removeprefix("0")
        return text.ljust(4, "0") if text.startswith(".") else three_decimals(value)
    text = f"{value:.3g}"
    rounded = float(text)  # so that 999,600 is 1M and not 1000K
    measure = "" if kind == CITED else row["measure"]
    if unit := "x" if " over " in measure else " s" if "seconds" in measure else "":
        return f"{value:,.0f}{unit}" if rounded >= 1000 else f"{text}{unit}"
    for size, sign in ((1e6, "M"), (1e3, "K")):
        if rounded >= size:
            return f"{rounded / size:.3g}{sign}"
    return text


def _range(row: dict, kind: str) -> str:
    return f"{three_decimals(row[f'{kind}_low'])}, {three_decimals(row[f'{kind}_high'])}"
