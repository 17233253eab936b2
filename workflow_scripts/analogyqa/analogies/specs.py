"""The rules that make sentence pairs, the distractors of their answers, and the solvers."""

from dataclasses import dataclass

from analogyqa.plugin import Plugin


@dataclass(frozen=True)
class RuleSpec(Plugin):
    """A rule that makes pairs of sentences in one relation.

    One over parsed sentences is `rule(doc, words)` and yields the pairs of a spaCy document; the
    others make pairs from words and templates or from labelled pairs, see `analogies.induce`.

    Args:
        parses: it needs parsed sentences.
    """

    parses: bool = False


@dataclass(frozen=True)
class DistractorSpec(Plugin):
    """A distractor: `make(doc, random)` returns a wrong answer that looks like the right one.

    `doc` is the parsed right answer. None is returned where it has no such distractor.
    """


@dataclass(frozen=True)
class SolverSpec(Plugin):
    """A solver of A : B :: C : ?, a class with the methods of `analogies.solve.Solver`.

    Args:
        constrained: A, B and C cannot be the answer.
        has_epsilon: it is made from an epsilon, see `settings.data.Evaluation`.
    """

    constrained: bool = True
    has_epsilon: bool = False


RELATIONS = {
    "templates": RuleSpec("analogyqa.analogies.induce:from_templates"),
    "persons": RuleSpec("analogyqa.analogies.induce:persons"),
    "comparative": RuleSpec("analogyqa.analogies.rules:comparative", parses=True),
    "opposites": RuleSpec("analogyqa.analogies.rules:opposites", parses=True),
    "plurals": RuleSpec("analogyqa.analogies.rules:plurals", parses=True),
    "conjugation": RuleSpec("analogyqa.analogies.rules:conjugation", parses=True),
    "entailment": RuleSpec("analogyqa.analogies.induce:entailed"),
    "negation": RuleSpec("analogyqa.analogies.rules:negation", parses=True),
    "no_such_thing": RuleSpec("analogyqa.analogies.rules:no_such_thing", parses=True),
    "passive": RuleSpec("analogyqa.analogies.rules:passive", parses=True),
    "objective_clause": RuleSpec("analogyqa.analogies.rules:objective_clause", parses=True),
    "predicative_adjective": RuleSpec(
        "analogyqa.analogies.rules:predicative_adjective", parses=True
    ),
}

DISTRACTORS = {
    "not_negation": DistractorSpec("analogyqa.analogies.distractors:not_negation"),
    "random_deletion": DistractorSpec("analogyqa.analogies.distractors:random_deletion"),
    "random_masking": DistractorSpec("analogyqa.analogies.distractors:random_masking"),
    "span_deletion": DistractorSpec("analogyqa.analogies.distractors:span_deletion"),
    "word_reordering": DistractorSpec("analogyqa.analogies.distractors:word_reordering"),
}

# Ways to draw distractors: as described, and with those of the authors' code that differ from it.
DISTRACTOR_STYLES = {
    "described": DISTRACTORS,
    "coded": DISTRACTORS
    | {
        "random_deletion": DistractorSpec("analogyqa.analogies.distractors:coded_deletion"),
        "random_masking": DistractorSpec("analogyqa.analogies.distractors:coded_masking"),
        "span_deletion": DistractorSpec("analogyqa.analogies.distractors:coded_span_deletion"),
        "word_reordering": DistractorSpec("analogyqa.analogies.distractors:coded_reordering"),
    },
}

SOLVERS = {
    "3cosadd": SolverSpec("analogyqa.analogies.solve:ThreeCosAdd"),
    "3cosadd_u": SolverSpec("analogyqa.analogies.solve:ThreeCosAdd", constrained=False),
    "3cosmul": SolverSpec("analogyqa.analogies.solve:ThreeCosMul", has_epsilon=True),
    "3cosmul_u": SolverSpec(
        "analogyqa.analogies.solve:ThreeCosMul", constrained=False, has_epsilon=True
    ),
    "3cosmul_shifted": SolverSpec("analogyqa.analogies.solve:ShiftedThreeCosMul"),
    "3cosmul_shifted_u": SolverSpec(
        "analogyqa.analogies.solve:ShiftedThreeCosMul", constrained=False
    ),
    "parallelogram": SolverSpec("analogyqa.analogies.solve:Parallelogram"),
    "ignore_a": SolverSpec("analogyqa.analogies.solve:IgnoreA"),
    "only_c": SolverSpec("analogyqa.analogies.solve:OnlyC"),
}
