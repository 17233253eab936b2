"""TrecQA: the jacana files of Yao et al. (2013).

A file looks like XML but contains bare `<` and `&`, so it is read line by line. The first
line of each block holds the tokens of a sentence; annotation lines that follow are ignored.
"""

import logging
import re
from collections.abc import Iterator
from pathlib import Path

from analogyqa.corpora.table import Pair, clean_id
from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_lines

log = logging.getLogger(__name__)

_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);")
_OPEN = re.compile(r"<QApairs id='([^']+)'>")
_LABELS = {"positive": 1, "negative": 0}
_BLOCKS = ("<question>", "<positive>", "<negative>")
_TAGS = (*_BLOCKS, "</question>", "</positive>", "</negative>", "</QApairs>")

# The released TRAIN, DEV and TEST have these questions without candidates. They cannot be ranked,
# so we skip them; any other question without candidates means a damaged file.
_RELEASED_WITHOUT_CANDIDATES = {"94", "15.3", "41.3", "44.4", "58.1", "59.2", "64.3"}


def read(path: str | Path) -> Iterator[Pair]:
    """Yield the pairs of one split's file.

    Raises:
        AnalogyQAError: for an unclosed, unknown or empty block, or a question without text or
            candidates.
    """
    question_id = question = block = tokens = None
    block_line = candidates = 0
    seen: set[str] = set()
    escaped = []  # the lines with entities, which the released files do not have

    def fail(number: int, cause: str) -> AnalogyQAError:
        return AnalogyQAError(
            f"{path}, line {number}: {cause}. Correct the file, or fetch it again."
        )

    for number, line in read_lines(path):
        stripped = line.strip()
        if block is not None and stripped == f"</{block}>":
            if not tokens:
                raise fail(number, f"an empty <{block}>")
            sentence = " ".join(tokens)
            if block == "question":
                question = sentence
            elif question is None or question_id is None:
                raise fail(number, f"a <{block}> before the question {question_id} has a text")
            else:
                candidates += 1
                yield Pair(block_line, question_id, question, sentence, _LABELS[block])
            block = tokens = None
        elif block is not None:
            if _OPEN.match(stripped) or stripped in _TAGS:
                raise fail(number, f"the <{block}> of line {block_line} is not closed")
            if tokens is None:
                if _ENTITY.search(line):
                    escaped.append(number)
                tokens = line.split("\t") if stripped else []
        elif match := _OPEN.fullmatch(stripped):
            if question_id is not None:
                raise fail(number, f"the question {question_id} is not closed")
            question_id, question, candidates = clean_id(match[1]), None, 0
            if question_id in seen:
                raise fail(number, f"a second question with the id {question_id}")
            seen.add(question_id)
        elif stripped == "</QApairs>":
            if question_id is None:
                raise fail(number, "</QApairs> without <QApairs>")
            if not candidates and question_id not in _RELEASED_WITHOUT_CANDIDATES:
                raise fail(number, f"the question {question_id} has no candidates")
            question_id = None
        elif stripped in _BLOCKS:
            if question_id is None:
                raise fail(number, f"{stripped} outside of <QApairs>")
            block, tokens, block_line = stripped[1:-1], None, number
        elif stripped:
            raise fail(number, f"unexpected text {stripped[:40]!r} between the blocks")
    if question_id is not None:
        raise AnalogyQAError(
            f"{path}: the file ends inside the question {question_id}. Fetch it again."
        )
    if escaped:
        log.warning(
            "%s: %d sentences have entities such as &amp; (first: line %d). They are kept as they "
            "are; write the characters themselves.",
            *(path, len(escaped), escaped[0]),
        )
