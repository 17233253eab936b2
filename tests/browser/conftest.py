"""A real Chromium, Debian's, that reaches this machine and nothing else."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

# Width and preferred colour scheme. CI tries the one in which most can go wrong.
VIEWPORTS = [
    (1280, "light"),
    (1280, "dark"),
    (390, "light"),
    pytest.param(390, "dark", marks=pytest.mark.draw),
]


@pytest.fixture(scope="session")
def chromium() -> Iterator:
    """The browser; skips where it or its packages are not installed."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="pip install -r tests/browser/requirements.txt"
    )
    path = shutil.which("chromium")
    if not path:
        pytest.skip("no Chromium: apt-get install chromium")
    with playwright.sync_playwright() as running:
        no_names = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        browser = running.chromium.launch(executable_path=path, args=["--no-sandbox", no_names])
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium) -> Callable:
    """Open a page: `with opened(address, width, scheme) as (page, requested)`, a list of URLs."""

    @contextmanager
    def open_page(address: str, width: int, scheme: str) -> Iterator:
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        page, requested = context.new_page(), []
        page.on("request", lambda request: requested.append(request.url))
        page.goto(address)
        yield page, requested
        context.close()

    return open_page
