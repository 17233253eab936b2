"""Publish the tables, figures and claims of a run on the page of a paper.

    python papers/publish.py diallo2019 results/paper

This replaces the text between the two marks of `papers/<paper>/README.md`, and copies the figures
next to it. A picture, the primary claims, and our scores of the main tables next to the published
ones (`main` in paper.yaml) come first; everything else is folded. Tables that show sentences of the
data are left out, because of their licences. That page, README.md and the pages of docs/ may have
marks for a single table or figure, or for the claims. A page can thus show, say, a cross-validation
from another run: `--only cross_validation` publishes nothing else. Between the marks RESULTS,
README.md has the totals of all archives in results/published/, whose README.md has them by paper.
So write an archive before its page.

The command comes from the configuration.json of the folder; seeds, commit, machine and date come
from the records of the runs. In the end, the numbers with three decimals in the prose that the run
does not contain are listed: they are outdated, or come from another source.
"""

import html
import json
import re
import shutil
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import typer

from analogyqa.cells import Cell, sensitivity_cells
from analogyqa.cells.made import made_files
from analogyqa.evaluation.claims import CLAIMS, PRIMARY, SECONDARY
from analogyqa.evaluation.coverage import BEST_OF, COVERAGE
from analogyqa.evaluation.published import FRAME, LEDGER
from analogyqa.evaluation.summary import SUMMARY, find_records, read_csv
from analogyqa.evaluation.verdicts import MARKS, NOT_RUN
from analogyqa.report.archive import views_with_sentences
from analogyqa.report.ledger_pages import claims_in_short, compared_scores
from analogyqa.report.outcomes import totals
from analogyqa.report.page import machines, short_commit
from analogyqa.report.stored import PACKED, find_archives, read_configuration, unpacked
from analogyqa.report.table_formats import SUBSTITUTE, markdown_table
from analogyqa.report.tables import printed_name
from analogyqa.runs.record import UNKNOWN
from analogyqa.settings.paper import Paper, load_paper

BEGIN, END = "<!-- a run: papers/publish.py -->", "<!-- end of the run -->"
BEGIN_PIECE = "<!-- {name} of {paper}: papers/publish.py -->"
RESULTS = "<!-- results: papers/publish.py -->"
PAPERS = Path(__file__).parent
ARCHIVES = PAPERS.parent / "results" / "published"
CELL = ["system", "dataset", "subset", "overrides"]
# Patterns for the parts of a cell, and their meanings.
PARTS = {
    r"\d\s±\s": "± is the standard deviation over seeds",
    r"\d( |<br><sub>)\[": "[..] is the prediction interval of one more run",
    r"[\d\]]( |<br><sub>)\{": "{..} is the interval for other questions, pairs or sentences",
    # With decimals or a mark: the counts of questions in a cross-validation have neither.
    r"[\d\]}] \((\d*\.\d+\)|\d+\) [=↑↓?+-])": "(..) is the published value",
    r"\) [+-]\.\d": "+ or - is ours minus the published value, as our data are not the paper's",
    r"‡ \.": "‡ is decided by ties, and followed by the accuracy with shared ties",
}
# The picture of a page is the first of these that there is, if paper.yaml names no figure.
PICTURES = {
    "forest": "Differences of the primary claims on each data set",
    "pairs": "Pairs of systems",
    "verdicts": "Published scores and ours",
}
# The parts of a page between its picture and its folds, and their headings.
OPEN = {"claims": "## Claims", "main": "## Main results"}
# Numbers with three decimals, without p-values, which prose rounds.
NUMBER = re.compile(r"(?<![\d.])(?<!p [=<≤] )0?(\.\d{3})(?!\d)")


