"""Render HTML pages from the templates.

A page is one file: it contains its style, and it needs neither the network nor a script.
"""

import re
from functools import cache
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from analogyqa.report.table_formats import LINK
from analogyqa.report.verdicts import LOOKS, MARKS, NOT_COMPARABLE

# What follows a published value; a value that was not run says so itself.
WORDS = {verdict: verdict for verdict in MARKS}
WORDS[NOT_COMPARABLE] = f"{LOOKS[NOT_COMPARABLE].mark} {NOT_COMPARABLE}"
# Signs, which every font has, for the coloured squares of Markdown.
_SIGNS = str.maketrans({"🟦": "✓", "🟧": "✗", "🟰": "≈", "⬜": "?", "➖": "–"})
_FROM_TABLES = "../../"  # from the folder of a paper's tables to the results


def render(template: str, **values: object) -> str:
    """Return a page from a file of templates/; a missing value is an error."""
    return _templates().get_template(template).render(**values, words=WORDS)


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
        "class_of": lambda verdict: verdict.replace(" ", "-"),
        "plain": lambda text: text.translate(_SIGNS),
        "inline": inline,
        "anchor": lambda run: f"run-{run}",  # the id of the run with this path
        "url": lambda path: quote(path, safe="/=,+#:"),
    }
    return environment


def inline(text: str) -> Markup:
    """Return a note with links and emphasis in Markdown as HTML."""
    html = str(escape(text))
    html = LINK.sub(_link, html)
    html = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", html)
    return Markup(re.sub(r"(?<!\w)\*([^*]+)\*(?!\w)", r"<em>\1</em>", html))


def _link(match: re.Match) -> str:
    text, target = match.groups()
    # Notes appear in the report only.
    target = target.removeprefix(_FROM_TABLES).removeprefix("report.html")
    return f'<a href="{target}">{text}</a>'
