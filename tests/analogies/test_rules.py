"""The rules that derive pairs of sentences, applied to sentences parsed by hand."""

import pytest

from analogyqa.analogies.grammar import child, label
from analogyqa.analogies.specs import RELATIONS
from builders.documents import CLEARNLP, UD, doc

SLICING = (
    "A/DT/DET/det/1 woman/NN/NOUN/nsubj/3 is/VBZ/AUX/aux/3/be slicing/VBG/VERB/ROOT/3/slice "
    "two/CD/NUM/nummod/5 onions/NNS/NOUN/{object}/3/onion in/IN/ADP/case/8 the/DT/DET/det/8 "
    "kitchen/NN/NOUN/obl/3 ././PUNCT/punct/3"
)
SLICING_ALONE = SLICING.replace("in/IN/ADP/case/8 the/DT/DET/det/8 kitchen/NN/NOUN/obl/3 ", "")
LONGER = (
    "The/DT/DET/det/1 river/NN/NOUN/nsubj/4 is/VBZ/AUX/cop/4/be much/RB/ADV/advmod/4 "
    "longer/JJR/ADJ/ROOT/4/long than/IN/ADP/case/7 the/DT/DET/det/7 road/NN/NOUN/obl/4 "
    "././PUNCT/punct/4"
)
POSSIBLE = (
    "It/PRP/PRON/nsubj/2 is/VBZ/AUX/cop/2/be possible/JJ/ADJ/ROOT/2 to/TO/PART/mark/4 "
    "measure/VB/VERB/csubj/2 it/PRP/PRON/obj/4 ././PUNCT/punct/2"
)
POSSIBLE_CLEARNLP = (
    "It/PRP/PRON/nsubj/1 is/VBZ/AUX/ROOT/1/be possible/JJ/ADJ/acomp/1 to/TO/PART/aux/4 "
    "measure/VB/VERB/xcomp/1 it/PRP/PRON/dobj/4 ././PUNCT/punct/1"
)
TWO_DOGS = (
    "Two/CD/NUM/nummod/1 dogs/NNS/NOUN/nsubj/3/dog are/VBP/AUX/aux/3/be "
    "running/VBG/VERB/ROOT/3/run ././PUNCT/punct/3"
)
SAYS = (
    "Anna/NNP/PROPN/nsubj/1 says/VBZ/VERB/ROOT/1/say that/IN/SCONJ/mark/5 the/DT/DET/det/4 "
    "train/NN/NOUN/nsubj/5 left/VBD/VERB/ccomp/1/leave Oslo/NNP/PROPN/obj/5 ././PUNCT/punct/1"
)
BROWN = (
    "A/DT/DET/det/2 brown/JJ/ADJ/amod/2 dog/NN/NOUN/nsubj/4 is/VBZ/AUX/aux/4/be "
    "running/VBG/VERB/ROOT/4/run ././PUNCT/punct/4"
)
SLEEPS = "The/DT/DET/det/1 cat/NN/NOUN/nsubj/2 sleeps/VBZ/VERB/ROOT/2/sleep ././PUNCT/punct/2"
WILL = (
    "The/DT/DET/det/1 girl/NN/NOUN/nsubj/3 will/MD/AUX/aux/3 play/VB/VERB/ROOT/3 "
    "tomorrow/NN/NOUN/obl/3 ././PUNCT/punct/3"
)
OPPOSITES = {"possible": "impossible"}


@pytest.mark.parametrize(
    ("rule", "sentence", "first", "second"),
    [
        ("comparative", LONGER, "The river is long.",
         "The river is much longer than the road."),
        ("opposites", POSSIBLE, "It is possible to measure it.",
         "It is impossible to measure it."),
        ("opposites", POSSIBLE_CLEARNLP, "It is possible to measure it.",
         "It is impossible to measure it."),
        ("plurals", SLICING.format(object="obj"),
         "A woman is slicing one onion in the kitchen.",
         "A woman is slicing two onions in the kitchen."),
        ("plurals", TWO_DOGS, "One dog is running.", "Two dogs are running."),
        ("conjugation", UD, "A man is playing chess.", "A man plays chess."),
        ("conjugation", WILL, "The girl will play tomorrow.", "The girl plays tomorrow."),
        ("negation", UD, "A man is not playing chess.", "A man is playing chess."),
        ("negation", SLEEPS, "The cat does not sleep.", "The cat sleeps."),
        ("no_such_thing", UD, "There is no man playing chess.", "A man is playing chess."),
        *(("passive", SLICING_ALONE.format(object=name), "A woman is slicing two onions.",
           "Two onions are being sliced by a woman.") for name in ("obj", "dobj")),
        ("objective_clause", SAYS, "Anna says that the train left Oslo.",
         "The train left Oslo."),
        ("predicative_adjective", BROWN, "A brown dog is running.",
         "A dog that is brown is running."),
    ],
)  # fmt: skip
def test_a_rule_makes_a_pair(rule, sentence, first, second):
    ((*texts, varied),) = RELATIONS[rule].load()(doc(sentence), OPPOSITES)
    assert texts == [first, second]
    assert varied


@pytest.mark.parametrize("rule", [name for name, rule in RELATIONS.items() if rule.parses])
def test_rules_skip_negated_sentences(rule):
    negated = "Nobody/NN/PRON/nsubj/1 sleeps/VBZ/VERB/ROOT/1/sleep ././PUNCT/punct/1"
    assert list(RELATIONS[rule].load()(doc(negated), OPPOSITES)) == []


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        # A clause that is about the adjective; who did it is not irresponsible; soldiers'
        # imprisonment; onions that may be those in the kitchen; a new sports show; a black and a
        # white dog; no sentence.
        ("comparative", LONGER.replace("The/DT/DET/det/1", "As/IN/SCONJ/mark/4")),
        ("comparative", LONGER.replace("river/NN", "which/WDT")),
        ("comparative", LONGER.replace("longer/", "better/").replace("/long ", "/good ")),
        ("opposites", POSSIBLE.replace("possible/", "responsible/")),
        ("plurals", TWO_DOGS.replace("are/VBP/AUX/aux/3/be", "'/POS/PART/case/1")),
        ("passive", SLICING.format(object="obj")),
        ("predicative_adjective", BROWN.replace("dog/NN/", "dogs/NNS/")),
        ("predicative_adjective", "Anna/NNP/PROPN/nsubj/4 and/CC/CCONJ/cc/4 "
         "a/DT/DET/det/4 brown/JJ/ADJ/amod/4 dog/NN/NOUN/conj/0 "
         "run/VBP/VERB/ROOT/5 ././PUNCT/punct/5"),
        ("predicative_adjective",
         BROWN.replace("is/VBZ/AUX/aux/4/be", "now/RB/ADV/advmod/4")),
    ],
)  # fmt: skip
def test_rules_skip_ambiguous_sentences(rule, sentence):
    antonyms = {"possible": "impossible", "responsible": "irresponsible"}
    assert list(RELATIONS[rule].load()(doc(sentence), antonyms)) == []


@pytest.mark.parametrize("sentence", [UD, CLEARNLP])
def test_both_label_schemes_are_read(sentence):
    parsed = doc(sentence)
    assert child(parsed[3], "obj").text == "chess"
    assert label(parsed[4]) == "obj"
