"""Read the sentences that pairs are made from: NLI data sets, or a corpus."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from analogyqa.analogies.pairs import finish_sentence
from analogyqa.vectors.text_files import read_packed_lines

# Columns with sentences in files with a header.
_COLUMNS = (("sentence_A", "sentence_B"), ("sentence1", "sentence2"))
# Letters, digits and simple punctuation, without brackets, quotes, dashes or lists.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ,'’-]*[.!?]?")
_SPLIT_OFF = re.compile(r"\s+(?=n't\b|'(?:s|re|ve|ll|d|m)\b)|(?<=\w)\s+(?=[,.!?])")


def read_sentences(paths: Iterable[str | Path], least: int, most: int) -> dict[str, str]:
    """Return the unique plain sentences of files, with the name of the first file of each.

    A file is a table with two known columns of sentences (SICK, RTE, MED), tab-separated lines of
    two sentences and a label (SNLI), or one sentence on each line. It may be gzipped. Sentences
    have `least` to `most` words.
    """
    sentences: dict[str, str] = {}
    for path in paths:
        for text in _texts(path):
            text = _SPLIT_OFF.sub("", text.strip())
            # A dash or quote between spaces could belong to either side.
            if " - " in text or " ' " in text or not _PLAIN.fullmatch(text):
                continue
            if least <= len(text.split()) <= most:
                sentences.setdefault(finish_sentence(text), Path(path).name)
    return sentences


def _texts(path: str | Path) -> Iterator[str]:
    lines = read_packed_lines(path)
    header = next(lines, "").split("\t")
    columns = next((names for names in _COLUMNS if {*names} <= {*header}), None)
    if columns is None:
        yield from header[:2]
    positions = [header.index(name) for name in columns or ()] or [0, 1]
    for line in lines:
        fields = line.split("\t")
        yield from (fields[position] for position in positions if position < len(fields))
