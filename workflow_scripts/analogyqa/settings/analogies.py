"""Sentence analogies: how categories of sentence pairs are made, and how analogies are solved."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from analogyqa.analogies.specs import RELATIONS, SOLVERS
from analogyqa.settings.base import (
    Alternatives,
    Count,
    Joined,
    OneOf,
    OneOrMore,
    Section,
    WholeNumber,
)

SOLVER, TRAINED_ON, WEIGHTED_BY = "solver", "trained_on", "weighted_by"


class Category(Section):
    """How the sentence pairs of a category are made.

    Args:
        title: The heading of the category's review page.
        rule: A key of `RELATIONS`, or several rules over parsed sentences, which then give equally
            many pairs each.
        pairs: The maximum number of pairs.
        each: The maximum number of pairs with the same changed word, such as an adjective.
        words: A file of word analogies and its section, for rules with templates.
        templates: Sentences with {} for the word, or pairs of one sentence for each side.
        names: How sentences write a word, such as "the USA", by word.
        texts: Files of sentences, for rules over parsed sentences.
        holding: Words of which a sentence must contain at least one to be parsed.
        inference: Files of natural language inference, for rules that read their labels.
        length: The minimum and maximum number of words in a sentence.
        distractors: Whether each pair has candidates of its own. If false, all sentences of the
            category are candidates.
    """

    title: str
    rule: Annotated[list[Annotated[str, OneOf(RELATIONS)]], Field(min_length=1), OneOrMore]
    pairs: Count
    each: Count = 20
    words: tuple[Alternatives, str] | None = None
    templates: list[str | tuple[str, str]] = []
    names: dict[str, str] = {}
    texts: list[Alternatives] = []
    holding: list[str] = []
    inference: list[Alternatives] = []
    length: tuple[WholeNumber, WholeNumber] = (4, 20)
    distractors: bool = False

    @model_validator(mode="after")
    def _check_rule_inputs(self) -> "Category":
        reads = (self.templates and self.words, self.texts, self.inference)
        if sum(map(bool, reads)) != 1:
            raise ValueError("give exactly one of: templates with words, texts, inference")
        for rule in self.rule:
            if RELATIONS[rule].parses != bool(self.texts):
                needs = "needs" if RELATIONS[rule].parses else "reads no"
                raise ValueError(f"the rule {rule} {needs} texts")
        if len(self.rule) > 1 and not self.texts:
            raise ValueError("rule: only rules over texts can be combined")
        return self

    @property
    def parses(self) -> bool:
        """Whether a parser is needed, for the rule or for distractors."""
        return bool(self.texts) or self.distractors

    @property
    def sides(self) -> list[tuple[str, str]]:
        """The templates as pairs of the sentences of both sides."""
        return [(side, side) if isinstance(side, str) else side for side in self.templates]


class Evaluation(Section):
    """How analogies are asked, answered and averaged.

    Args:
        both_directions: Whether both pairs of an analogy are asked for, or only one; see
            `analogies.solve`.
        candidates: Whether the candidates are those that Zhu and de Melo (2020) describe, or those
            of their code, see `analogies.solve`.
        ties: Whether the first of equal scores wins, or all share that differ by less than 1e-6.
        epsilon: The epsilon of 3CosMul on raw cosines, in categories whose candidates are all
            sentences, and in those with distractors.
        weighted_by: The weight of a category in a mean: the number of analogies found, or the
            number that its configured `pairs` would give.
    """

    both_directions: bool = False
    candidates: Literal["described", "coded"] = "described"
    ties: Literal["shared", "first"] = "shared"
    epsilon: Annotated[
        list[Annotated[float, Field(gt=0)]], Joined, Field(min_length=2, max_length=2)
    ] = [1e-5, 1e-5]
    weighted_by: Literal["found", "configured"] = "found"


class Solving(Evaluation):
    """The overrides of how a cell solves analogies.

    Args:
        solver: A key of `SOLVERS`.
        trained_on: The data set and the subset of the cell whose trained encoder is used.
    """

    solver: Annotated[str, OneOf(SOLVERS)] = next(iter(SOLVERS))
    trained_on: Annotated[list[str], Joined, Field(min_length=2, max_length=2)] | None = None


SOLVING_OVERRIDES = tuple(Solving.model_fields)


class Parser(Section):
    """The parser of sentences.

    Args:
        model: The spaCy model that tags and parses them, given as in `named_entities`.
    """

    model: Alternatives
