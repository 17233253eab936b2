"""The report in a browser: on a phone, in the dark, without a network or a script, accessible."""

from pathlib import Path

import pytest

from analogyqa.cells import Cell
from analogyqa.report.page import build_page
from browser.conftest import VIEWPORTS
from builders.report import make_config
from builders.results import PAPER, make_results, means

pytestmark = pytest.mark.browser
CELL = "#tiny2020-table2 a[href='#run-analogy/wikiqa/comb/default']"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    config = make_config(("wikiqa",), left_out={"ghost": "not built"})
    make_results(folder, config, PAPER)
    page = build_page(folder, config, {PAPER.paper: PAPER}, "snakemake")
    (folder / "report.html").write_text(page, encoding="utf-8")
    return folder


@pytest.fixture
def wide(folder, opened):
    with opened((folder / "report.html").as_uri(), 1280, "light") as (page, _):
        yield page


def is_white(page) -> bool:
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return colour == "rgb(255, 255, 255)"


@pytest.mark.parametrize(("width", "scheme"), VIEWPORTS)
def test_report_fits_the_screen_and_is_accessible(folder, opened, tmp_path, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    address = (folder / "report.html").as_uri()
    with opened(address, width, scheme) as (page, requested):
        assert {url for url in requested if not url.startswith("data:")} == {address}
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
        assert is_white(page) == (scheme == "light")
        shot = tmp_path / f"report-{width}-{scheme}.png"
        page.screenshot(path=shot, full_page=True)
        assert shot.stat().st_size > 10_000
        assert Axe().run(page).response["violations"] == []


def test_a_cell_opens_its_origin_without_leaving_the_page(folder, opened):
    from axe_playwright_python.sync_playwright import Axe

    with opened((folder / "report.html").as_uri(), 390, "dark") as (page, _):
        page.focus(CELL)
        page.keyboard.press("Enter")
        dialog = page.locator("dialog")
        dialog.wait_for()
        assert "Comb., Ours (analogy)" in dialog.locator("h2").inner_text()
        facts = dialog.locator("dl").inner_text()
        assert "snakemake -- " in facts and "runs/analogy/wikiqa/comb/default" in facts
        assert Axe().run(page).response["violations"] == []
        page.keyboard.press("Escape")
        assert not dialog.is_visible()
        assert page.evaluate("document.activeElement.matches('td a')")
        page.click(CELL)
        dialog.wait_for()
        page.keyboard.press("Escape")
        page.locator(
            ".verdicts [data-number='table1-of-tiny2020/glove/wikiqa/comb/map']"
        ).first.click()
        dialog.wait_for()
        assert "table1 of tiny2020: Glove, MAP" in dialog.locator("h2").inner_text()
        page.click("dialog a.run")
        assert page.evaluate("document.querySelector(':target').tagName") == "TR"


def test_a_number_has_a_link_and_its_origin_is_copied(folder, opened):
    link = "#table2-of-tiny2020/analogy/wikiqa/comb/mrr"
    with opened((folder / "report.html").as_uri() + link, 1280, "light") as (page, _):
        dialog = page.locator("dialog")
        dialog.wait_for()
        assert "Comb., Ours (analogy)" in dialog.locator("h2").inner_text()
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        dialog.get_by_role("button", name="Copy").click()
        dialog.get_by_role("button", name="Copied").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()").splitlines()
        assert copied[0] == "table2 of tiny2020: Comb., Ours (analogy)"
        assert copied[1].endswith(link) and "measure: mrr" in copied
        page.keyboard.press("Escape")
        page.click("#tiny2020-table2 td a >> nth=0")
        dialog.wait_for()
        assert page.evaluate("location.hash") == "#table2-of-tiny2020/similarity/wikiqa/who/mrr"


def test_without_a_script_a_cell_leads_to_its_run(folder, chromium):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "report.html").as_uri())
    assert not page.locator("#filter").is_visible()
    page.click(CELL)
    assert page.url.endswith("#run-analogy/wikiqa/comb/default")
    context.close()


def test_a_click_on_a_head_sorts_its_column(wide):
    table = wide.locator("#tiny2020-table1 table").first
    orders = [table.locator("tbody th:first-child").all_inner_texts()]
    for _ in range(3):
        table.get_by_role("button", name="MAP").click()
        orders.append(table.locator("tbody th:first-child").all_inner_texts())
    before, falling, rising, after = orders
    glove, ours = (means(Cell(name, "wikiqa", "comb"), "map") for name in ("glove", "analogy"))
    best = ["Glove", "Ours"] if glove > ours else ["Ours", "Glove"]
    assert [name for name in falling if name in best] == best
    assert [name for name in rising if name in best] == best[::-1]
    assert rising[-1] == falling[-1]  # "not run" is last either way
    assert after == before


def test_rows_are_filtered_by_words_and_by_verdict(wide):
    rows = wide.locator(".paper .part tbody tr:visible")
    everything = rows.count()
    wide.fill("#filter", "ghost table 1")
    assert rows.all_inner_texts()[0].startswith("Ghost")
    assert wide.locator("output").inner_text() == "1 row in 1 table"
    # Figures are found by their captions, and the first hit is in sight.
    wide.fill("#filter", "figure 1 dropout")
    assert wide.locator(".paper .part:visible").count() == 1
    assert 0 < wide.locator("#tiny2020-figure1").bounding_box()["y"] < 400
    wide.fill("#filter", "")
    assert rows.count() == everything
    wide.get_by_role("button", name="not run").click()
    assert 0 < rows.count() < everything
    assert all("not run" in text for text in rows.all_inner_texts())


def test_collapsed_sections_are_printed(folder, opened):
    with opened((folder / "report.html").as_uri(), 1280, "dark") as (page, _):
        page.emulate_media(media="print")
        height = "document.querySelector('details li').getBoundingClientRect().height"
        assert page.evaluate(height) > 0
        assert is_white(page)
