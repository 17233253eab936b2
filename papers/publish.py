"""Put a run on the page of a paper: its tables, figures and claims; the claims into README.md, too.

    python papers/publish.py diallo2019 results/conll "snakemake --cores 2 ..."

Replaces what stands between the two marks of `papers/<paper>/README.md`, and copies the figures
beside the page. A table that shows sentences of the data is left out: their licences ask for it.
That page, README.md and those of docs/ may have marks, too, of the claims, a table or a figure,
which get that: so a page may have, say, cross-validation of another run.
Commit, machine, seeds and date are read from the records of the runs. At last it names the numbers
of three decimals in the prose of the paper's pages that the run does not have: they are stale, or
of another source.
"""

import json
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import typer

from analogyqa.report.claims_page import PRIMARY
from analogyqa.report.views.specs import VIEWS
from analogyqa.runs.commit import UNKNOWN
from analogyqa.settings.paper import load_paper

BEGIN, END = "<!-- a run: papers/publish.py -->", "<!-- end of the run -->"
BEGIN_PIECE = "<!-- {name} of {paper}: papers/publish.py -->"
PAPERS = Path(__file__).parent
# But for p-values, which prose rounds.
NUMBER = re.compile(r"(?<![\d.])(?<!p [=<≤] )0?(\.\d{3})(?!\d)")


def origin(results: Path) -> str:
    """Return which code ran where and when, by the records, the oldest first.

    A run that was resumed may have several commits. Snakemake runs again what a change of the code
    concerns, so the code of every run is that of the last commit.
    """
    # MLflow has copies of them beside, those of replaced runs, too.
    paths = sorted((results / "runs").rglob("run.json"), key=lambda path: path.stat().st_mtime)
    records = [json.loads(path.read_text("utf-8")) for path in paths]
    commits = list(dict.fromkeys(record["git_commit"] or UNKNOWN for record in records))
    no_commit = [commit for commit in commits if commit == UNKNOWN or commit.endswith("-dirty")]
    if no_commit:
        raise typer.BadParameter(f"{results}: runs of code that is in no commit: {no_commit}")
    trained = [record for record in records if record["settings"]["training"]]
    counts = sorted({len(record["seeds"]) for record in trained or records})
    seeds = " or ".join(map(str, counts))
    kinds = {
        ", ".join(f"{key} {value}" for key, value in machine.items() if key != "after_epoch")
        for record in records
        for own in record["machines"].values()
        for machine in own
    } or {"nothing is trained but word vectors"}
    day = datetime.fromtimestamp(paths[-1].stat().st_mtime, UTC).date()
    code = f"commit{'s' * (len(commits) > 1)} {', '.join(commits)}"
    return ", ".join([f"{seeds} seeds", code, *filter(None, ["; ".join(sorted(kinds))]), f"{day}."])


def _by_number(path: Path) -> tuple[int, str]:
    """Table 3 stands before table 10."""
    return len(path.stem), path.stem


def table_of(page: str) -> str:
    """Return a table's page without the notes below it, its headings as parts of ours."""
    body = page.partition("\n- ")[0].strip()
    return re.sub(r"^## (.*)$", r"**\1**", body, flags=re.MULTILINE).replace("# ", "### ", 1)


def claims_of(page: str, paper: str) -> str:
    """Return the table of a paper's primary claims on a page of claims, or "" if it has none."""
    table = page.partition(f"\n## {PRIMARY}\n")[2].partition("\n## ")[0].strip()
    head, line, *rows = table.splitlines() or ["", ""]
    rows = [row for row in rows if row.startswith(f"| {paper} ")]
    return "\n".join([head, line, *rows]) if rows else ""


def not_to_be_shown(paper: str) -> list[str]:
    """Return the tables of a paper that show sentences of the data."""
    views = load_paper(PAPERS / paper / "paper.yaml").views
    return [name for name, view in views.items() if VIEWS[view.view].shows_sentences]


def not_of_the_run(page: Path, results: Path) -> list[str]:
    """Return the lines of a page's prose with numbers that no table and claim of a run has."""
    pages = [*results.glob("*.md"), *results.glob("tables/*/*.md")]
    had = {number for each in pages for number in NUMBER.findall(each.read_text("utf-8"))}
    lines, in_prose = [], True
    for count, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        in_prose = line == END or (in_prose and "papers/publish.py -->" not in line)
        if in_prose and (others := [each for each in NUMBER.findall(line) if each not in had]):
            lines.append(f"{page}:{count}: not of this run: {', '.join(others)}")
    return lines


def fill(page: Path, begin: str, parts: list[str]) -> None:
    """Replace what stands between two marks of a page."""
    before, rest = page.read_text(encoding="utf-8").split(begin)
    _, after = rest.split(END, 1)
    text = "\n\n".join(part.strip("\n") for part in parts if part)
    page.write_text(f"{before}{begin}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def main(paper: str, results: Path, command: str) -> None:
    """Publish a run on the page of a paper."""
    page, root = PAPERS / paper / "README.md", PAPERS.parent
    # Each other page with what leads from it to the paper's folder.
    others = {root / "README.md": f"papers/{paper}/"}
    others |= dict.fromkeys(sorted((root / "docs").glob("*.md")), f"../papers/{paper}/")
    said, pieces, hidden = [f"    {command}\n", origin(results)], {}, not_to_be_shown(paper)
    claims = results / "claims.md"
    if claims.exists():
        pieces["claims"] = claims_of(claims.read_text(encoding="utf-8"), paper)
    for table in sorted((results / "tables" / paper).glob("*.md"), key=_by_number):
        pieces[table.stem] = table_of(table.read_text(encoding="utf-8"))
        if table.stem in hidden:
            heading = pieces[table.stem].partition("\n")[0]
            pieces[table.stem] = f"{heading}\n\nNot shown here: it has sentences of the data."
    figures = {}
    for figure in sorted((results / "figures" / paper).glob("*.svg"), key=_by_number):
        shutil.copyfile(figure, page.with_name(figure.name))
        figures[figure.name] = f"![{figure.stem}]({figure.name})"
        beside = pieces.pop(figure.stem, "")
        pieces[figure.stem if beside else figure.name] = f"{beside}\n\n{figures[figure.name]}"
    for name, piece in (figures | pieces).items():
        mark = BEGIN_PIECE.format(paper=paper, name=name)
        for other, path in others.items():
            if mark in other.read_text(encoding="utf-8"):
                fill(other, mark, [*said, piece.replace("](", f"]({path}")])
        if mark in page.read_text(encoding="utf-8"):
            fill(page, mark, [*said, pieces.pop(name, piece)])
    if pieces:
        fill(page, BEGIN, [*said, *pieces.values()])
    told = [each for each in others if f"of {paper}: papers/publish.py" in each.read_text("utf-8")]
    for each in (page, *(path for path in told if path.parent != root)):
        for line in not_of_the_run(each, results):
            print(line)


if __name__ == "__main__":
    typer.run(main)
