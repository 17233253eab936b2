"""Rules over parsed sentences: sections 3.1.2 and 3.2.1 of Zhu and de Melo (2020).

A rule takes a parsed sentence and yields sentence pairs. When it is not sure of a sentence, it
yields none. Some rules change the form of a word, others the meaning or its wording. Entailments
come from annotated files instead.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from analogyqa.analogies.grammar import (
    FINITE,
    SUPPORT,
    base_label,
    child,
    children,
    find_copula,
    find_subject,
    inflected,
    is_form,
    is_negated,
    is_plural,
    join_words,
    label,
    lemmatise,
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
# Better and worse are left out as in the authors' code, and amounts.
_NOT_COMPARED = word_set("much many little few less likely able common good bad")
# With these words, more than the phrase after "than" can depend on a comparative.
_CONDITIONS = word_set("if how when as whose")
# Not subjects of their own, or none that a rule can move.
_RELATIVE = word_set("who that which there what")
_MODALS = word_set("will can should could would may must might")
_NUMERALS = word_set("""
    two three four five six seven eight nine ten eleven twelve twenty thirty fifty
""")
# A numeral after these cannot become "one".
_NOT_BEFORE_NUMERALS = word_set(
    "the these those of or to - his her its my our last first next than"
)
# Before an adjective, these change what its antonym means, or make it part of an infinitive.
_NOT_BEFORE_OPPOSITES = word_set("as how more most less least too so not n't if to")
# Before a noun, the antonym of these has another meaning: a possible candidate, a clear sky.
_NO_ATTRIBUTES = word_set("certain clear competitive known likely pleasant possible")
# Adjectives whose antonym does not fit before the next word.
_NOT_OPPOSITES = (("certain", "to"), ("sure", "to"), ("clear", "of"))
# Words that require or imply a plural.
_OF_SEVERAL = word_set("""
    other others each both together their they them themselves another apart between among all one
    themself same opposite different respectively side various these those race half some
""")
_SAYING = word_set("""
    say tell think believe claim argue report announce state know suggest note show explain warn
    add admit confirm conclude declare estimate indicate predict reveal find hope feel agree
    insist maintain acknowledge deny discover learn assert write demonstrate stress realize recall
    complain contend decide determine emphasize hear mean mention observe propose prove remember
    remark rule notice understand allege speculate theorize
""")
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
# The tag of a verb that can become passive, and its auxiliary.
_TO_PASSIVE = (("VBZ",), ("VBG", "is"), ("VBG", "are"))


def comparative(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield a predicate and its comparative: was long, was longer than the first one.

    Only the compared phrase may follow the adjective, so that it can be removed.
    """
    if is_negated(doc) or any(token.lower_ in _CONDITIONS for token in doc):
        return
    for than in doc[3:-1]:
        adjective = doc[than.i - 1]
        if than.lower_ != "than" or adjective.pos_ != "ADJ":
            continue
        removed = {token.i: "" for token in doc[than.i :] if token.text not in ".!?"}
        position = adjective.i - 1
        has_more = doc[position].lower_ == "more"
        if has_more:
            removed[position] = ""
            position -= 1
        base = adjective.text if has_more else lemmatise(adjective.lower_, "ADJ")
        while position > 0 and doc[position].lower_ in _DEGREES:
            removed[position] = ""
            position -= 1
        verb = doc[position]
        if (
            not base
            or base in _NOT_COMPARED
            or not (has_more or is_form(adjective.lower_, base, "JJR"))
            or (verb.lemma_ not in _COPULAS and verb.lower_ not in _BE)
            or position == 0
            or doc[position - 1].lower_ in _RELATIVE
            or doc[than.i + 1].tag_ in FINITE
            or any(token.text in ",;:()" for token in doc[than.i :])
        ):
            continue
        yield replace_words(doc, removed | {adjective.i: base}), replace_words(doc, {}), base


