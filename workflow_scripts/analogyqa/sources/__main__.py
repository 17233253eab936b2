"""`python -m analogyqa.sources`."""

import typer

from analogyqa.sources.status import main

if __name__ == "__main__":
    typer.run(main)
