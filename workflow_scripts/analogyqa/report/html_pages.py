"""What the HTML pages share: the templates, with links and emphasis of notes, and anchors of runs.

A page is one file: its style is in it, and it needs neither the network nor a script.
"""

import re
from functools import cache
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from analogyqa.report.table_formats import LINK, MARKS
from analogyqa.report.verdicts import NOT_COMPARABLE

# Behind a published value that has no mark in a table; what was not run says so itself.
WORDS = {verdict: verdict for verdict in MARKS} | {NOT_COMPARABLE: f"× {NOT_COMPARABLE}"}
# The squares that Markdown has for a colour, as signs that every font has.
_SIGNS = str.maketrans({"🟦": "✓", "🟧": "✗", "🟰": "≈", "⬜": "?", "➖": "–"})
_FROM_TABLES = "../../"  # how a note leads from the folder of a paper's tables to the results


def render(template: str, **values: object) -> str:
    """Return a page from a file of templates/; a name that it asks for and lacks is an error."""
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
        "anchor": anchor,
        "url": lambda path: quote(path, safe="/=,+#:"),
    }
    return environment


def anchor(run: str) -> str:
    """Return the id of a run by its path."""
    return f"run-{run}"


def inline(text: str) -> Markup:
    """Return a note as HTML: links and emphasis of Markdown, all else as it stands."""
    html = str(escape(text))
    html = LINK.sub(_link, html)
    html = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", html)
    return Markup(re.sub(r"(?<!\w)\*([^*]+)\*(?!\w)", r"<em>\1</em>", html))


def _link(found: re.Match) -> str:
    text, target = found.groups()
    target = target.removeprefix(_FROM_TABLES)
    page, hash_, place = target.partition("#")
    # The report is the page that this stands in.
    return f'<a href="{hash_ + place if page == "report.html" else target}">{text}</a>'
