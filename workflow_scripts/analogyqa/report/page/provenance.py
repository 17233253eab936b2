"""What `analogyqa why` says of each number on the page, as compressed JSON inside it."""

import gzip
import json
from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path

from analogyqa.evaluation.published import ledger_key
from analogyqa.evaluation.verdicts import HIGHER, LOOKS, LOWER, NOT_COMPARABLE, REPRODUCED
from analogyqa.report.table_formats import Block
from analogyqa.report.trace import Number, number_facts, run_facts, shown_numbers, text_lines
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config

_EXPLAINED = (REPRODUCED, HIGHER, LOWER)  # the others are explained by their reason

Facts = dict[str, list[str]]  # the lines of each fact, by its name


class Provenance:
    """What `analogyqa why` prints about each number of a page, and about its run.

    `compared` are the ids of the numbers, by what their rows of the ledger are about.
    """

    def __init__(self, results: str | Path, config: Config, command: str) -> None:
        self.results, self.config, self.command = results, config, command
        self._numbers: dict[str, dict] = {}
        self._runs: dict[str, Facts] = {}
        self.compared: dict[tuple, str] = {}

    def add(self, paper: Paper, name: str, section: str, blocks: Iterable[Block]) -> None:
        """Add the numbers that the blocks of a table show; `section` is its id on the page.

        The id of a number is that of its section, a point, and its row of the csv.
        """
        rows = {value.row for block in blocks for _, values in block.rows for value in values}
        for row, number in enumerate(shown_numbers(self.results, paper, name, self.config)):
            if row in rows:
                self._numbers[f"{section}.{row}"] = self._describe(number)
                self.compared.setdefault(ledger_key(number.values), f"{section}.{row}")

    def encoded(self) -> str:
        """Return the facts as JSON, compressed, since many numbers share them, in base64."""
        text = json.dumps({"numbers": self._numbers, "runs": self._runs})
        return b64encode(gzip.compress(text.encode("utf-8"), mtime=0)).decode("ascii")

    def _describe(self, number: Number) -> dict:
        facts = number_facts(self.results, number, self.command)
        verdict = facts.get("verdict")
        if verdict in _EXPLAINED:
            facts["verdict"] = f"{verdict}: {LOOKS[verdict].meaning}"
        if not self.config.comparable:
            hidden = {"published"} | ({"verdict", "reason"} if verdict == NOT_COMPARABLE else set())
            facts = {key: value for key, value in facts.items() if key not in hidden}
        run = number.cell.path if number.cell else None
        if number.cell and run not in self._runs:
            self._runs[number.cell.path] = _as_lines(run_facts(self.results, number.cell))
        return {"facts": _as_lines(facts), "run": run}


def _as_lines(facts: dict) -> Facts:
    return {key: text_lines(value) for key, value in facts.items()}
