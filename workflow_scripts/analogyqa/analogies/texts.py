"""The sentences that pairs are made of: of data sets of inference, or of a corpus."""

import gzip
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from analogyqa.analogies.pairs import finish_sentence

# The columns that hold sentences, of files with a header.
_COLUMNS = (("sentence_A", "sentence_B"), ("sentence1", "sentence2"))
# Letters, digits and the marks of a plain sentence: no brackets, quotes, dashes or lists.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ,'’-]*[.!?]?")
_SPLIT_OFF = re.compile(r"\s+(?=n't\b|'(?:s|re|ve|ll|d|m)\b)|(?<=\w)\s+(?=[,.!?])")


def read_sentences(paths: Iterable[str | Path], least: int, most: int) -> dict[str, str]:
    """Return the plain sentences of files, once each, to the name of the first file that has it.

    A file is a table with a header that names two columns of sentences (SICK, RTE, MED), lines of
    sentences and a label with tabs between (SNLI), or a sentence a line; it may be packed by gzip.

    Args:
        paths: of the files.
        least, most: words of a sentence.
    """
    found: dict[str, str] = {}
    for path in paths:
        for text in _texts(path):
            text = _SPLIT_OFF.sub("", text.strip())
            # A dash or quote between spaces may belong to either side.
            if " - " in text or " ' " in text or not _PLAIN.fullmatch(text):
                continue
            if least <= len(text.split()) <= most:
                found.setdefault(finish_sentence(text), Path(path).name)
    return found


def _texts(path: str | Path) -> Iterator[str]:
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig", errors="replace") as file:
        header = next(file, "").rstrip("\r\n").split("\t")
        columns = next((each for each in _COLUMNS if {*each} <= {*header}), None)
        if columns is None:
            yield from header[:2]
        places = [header.index(name) for name in columns or ()] or [0, 1]
        for line in file:
            fields = line.rstrip("\r\n").split("\t")
            yield from (fields[place] for place in places if place < len(fields))
