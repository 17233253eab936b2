"""Sentence analogies: the categories of pairs that are induced, and how analogies are solved."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from analogyqa.registry import RELATIONS, SOLVERS
from analogyqa.settings.base import Alternatives, Count, Joined, Section, WholeNumber

SOLVER, TRAINED_ON = "solver", "trained_on"
SOLVING_OVERRIDES = (SOLVER, TRAINED_ON)


class Category(Section):
    """How the sentence pairs of a relation are made.

    Args:
        title: as the review of it is headed.
        rule: a key of `RELATIONS`; of several over parsed sentences each gives as many pairs.
        pairs: the most that are made.
        each: the most with the same changed word, such as an adjective.
        words: of a rule that needs them: the file of word analogies and its section.
        templates: of a rule of templates: a sentence with {} for the word, or one for either side.
        names: a word to how sentences write it, such as "the USA".
        texts: of a rule over parsed sentences: files that hold sentences.
        holding: words of which a sentence must hold one; others are not parsed.
        inference: of a rule that reads labels: files of natural language inference.
        length: the least and the most words of a sentence.
        distractors: whether each pair has candidates of its own; otherwise all sentences are.
    """

    title: str
    rule: Annotated[
        list[Literal[tuple(RELATIONS)]],  # type: ignore[valid-type]
        Field(min_length=1),
        BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    ]
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
    def _has_what_its_rule_reads(self) -> "Category":
        reads = (self.templates and self.words, self.texts, self.inference)
        if sum(map(bool, reads)) != 1:
            raise ValueError("give one of templates with words, texts, and inference")
        for rule in self.rule:
            if RELATIONS[rule].parses != bool(self.texts):
                needs = "needs" if RELATIONS[rule].parses else "reads no"
                raise ValueError(f"the rule {rule} {needs} texts")
        if len(self.rule) > 1 and not self.texts:
            raise ValueError("rule: several go with texts only")
        return self

    @property
    def parses(self) -> bool:
        """Whether a parser is needed: by its rule, or for distractors."""
        return bool(self.texts) or self.distractors

    @property
    def sides(self) -> list[tuple[str, str]]:
        """The templates, both sides of each."""
        return [(each, each) if isinstance(each, str) else each for each in self.templates]


class Solving(Section):
    """What a cell may have otherwise in how it solves analogies.

    Args:
        solver: a key of `SOLVERS`.
        trained_on: of a system that is trained, a data set and a subset of it: its encoder is the
            one of that cell.
    """

    solver: Literal[tuple(SOLVERS)] = next(iter(SOLVERS))  # type: ignore[valid-type]
    trained_on: Annotated[list[str], Joined, Field(min_length=2, max_length=2)] | None = None


class Parser(Section):
    """Who tags and parses sentences: a spaCy model, named as that of `NamedEntities`."""

    model: Alternatives