def origin(results: Path, cells: Collection[Cell] = ()) -> str:
    """Return seeds, commits, machines and date of some cells, in one line.

    By default, these are all cells of the last run in a folder. Results that were resumed may have
    several commits. Snakemake reruns what a change of the code affects, so every run agrees with
    the code of the last commit.
    """
    if cells:
        paths = [results / "runs" / cell.path / "run.json" for cell in dict.fromkeys(cells)]
    elif (results / "summary.csv").exists():
        rows = read_csv(results / "summary.csv", SUMMARY)[CELL].drop_duplicates()
        paths = [results.joinpath("runs", *row, "run.json") for row in rows.itertuples(index=False)]
    else:  # the target `sensitivity` alone writes no summary
        paths = [*find_records(results).values()]
    # Some cells are part of another one's run, which is there, too.
    paths = [path for path in paths if path.exists()]
    paths.sort(key=lambda path: path.stat().st_mtime)
    records = [json.loads(path.read_text("utf-8")) for path in paths]
    commits = list(dict.fromkeys(short_commit(record) for record in records))
    no_commit = [commit for commit in commits if commit == UNKNOWN or commit.endswith("-dirty")]
    if no_commit:
        raise typer.BadParameter(
            f"{results}: runs of uncommitted code: {no_commit}. Commit it, and run it again."
        )
    trained = [record for record in records if record["hyperparameters"]]
    counts = sorted({len(record["seeds"]) for record in trained or records})
    *fewer, most = map(str, counts)
    seeds = f"{', '.join(fewer)} or {most}" if fewer else most
    trained_on = machines(records) or "no training but that of word vectors"
    day = datetime.fromtimestamp(paths[-1].stat().st_mtime, UTC).date()
    code = f"commit{'s' * (len(commits) > 1)} {', '.join(commits)}"
    return f"{seeds} seed{'s' * (seeds != '1')}, {code}, {trained_on}, {day}."


def folded(summary: str, text: str) -> str:
    """Return a line that opens a text."""
    summary = html.escape(summary, quote=False)
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def folded_command(command: str, origin_line: str) -> str:
    """Return where a run comes from, below which its command opens."""
    return folded(f"{origin_line.removesuffix('.')}: command", f"    {command}")


def _by_number(path: Path) -> tuple[int, str]:
    """Return a key that sorts table 3 before table 10."""
    return len(path.stem), path.stem


def table_of(page: str, paper: str) -> tuple[str, str]:
    """Return the title of a table's page, without the paper, and its tables without the notes."""
    title, _, body = page.partition("\n- ")[0].strip().partition("\n")
    body = re.sub(r"^## (.*)$", r"**\1**", body.strip(), flags=re.MULTILINE)
    return title.removeprefix("# ").replace(f" of {paper}", "", 1), body


def main_table(paper: Paper, name: str, results: Path) -> str:
    """Return our scores of a table next to the published ones, or "" if there are none."""
    artefact = paper.artefacts[name]
    frame = read_csv(results / "tables" / paper.paper / f"{name}.csv", FRAME)
    heads, *lines = compared_scores(frame, artefact)
    if not lines:
        return ""
    parts = [f"**{printed_name(name)}: {artefact.title}**", markdown_table([heads, *lines])]
    missing = frame.loc[frame["verdict"].eq(NOT_RUN) & frame["published"].notna(), "row"].unique()
    parts += [f"Not run: {', '.join(missing)}."] if len(missing) else []
    return "\n\n".join(parts)


def legend_of(pieces: Iterable[str]) -> str:
    """Return what the parts and marks in the cells of tables mean, or "" for tables without any."""
    cells = "".join(line for piece in pieces for line in piece.splitlines() if line[:1] == "|")
    parts = [meaning for pattern, meaning in PARTS.items() if re.search(pattern, cells)]
    marks = [f"{mark} {name}" for name, mark in MARKS.items() if f") {mark}" in cells]
    if SUBSTITUTE in cells:
        marks.append(f"{SUBSTITUTE} made with a substitute")
    if marks:
        parts.append(f"[marks](../../docs/statistics.md): {', '.join(marks)}")
    return f"In the cells, {'; '.join(parts)}." if parts else ""


def results_of_archives() -> tuple[str, str]:
    """Return how the numbers of all archives came out: in a line, and in one for each paper."""
    runs = [unpacked(path) for path in find_archives(ARCHIVES).values()]
    # An unfinished run has no ledger.
    finished = [results for results in runs if (results / "ledger.csv").exists()]
    if not finished:
        raise typer.BadParameter(
            f"{ARCHIVES}: no archive of a finished run. Write that of this run first: analogyqa "
            f"archive RESULTS --to {ARCHIVES}/NAME{PACKED}"
        )
    ledger = pd.concat([read_csv(results / "ledger.csv", LEDGER) for results in finished])
    claims = pd.concat([read_csv(results / "claims.csv", CLAIMS) for results in finished])
    papers = [load_paper(PAPERS / name / "paper.yaml") for name in ledger["paper"].unique()]
    lines = [
        f"- [{paper.paper}](../../papers/{paper.paper}/README.md), {paper.short_citation}: "
        f"{totals([paper], ledger, claims)}."
        for paper in papers
    ]
    return f"Over {len(papers)} papers: {totals(papers, ledger, claims)}.", "\n".join(lines)


