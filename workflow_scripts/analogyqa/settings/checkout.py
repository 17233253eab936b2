"""The checkout of the repository, which holds the papers and their configuration."""

from pathlib import Path

from analogyqa.errors import AnalogyQAError

_CHECKOUT = Path(__file__).parents[3]
# An installed library reads the papers of the working folder.
REPOSITORY = _CHECKOUT if (_CHECKOUT / "papers").is_dir() else Path.cwd()
PAPERS = REPOSITORY / "papers"


def require_papers(papers: Path = PAPERS) -> None:
    """Raise AnalogyQAError when a folder has no papers, as outside of a checkout."""
    if not any(papers.glob("*/config.yaml")):
        raise AnalogyQAError(
            f"{papers}: there are no papers here. The installed library reads papers and "
            "configurations from the working folder: start in a checkout of its repository"
        )