def opposites(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield a sentence with an adjective, and with its antonym: possible, impossible."""
    adjectives = [token for token in doc if token.lower_ in words and token.pos_ == "ADJ"]
    if len(adjectives) != 1 or is_negated(doc) or any(t.lower_ in ("any", "every") for t in doc):
        return
    (adjective,) = adjectives
    word, head = adjective.lower_, adjective.head
    before = doc[adjective.i - 1]
    after = doc[adjective.i + 1 : adjective.i + 2].text.lower()
    is_predicate = find_copula(adjective) is not None
    is_attribute = base_label(adjective) == "amod" and head.i == adjective.i + 1
    if (
        not (is_predicate or is_attribute)
        or adjective.i == 0  # a verb, a name or a heading
        or "-" in (before.text, after)
        or before.lower_ in _NOT_BEFORE_OPPOSITES
        or (is_attribute and not is_predicate and word in _NO_ATTRIBUTES)
        or (word == "responsible" and not is_attribute)  # who did it is not irresponsible
        or (adjective.i == 2 and doc[0].lower_ == "to")  # to be sure
        or (word, after) in _NOT_OPPOSITES
        or before.tag_ in ("NN", "NNS", "RBS", "JJS")  # fuel efficient, and superlatives
        or not any(token.tag_ in FINITE for token in doc)  # not a sentence
        or (is_attribute and head.text[0].isupper())  # a name
    ):
        return
    yield replace_words(doc, {}), replace_words(doc, {adjective.i: words[word]}), word


def plurals(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield a sentence about one thing, and about several: one city, six cities."""
    numbers = [token for token in doc if token.lower_ in _NUMERALS]
    if len(numbers) != 1 or any(token.lower_ in _OF_SEVERAL for token in doc):
        return
    (number,) = numbers
    noun = number.head
    one = lemmatise(noun.lower_, "NOUN")
    if (
        base_label(number) != "nummod"
        or noun.tag_ != "NNS"
        or not number.i <= noun.i <= number.i + 3
        or (number.i > 0 and doc[number.i - 1].lower_ in _NOT_BEFORE_NUMERALS)
        or child(noun, "conj", "cc") is not None
        or base_label(noun) == "conj"
        or doc[noun.i + 1 : noun.i + 2].text in ("'", "'s")
        # Only adjectives and singular nouns may stand between number and noun.
        or any(t.pos_ not in ("ADJ", "NOUN") or t.tag_ == "NNS" for t in doc[number.i + 1 : noun.i])
        or not one
        or one == noun.lower_
        or inflected(one, "NNS") is None
    ):
        return
    changes = {number.i: "One" if number.i == 0 else "one", noun.i: one}
    if base_label(noun) == "nsubj":
        agreed = _in_singular(noun)
        if agreed is None or noun.head.tag_ in ("NNS", "NNPS") or _wears_several(noun):
            return
        changes |= agreed
    elif any(base_label(token) == "acl" for token in noun.children) or _is_subject_like(noun):
        return
    yield replace_words(doc, changes), replace_words(doc, {}), one


def _wears_several(noun: "Token") -> bool:
    """Return whether a noun has a plural for each of its members: two guys in uniforms."""
    end = noun.head.i if noun.i < noun.head.i else len(noun.doc)
    behind = list(noun.doc[noun.i + 1 : end])
    return behind[:1] != [] and behind[0].lower_ == "in" and any(t.tag_ == "NNS" for t in behind)


def _is_subject_like(noun: "Token") -> bool:
    """Return whether a verb may agree with a noun that is not labelled as its subject."""
    return (
        noun.dep_ == "ROOT"
        or any(token.lower_ in ("are", "were") for token in noun.doc[: min(3, noun.i)])
        or any(t.tag_ in FINITE or t.pos_ == "AUX" for t in noun.doc[noun.i + 1 : noun.i + 2])
    )


_SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does", "'re": "is"}


def _in_singular(noun: "Token") -> dict[int, str] | None:
    """Return the changes that make a plural subject's verb singular, or None if unsure."""
    verb = noun.head
    is_inverted = label(noun) == "nsubj:pass" or verb.i < noun.i
    finite = children(verb, "aux", *([] if is_inverted else ["cop"]))
    auxiliary = next((token for token in finite if token.i > noun.i), None)
    word = auxiliary or verb
    if (
        word.i < noun.i
        or any(t.tag_ in ("VBP", "VBZ") and t.i != word.i for t in noun.doc)
        or (auxiliary is None and child(verb, "conj") is not None)
    ):
        return None
    if word.lower_ in _SINGULAR:
        return {word.i: _SINGULAR[word.lower_]}
    if word.tag_ == "MD" or (word.tag_ == "VBD" and word.lower_ != lemmatise(word.lower_, "VERB")):
        return {}
    singular = inflected(word.lemma_, "VBZ") if word.tag_ == "VBP" else None
    return {word.i: singular} if singular else None


def conjugation(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield a sentence with an auxiliary, and with the inflected verb: will play, plays."""
    if is_negated(doc) or doc[-1].text == "?":
        return
    for subject, auxiliary, verb in _find_verb_groups(doc):
        is_bare = verb.tag_ == "VB"
        if (
            verb.pos_ != "VERB"
            or not (is_bare or verb.tag_ == "VBG")
            or "'" in auxiliary.text
            or auxiliary.lower_ not in (_MODALS if is_bare else ("is", "are"))
            or child(verb, "conj") is not None
            or subject.lower_ in _RELATIVE
            # Another finite verb may refer to the same time.
            or any(t.tag_ in FINITE and t.i != auxiliary.i for t in doc)
        ):
            continue
        lemma = verb.lower_ if is_bare else lemmatise(verb.lower_, "VERB")
        if not lemma or lemma in ("be", "have", "go"):
            continue
        many = is_plural(subject) if is_bare else auxiliary.lower_ == "are"
        form = lemma if many else inflected(lemma, "VBZ")
        if form:
            yield replace_words(doc, {}), replace_words(doc, {auxiliary.i: "", verb.i: form}), lemma


def _find_verb_groups(doc: "Doc") -> "Iterator[tuple[Token, Token, Token]]":
    """Yield a subject, an auxiliary and the verb that follows it and has no other auxiliary."""
    for verb in doc:
        helping, subject = list(children(verb, "aux")), find_subject(verb)
        is_behind = [token.i for token in helping] == [verb.i - 1]
        if is_behind and subject and subject.i < verb.i and base_label(verb) != "conj":
            yield subject, helping[0], verb


def negation(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield a negated sentence, and the original one."""
    if (
        is_negated(doc)
        or doc[-1].text == "?"
        or any(token.lower_ in _QUANTIFIERS for token in doc)
        or any(label(t) == "conj" and t.pos_ in ("VERB", "AUX") for t in doc)
    ):
        return
    for subject in doc:
        head = subject.head
        finite = next((t for t in doc[subject.i + 1 :] if t.tag_ in FINITE), None)
        if (
            base_label(subject) != "nsubj"
            or subject.lower_ in _RELATIVE
            or head.dep_ != "ROOT"
            or child(head, "conj") is not None
            or finite is None
            or head not in (finite, finite.head)
            or finite.text.startswith("'")
        ):
            continue
        verb = head.lower_
        if finite.lower_ in ("is", "are", "was", "were", "am") or finite.tag_ == "MD":
            changes = {finite.i: f"{finite.text} not"}
        elif finite == head and head.pos_ == "VERB" and (lemma := lemmatise(verb, "VERB")):
            verb = lemma
            changes = {head.i: f"{SUPPORT[head.tag_]} not {verb}"}
        else:
            continue
        yield replace_words(doc, changes), replace_words(doc, {}), verb


def no_such_thing(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield "There is no deer jumping a fence" and "A deer is jumping a fence", as in SICK."""
    if (
        len(doc) < 5
        or doc[0].lower_ not in ("a", "an")
        or is_negated(doc)
        or sum(token.tag_ in FINITE for token in doc) != 1
        or any(token.lower_ in ("and", "or", ",") for token in doc)
    ):
        return
    for _, auxiliary, verb in _find_verb_groups(doc):
        if verb.tag_ == "VBG" and auxiliary.lower_ == "is":
            changes = {0: "There is no", auxiliary.i: ""}
            yield replace_words(doc, changes), replace_words(doc, {}), verb.lower_


def passive(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield an active sentence, and its passive form."""
    if is_negated(doc) or doc[-1].text == "?" or any(t.text in ",;:'" for t in doc):
        return
    for verb in doc:
        subject, noun, helping = find_subject(verb), child(verb, "obj"), list(children(verb, "aux"))
        if (
            verb.dep_ != "ROOT"
            or verb.pos_ != "VERB"
            or subject is None
            or noun is None
            or child(verb, "conj", "iobj", "xcomp", "ccomp", "compound:prt") is not None
        ):
            continue
        agent = list(subject.subtree)
        patient = list(doc[min([noun.i, *(token.i for token in noun.children)]) : noun.i + 1])
        active = [*agent, *helping, verb, *patient]
        lemma = lemmatise(verb.lower_, "VERB")
        participle = inflected(lemma, "VBN") if lemma else None
        if (
            [token.i for token in active] != list(range(len(active)))
            or (verb.tag_, *(token.lower_ for token in helping)) not in _TO_PASSIVE
            or noun.pos_ not in ("NOUN", "PROPN")
            or subject.pos_ == "PRON"
            or any(token.pos_ in ("VERB", "AUX") for token in [*agent, *patient])
            or any(token.tag_ == "PRP$" for token in patient)
            # A phrase after the object may modify it, but would then modify the agent.
            or any(token.pos_ != "PUNCT" for token in doc[len(active) :])
            or lemma is None
            or participle is None
            or lemma in _NO_PASSIVE
        ):
            continue
        being = ("are" if is_plural(noun) else "is") + (" being" if helping else "")
        by = ["by", *(lower_first(token) for token in agent)]
        turned = [*(token.text for token in patient), being, participle, *by]
        yield replace_words(doc, {}), join_words(with_articles(turned)), lemma


def objective_clause(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield a sentence with a reported clause, and the clause alone."""
    if doc[-1].text == "?" or any(token.text in ',;:()"-' for token in doc):
        return
    for that in doc[2:]:
        verb, clause = doc[that.i - 1], that.head
        told = [t for t in doc[that.i + 1 :] if not (t.i == len(doc) - 1 and t.text in ".!?")]
        if (
            that.lower_ != "that"
            or base_label(that) != "mark"
            or verb.lemma_ not in _SAYING
            or verb.tag_ not in ("VBD", "VBZ", "VBP", "VB")
            or base_label(clause) != "ccomp"
            or clause.head != verb
            or not 4 <= len(told) <= 20
            or told[0].pos_ in ("ADP", "SCONJ", "VERB", "AUX", "ADV", "PART", "PUNCT")
            or not any(base_label(t) == "nsubj" and t.i > that.i for t in clause.subtree)
            or not any(token.tag_ in FINITE for token in told)
            or any(token.lower_ == "that" for token in told)
            or is_negated(doc[: that.i])
        ):
            continue
        yield replace_words(doc, {}), join_words([token.text for token in told]), verb.lemma_


def predicative_adjective(doc: "Doc", words: Mapping[str, str]) -> Pairs:
    """Yield an adjective before its noun, and in a relative clause: a dog that is brown."""
    adjective = next(filter(_can_follow_noun, doc[1:]), None)
    if adjective is None or is_negated(doc) or doc[-1].text == "?":
        return
    root = next(token for token in doc if token.dep_ == "ROOT")
    verbs = [root, *(token for token in root.children if token.pos_ == "AUX")]
    finite = {token.tag_ for token in verbs} & FINITE
    if not finite:  # not a sentence
        return
    noun = adjective.head
    is_past = "VBD" in finite
    be = ("were" if is_past else "are") if is_plural(noun) else ("was" if is_past else "is")
    changes = {adjective.i: "", noun.i: f"{noun.text} that {be} {adjective.lower_}"}
    yield replace_words(doc, {}), replace_words(doc, changes), adjective.lower_


def _can_follow_noun(adjective: "Token") -> bool:
    """Return whether a word is an adjective that can become a relative clause."""
    doc, noun, article = adjective.doc, adjective.head, adjective.nbor(-1)
    return (
        adjective.tag_ == "JJ"
        and base_label(adjective) == "amod"
        and noun.i == adjective.i + 1
        and noun.tag_ in ("NN", "NNS")
        and adjective.lower_ not in _NOT_PREDICATIVE
        and "-" not in adjective.text
        and article.lower_ in ("a", "an", "the")
        and (article.lower_ == "the" or not is_plural(noun))
        # A black and a white dog.
        and (article.i == 0 or article.nbor(-1).lower_ not in ("and", "or"))
        and all(t.is_punct or t.tag_ in FINITE for t in doc[noun.i + 1 : noun.i + 2])
        and child(noun, "acl", "appos", "conj", "compound") is None
        and lemmatise(adjective.lower_, "ADJ") == adjective.lower_
        and not adjective.text.endswith("al")  # most of these only classify: presidential
        and noun.lower_ not in ("one", "ones")
        and not noun.text[0].isupper()
    )