def coverage_of(path: Path) -> str:
    """Return coverage.csv as a table, or "" if no cell has seeds enough."""
    shares = ["coverage", *(f"best_of_{runs}" for runs in BEST_OF)]
    heads = ["Judging seeds", "Cells", "Coverage", *(f"Notices the best of {n}" for n in BEST_OF)]
    frame = read_csv(path, COVERAGE)
    counts = frame[["n_seeds", "cells"]].astype(str).to_numpy().tolist()
    percent = frame[shares].map("{:.1%}".format).to_numpy().tolist()
    rows = [left + right for left, right in zip(counts, percent, strict=True)]
    return markdown_table([heads, *rows]) if rows else ""


def unknown_numbers(page: Path, results: Path) -> list[str]:
    """Return a message for each line of a page's prose with numbers that a run does not contain."""
    outputs = made_files(results, "*.md", "tables/*/*.md")
    known = {number for path in outputs for number in NUMBER.findall(path.read_text("utf-8"))}
    messages, in_prose = [], True
    for count, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        in_prose = line == END or (in_prose and "papers/publish.py -->" not in line)
        if in_prose and (unknown := [n for n in NUMBER.findall(line) if n not in known]):
            messages.append(f"{page}:{count}: not in this run: {', '.join(unknown)}")
    return messages


