"""The documentation site in a browser: every page, and the way from a number to its questions."""

import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
from typer.testing import CliRunner

from analogyqa import cli
from analogyqa.measures import MEASURES
from analogyqa.report.stored import PACKED, find_archives, unpacked
from browser.conftest import VIEWPORTS
from builders.projects import copy_checkout, run_program

# The first test builds the site, and perhaps the demo.
pytestmark = [pytest.mark.browser, pytest.mark.timeout(1800)]
PUBLISHED = "results/published"
FOLLOWED = 3  # numbers


class Site(NamedTuple):
    """A built site, and the checkout with the archives that it shows."""

    pages: Path
    checkout: Path

    @property
    def reports(self) -> list[Path]:
        return sorted(self.pages.glob(f"{PUBLISHED}/*/report.html"))


@pytest.fixture(scope="session")
def site(make_once, request) -> Site:
    """The site with the published runs, and with the demo as long as they have no table."""
    pytest.importorskip("sphinx", reason="pip install -r docs/requirements.txt")

    def build(folder: Path) -> None:
        checkout = copy_checkout(folder / "checkout")
        archives = find_archives(checkout / PUBLISHED).values()
        if not any([*unpacked(path).glob("tables/*/table*.csv")] for path in archives):
            archive = checkout / PUBLISHED / f"sample{PACKED}"
            command = ("analogyqa", "archive", "results/demo", "--to", str(archive))
            run_program(*command, checkout=request.getfixturevalue("demo"))
        command = ("-m", "sphinx", "--quiet", "-c", "docs", ".", "docs/_build/html")
        run_program(sys.executable, *command, checkout=checkout)

    checkout = make_once("site", build) / "checkout"
    return Site(checkout / "docs" / "_build" / "html", checkout)


def pages_of(site: Site) -> list[Path]:
    """Return the pages of a site, without those of Sphinx that only list or show code."""
    listed = ("index.html", "genindex.html", "py-modindex.html", "search.html")
    paths = [path for path in site.pages.rglob("*.html") if "_modules" not in path.parts]
    return sorted(path for path in paths if path.parent != site.pages or path.name not in listed)


@pytest.mark.parametrize(("width", "scheme"), VIEWPORTS)
def test_every_page_fits_the_screen_and_is_accessible(site, opened, width, scheme, report_count):
    from axe_playwright_python.sync_playwright import Axe

    pages, wrong = pages_of(site), {}
    assert {*site.reports} < {*pages} and site.reports
    with opened((site.pages / "docs" / "index.html").as_uri(), width, scheme) as (page, requested):
        for path in pages:
            page.goto(path.as_uri())
            violations = Axe().run(page).response["violations"]
            found = {f"{rule['id']}: {rule['nodes'][0]['html']}" for rule in violations}
            if page.evaluate("document.documentElement.scrollWidth") != width:
                found.add("scrolls sideways")
            if found:
                wrong[path.relative_to(site.pages).as_posix()] = found
        assert wrong == {}
        assert [url for url in requested if not url.startswith(("file:", "data:"))] == []
    report_count(f"{len(pages)} pages at {width} pixels, {scheme}")


@pytest.mark.draw
def test_numbers_lead_from_the_first_page_to_the_measures_of_each_question(site, opened):
    followed = 0
    with opened((site.pages / "docs" / "index.html").as_uri(), 1280, "light") as (page, _):
        page.locator("article").get_by_role("link", name="The published runs").first.click()
        page.wait_for_url("**/published/**")
        the_list, rows = page.url, page.locator("article table").first.locator("tbody tr")
        for number in range(rows.count()):
            page.goto(the_list)
            row, shown = rows.nth(number), ""
            name = row.locator("a").first.inner_text()
            if (papers := row.locator("td").nth(2).locator("a")).count():
                papers.first.click()
                page.wait_for_url("**/papers/**")
                shown = page.locator("article").text_content()
                page.get_by_role("link", name=f"Open the run {name}").click()
            else:  # the sample has no page
                row.locator("a").first.click()
            page.wait_for_url("**/report.html")
            for link in numbers_of(page, shown):
                follow(page, link, site.checkout / PUBLISHED / f"{name}{PACKED}")
                followed += 1
    assert followed >= FOLLOWED


def numbers_of(page, shown: str) -> list[str]:
    """Return the links of up to three scores of a report that the page of its paper shows, too."""
    selector = ".paper td a[id][href^='#run-']"
    script = "links => links.map(link => [link.id, link.textContent])"
    texts = page.locator(selector).evaluate_all(script)
    # The values of pairs of sentences are weighted, and not all of them are kept.
    links = [
        link
        for link, text in texts
        if "=" not in link and link.rsplit("/")[-1] in MEASURES
        if re.match(r"[\d.]+", text)[0] in (shown or text)
    ]
    return links[:: max(1, len(links) // FOLLOWED)][:FOLLOWED]


def follow(page, link: str, archive: Path) -> None:
    """Follow the link of a number to its origin, and from there to the questions behind it."""
    page.goto(f"{page.url.partition('#')[0]}#{link}")
    dialog = page.locator("dialog")
    dialog.wait_for()
    terms = dialog.locator("dl").inner_text().splitlines()
    page.keyboard.press("Escape")
    command = ["why", *link.replace("-of-", "/", 1).split("/"), "--results", str(archive), "--json"]
    facts = json.loads(CliRunner().invoke(cli.app, command).stdout)
    assert f"{facts['mean']:.10g}" in terms and facts["files"][0] in terms
    values = pd.read_parquet(unpacked(archive) / facts["files"][0])
    of_number = values["split"].eq("test") & values["measure"].eq(facts["measure"])
    questions = values[of_number].pivot(index="seed", columns="item", values="value")
    assert questions.shape == (facts["n_seeds"], facts["n_items"])
    assert questions.to_numpy().mean() == pytest.approx(facts["mean"], abs=1e-6)
