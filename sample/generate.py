"""Write the bundled sample: two data sets, a text to train word vectors on, the named entities.

Facts (facts/wikiqa.tsv, facts/trecqa.tsv: a thing, its person, year and place) meet phrasings
(facts/phrasings.tsv). The wrong candidates of a question tell something else about the same thing,
the right kind of thing about another one, or something else about another one, so that a ranker
has to recognise who, when and where; counting shared words does not help.

    python sample/generate.py           writes the files beside this script
    python sample/generate.py --check   exits with status 1 when a file on disk differs
"""

import argparse
import csv
import json
import random
import re
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
SPLITS = ("train", "dev", "test")
ANSWERS = {"who": "person", "when": "year", "where": "place"}
# What an answer to a question of another kind tells; the pipeline leaves these questions out.
OTHER_KINDS = {"what": "other", "how": "other", "which": "where"}

WIKIQA_HEADER = [
    "QuestionID", "Question", "DocumentID", "DocumentTitle", "SentenceID", "Sentence", "Label",
]  # fmt: skip

SHARES = {"dev": 0.16, "test": 0.21}  # of the things of a topic, the rest is train
UNANSWERED = {"train": 3, "dev": 1, "test": 2}  # questions per type without a correct candidate
OTHERS = {"train": 6, "dev": 2, "test": 3}  # questions per other kind
CANDIDATES = (4, 10)
TEXT_SENTENCES = 2  # per thing, on each of its three facts
TEXT_SENTENCES_PER_VALUE = 3  # per person, year and place
TEXT_FILLERS = 5  # times that each sentence without a fact is repeated


class Thing(NamedTuple):
    """A building, a novel, ...: what a question is about."""

    topic: str
    name: str  # as in the middle of a sentence, with its article
    kind: str
    person: str
    year: str
    place: str

    @property
    def title(self) -> str:
        """The name as the title of a page."""
        title = self.name.removeprefix("the ")
        return title[0].upper() + title[1:]


class Question(NamedTuple):
    """A question and its candidates, each a sentence with its label, as tokens between spaces."""

    thing: Thing
    text: str
    candidates: list[tuple[str, int]]


def read_tsv(name: str) -> list[list[str]]:
    """Return the rows of a table of `facts/` without its header."""
    with open(HERE / "facts" / name, encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]


def read_things(dataset: str) -> list[Thing]:
    """Return the things of a data set in the order of its table."""
    return [Thing(*row) for row in read_tsv(f"{dataset}.tsv")]


def read_phrasings() -> dict[tuple[str, str, str], list[str]]:
    """Return the patterns for each (topic, use, what it tells)."""
    patterns: dict[tuple[str, str, str], list[str]] = {}
    for topic, use, about, pattern in read_tsv("phrasings.tsv"):
        patterns.setdefault((topic, use, about), []).append(pattern)
    return patterns


PHRASINGS = read_phrasings()


def split_things(dataset: str) -> dict[str, list[Thing]]:
    """Return the things of each split; every topic is in every split, no thing is in two."""
    rng = random.Random(f"{dataset} splits")
    splits: dict[str, list[Thing]] = {split: [] for split in SPLITS}
    things = read_things(dataset)
    for topic in dict.fromkeys(thing.topic for thing in things):
        rest = [thing for thing in things if thing.topic == topic]
        rng.shuffle(rest)
        sizes = {split: round(share * len(rest)) for split, share in SHARES.items()}
        for split, size in sizes.items():
            splits[split] += rest[:size]
            rest = rest[size:]
        splits["train"] += rest
    return splits


def fill(pattern: str, thing: Thing, mention: str) -> str:
    """Put a thing, under the given mention, into a pattern."""
    return pattern.format(it=mention, person=thing.person, year=thing.year, place=thing.place)


def capitalise(sentence: str) -> str:
    """Make a letter at the start a capital, behind an opening quote too."""
    return re.sub(r'^(?:" )?[^\W\d_]', lambda start: start[0].upper(), sentence)


