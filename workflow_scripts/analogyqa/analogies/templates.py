"""Pairs of sentences from pairs of words, such as Google's word analogies, and templates.

Section 3.1.1 of Zhu and de Melo (2020), and its nationality adjectives.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from analogyqa.analogies.pairs import SentencePair, finish_sentence, word_set
from analogyqa.corpora.table import read_lines
from analogyqa.errors import AnalogyQAError

PLACE = "{}"
_SECTION = ": "
# Of the words for a man or a woman those that are no family: "The" stands before them, "My" before
# the others; a pronoun stands alone.
_NO_FAMILY = word_set("""
    king queen groom bride prince princess man woman boy girl policeman policewoman
""")
_PRONOUNS = {"he", "she"}
_POSSESSIVE = {"his", "her"}  # no subjects of a sentence


def read_word_pairs(path: str | Path, section: str) -> list[tuple[str, str]]:
    """Return the pairs of a section of a file in the form of Google's questions-words.txt.

    A line holds two pairs; each pair is returned once, in the order of the file.

    Raises AnalogyQAError as `read_lines` does, for a line that has not four words, or a section
    that is not there.
    """
    pairs: dict[tuple[str, str], None] = {}
    current, sections = None, []
    for number, line in read_lines(path):
        if line.startswith(_SECTION):
            current = line.removeprefix(_SECTION).strip()
            sections.append(current)
            continue
        words = line.split()
        if len(words) != 4:
            raise AnalogyQAError(f"{path}, line {number}: {len(words)} words, not 4")
        if current == section:
            pairs |= dict.fromkeys([(words[0], words[1]), (words[2], words[3])])
    if section not in sections:
        raise AnalogyQAError(f"{path}: no section {section!r}; it has {', '.join(sections)}")
    return list(pairs)


def from_templates(
    word_pairs: Sequence[tuple[str, str]],
    templates: Sequence[tuple[str, str]],
    names: Mapping[str, str],
    source: str,
) -> Iterator[SentencePair]:
    """Yield the pair of each template and pair of words, template by template.

    Args:
        word_pairs: of a relation.
        templates: of the first and of the second sentence, with `PLACE` where the word goes; one
            that is `PLACE` alone gives the word as it is.
        names: a word to how a sentence writes it, such as "the USA".
        source: where the words are from.
    """
    for number, (first, second) in enumerate(templates, start=1):
        for one, other in word_pairs:
            words = (names.get(one, one), names.get(other, other))
            texts = [_filled(text, word) for text, word in zip((first, second), words, strict=True)]
            yield SentencePair(*texts, source, f"template {number}")


def _filled(template: str, word: str) -> str:
    return word if template == PLACE else finish_sentence(template.replace(PLACE, word))


def persons(
    word_pairs: Sequence[tuple[str, str]],
    templates: Sequence[tuple[str, str]],
    names: Mapping[str, str],
    source: str,
) -> Iterator[SentencePair]:
    """As `from_templates`, of words for persons: My before a relative, The before another noun."""
    subjects = [pair for pair in word_pairs if not {*pair} & _POSSESSIVE]
    phrases = {word: _person(word) for pair in subjects for word in pair}
    yield from from_templates(subjects, templates, phrases | dict(names), source)


def _person(word: str) -> str:
    if word in _PRONOUNS:
        return word.capitalize()
    return f"The {word}" if word in _NO_FAMILY else f"My {word}"