def replace_section(page: Path, begin: str, parts: list[str]) -> None:
    """Replace the text between two marks of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, end, after = rest.partition(END)
    if not end or begin in rest:
        raise typer.BadParameter(f"{page}: write these lines into it, once: {begin} and {END}")
    text = "\n\n".join(part.strip("\n") for part in parts if part)
    page.write_text(f"{before}{begin}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def require_paper(paper: str, results: Path) -> None:
    """Require that the last run in a folder was one of this paper, if it judged claims."""
    path = results / "claims.csv"
    judged = [*read_csv(path, CLAIMS)["paper"].unique()] if path.exists() else []
    if judged and paper not in judged:
        raise typer.BadParameter(
            f"{path}: the last run there was of {', '.join(judged)}. Run {paper} there again."
        )


def copy_figures(paper: Paper, results: Path, only: Collection[str]) -> dict[str, str]:
    """Copy the figures of a run to a paper's folder, and return the line that shows each.

    `only` has the names of the pieces to publish; empty for all.
    """
    lines = {}
    for path in sorted(made_files(results, f"figures/{paper.paper}/*.svg"), key=_by_number):
        if only and not {path.name, path.stem} & set(only):
            continue
        shutil.copyfile(path, PAPERS / paper.paper / path.name)
        lines[path.name] = f"![{title_of(paper, path.stem)}]({path.name})"
    return lines


def title_of(paper: Paper, stem: str) -> str:
    """Return the title of a figure, from the name of its file."""
    shown = {**paper.artefacts, **paper.views}
    name = printed_name(stem).replace("_", "-")
    return f"{name}: {shown[stem].title}" if stem in shown else PICTURES.get(stem, name)


def picture_of(paper: Paper, figures: Collection[str]) -> str:
    """Return the file of the picture above the folds of a page, or "" for none."""
    names = (f"{stem}.svg" for stem in (*paper.main, *PICTURES))
    return next((name for name in names if name in figures), "")


def claims_of(paper: Paper, results: Path) -> dict[str, str]:
    """Return the primary claims of a paper, open, and all others, folded."""
    if not (path := results / "claims.csv").exists():
        return {}
    claims = read_csv(path, CLAIMS)
    is_primary = claims["role"].eq(PRIMARY)
    primary = claims_in_short(claims[is_primary].assign(role=SECONDARY), paper)
    others = claims_in_short(claims[~is_primary], paper)
    pieces = {"claims": markdown_table(primary)} if len(primary) > 1 else {}
    if len(others) > 1:
        pieces["other_claims"] = folded("Other claims and judgements", markdown_table(others))
    return pieces


def pieces_of(paper: Paper, results: Path, figures: dict[str, str]) -> dict[str, str]:
    """Return the parts of a page by name: those of OPEN, and folds with all others.

    A figure is in the fold of its table. The picture of the page has the name of its file.
    """
    pieces = claims_of(paper, results)
    if (path := results / "coverage.csv").exists() and (coverage := coverage_of(path)):
        pieces["coverage"] = coverage
    hidden = views_with_sentences(paper)
    folds: dict[str, list[str]] = {}  # by name: the title, the table and the figure
    for path in sorted(made_files(results, f"tables/{paper.paper}/*.md"), key=_by_number):
        title, table = table_of(path.read_text(encoding="utf-8"), paper.paper)
        if path.stem in hidden:
            table = "Not shown here: it contains sentences of the data."
        folds[path.stem] = [title, table]
    main = []
    for name in paper.main_tables:
        if name in folds:
            compared = main_table(paper, name, results)
            main.append(compared or "**{}**\n\n{}".format(*folds.pop(name)))
    pieces["main"] = "\n\n".join(filter(None, [*main, legend_of(main)]))
    picture = picture_of(paper, figures)
    for name, line in figures.items():
        stem = Path(name).stem
        if name == picture:
            pieces[name] = line
        elif stem in folds:
            folds[stem].append(line)
        else:
            folds[name] = [title_of(paper, stem), line]
    return pieces | {
        name: folded(title, "\n\n".join(parts)) for name, (title, *parts) in folds.items()
    }


def main(paper: str, results: Path, only: list[str] | None = None) -> None:
    """Publish a run, or only those of its tables, figures and claims that are named."""
    require_paper(paper, results)
    loaded = load_paper(PAPERS / paper / "paper.yaml")
    page, readme = PAPERS / paper / "README.md", PAPERS.parent / "README.md"
    docs = sorted((PAPERS.parent / "docs").glob("*.md"))
    # Other pages, with the path from each to the folder of the paper.
    others = {readme: f"papers/{paper}/"} | dict.fromkeys(docs, f"../papers/{paper}/")
    config, _, command = read_configuration(results)
    head = folded_command(command, origin(results))
    if not only:
        for path, text in zip((readme, ARCHIVES / "README.md"), results_of_archives(), strict=True):
            replace_section(path, RESULTS, [text])
    figures = copy_figures(loaded, results, only or ())
    pieces = pieces_of(loaded, results, figures)
    if only:
        known = [*pieces, *figures]
        if missing := set(only) - set(known):
            names = ", ".join(sorted(missing))
            raise typer.BadParameter(f"{results}: no {names}; there are {', '.join(known)}")
        figures, pieces = (
            {name: part for name, part in parts.items() if name in only}
            for parts in (figures, pieces)
        )
    # Other pages show figures without a fold.
    for name, piece in (pieces | figures).items():
        mark = BEGIN_PIECE.format(paper=paper, name=name)
        if only and not any(mark in path.read_text("utf-8") for path in (page, *others)):
            raise typer.BadParameter(f"{page}: write these lines into it, once: {mark} and {END}")
        lines = head
        if name.startswith("sensitivity"):  # it is not in the target `all`
            varied = [cell.with_run(config) for cell in sensitivity_cells(config, paper).values()]
            lines = folded_command(f"{command} -- sensitivity", origin(results, varied))
        for other, way in others.items():
            if mark in other.read_text(encoding="utf-8"):
                replace_section(other, mark, [lines, piece.replace("](", f"]({way}")])
        if mark in page.read_text(encoding="utf-8"):
            replace_section(page, mark, [lines, pieces.pop(name, piece)])
    if only:
        return
    pieces.pop("coverage", None)  # of all papers of the run: only between marks of its own
    parts = [pieces.pop(picture_of(loaded, figures), "")]
    for name, heading in OPEN.items():
        if piece := pieces.pop(name, ""):
            parts += [heading, piece]
    if pieces:
        legend = legend_of(text for name, text in pieces.items() if name != "other_claims")
        parts += [head, "## All tables and figures", legend, *pieces.values()]
        replace_section(page, BEGIN, parts)
    marked = [path for path in docs if f"of {paper}: papers/publish.py" in path.read_text("utf-8")]
    for path in (page, *marked):
        for message in unknown_numbers(path, results):
            print(message)


if __name__ == "__main__":
    typer.run(main)