def mention(rng: random.Random, thing: Thing, pattern: str) -> str:
    """Name the thing that the question is about, or refer to it, whatever the sentence tells."""
    references = [f"the {thing.kind}", f"this {thing.kind}"]
    if pattern.startswith("{it} ") and "(" not in pattern:
        references.append("it")
    return thing.name if rng.random() < 0.5 else rng.choice(references)


def sentence(rng: random.Random, dataset: str, pattern: str, thing: Thing, named: bool) -> str:
    """Phrase a candidate; `named` forces the name, as for a thing the question is not about."""
    words = fill(pattern, thing, thing.name if named else mention(rng, thing, pattern))
    frame = "none" if '"' in pattern else rng.choice(["opening", "closing", "closing", "none"])
    if frame == "opening":
        words = f"{rng.choice(PHRASINGS[dataset, 'opening', 'any'])} {words}"
    elif frame == "closing":
        words = f"{words} {rng.choice(PHRASINGS[dataset, 'closing', 'any'])}"
    return capitalise(f"{words} .")


def candidates(
    rng: random.Random, dataset: str, thing: Thing, others: list[Thing], about: str, correct: int
) -> list[tuple[str, int]]:
    """Phrase the candidates of a question on what `about` says, `correct` of them correct."""
    number = rng.randint(*CANDIDATES)
    value = ANSWERS.get(about)
    neighbours = [other for other in others if other.topic == thing.topic and other != thing]
    rivals = [o for o in neighbours if not value or getattr(o, value) != getattr(thing, value)]
    misses = [kind for kind in (*ANSWERS, "other") if kind != about]

    def draw(pool: list[Thing], kinds: list[str]) -> tuple[Thing, str]:
        return rng.choice(pool), rng.choice(PHRASINGS[thing.topic, "answer", rng.choice(kinds)])

    answers = rng.sample(PHRASINGS[thing.topic, "answer", about], correct)
    chosen = [(thing, pattern) for pattern in answers]
    labels = [1] * correct
    rival_count = 2 if number >= 6 and rng.random() < 0.4 else 1
    while len(chosen) < number:
        if len(chosen) < correct + rival_count:
            fact = draw(rivals, [about])
        else:
            fact = draw([thing] if rng.random() < 0.8 else neighbours, misses)
        # A pattern comes once per question: two sentences must not differ in the name alone.
        if fact[1] not in [pattern for _, pattern in chosen]:
            chosen.append(fact)
            labels.append(0)
    rows = [
        (sentence(rng, dataset, pattern, about_thing, named=about_thing != thing), label)
        for (about_thing, pattern), label in zip(chosen, labels, strict=True)
    ]
    rng.shuffle(rows)
    return rows


def build_split(dataset: str, split: str, things: list[Thing]) -> list[Question]:
    """Build the questions of a split: one per thing and type, and those the pipeline leaves out."""
    rng = random.Random(f"{dataset} {split}")
    questions = []
    for kind in ANSWERS:
        for place, thing in enumerate(rng.sample(things, len(things))):
            correct = rng.choice([1, 1, 1, 2]) if place >= UNANSWERED[split] else 0
            text = fill(rng.choice(PHRASINGS[thing.topic, "question", kind]), thing, thing.name)
            rows = candidates(rng, dataset, thing, things, kind, correct)
            questions.append(Question(thing, f"{text} ?", rows))
    for kind, about in OTHER_KINDS.items():
        for thing in rng.sample(things, OTHERS[split]):
            text = fill(rng.choice(PHRASINGS["any", "question", kind]), thing, thing.name)
            rows = candidates(rng, dataset, thing, things, about, 1)
            questions.append(Question(thing, f"{text} ?", rows))
    rng.shuffle(questions)
    return questions


def build(dataset: str) -> dict[str, list[Question]]:
    """Build the questions of every split of a data set."""
    return {
        split: build_split(dataset, split, things)
        for split, things in split_things(dataset).items()
    }


