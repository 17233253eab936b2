"""Make the sentence pairs of a category from words and sentences."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analogyqa.analogies.distractors import draw_distractors
from analogyqa.analogies.pairs import SentencePair, finish_sentence
from analogyqa.analogies.specs import RELATIONS
from analogyqa.analogies.templates import read_word_pairs
from analogyqa.rewriting.annotate import load_model
from analogyqa.schemas import ANALOGIES
from analogyqa.vectors.files import read_packed_lines

if TYPE_CHECKING:
    from spacy.language import Language

    from analogyqa.settings.data import Category as CategorySection


BATCH = 200


def induce_category(
    category: "CategorySection",
    words: str,
    texts: Sequence[str],
    inference: Mapping[str, pd.DataFrame],
    parser: str,
    seed: int,
) -> pd.DataFrame:
    """Make the sentence pairs of a category, as a table with schema ANALOGIES.

    Args:
        category: the section of the configuration.
        words: file of word analogies, for rules that need words; "" for others.
        texts: files of sentences, for rules over parsed sentences.
        inference: NLI pairs of each file (premise, hypothesis, label), for rules that need labels.
        parser: spaCy model that parses sentences, "" for none.
        seed: shuffles candidates and draws distractors.

    Raises:
        AnalogyQAError: when a file is malformed or the model cannot be loaded.
    """
    nlp = load_parser(parser) if category.parses else None
    section = read_word_pairs(words, category.words[1]) if category.words else []
    pairs: Iterable[SentencePair]
    make = RELATIONS[category.rule[0]].load()
    if category.templates:
        unique: dict[str, SentencePair] = {}
        for pair in make(section, category.sides, category.names, Path(words).name):
            unique.setdefault(pair.first, pair)
        filled = list(unique.values())
        order = np.random.default_rng(seed).permutation(len(filled))
        pairs = [filled[row] for row in sorted(order[: category.pairs])]
    elif inference or nlp is None:
        parts = [
            make(file_pairs, Path(path).name, *category.length, seed)
            for path, file_pairs in inference.items()
        ]
        pairs = _interleave(parts)
    else:
        sentences = read_sentences(texts, *category.length)
        pairs = _interleave(
            [
                apply_rule(rule, sentences, dict(section), category.holding, nlp, [seed, number])
                for number, rule in enumerate(category.rule)
            ]
        )
    return choose_pairs(
        pairs, category.pairs, category.each, nlp if category.distractors else None, seed
    )


def _interleave(parts: Sequence[Iterator[SentencePair]]) -> Iterator[SentencePair]:
    for row in zip_longest(*parts):
        yield from filter(None, row)


def load_parser(model: str) -> "Language":
    """Load a spaCy model without its named-entity recogniser."""

    def components(nlp: "Language") -> list[str]:
        return [name for name in nlp.pipe_names if name != "ner"]

    return load_model(model, components, "set parser.model to the folder of a model.")


def apply_rule(
    rule: str,
    sentences: Mapping[str, str],
    words: Mapping[str, str],
    holding: Sequence[str],
    nlp: "Language",
    seed: int | list[int],
) -> Iterator[SentencePair]:
    """Apply a rule to parsed sentences in random order, and yield its pairs.

    Args:
        rule: a key of `RELATIONS`.
        sentences: the source file of each sentence.
        words: words for the rule, such as the antonyms of adjectives.
        holding: if not empty, only sentences with one of these words or `words` are parsed.
        nlp, seed: parse and shuffle the sentences.
    """
    keywords = {word.lower() for word in holding} | {*words}
    selected = [text for text in sentences if not keywords or keywords & {*_split(text)}]
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


def choose_pairs(
    pairs: Iterable[SentencePair], count: int, per_word: int, nlp: "Language | None", seed: int
) -> pd.DataFrame:
    """Choose the first valid pairs, as a table with schema ANALOGIES.

    The two sentences of a pair differ. No two pairs share their first sentence or, except with
    templates and labelled pairs, their second. So if a word occurs in several pairs, such as a city
    in two states, the first pair wins. The ids of pairs that templates make of one pair of words
    differ after a dot only.

    Args:
        pairs: candidates, in order.
        count: largest number of pairs.
        per_word: largest number of pairs with the same varied word.
        nlp, seed: parse second sentences and draw distractors; without `nlp` there are none.
    """
    rows: list[tuple[str, str, str, str, str, list[str]]] = []
    varied: Counter[str] = Counter()
    per_template: Counter[int] = Counter()
    firsts, seconds = set(), set()
    for pair in pairs:
        if len(rows) == count:
            break
        is_taken = pair.first in firsts or (pair.varied and pair.second in seconds)
        if pair.first.lower() == pair.second.lower() or is_taken:
            continue
        if pair.varied and varied[pair.varied] == per_word:
            continue
        distractors = draw_distractors(nlp(pair.second), seed) if nlp else []
        if distractors is None:
            continue
        varied[pair.varied] += 1
        firsts.add(pair.first)
        seconds.add(pair.second)
        per_template[pair.words] += 1
        pair_id = (
            f"{pair.words:04d}.{per_template[pair.words]}" if pair.words else f"{len(rows) + 1:04d}"
        )
        rows.append((pair_id, pair.first, pair.second, pair.source, pair.rule, distractors))
    return pd.DataFrame(rows, columns=ANALOGIES.names)


def _split(text: str) -> list[str]:
    return text.lower().rstrip(".!?").replace(",", " ").split()


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
