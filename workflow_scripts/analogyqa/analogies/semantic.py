"""Rules over parsed sentences that change or rephrase the meaning.

Section 3.2.1 of Zhu and de Melo (2020). Entailments come from annotated files instead.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from analogyqa.analogies.dependencies import (
    auxiliaries,
    base_label,
    child,
    children,
    contiguous_subtree,
    find_subject,
    is_negated,
    is_plural,
    label,
)
from analogyqa.analogies.inflection import inflected, lemmatise
from analogyqa.analogies.pairs import (
    join_words,
    lower_first,
    replace_words,
    with_articles,
    word_set,
)
from analogyqa.analogies.syntactic import RELATIVE

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

Pairs = Iterator[tuple[str, str, str]]

_BE = ("is", "are", "was", "were", "am")
_SAYING = word_set("""
    say tell think believe claim argue report announce state know suggest note show explain warn
    add admit confirm conclude declare estimate indicate predict reveal find hope feel agree
    insist maintain acknowledge deny discover learn assert write demonstrate stress realize recall
    complain contend decide determine emphasize hear mean mention observe propose prove remember
    remark rule notice understand allege speculate theorize
""")
_FINITE = {"VBZ", "VBP", "VBD", "MD"}
# Adjectives that cannot follow a noun, or mean something else there.
_NOT_PREDICATIVE = word_set("""
    audio teenage holy good great other own same several many few more most less first last second
    third next main only such various former certain whole entire total front back top inner outer
    upper lower middle left right another much little chief major late live olympic professional
    electric acoustic public martial chinese asian american indian high hard fast ice hot hind
    fellow mere sheer utter very key human social political financial military potential recent
    present previous lone single double oriental german french spanish english african japanese
    bmx multiple numerous general united wild rocky roman urban rural local national central
    medical musical sexual dental alpine nuclear digital potted grand hula tan uniform further
    short modern fresh vice remote fake toy northern southern eastern western african-american
    middle-aged two like full polar bare long light dark rear extra civil legal royal solar joint
    fair direct maximum minimum male female adult orange still natural super
""")
# With these words, the scope of a negation is unclear.
_QUANTIFIERS = word_set("""
    some any only every each all many most if so both everyone everybody someone still already too
    also
""")
_NO_PASSIVE = word_set("""
    have be do get let take give make go wear resemble measure lack become stand sit walk run
    play lie
""")
_ARTICLES = ("a", "an", "the")


def negation(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield a negated sentence, and the original one."""
    if is_negated(doc) or doc[-1].text == "?" or any(t.lower_ in _QUANTIFIERS for t in doc):
        return
    for subject in doc:
        if base_label(subject) != "nsubj" or subject.lower_ in RELATIVE:
            continue
        head = subject.head
        if head.dep_ != "ROOT" or child(head, "conj") is not None:
            continue
        if any(label(t) == "conj" and t.pos_ in ("VERB", "AUX") for t in doc):
            continue
        finite = next((t for t in doc[subject.i + 1 :] if t.tag_ in _FINITE), None)
        if (
            finite is None
            or (finite.head != head and finite != head)
            or finite.text.startswith("'")
        ):
            continue
        verb = head.lower_
        if finite.lower_ in _BE or finite.tag_ == "MD":
            changes = {finite.i: f"{finite.text} not"}
        elif finite == head and head.pos_ == "VERB" and (lemma := lemmatise(verb, "VERB")):
            support = {"VBZ": "does", "VBP": "do", "VBD": "did"}[head.tag_]
            verb = lemma
            changes = {head.i: f"{support} not {verb}"}
        else:
            continue
        yield replace_words(doc, changes), replace_words(doc, {}), verb