def untokenize(text: str) -> str:
    """Join tokens as a writer would."""
    return re.sub(r" ([,.?])", r"\1", text)


def wikiqa_files() -> dict[str, str]:
    """Return the WikiQA tables by path: tab-separated, a row per candidate, quotes are literal."""
    files, number = {}, 0
    for split, questions in build("wikiqa").items():
        rows = [WIKIQA_HEADER]
        for question in questions:
            number += 1
            text = untokenize(question.text.lower())
            rows += [
                [f"Q{number}", text, f"D{number}", question.thing.title, f"D{number}-{place}",
                 untokenize(candidate), str(label)]
                for place, (candidate, label) in enumerate(question.candidates)
            ]  # fmt: skip
        files[f"wikiqa/WikiQA-{split}.tsv"] = "".join("\t".join(row) + "\n" for row in rows)
    return files


def treebank(text: str) -> str:
    """Write tokens as the Penn Treebank does, tabs between them."""
    text = text.replace("( ", "-LRB- ").replace(" )", " -RRB-")
    return re.sub(r'" (.*?) "', r"`` \1 ''", text).replace(" ", "\t")


def trecqa_files() -> dict[str, str]:
    """Return the TrecQA files by path: jacana pseudo-XML with token lines only."""
    files, number = {}, 0
    for split, questions in build("trecqa").items():
        lines = []
        for question in questions:
            number += 1
            lines += [f"<QApairs id='{number}'>", "<question>"]
            lines += [treebank(capitalise(question.text)), "</question>"]
            for candidate, label in question.candidates:
                block = "positive" if label else "negative"
                lines += [f"<{block}>", treebank(candidate), f"</{block}>"]
            lines.append("</QApairs>")
        files[f"trecqa/{split.upper()}.xml"] = "".join(line + "\n" for line in lines)
    return files


def text_file() -> str:
    """Return the unlabelled text, a sentence a line, tokenised and lower-cased.

    It tells the facts of both data sets in phrasings of its own.
    """
    rng = random.Random("text")
    things = read_things("wikiqa") + read_things("trecqa")
    lines = []
    for about, value in ANSWERS.items():
        general = PHRASINGS["any", "text", about]
        for thing in things:
            patterns = rng.sample(PHRASINGS[thing.topic, "text", about], TEXT_SENTENCES)
            lines += [fill(pattern, thing, thing.name) for pattern in patterns]
        for thing in {getattr(thing, value): thing for thing in things}.values():
            patterns = rng.sample(general, TEXT_SENTENCES_PER_VALUE)
            lines += [fill(pattern, thing, thing.name) for pattern in patterns]
    lines += PHRASINGS["any", "text", "other"] * TEXT_FILLERS
    rng.shuffle(lines)
    ended = (line if line.endswith("?") else f"{line} ." for line in lines)
    return "".join(f"{line.lower()}\n" for line in ended)


def entities_file() -> str:
    """Return patterns for spaCy's entity_ruler, one a line: the people, the places and any year."""
    things = read_things("wikiqa") + read_things("trecqa")
    patterns: list[dict] = [{"label": "DATE", "pattern": [{"SHAPE": "dddd"}]}]
    for label, value in (("PERSON", "person"), ("GPE", "place")):
        names = sorted({getattr(thing, value) for thing in things})
        patterns += [{"label": label, "pattern": name} for name in names]
    return "".join(json.dumps(pattern, ensure_ascii=False) + "\n" for pattern in patterns)


def generate() -> dict[str, str]:
    """Return the text of every generated file by its path below this folder."""
    single = {"text.txt": text_file(), "entities.jsonl": entities_file()}
    return {**wikiqa_files(), **trecqa_files(), **single}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args().check
    stale = []
    for name, text in generate().items():
        path, content = HERE / name, text.encode("utf-8")
        if check:
            if not path.is_file() or path.read_bytes() != content:
                stale.append(name)
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
    if stale:
        names = ", ".join(stale)
        print(f"not as generated: {names}. Run python sample/generate.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
