"""Sphinx: the site of `make docs`.

Its source is the whole repository, so that a link between two pages is the same here and on GitHub.
"""

import re
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))
from generated import write_pages
from published import build_reports, show_runs, with_published

NAMES = re.compile(r"    \w+(?:, \w+)+: ")  # of arguments with one description
RETURNS = re.compile(r"^Returns (\w)")  # at the start of a paragraph
RAISES = re.compile(r"^Raises (\w+) ")

project = "analogyqa"
copyright = "the authors of analogyqa"
extensions = [
    *("myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"),
    "sphinx.ext.viewcode",
]
root_doc = "docs/index"
include_patterns = [
    *("docs/*.md", "docs/reference/*"),
    *("papers/*/README.md", "results/README.md", "results/published/README.md"),
    "sample/README.md",
    *("CONTRIBUTING.md", "CHANGELOG.md"),
]
# Folders that Sphinx need not search.
exclude_patterns = [
    *(".*", "docs/_build", "resources", "results/[!Rp]*", "results/p[!u]*"),
    *("workflow_scripts", "tests"),
]
templates_path = [str(Path(__file__).parent / "templates")]  # autosummary has another root
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
# The page that is a notebook is run in a temporary folder.
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # seconds of a cell
nb_output_stderr = "remove"  # progress bars
default_role = "literal"  # docstrings have Markdown's backticks
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "signature"
napoleon_use_ivar = True
highlight_language = "sh"  # of indented blocks
html_theme = "furo"
html_title = project
html_static_path = ["static"]
html_css_files = ["tables.css"]
html_js_files = [("accessible.js", {"defer": "defer"})]
html_extra_path = ["redirect"]  # from the root of the site to its first page
html_copy_source = False


def adapt_docstring(*arguments: Any) -> None:
    """Translate what our docstrings have in common with Markdown, and names that share a text."""
    lines = arguments[-1]
    for index in range(len(lines) - 1, 1, -1):
        before = next((line for line in reversed(lines[:index]) if line.strip()), "")
        is_code = lines[index].startswith("    ") and not before.startswith(" ")
        if is_code and not lines[index - 1]:
            lines[index:index] = ["::", ""]
        if names := NAMES.match(lines[index]):
            lines[index] = lines[index].replace(names[0], names[0].replace(", ", "/"), 1)
    is_field = False
    for index, line in enumerate(lines):
        if index and not lines[index - 1]:  # the first line of a paragraph
            lines[index] = RETURNS.sub(lambda found: f":returns: {found[1].upper()}", line)
            lines[index] = RAISES.sub(r":raises \1: ", lines[index])
            is_field = lines[index] != line
        elif is_field and line:
            lines[index] = f"    {line}"


def adapt_links(*arguments: Any) -> None:
    """Let the links of README.md, which the home page includes, start at docs/."""
    content = arguments[-1]
    text = content[0].replace("](docs/", "](")
    content[0] = re.sub(r"\]\((papers|results)/", r"](../\1/", text)


def add_published(app: Sphinx, page: str, content: list[str]) -> None:
    """Add the list of the published runs to its page, and to a paper's page its run."""
    content[0] = with_published(page, content[0], app.published)


def publish(app: Sphinx) -> None:
    """Build the reports of the published runs."""
    app.published = build_reports(Path(app.outdir))


def is_field_of_tuple(*arguments: Any) -> bool | None:
    """Skip what Python says of the fields of named tuples; their class describes them."""
    return True if str(arguments[3].__doc__).startswith("Alias for field number") else None


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", lambda _: write_pages(), priority=100)
    app.connect("builder-inited", publish)
    app.connect("include-read", adapt_links)
    app.connect("source-read", add_published)
    # Archives may have changed.
    app.connect("env-get-outdated", lambda _, env, *__: filter(show_runs, env.found_docs))
    app.connect("autodoc-process-docstring", adapt_docstring, priority=100)
    app.connect("autodoc-skip-member", is_field_of_tuple)
