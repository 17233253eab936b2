"""Render HTML and SVG from the templates.

A page is one file: it contains its style and its script, and it needs no network.
"""

import re
from functools import cache
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from analogyqa.report.table_formats import LINK

# Signs, which every font has, for the coloured squares of Markdown.
_SIGNS = str.maketrans({"🟦": "✓", "🟧": "✗", "🟰": "≈", "⬜": "?", "➖": "–", "❗": "!"})
_FROM_TABLES = "../../"  # from the folder of a paper's tables to the results
_AS_THEY_ARE = " '<>/:=,;+@?()"  # the characters of an address that browsers read as they are
_MARKDOWN = MarkdownIt("commonmark", {"html": False})


def render(template: str, **values: object) -> str:
    """Return a page from a file of templates/; a missing value is an error."""
    return _templates().get_template(template).render(**values)


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("analogyqa.report"),
        autoescape=True,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "css_class": lambda verdict: verdict.replace(" ", "-"),
        "plain": lambda text: text.translate(_SIGNS),
        "inline": inline,
        "anchor": lambda run: f"run-{run}",  # the id of the run with this path
        "url": lambda path: quote(path, safe="/=,+#:"),
    }
    return environment


def inline(text: str) -> Markup:
    """Return a note of a table, which is a line of Markdown, as HTML on the page."""

    def from_page(match: re.Match) -> str:
        text, target = match.groups()
        return f"[{text}]({target.removeprefix(_FROM_TABLES).removeprefix('report.html')})"

    return Markup(_MARKDOWN.renderInline(LINK.sub(from_page, text)))


def prose(text: str) -> Markup:
    """Return Markdown as HTML, without its links, which lead to files of the repository."""
    return Markup(_MARKDOWN.render(LINK.sub(r"\1", text)))


def svg_uri(text: str) -> Markup:
    """Return the address of a drawing that a page contains, safe inside double quotes in HTML."""
    # Comments have the text of its labels.
    text = re.sub(r"<!--.*?-->|<!DOCTYPE.*?>|<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r"\b([1-9]\d*\.\d\d)\d+", r"\1", text)  # a hundredth of a point
    text = re.sub(r"\s+", " ", text)
    if "'" not in text:
        text = text.replace('"', "'")
    # This is shorter than base64.
    return Markup(f"data:image/svg+xml,{quote(text, safe=_AS_THEY_ARE)}")
