"""What `analogyqa why` says of each number on the page, embedded as JSON."""

import json
from collections.abc import Iterable
from pathlib import Path

from markupsafe import Markup

from analogyqa.report.ledger import ledger_key
from analogyqa.report.table_formats import Block
from analogyqa.report.trace import Number, facts_of_number, facts_of_run, lines_of, shown_numbers
from analogyqa.report.verdicts import HIGHER, LOOKS, LOWER, NOT_COMPARABLE, REPRODUCED
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config

_COMPARED = ("published", "verdict", "reason")
# The others are explained by their reason.
_EXPLAINED = (REPRODUCED, HIGHER, LOWER)


class Provenance:
    """The facts about the numbers of a page.

    Many numbers share facts, such as the versions of packages, and many facts share lines, such as
    the hash of a corpus. Each is stored once. A number is a list: the index of its run (or -1),
    then those of its own facts. A run lists the indices of its facts; a fact is its key and the
    indices of its lines.
    """

    def __init__(self, results: str | Path, config: Config, command: str) -> None:
        self.results, self.config, self.command = results, config, command
        self._lines: dict[str, int] = {}
        self._facts: dict[tuple, int] = {}
        self._numbers: dict[str, list[int]] = {}
        self._runs: list[list[int]] = []
        self._place_of_run: dict[str, int] = {}
        # The ids of the numbers, by what their rows of the ledger are about, see `ledger_key`.
        self.compared: dict[tuple, str] = {}

    def add(self, paper: Paper, name: str, section: str, blocks: Iterable[Block]) -> None:
        """Add the numbers that the blocks of a table show; `section` is its id on the page.

        The id of a number is that of its section, a point, and its row of the csv.
        """
        rows = {value.row for block in blocks for _, values in block.rows for value in values}
        for row, number in enumerate(shown_numbers(self.results, paper, name, self.config)):
            if row in rows:
                self._numbers[f"{section}.{row}"] = self._of_number(number)
                self.compared.setdefault(ledger_key(number.values), f"{section}.{row}")

    def to_json(self) -> Markup:
        """Return the lists of lines, facts and runs, and the numbers by id.

        It can stand in a script element: it has no "<".
        """
        parts = {
            "lines": [*self._lines],
            "facts": [*self._facts],
            "runs": self._runs,
            "numbers": self._numbers,
        }
        text = json.dumps(parts, separators=(",", ":"), ensure_ascii=False)
        return Markup(text.replace("<", r"\u003c"))

    def _of_number(self, number: Number) -> list[int]:
        facts = facts_of_number(self.results, number, self.command)
        verdict = facts.get("verdict")
        if verdict in _EXPLAINED:
            facts["verdict"] = f"{verdict}: {LOOKS[verdict].meaning}"
        if not self.config.comparable:
            hidden = _COMPARED if verdict == NOT_COMPARABLE else ("published",)
            facts = {key: value for key, value in facts.items() if key not in hidden}
        places = [self._place(*fact) for fact in facts.items()]
        if not number.cell:
            return [-1, *places]
        path = number.cell.path
        if path not in self._place_of_run:
            run = facts_of_run(self.results, number.cell)
            self._place_of_run[path] = len(self._runs)
            self._runs.append([self._place(*fact) for fact in run.items()])
        return [self._place_of_run[path], *places]

    def _place(self, key: str, value: object) -> int:
        lines = (self._lines.setdefault(line, len(self._lines)) for line in lines_of(value))
        return self._facts.setdefault((key, *lines), len(self._facts))
