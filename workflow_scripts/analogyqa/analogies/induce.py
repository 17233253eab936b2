"""Make the sentence pairs of a category: from templates and word pairs, sentences, or triplets.

Templates are section 3.1.1 of Zhu and de Melo (2020), and its nationality adjectives.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from analogyqa.analogies.distractors import draw_distractors, letters
from analogyqa.analogies.grammar import finish_sentence, word_set
from analogyqa.analogies.specs import RELATIONS
from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_lines
from analogyqa.rewriting.annotate import load_model
from analogyqa.schemas import ANALOGIES
from analogyqa.vectors.files import read_packed_lines

if TYPE_CHECKING:
    from spacy.language import Language

    from analogyqa.settings.data import Category as CategorySection


BATCH = 200
PLACE = "{}"
_SECTION = ": "
# Words for men and women that get "The"; others, for relatives, get "My", and pronouns nothing.
_NOT_RELATIVES = word_set("""
    king queen groom bride prince princess man woman boy girl policeman policewoman
""")
_PRONOUNS = {"he", "she"}
_POSSESSIVE = {"his", "her"}  # cannot be subjects


class SentencePair(NamedTuple):
    """Two related sentences, their source file and the rule that made them.

    `varied` is the word that the rule changes, such as the adjective. The number of pairs with the
    same varied word is limited. `words` is the number of the pair of words that fills a template;
    0 for sentences that no template made. `not_negated` is a distractor of the second sentence, ""
    if none is known.
    """

    first: str
    second: str
    source: str
    rule: str
    varied: str = ""
    words: int = 0
    not_negated: str = ""


def induce_category(
    category: "CategorySection",
    words: str,
    texts: Sequence[str],
    inference: Mapping[str, pd.DataFrame],
    parser: str,
    seed: int,
    triplets: Sequence[str] = (),
) -> pd.DataFrame:
    """Make the sentence pairs of a category, as a table with schema ANALOGIES.

    Args:
        category: the section of the configuration.
        words: file of word analogies, for rules that need words; "" for others.
        texts: files of sentences, for rules over parsed sentences.
        inference: NLI pairs of each file (premise, hypothesis, label), for rules that need labels.
        parser: spaCy model that parses sentences, "" for none.
        seed: shuffles candidates and draws distractors.
        triplets: files of triplets, see `read_triplets`.

    Raises:
        AnalogyQAError: when a file is malformed or the model cannot be loaded.
    """
    nlp = load_parser(parser) if category.parses else None
    section = read_word_pairs(words, category.words[1]) if category.words else []
    parts: Sequence[Iterable[SentencePair]] = []
    if category.templates:
        make = RELATIONS[category.rule[0]].load()
        unique: dict[str, SentencePair] = {}
        for pair in make(section, category.sides, category.names, Path(words).name):
            unique.setdefault(pair.first, pair)
        filled = list(unique.values())
        order = np.random.default_rng(seed).permutation(len(filled))
        parts = [[filled[row] for row in sorted(order[: category.pairs])]]
    elif inference:
        make = RELATIONS[category.rule[0]].load()
        if category.relatedness:
            inference = {
                path: related_pairs(file_pairs, path, category.relatedness)
                for path, file_pairs in inference.items()
            }
        parts = [
            make(file_pairs, Path(path).name, *category.length, seed)
            for path, file_pairs in inference.items()
        ]
    elif nlp:
        sentences = read_sentences(texts, *category.length)
        parts = [
            apply_rule(rule, sentences, dict(section), category.holding, nlp, [seed, number])
            for number, rule in enumerate(category.rule)
        ]
    known = (pair for path in triplets for pair in read_triplets(path, category.triplet_columns))
    made = filter(None, chain.from_iterable(zip_longest(*parts)))  # from each part in turn
    parse, style = (nlp, category.distractors) if category.distractors else (None, "")
    return choose_pairs(chain(known, made), category.pairs, category.each, parse, seed, style)


def load_parser(model: str) -> "Language":
    """Load a spaCy model without its named-entity recogniser."""

    def components(nlp: "Language") -> list[str]:
        return [name for name in nlp.pipe_names if name != "ner"]

    return load_model(model, components, "set parser.model to the folder of a model.")


def read_word_pairs(path: str | Path, section: str) -> list[tuple[str, str]]:
    """Return the unique word pairs in a section of a file like Google's questions-words.txt.

    Raises:
        AnalogyQAError: for an unreadable file, a line without exactly four words or a missing
            section.
    """
    pairs: dict[str, dict[tuple[str, str], None]] = {}
    current: dict[tuple[str, str], None] = {}
    for number, line in read_lines(path):
        words = line.split()
        if line.startswith(_SECTION):
            current = pairs.setdefault(line.removeprefix(_SECTION).strip(), {})
        elif len(words) == 4:
            current |= dict.fromkeys([(words[0], words[1]), (words[2], words[3])])
        else:
            raise AnalogyQAError(f"{path}, line {number}: {len(words)} words instead of 4.")
    if section not in pairs:
        raise AnalogyQAError(
            f"{path}: no section {section!r}. The sections are {', '.join(pairs)}."
        )
    return list(pairs[section])


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
            texts = [names.get(word, word) for word in pair]
            first, second = (
                text if template == PLACE else finish_sentence(template.replace(PLACE, text))
                for template, text in zip(sides, texts, strict=True)
            )
            yield SentencePair(first, second, source, f"template {number}", words=words)


def persons(
    word_pairs: Sequence[tuple[str, str]],
    templates: Sequence[tuple[str, str]],
    names: Mapping[str, str],
    source: str,
) -> Iterator[SentencePair]:
    """Fill templates with words for people: "My" before a relative, "The" before other nouns."""
    subjects = [pair for pair in word_pairs if not {*pair} & _POSSESSIVE]
    phrases = {
        word: word.capitalize()
        if word in _PRONOUNS
        else f"{'The' if word in _NOT_RELATIVES else 'My'} {word}"
        for pair in subjects
        for word in pair
    }
    yield from from_templates(subjects, templates, phrases | dict(names), source)


def apply_rule(
    rule: str,
    sentences: Mapping[str, str],
    words: Mapping[str, str],
    holding: Sequence[str],
    nlp: "Language",
    seed: int | list[int],
) -> Iterator[SentencePair]:
    """Apply a rule, a key of `RELATIONS`, to parsed sentences in random order; yield its pairs.

    Args:
        sentences: the source file of each sentence.
        words: words for the rule, such as the antonyms of adjectives.
        holding: if not empty, only sentences with one of these words or `words` are parsed.
    """
    keywords = {word.lower() for word in holding} | {*words}
    selected = [
        text
        for text in sentences
        if not keywords or keywords & {*text.lower().rstrip(".!?").replace(",", " ").split()}
    ]
    order = np.random.default_rng(seed).permutation(len(selected))
    make = RELATIONS[rule].load()
    for doc in nlp.pipe((selected[row] for row in order), batch_size=BATCH):
        for first, second, varied in make(doc, words):
            yield SentencePair(first, second, sentences[doc.text], rule, varied)


def entailed(
    pairs: pd.DataFrame, source: str, least: int, most: int, seed: int
) -> Iterator[SentencePair]:
    """Yield the NLI pairs labelled entailment, in random order, as hypothesis and premise.

    The answer is the premise, and distractors are made from it: Zhu and de Melo (2020), section
    3.2.2, and their code. Each sentence has `least` to `most` words. `source` is the name of the
    file of the pairs, a table with the columns premise, hypothesis and label.
    """
    entailments = pairs[pairs["label"] == "entailment"]
    for row in np.random.default_rng(seed).permutation(len(entailments)):
        pair = entailments.iloc[row]
        texts = finish_sentence(pair["hypothesis"]), finish_sentence(pair["premise"])
        if all(least <= len(text.split()) <= most for text in texts):
            yield SentencePair(*texts, source, "label")


def related_pairs(pairs: pd.DataFrame, path: str | Path, least: float) -> pd.DataFrame:
    """Return the NLI pairs whose relatedness is at least `least`, according to their file.

    Raises AnalogyQAError for a file without relatedness, which those of SICK have.
    """
    try:
        header, *rows = (line.split("\t") for line in read_packed_lines(path))
        places = [header.index(name) for name in _RELATEDNESS]
        scored = ([row[place] for place in places] for row in rows if len(row) == len(header))
        related = {(a, b) for a, b, score in scored if float(score) >= least}
    except ValueError as error:
        raise AnalogyQAError(
            f"{path}: no column {_RELATEDNESS[-1]} with numbers ({error}). Name files of SICK, or "
            "remove `relatedness` from the category."
        ) from error
    both = zip(pairs["premise"], pairs["hypothesis"], strict=True)
    return pairs[[pair in related for pair in both]]


def read_triplets(path: str | Path, columns: Sequence[int]) -> Iterator[SentencePair]:
    """Yield the pairs of a file, in its order; each line has two sentences and a distractor.

    They are separated by tabs or by U+0001. `columns` are the places of the first sentence, the
    second and the distractor, from 1. Sentences are left as they are.

    Raises AnalogyQAError for a line without exactly three texts.
    """
    for number, line in read_lines(path):
        fields = [" ".join(field.split()) for field in re.split("[\t\x01]", line)]
        if len(fields) != 3 or not all(fields):
            raise AnalogyQAError(
                f"{path}, line {number}: {len(fields)} columns, {sum(map(bool, fields))} of them "
                "with text. Write two sentences and a distractor with tabs between them."
            )
        first, second, distractor = (fields[column - 1] for column in columns)
        yield SentencePair(first, second, Path(path).name, "triplet", not_negated=distractor)


def choose_pairs(
    pairs: Iterable[SentencePair],
    count: int,
    per_word: int,
    nlp: "Language | None",
    seed: int,
    style: str = "described",
) -> pd.DataFrame:
    """Choose the first valid pairs, as a table with schema ANALOGIES.

    The two sentences of a pair differ. No two pairs share their first sentence or, except with
    templates and labelled pairs, their second. So if a word occurs in several pairs, such as a city
    in two states, the first pair wins. The ids of pairs that templates make of one pair of words
    differ after a dot only. No distractor equals a sentence of any pair, but for case and
    punctuation: it is drawn again, or its pair refused.

    Args:
        pairs: candidates, in order.
        count: largest number of pairs.
        per_word: largest number of pairs with the same varied word.
        nlp: parses second sentences, to draw distractors; without it there are none.
        seed: draws distractors.
        style: how they are drawn, a key of `DISTRACTOR_STYLES`.
    """
    rows: list[tuple[str, str, str, str, str, list[str]]] = []
    varied: Counter[str] = Counter()
    per_template: Counter[int] = Counter()
    firsts: set[str] = set()
    seconds: set[str] = set()
    sentences: set[str] = set()
    wrong: set[str] = set()
    for pair in pairs:
        if len(rows) == count:
            break
        is_repeated = pair.varied and (pair.second in seconds or varied[pair.varied] == per_word)
        if is_repeated or pair.first in firsts or pair.first.lower() == pair.second.lower():
            continue
        distractors: list[str] = []
        if nlp:
            own = {letters(pair.first), letters(pair.second)}
            taken = sentences | own
            drawn = draw_distractors(nlp(pair.second), seed, style, taken, pair.not_negated)
            if drawn is None or own & wrong:
                continue
            distractors, sentences = drawn, taken
            wrong.update(map(letters, drawn))
        varied[pair.varied] += 1
        firsts.add(pair.first)
        seconds.add(pair.second)
        per_template[pair.words] += 1
        number = f"{pair.words:04d}.{per_template[pair.words]}"
        pair_id = number if pair.words else f"{len(rows) + 1:04d}"
        rows.append((pair_id, *pair[:4], distractors))
    return pd.DataFrame(rows, columns=ANALOGIES.names)


# Columns of SICK.
_RELATEDNESS = ("sentence_A", "sentence_B", "relatedness_score")
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
