"""`analogyqa schema`."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from analogyqa.settings.schema import config_schema, paper_schema


class File(StrEnum):
    """A file that has a schema."""

    CONFIG = "config"
    PAPER = "paper"


def schema(
    file: Annotated[File, typer.Argument(help="config.yaml and files over it, or paper.yaml.")],
) -> None:
    """Print the JSON schema of a configuration file, by which editors complete and check it.

    Example: `analogyqa schema config`
    """
    made = {File.CONFIG: config_schema, File.PAPER: paper_schema}[file]()
    print(json.dumps(made, indent=2, ensure_ascii=False))
