"""Sphinx: the site of `make docs`.

Its source is the whole repository, so that a link between two pages is the same here and on GitHub.
"""

project = "analogyqa"
copyright = "the authors of analogyqa"
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = [
    *("docs/*.md", "docs/reference/*"),
    *("papers/*/README.md", "results/README.md", "sample/README.md"),
    *("CONTRIBUTING.md", "CHANGELOG.md"),
]
# Folders that Sphinx need not search.
exclude_patterns = [".*", "docs/_build", "resources", "results/[!R]*", "workflow_scripts", "tests"]
myst_heading_anchors = 3
highlight_language = "sh"  # of indented blocks
html_theme = "furo"
html_title = project
html_extra_path = ["redirect"]  # from the root of the site to its first page
html_copy_source = False
