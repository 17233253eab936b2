"""The pages of the site about the published runs: a report for each archive, and their list."""

import json
import re
import shutil
from pathlib import Path
from typing import NamedTuple

from rich.filesize import decimal

from analogyqa.files import write_text
from analogyqa.report.page import build_page, commits_and_machines, read_run_records
from analogyqa.report.stored import METADATA, find_archives, read_configuration, unpack
from analogyqa.report.table_formats import unbroken
from analogyqa.settings.load import PAPERS

FOLDER = "results/published"
ARCHIVES = Path(__file__).parents[1] / FOLDER
PAGE = f"{FOLDER}/README"
# On the site, the list of archives replaces the first line; the link of a run is above the other.
LIST = "<!-- docs/published.py lists the archives here -->"
RUN = "<!-- a run: papers/publish.py -->"
LEFT_OUT = re.compile(r"(?ms)^## What is left out\n(.*?)(?=^The records of the runs|\Z)")
HEAD = ["| report | archive | papers | runs |", "|---|---|---|---|"]


class Published(NamedTuple):
    """An archive: its name, its papers, its row of the list, and what it leaves out."""

    name: str
    papers: list[str]
    row: str
    left_out: str


def build_reports(site: Path) -> list[Published]:
    """Unpack each archive into a folder of the site, and write its report there.

    So the links of a report to its files lead somewhere. Raises AnalogyQAError if an archive is
    damaged, or of another version.
    """
    for folder in (site / FOLDER).glob("*/"):
        shutil.rmtree(folder)  # its archive may be gone
    return [
        _build_report(name, path, site / FOLDER / name)
        for name, path in find_archives(ARCHIVES).items()
    ]


def _build_report(name: str, path: Path, folder: Path) -> Published:
    unpack(path, folder)
    shutil.rmtree(folder / "workflow")  # the code is no part of the site
    config, papers, command = read_configuration(folder)
    write_text(folder / "report.html", build_page(folder, config, papers, command))
    entities = json.loads((folder / METADATA).read_text("utf-8"))["@graph"]
    finished = max(entity["endTime"] for entity in entities if "endTime" in entity)
    links = [
        f"[{paper}](../../papers/{paper}/README.md)"
        if (PAPERS / paper / "README.md").exists()
        else paper
        for paper in papers
    ]
    cells = [
        report_link(name, "", name),
        unbroken(f"[tar.xz, {decimal(path.stat().st_size)}]({path.name})"),
        ", ".join(links),
        f"{commits_and_machines(read_run_records(folder, config))}, {finished[:10]}",
    ]
    left_out = LEFT_OUT.search((folder / "README.md").read_text("utf-8"))
    text = f"    {command}\n\n{left_out[1].strip()}" if left_out else ""
    return Published(name, [*papers], f"| {' | '.join(cells)} |", text)


def report_link(name: str, folder: str, text: str) -> str:
    """Return a link to the report of an archive; `folder` leads to that of the archives."""
    return f'<a href="{folder}{name}/report.html">{text}</a>'


def show_runs(page: str) -> bool:
    """Return whether a page, by its name, lists or links published runs."""
    return page == PAGE or page.startswith("papers/")


def with_published(page: str, text: str, published: list[Published]) -> str:
    """Return the Markdown of a page, by its name, with the list or the links of its run."""
    paper = Path(page).parent.name
    links = [
        report_link(run.name, f"../../{FOLDER}/", f"Open the run {run.name}")
        for run in published
        if paper in run.papers
    ]
    line = f"{', '.join(links)}: every number with its origin, and the measures of each question."
    text = text.replace(LIST, list_of(published))
    return text.replace(RUN, f"{line}\n\n{RUN}", 1) if links else text


def list_of(published: list[Published]) -> str:
    """Return the list of archives in Markdown."""
    if not published:
        return "There is no archive yet."
    folds = (
        f"<details><summary>What {run.name} leaves out</summary>\n\n{run.left_out}\n\n</details>"
        for run in published
    )
    return "\n\n".join(["\n".join([*HEAD, *(run.row for run in published)]), *folds])
