"""`python -m analogyqa.tracking`."""

import sys

from analogyqa.errors import AnalogyQAError
from analogyqa.tracking.command_line import app

if __name__ == "__main__":
    try:
        app()
    except AnalogyQAError as error:
        sys.exit(f"error: {error}")
