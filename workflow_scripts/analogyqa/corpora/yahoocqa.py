"""YahooCQA as lines `question#answer#label`; consecutive lines of a question are its candidates.

`yahoocqa_splits` reads the file of Tay et al. (2017).
"""

from collections.abc import Iterator
from pathlib import Path

from analogyqa.corpora.table import Pair, parse_label, read_lines
from analogyqa.errors import AnalogyQAError


def read(path: str | Path) -> Iterator[Pair]:
    """Yield the pairs of one split's file, with running numbers as question ids.

    A question that comes back after another one counts as a new question, with other candidates.

    Raises:
        AnalogyQAError: for a line without exactly three fields, such as one with a `#` in a text,
            or a label other than 0 or 1.
    """
    question_number, previous = 0, None
    for number, line in read_lines(path):
        fields = line.split("#")
        if len(fields) != 3:
            raise AnalogyQAError(
                f"{path}, line {number}: {len(fields)} fields instead of the 3 of "
                "question#answer#label. Remove any # from the texts, or fetch the file again."
            )
        question, candidate, label_text = fields
        question_number += question != previous
        previous = question
        label = parse_label(label_text, path, number)
        yield Pair(number, str(question_number), question, candidate, label)
