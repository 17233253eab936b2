"""From words and sentences to the table of a category."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analogyqa.analogies.distractors import distractors_of
from analogyqa.analogies.pairs import SentencePair, finish_sentence
from analogyqa.analogies.specs import RELATIONS
from analogyqa.analogies.templates import read_word_pairs
from analogyqa.analogies.texts import read_sentences
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas.analogies import ANALOGIES

if TYPE_CHECKING:
    from spacy.language import Language

    from analogyqa.settings.analogies import Category as CategorySection

BATCH = 200


def induce_category(
    category: "CategorySection",
    words: str | None,
    texts: Sequence[str],
    inference: Mapping[str, pd.DataFrame],
    parser: str | None,
    seed: int,
) -> pd.DataFrame:
    """Make the sentence pairs of a category: a table of schema ANALOGIES.

    Args:
        category: its section of the configuration.
        words: the file of word analogies, for a rule of templates or of a list of words.
        texts: files of sentences, for a rule over parsed ones.
        inference: file to its pairs (premise, hypothesis, label), for a rule that reads labels.
        parser: a spaCy model, for what is parsed.
        seed: of the order and of the distractors.

    Raises AnalogyQAError when a file is not of its form, or the model cannot be loaded.
    """
    nlp = load_parser(parser) if category.parses else None
    section = read_word_pairs(words, category.words[1]) if category.words else []
    make = RELATIONS[category.rule[0]].load()
    if category.templates:
        made = make(section, category.sides, category.names, Path(words).name)
        order = np.random.default_rng(seed)
        pairs = list(made)
        pairs = [pairs[place] for place in sorted(order.permutation(len(pairs))[: category.pairs])]
    elif inference:
        parts = [
            make(own, Path(path).name, *category.length, seed) for path, own in inference.items()
        ]
        pairs = _in_turns(parts)
    else:
        sentences = read_sentences(texts, *category.length)
        pairs = _in_turns(
            [
                apply_rule(rule, sentences, dict(section), category.holding, nlp, [seed, number])
                for number, rule in enumerate(category.rule)
            ]
        )
    return choose_pairs(
        pairs, category.pairs, category.each, nlp if category.distractors else None, seed
    )


def _in_turns(parts: Sequence[Iterator[SentencePair]]) -> Iterator[SentencePair]:
    for row in zip_longest(*parts):
        yield from filter(None, row)


def load_parser(model: str) -> "Language":
    """Return a spaCy model without what finds names.

    Raises AnalogyQAError when it cannot be loaded.
    """
    import spacy

    try:
        nlp = spacy.load(model, exclude=["ner"])
        nlp("Ada is taller than Grace.").to_json()  # a file that is missing may show only here
        return nlp
    except Exception as error:  # of any kind: each component has a reader of its own
        raise AnalogyQAError(
            f"{model}: this spaCy model cannot be loaded ({error}). Is it whole, and made "
            f"for spaCy {spacy.__version__}?"
        ) from error


def apply_rule(
    rule: str,
    sentences: Mapping[str, str],
    words: Mapping[str, str],
    holding: Sequence[str],
    nlp: "Language",
    seed: int | list[int],
) -> Iterator[SentencePair]:
    """Yield the pairs that a rule over parsed sentences gives, in an order that the seed draws.

    Args:
        rule: a key of `RELATIONS`.
        sentences: to the name of the file that each is from.
        words: for the rule, such as adjectives to their antonyms.
        holding: only sentences with one of these words, where there are such, are parsed.
        nlp: tags words and parses sentences.
        seed: of the order.
    """
    wanted = {word.lower() for word in holding} | {*words}
    fitting = [text for text in sentences if not wanted or wanted & {*_words_of(text)}]
    order = np.random.default_rng(seed).permutation(len(fitting))
    make = RELATIONS[rule].load()
    for doc in nlp.pipe((fitting[place] for place in order), batch_size=BATCH):
        for first, second, varied in make(doc, words):
            yield SentencePair(first, second, sentences[doc.text], rule, varied)


def entailed(
    pairs: pd.DataFrame, source: str, least: int, most: int, seed: int
) -> Iterator[SentencePair]:
    """Yield the pairs of a table of inference that are labelled entailment.

    Args:
        pairs: columns premise, hypothesis, label.
        source: the name of their file.
        least, most: words of a sentence.
        seed: of their order.
    """
    own = pairs[pairs["label"] == "entailment"]
    for place in np.random.default_rng(seed).permutation(len(own)):
        texts = [finish_sentence(own.iloc[place][name]) for name in ("premise", "hypothesis")]
        if all(least <= len(text.split()) <= most for text in texts):
            yield SentencePair(*texts, source, "label")


def choose_pairs(
    pairs: Iterable[SentencePair], count: int, each: int, nlp: "Language | None", seed: int
) -> pd.DataFrame:
    """Return the first pairs that may be taken, up to a count: a table of schema ANALOGIES.

    A sentence is the first of one pair only, and unless templates make it, the second of one; no
    pair is of one sentence. Of words that come in several pairs, such as a city of two states, so
    the first pair is taken.

    Args:
        pairs: in order.
        count: the most.
        each: the most with the same varied word.
        nlp: parses the second sentences, from which distractors are made; None for no distractors.
        seed: of the distractors.
    """
    rows, varied, firsts, seconds = [], Counter(), set(), set()
    for pair in pairs:
        if len(rows) == count:
            break
        is_taken = pair.first in firsts or (pair.varied and pair.second in seconds)
        if pair.first.lower() == pair.second.lower() or is_taken:
            continue
        if pair.varied and varied[pair.varied] == each:
            continue
        distractors = distractors_of(nlp(pair.second), seed) if nlp else []
        if distractors is None:
            continue
        varied[pair.varied] += 1
        firsts.add(pair.first)
        seconds.add(pair.second)
        rows.append((pair.first, pair.second, pair.source, pair.rule, distractors))
    frame = pd.DataFrame(rows, columns=ANALOGIES.names[1:])
    frame.insert(0, "pair_id", [f"{number:04d}" for number in range(1, len(frame) + 1)])
    return frame


def _words_of(text: str) -> list[str]:
    return text.lower().rstrip(".!?").replace(",", " ").split()
