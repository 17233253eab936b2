"""Rules over parsed sentences: sections 3.1.2 and 3.2.1 of Zhu and de Melo (2020).

A rule takes a parsed sentence and yields sentence pairs. When it is not sure of a sentence, it
yields none. Some rules change the form of a word, others the meaning or its wording. Entailments
come from annotated files instead.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from analogyqa.analogies.grammar import (
    auxiliaries,
    base_label,
    child,
    children,
    contiguous_subtree,
    find_copula,
    find_subject,
    inflected,
    is_form,
    is_negated,
    is_plural,
    label,
    lemmatise,
)
from analogyqa.analogies.pairs import (
    join_words,
    lower_first,
    replace_words,
    with_articles,
    word_set,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token


# First sentence, second sentence, and the word that varies.
Pairs = Iterator[tuple[str, str, str]]

_DEGREES = word_set("""
    much even far significantly slightly considerably somewhat lot still a rather substantially
    generally usually often
""")
_BE = word_set("is are was were be been")
_COPULAS = word_set("be become seem look appear remain feel grow")
_AMOUNTS = {"much", "many", "little", "few", "less", "likely", "able", "common"}
# With these words, more than the phrase after "than" can depend on a comparative.
_CONDITIONS = word_set("if how when as whose")
# Not subjects of their own, or none that a rule can move.
_RELATIVE = word_set("who that which there what")
_MODALS = {"will", "can", "should", "could", "would", "may", "must", "might"}
_NUMERALS = word_set("""
    two three four five six seven eight nine ten eleven twelve twenty thirty fifty
""")
# A numeral after these cannot become "one".
_NOT_BEFORE_NUMERALS = word_set(
    "the these those of or to - his her its my our last first next than"
)
# Before a noun, the antonym of these has another meaning: a possible candidate, a clear sky.
_NO_ATTRIBUTES = word_set("certain clear competitive known likely pleasant possible")
# Words that require or imply a plural.
_OF_SEVERAL = word_set("""
    other others each both together their they them themselves another apart between among all one
    themself same opposite different respectively side various these those race half some
""")


def comparative(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield a predicate and its comparative: was long, was longer than the first one.

    Only the compared phrase may follow the adjective, so that it can be removed.
    """
    for than in doc:
        if than.lower_ != "than" or not 0 < than.i < len(doc) - 1:
            continue
        if any(t.text in ",;:()" for t in doc[than.i :]):
            continue
        adjective = doc[than.i - 1]
        more = doc[than.i - 2] if than.i > 1 and doc[than.i - 2].lower_ == "more" else None
        if adjective.pos_ != "ADJ":
            continue
        base = adjective.text if more else lemmatise(adjective.lower_, "ADJ")
        if (
            not base
            or base in _AMOUNTS
            or (more is None and not is_form(adjective.lower_, base, "JJR"))
        ):
            continue
        begin = (more or adjective).i
        removed = {token.i: "" for token in doc[than.i :] if token.text not in ".!?"}
        removed |= {more.i: ""} if more else {}
        position = begin - 1
        while position > 0 and doc[position].lower_ in _DEGREES:
            removed[position] = ""
            position -= 1
        verb = doc[position]
        if verb.lemma_ not in _COPULAS and verb.lower_ not in _BE:
            continue
        if position == 0 or doc[position - 1].lower_ in _RELATIVE or _is_finite(doc[than.i + 1]):
            continue
        if is_negated(doc) or any(token.lower_ in _CONDITIONS for token in doc):
            continue
        yield replace_words(doc, removed | {adjective.i: base}), replace_words(doc, {}), base


def _is_finite(token: "Token") -> bool:
    return token.tag_ in ("VBZ", "VBP", "VBD", "MD")


