"""The published runs: their archives, and the pages of the site that open them."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from analogyqa.cells import load_papers
from analogyqa.report.archive import sort_files, write_crate
from analogyqa.report.stored import find_archives, store_configuration
from analogyqa.settings.load import PAPERS, load_config, read_values
from builders.projects import REPOSITORY, load_script
from builders.results import PageReader, make_results, provenance

published = load_script(REPOSITORY / "docs" / "published.py")
publish = load_script(REPOSITORY / "papers" / "publish.py")
PAGE = f"{published.PAGE}.md"
MOST = 25e6  # bytes of all archives


def test_archives_are_small_and_named_after_papers_or_their_settings():
    archives = find_archives(published.ARCHIVES)
    assert archives.keys() <= {path.stem for path in PAPERS.iterdir()}
    assert sum(path.stat().st_size for path in archives.values()) <= MOST


def test_the_totals_on_the_pages_are_those_of_the_archives():
    """If this fails, publish a page again, which adds the archives up (papers/publish.py)."""
    for page, text in zip(("README.md", PAGE), publish.results_of_archives(), strict=True):
        section = (REPOSITORY / page).read_text("utf-8").partition(publish.RESULTS)[2]
        assert section.partition(publish.END)[0].strip() == text


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, list]:
    """A site with the report of an archive of the sample, whose numbers are made up."""
    folder = tmp_path_factory.mktemp("site")
    values, _ = read_values(REPOSITORY / "sample" / "config.yaml")
    config = load_config(values)
    papers = load_papers(config)
    make_results(folder / "results", config, *papers.values())
    store_configuration(folder / "results", values, {}, "make it")
    contents = sort_files(folder / "results", config, papers.values())
    write_crate(folder / "results", contents, "make it", {}, folder / "sample.tar.xz")
    (folder / published.FOLDER / "gone").mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(published, "ARCHIVES", folder)
        return folder, published.build_reports(folder)


def test_every_archive_has_a_report_whose_links_lead_somewhere(built):
    site, _ = built
    (folder,) = (site / published.FOLDER).iterdir()
    text = (folder / "report.html").read_text("utf-8")
    assert folder.name == "sample" and str(site) not in text + str(provenance(text))
    links = [unquote(link) for link in PageReader(text).values("href") if link[0] != "#"]
    assert len(links) > 50 and [link for link in links if not (folder / link).exists()] == []


def test_the_list_has_each_archive_and_what_it_leaves_out(built):
    _, runs = built
    page = (REPOSITORY / PAGE).read_text("utf-8")
    listed = published.with_published(published.PAGE, page, runs)
    assert '| <a href="sample/report.html">sample</a> | [tar.xz,' in listed
    assert "53 runs of commit abc" in listed and "| `logs/*` | 53 | " in listed
    assert "There is no archive" in published.with_published(published.PAGE, page, [])


def test_the_page_of_a_paper_opens_its_run(built):
    site, runs = built
    pages = {
        name: published.with_published(f"papers/{name}/README", f"A\n\n{published.RUN}\n", runs)
        for name in ("sample", "other")
    }
    (link,) = re.findall('href="(.*?)"', pages["sample"])
    (site / "papers" / "sample").mkdir(parents=True)
    assert (site / "papers" / "sample" / link).exists()
    assert pages["other"] == f"A\n\n{published.RUN}\n"
