"""Make sentence pairs from templates and word pairs, such as Google's word analogies.

Section 3.1.1 of Zhu and de Melo (2020), and its nationality adjectives.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from analogyqa.analogies.pairs import SentencePair, finish_sentence, word_set
from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_lines

PLACE = "{}"
_SECTION = ": "
# Words for men and women that get "The"; others, for relatives, get "My", and pronouns nothing.
_NOT_RELATIVES = word_set("""
    king queen groom bride prince princess man woman boy girl policeman policewoman
""")
_PRONOUNS = {"he", "she"}
_POSSESSIVE = {"his", "her"}  # cannot be subjects


def read_word_pairs(path: str | Path, section: str) -> list[tuple[str, str]]:
    """Return the unique word pairs in a section of a file like Google's questions-words.txt.

    Raises:
        AnalogyQAError: for an unreadable file, a line without exactly four words or a missing
            section.
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
            raise AnalogyQAError(f"{path}, line {number}: {len(words)} words instead of 4.")
        if current == section:
            pairs |= dict.fromkeys([(words[0], words[1]), (words[2], words[3])])
    if section not in sections:
        raise AnalogyQAError(
            f"{path}: no section {section!r}. The sections are {', '.join(sections)}."
        )
    return list(pairs)


def from_templates(
    word_pairs: Sequence[tuple[str, str]],
    templates: Sequence[tuple[str, str]],
    names: Mapping[str, str],
    source: str,
) -> Iterator[SentencePair]:
    """Fill each template with each word pair, template by template.

    Args:
        word_pairs: word pairs of a relation.
        templates: templates of the first and the second sentence, with PLACE for the word. A
            template that is only PLACE gives the bare word.
        names: words that sentences write differently, such as "the USA".
        source: the file of the words.
    """
    for number, sides in enumerate(templates, start=1):
        for words, pair in enumerate(word_pairs, start=1):
            first, second = (
                _fill(template, names.get(word, word))
                for template, word in zip(sides, pair, strict=True)
            )
            yield SentencePair(first, second, source, f"template {number}", words=words)


def _fill(template: str, word: str) -> str:
    return word if template == PLACE else finish_sentence(template.replace(PLACE, word))


def persons(
    word_pairs: Sequence[tuple[str, str]],
    templates: Sequence[tuple[str, str]],
    names: Mapping[str, str],
    source: str,
) -> Iterator[SentencePair]:
    """Fill templates with words for people: "My" before a relative, "The" before other nouns."""
    subjects = [pair for pair in word_pairs if not {*pair} & _POSSESSIVE]
    phrases = {word: _noun_phrase(word) for pair in subjects for word in pair}
    yield from from_templates(subjects, templates, phrases | dict(names), source)


def _noun_phrase(word: str) -> str:
    if word in _PRONOUNS:
        return word.capitalize()
    return f"The {word}" if word in _NOT_RELATIVES else f"My {word}"
