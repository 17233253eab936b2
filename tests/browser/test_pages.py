"""The report and the ledger in a browser: on a phone, in the dark, without a network, for all."""

from pathlib import Path

import pytest

from analogyqa.report.page import build_page
from browser.conftest import LOOKS
from report.builders import make_config
from report.page.results import PAPER, make_results

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    config = make_config(("wikiqa",), left_out={"ghost": "not built"})
    make_results(folder, config, PAPER)
    page = build_page(folder, config, {PAPER.paper: PAPER}, "snakemake")
    (folder / "report.html").write_text(page, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["report", "ledger"])
@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_it_is_read_on_every_screen(folder, opened, tmp_path, name, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    address = (folder / f"{name}.html").as_uri()
    with opened(address, width, scheme) as (page, asked):
        assert {each for each in asked if not each.startswith("data:")} == {address}
        # The page itself never scrolls sideways; a wide table does, and keeps its first column.
        assert page.evaluate("document.documentElement.scrollWidth") == width
        lefts = page.evaluate(
            """() => {
                const boxes = [...document.querySelectorAll('.wide:has(table)')];
                const moved = boxes.filter(box => box.scrollWidth > box.clientWidth + 40);
                for (const box of moved) box.scrollLeft = 40;
                return moved.map(box => box.querySelector('tbody tr > :first-child')
                    .getBoundingClientRect().left - box.getBoundingClientRect().left);
            }"""
        )
        assert all(abs(left) < 2 for left in lefts) and (lefts or width > 390)
        dark = (
            page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        )
        assert dark == (scheme == "dark")
        shot = tmp_path / f"{name}-{width}-{scheme}.png"
        page.screenshot(path=shot, full_page=True)
        assert shot.stat().st_size > 10_000
        assert Axe().run(page).response["violations"] == []


def test_a_cell_leads_to_its_run(folder, opened):
    with opened((folder / "report.html").as_uri(), 1280, "light") as (page, _):
        page.click("td a[href^='#run-']")
        assert page.evaluate("document.querySelector(':target').tagName") == "TR"
        top = page.evaluate("document.querySelector(':target').getBoundingClientRect().top")
        assert 0 <= top < 900


def test_what_is_folded_is_printed(folder, opened):
    with opened((folder / "report.html").as_uri(), 1280, "dark") as (page, _):
        page.emulate_media(media="print")
        height = "document.querySelector('details li').getBoundingClientRect().height"
        assert page.evaluate(height) > 0
        assert (
            page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        )
