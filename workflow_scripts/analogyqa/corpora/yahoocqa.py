"""YahooCQA as lines `question#answer#label`; consecutive lines of a question are its candidates.

The split of Tay et al. (2017) was released as one pickle, question to [[answer, label], ..] for
each of train, dev and test. It is not read, as a pickle can run code: bring it into such lines.
"""

from collections.abc import Iterator
from pathlib import Path

from analogyqa.corpora.table import Pair, parse_label, read_lines
from analogyqa.errors import AnalogyQAError


def read(path: str | Path) -> Iterator[Pair]:
    """Yield the pairs of one split's file; ids are running numbers.

    A question that comes again after another one is a question of its own: its candidates are
    others. Raises AnalogyQAError, naming the line, for another number of fields, as of a `#` in a
    text, or a label that is neither 0 nor 1.
    """
    running, previous = 0, None
    for number, line in read_lines(path):
        fields = line.split("#")
        if len(fields) != 3:
            raise AnalogyQAError(
                f"{path}, line {number}: {len(fields)} fields, question#answer#label has 3. "
                "Remove any further # from the texts, or fetch the file again."
            )
        question, candidate, label = fields
        running += question != previous
        previous = question
        yield Pair(number, str(running), question, candidate, parse_label(label, path, number))
