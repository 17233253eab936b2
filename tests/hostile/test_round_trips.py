"""Readers return what was written, whatever it is."""

import gzip
import json
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from analogyqa.corpora.specs import READERS
from analogyqa.pretrained.nli import LABELS, read_nli
from analogyqa.text import nfc
from analogyqa.vectors.files import select_vectors
from builders.damaged import zipped

MANY = 400


def make_questions(texts):
    candidates = st.lists(st.tuples(texts, st.integers(0, 1)), min_size=1, max_size=4)
    return st.lists(st.tuples(texts, candidates), min_size=1, max_size=4)


letters = st.characters(exclude_categories=["Cs"], exclude_characters="\t\r\n\0")
field = st.text(letters, min_size=1).map(nfc).filter(str.strip)
in_words = st.characters(exclude_categories=["Cc", "Cs"])
words = st.text(in_words, min_size=1).map(nfc).filter(lambda text: text.split() == [text])
in_xml = st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff")
xml_field = st.text(in_xml, min_size=1).map(nfc).filter(str.strip)
finite = st.floats(-1e6, 1e6, width=32).map(lambda value: value if abs(value) > 1e-30 else 0.0)
vectors = st.integers(1, 4).flatmap(
    lambda dim: st.dictionaries(words, st.lists(finite, min_size=dim, max_size=dim), min_size=1)
)
texts = st.text(letters)
inferences = st.lists(st.tuples(texts, texts, st.sampled_from(LABELS)), min_size=1)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def check_corpus(name: str, path: Path, content: list) -> None:
    read = [(pair.question, pair.candidate, pair.label) for pair in READERS[name].load()(path)]
    assert read == [(question, *pair) for question, pairs in content for pair in pairs]


def check_wikiqa(folder: Path, content: list) -> None:
    lines = ["QuestionID\tQuestion\tSentence\tLabel"]
    for number, (question, pairs) in enumerate(content):
        lines += [f"Q{number}\t{question}\t{text}\t{label}" for text, label in pairs]
    check_corpus("wikiqa", write(folder / "it.tsv", "\n".join(lines)), content)


def check_trecqa(folder: Path, content: list) -> None:
    lines = []
    for number, (question, pairs) in enumerate(content):
        blocks = [("question", question)]
        blocks += [("positive" if label else "negative", text) for text, label in pairs]
        assume(not any(text.strip().startswith("<") for _, text in blocks))  # which may be a tag
        lines.append(f"<QApairs id='{number}'>")
        for kind, text in blocks:
            lines += [f"<{kind}>", text.replace(" ", "\t"), f"</{kind}>"]
        lines.append("</QApairs>")
    check_corpus("trecqa", write(folder / "it.xml", "\n".join(lines)), content)


def check_semeval(folder: Path, content: list) -> None:
    lines = ["<xml>"]
    for number, (question, pairs) in enumerate(content):
        lines.append(f'<Thread><RelQuestion RELQ_ID="Q{number}"><RelQSubject/>')
        lines.append(f"<RelQBody>{escape(question)}</RelQBody></RelQuestion>")
        for index, (text, label) in enumerate(pairs):
            relevance = ("Bad", "Good")[label]
            lines.append(
                f'<RelComment RELC_ID="Q{number}C{index}" RELC_RELEVANCE2RELQ="{relevance}">'
            )
            lines.append(f"<RelCText>{escape(text)}</RelCText></RelComment>")
        lines.append("</Thread>")
    normalised = [
        (" ".join(question.split()), [(" ".join(text.split()), label) for text, label in pairs])
        for question, pairs in content
    ]
    check_corpus("semeval", write(folder / "it.xml", "\n".join([*lines, "</xml>"])), normalised)


def check_vectors(folder: Path, content: dict[str, list[float]]) -> None:
    expected = np.array(list(content.values()), dtype=np.float32)
    text = binary = f"{expected.shape[0]} {expected.shape[1]}\n".encode()
    for word, vector in content.items():
        text += f"{word} {' '.join(map(repr, vector))}\n".encode()
        binary += word.encode() + b" " + np.array(vector, "<f4").tobytes() + b"\n"
    files = {"it.vec": text, "it.vec.gz": gzip.compress(text, 1, mtime=0), "word2vec.bin": binary}
    for name, data in {**files, "it.bin.zip": zipped(("it.bin", binary))}.items():
        (folder / name).write_bytes(data)
        read, has_vector = select_vectors(folder / name, list(content), "zero")
        assert has_vector.all()
        np.testing.assert_array_equal(read, expected)


def check_inferences(folder: Path, content: list[tuple[str, str, str]]) -> None:
    names = ("sentence1", "sentence2", "gold_label")
    released = [json.dumps(dict(zip(names, pair, strict=True))) for pair in content]
    tabs = [f"{first}\t{second}\t{LABELS.index(label)}" for first, second, label in content]
    for name, lines in {"it.jsonl": released, "it.txt": tabs}.items():
        path = write(folder / name, "".join(f"{line}\n" for line in lines))
        assert [*read_nli([str(path)]).itertuples(index=False, name=None)] == content


PROPERTIES = {
    "WikiQA": (make_questions(field), check_wikiqa),
    "TrecQA": (make_questions(field), check_trecqa),
    "SemEval": (make_questions(xml_field), check_semeval),
    "word vectors": (vectors, check_vectors),
    "pairs of inference": (inferences, check_inferences),
}


@pytest.mark.parametrize("name", PROPERTIES)
@pytest.mark.parametrize(
    "examples", [settings.default.max_examples, pytest.param(MANY, marks=pytest.mark.slow)]
)
def test_readers_round_trip(tmp_path, name, examples):
    strategy, check = PROPERTIES[name]
    given(strategy)(settings(max_examples=examples)(lambda content: check(tmp_path, content)))()