def no_such_thing(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield "There is no deer jumping a fence" and "A deer is jumping a fence", as in SICK."""
    if len(doc) < 5 or doc[0].lower_ not in ("a", "an") or is_negated(doc):
        return
    if sum(t.tag_ in _FINITE for t in doc) != 1:
        return
    for verb in doc:
        helping, subject = auxiliaries(verb), find_subject(verb)
        if verb.tag_ != "VBG" or len(helping) != 1 or subject is None or base_label(verb) == "conj":
            continue
        (auxiliary,) = helping
        if auxiliary.lower_ != "is" or verb.i != auxiliary.i + 1 or subject.i >= auxiliary.i:
            continue
        if any(t.lower_ in ("and", "or", ",") for t in doc):
            continue
        changes = {0: "There is no", auxiliary.i: ""}
        yield replace_words(doc, changes), replace_words(doc, {}), verb.lower_


def passive(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield an active sentence, and its passive form."""
    if is_negated(doc) or doc[-1].text == "?" or any(t.text in ",;:'" for t in doc):
        return
    for verb in doc:
        if verb.dep_ != "ROOT" or verb.pos_ != "VERB" or child(verb, "conj") is not None:
            continue
        subject, done_to, helping = find_subject(verb), child(verb, "obj"), auxiliaries(verb)
        if (
            subject is None
            or done_to is None
            or child(verb, "iobj", "xcomp", "ccomp", "compound:prt")
        ):
            continue
        agent, patient = contiguous_subtree(subject), _core_of(done_to)
        if not agent or not patient or agent[0].i != 0 or done_to.pos_ not in ("NOUN", "PROPN"):
            continue
        last = helping[-1] if helping else None
        begin = last.i if last else verb.i
        if last is not None and verb.i != begin + 1:
            continue
        if agent[-1].i != begin - 1 or patient[0].i != verb.i + 1 or subject.pos_ == "PRON":
            continue
        if any(t.pos_ in ("VERB", "AUX") for t in [*agent, *patient]):
            continue
        lemma = lemmatise(verb.lower_, "VERB")
        participle = inflected(lemma, "VBN") if lemma else None
        if lemma is None or participle is None or lemma in _NO_PASSIVE:
            continue
        many = is_plural(done_to)
        if (
            verb.tag_ == "VBG"
            and last is not None
            and last.lower_ in ("is", "are")
            and len(helping) == 1
        ):
            being = "are being" if many else "is being"
        elif verb.tag_ == "VBZ" and not helping:
            being = "are" if many else "is"
        else:
            continue
        # A phrase after the object may modify it, but would then modify the agent.
        if any(t.pos_ != "PUNCT" for t in doc[patient[-1].i + 1 :]):
            continue
        if any(t.tag_ == "PRP$" for t in patient):
            continue
        by = ["by", *(lower_first(t) for t in agent)]
        turned = [*(t.text for t in patient), being, participle, *by]
        yield replace_words(doc, {}), join_words(with_articles(turned)), lemma


def _core_of(noun: "Token") -> "list[Token]":
    """Return a noun with its modifiers to the left."""
    before = [t.i for t in noun.children if t.i < noun.i]
    return list(noun.doc[min(before, default=noun.i) : noun.i + 1])


def objective_clause(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield a sentence with a reported clause, and the clause alone."""
    for that in doc:
        if that.lower_ != "that" or that.i < 2 or base_label(that) != "mark":
            continue
        verb = doc[that.i - 1]
        if verb.lemma_ not in _SAYING or verb.tag_ not in ("VBD", "VBZ", "VBP", "VB"):
            continue
        clause = that.head
        if base_label(clause) != "ccomp" or clause.head != verb:
            continue
        told = [t for t in doc[that.i + 1 :] if not (t.i == len(doc) - 1 and t.text in ".!?")]
        if not 4 <= len(told) <= 20 or any(t.text in ',;:()"-' for t in doc):
            continue
        if told[0].pos_ in ("ADP", "SCONJ", "VERB", "AUX", "ADV", "PART", "PUNCT"):
            continue
        if not any(base_label(t) == "nsubj" and t.i > that.i for t in clause.subtree):
            continue
        if not any(t.tag_ in ("VBD", "VBZ", "VBP", "MD") for t in told) or is_negated(
            doc[: that.i]
        ):
            continue
        if doc[-1].text == "?" or any(t.lower_ == "that" for t in told):
            continue
        yield replace_words(doc, {}), join_words([t.text for t in told]), verb.lemma_


def predicative_adjective(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield an adjective before its noun, and in a relative clause: a dog that is brown."""
    candidates = []
    for adjective in doc:
        noun = adjective.head
        if adjective.tag_ != "JJ" or base_label(adjective) != "amod" or noun.i != adjective.i + 1:
            continue
        if (
            noun.tag_ not in ("NN", "NNS")
            or adjective.i == 0
            or adjective.lower_ in _NOT_PREDICATIVE
        ):
            continue
        if doc[adjective.i - 1].lower_ not in _ARTICLES or "-" in adjective.text:
            continue
        article = doc[adjective.i - 1]
        if article.lower_ != "the" and is_plural(noun):
            continue
        if article.i and doc[article.i - 1].lower_ in ("and", "or"):  # a black and a white dog
            continue
        after = doc[noun.i + 1] if noun.i + 1 < len(doc) else None
        if after is not None and not (after.is_punct or after.tag_ in _FINITE):
            continue
        if [*children(noun, "acl", "appos", "conj", "compound")]:
            continue
        # Most adjectives in -al only classify: presidential elections.
        if lemmatise(adjective.lower_, "ADJ") != adjective.lower_ or adjective.text.endswith("al"):
            continue
        if noun.lower_ in ("one", "ones") or noun.text[0].isupper():
            continue
        candidates.append((adjective, noun))
    if not candidates or is_negated(doc) or doc[-1].text == "?":
        return
    adjective, noun = candidates[0]
    root = next(t for t in doc if t.dep_ == "ROOT")
    finite = {t.tag_ for t in (root, *root.children) if t is root or t.pos_ == "AUX"} & _FINITE
    if not finite:  # not a sentence
        return
    is_past = "VBD" in finite
    be = ("were" if is_past else "are") if is_plural(noun) else ("was" if is_past else "is")
    changes = {adjective.i: "", noun.i: f"{noun.text} that {be} {adjective.lower_}"}
    yield replace_words(doc, {}), replace_words(doc, changes), adjective.lower_