def opposites(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield a sentence with an adjective, and with its antonym: possible, impossible."""
    adjectives = [token for token in doc if token.lower_ in words and token.pos_ == "ADJ"]
    if len(adjectives) != 1 or is_negated(doc) or any(t.lower_ in ("any", "every") for t in doc):
        return
    (adjective,) = adjectives
    before = doc[adjective.i - 1].lower_ if adjective.i else ""
    after = doc[adjective.i + 1].lower_ if adjective.i + 1 < len(doc) else ""
    is_predicate = find_copula(adjective) is not None
    is_attribute = base_label(adjective) == "amod" and adjective.head.i == adjective.i + 1
    if (
        not (is_predicate or is_attribute)
        or "-" in (before, after)
        or before in ("as", "how", "more", "most", "less", "least", "too", "so", "not", "n't", "if")
    ):
        return
    if is_attribute and not is_predicate and adjective.lower_ in _NO_ATTRIBUTES:
        return
    if adjective.lower_ == "responsible" and not is_attribute:  # who did it is not irresponsible
        return
    # A verb, a name or heading, "to be sure", "certain to come".
    if before == "to" or adjective.i == 0 or (doc[0].lower_ == "to" and adjective.i == 2):
        return
    if after == "to" and adjective.lower_ in ("certain", "sure"):
        return
    if after == "of" and adjective.lower_ == "clear":
        return
    # "Fuel efficient", superlatives, and texts that are not sentences.
    if doc[adjective.i - 1].tag_ in ("NN", "NNS", "RBS", "JJS"):
        return
    if not any(map(_is_finite, doc)):
        return
    if is_attribute and adjective.head.text[0].isupper():  # a name
        return
    yield (
        replace_words(doc, {}),
        replace_words(doc, {adjective.i: words[adjective.lower_]}),
        adjective.lower_,
    )


def plurals(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield a sentence about one thing, and about several: one city, six cities."""
    for number in doc:
        noun = number.head
        if number.lower_ not in _NUMERALS or base_label(number) != "nummod" or noun.tag_ != "NNS":
            continue
        others = {token.lower_ for token in doc} - {number.lower_}
        if others & _OF_SEVERAL or noun.i - number.i > 3 or noun.i < number.i:
            continue
        if any(token.lower_ in _NUMERALS for token in doc if token.i != number.i):
            continue
        if number.i and doc[number.i - 1].lower_ in _NOT_BEFORE_NUMERALS:
            continue
        if child(noun, "conj", "cc") is not None or base_label(noun) == "conj":
            continue
        if noun.i + 1 < len(doc) and doc[noun.i + 1].text in ("'", "'s"):
            continue
        # Only adjectives and singular nouns may stand between number and noun.
        if any(
            doc[i].pos_ not in ("ADJ", "NOUN") or doc[i].tag_ == "NNS"
            for i in range(number.i + 1, noun.i)
        ):
            continue
        one = lemmatise(noun.lower_, "NOUN")
        if not one or one == noun.lower_ or inflected(one, "NNS") is None:
            continue
        changes = {number.i: "One" if number.i == 0 else "one", noun.i: one}
        if base_label(noun) == "nsubj":
            agreed = _in_singular(noun)
            if agreed is None or noun.head.tag_ in ("NNS", "NNPS") or _wears_several(noun):
                continue
            changes |= agreed
        elif any(base_label(token) == "acl" for token in noun.children) or _is_subject_like(noun):
            continue
        yield replace_words(doc, changes), replace_words(doc, {}), one


def _wears_several(noun: "Token") -> bool:
    """Return whether a noun has a plural for each of its members: two guys in uniforms."""
    doc = noun.doc
    behind = doc[noun.i + 1 : noun.head.i] if noun.i < noun.head.i else doc[noun.i + 1 :]
    return len(behind) > 0 and behind[0].lower_ == "in" and any(t.tag_ == "NNS" for t in behind)


def _is_subject_like(noun: "Token") -> bool:
    """Return whether a verb may agree with a noun that is not labelled as its subject."""
    doc = noun.doc
    after = doc[noun.i + 1] if noun.i + 1 < len(doc) else None
    before = [token.lower_ for token in doc[: noun.i]]
    if noun.dep_ == "ROOT" or "are" in before[:3] or "were" in before[:3]:
        return True
    return after is not None and (after.tag_ in ("VBP", "VBD", "MD", "VBZ") or after.pos_ == "AUX")


_SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does", "'re": "is"}


def _in_singular(noun: "Token") -> dict[int, str] | None:
    """Return the changes that make a plural subject's verb singular, or None if unsure."""
    verb = noun.head
    doc = noun.doc
    if label(noun) == "nsubj:pass" or verb.i < noun.i:
        finite = list(children(verb, "aux"))
    else:
        finite = [*children(verb, "aux", "cop")]
    finite = [token for token in finite if token.i > noun.i]
    word = finite[0] if finite else verb
    if word.i < noun.i or any(t.tag_ in ("VBP", "VBZ") and t.i != word.i for t in doc):
        return None
    if child(verb, "conj") is not None and not finite:
        return None
    if word.lower_ in _SINGULAR:
        return {word.i: _SINGULAR[word.lower_]}
    if word.tag_ == "MD" or (word.tag_ == "VBD" and word.lower_ != lemmatise(word.lower_, "VERB")):
        return {}
    if word.tag_ == "VBP":
        singular = inflected(word.lemma_, "VBZ")
        return {word.i: singular} if singular else None
    return None


def conjugation(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield a sentence with an auxiliary, and with the inflected verb: will play, plays."""
    if is_negated(doc) or doc[-1].text == "?":
        return
    for verb in doc:
        if verb.tag_ not in ("VB", "VBG") or verb.pos_ != "VERB":
            continue
        helping, subject = auxiliaries(verb), find_subject(verb)
        if len(helping) != 1 or subject is None or child(verb, "conj") is not None:
            continue
        (auxiliary,) = helping
        if verb.i - auxiliary.i != 1 or subject.i > auxiliary.i or "'" in auxiliary.text:
            continue
        fits = (
            auxiliary.lower_ in _MODALS if verb.tag_ == "VB" else auxiliary.lower_ in ("is", "are")
        )
        if not fits or base_label(verb) == "conj" or subject.lower_ in _RELATIVE:
            continue
        # Another finite verb may refer to the same time.
        if any(t.tag_ in ("VBZ", "VBP", "VBD", "MD") and t.i != auxiliary.i for t in doc):
            continue
        lemma = verb.lower_ if verb.tag_ == "VB" else lemmatise(verb.lower_, "VERB")
        if not lemma or lemma in ("be", "have", "go"):
            continue
        many = auxiliary.lower_ == "are" if verb.tag_ == "VBG" else is_plural(subject)
        form = lemma if many else inflected(lemma, "VBZ")
        if form:
            yield replace_words(doc, {}), replace_words(doc, {auxiliary.i: "", verb.i: form}), lemma


_FINITE_BE = ("is", "are", "was", "were", "am")
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
        if base_label(subject) != "nsubj" or subject.lower_ in _RELATIVE:
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
        if finite.lower_ in _FINITE_BE or finite.tag_ == "MD":
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
        agent, patient = contiguous_subtree(subject), _core(done_to)
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


def _core(noun: "Token") -> "list[Token]":
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
