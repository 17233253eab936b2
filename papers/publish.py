"""Put the tables and figures of a run into the page of a paper.

    python papers/publish.py diallo2019 results/conll "snakemake --cores 2 ..."

Replaces what stands between the two marks of `papers/<paper>/README.md`, and copies the figures
beside the page. Commit, machine, seeds and date are read from the records of the runs.
"""

import json
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import typer

BEGIN, END = "<!-- a run: papers/publish.py -->", "<!-- end of the run -->"
PAPERS = Path(__file__).parent


def origin(results: Path) -> str:
    """Return which code ran where and when, by the records; all of them must be of one commit."""
    records = [json.loads(path.read_text("utf-8")) for path in results.rglob("run.json")]
    commits = {record["git_commit"] for record in records}
    if len(commits) != 1:
        raise typer.BadParameter(f"{results}: runs of {len(commits)} commits: {sorted(commits)}")
    seeds = max(len(record["seeds"]) for record in records)
    kinds = {
        ", ".join(f"{key} {value}" for key, value in machine.items() if key != "after_epoch")
        for record in records
        for own in record["machines"].values()
        for machine in own
    }
    day = datetime.fromtimestamp((results / "ledger.csv").stat().st_mtime, UTC).date()
    return f"{seeds} seeds, commit {commits.pop()}, {'; '.join(sorted(kinds))}, {day}."


def table_of(page: str) -> str:
    """Return a table's page without the notes below it, its headings as parts of ours."""
    body = page.partition("\n- ")[0].strip()
    return re.sub(r"^## (.*)$", r"**\1**", body, flags=re.MULTILINE).replace("# ", "### ", 1)


def main(paper: str, results: Path, command: str) -> None:
    """Publish a run on the page of a paper."""
    page = PAPERS / paper / "README.md"
    parts = [f"    {command}\n", origin(results)]
    for table in sorted((results / "tables" / paper).glob("*.md")):
        parts.append(table_of(table.read_text(encoding="utf-8")))
    for figure in sorted((results / "figures" / paper).glob("*.svg")):
        shutil.copyfile(figure, page.with_name(figure.name))
        parts.append(f"![{figure.stem}]({figure.name})")
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    run = "\n\n".join(part.strip("\n") for part in parts)
    page.write_text(f"{before}{BEGIN}\n\n{run}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
