"""Readers return what was written, whatever it is, and refuse files of another kind."""

import gzip
import json
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import pytest
import yaml
from hostile.readers import TARGETS, zipped
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from analogyqa.corpora.specs import READERS
from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained.nli import LABELS, read_nli
from analogyqa.sources.registry import load_registry
from analogyqa.text import nfc
from analogyqa.vectors.select import select_vectors

MANY = 400

letters = st.characters(exclude_categories=["Cs"], exclude_characters="\t\r\n\0")
field = st.text(letters, min_size=1).map(nfc).filter(str.strip)
in_words = st.characters(exclude_categories=["Cc", "Cs"])
words = st.text(in_words, min_size=1).map(nfc).filter(lambda text: text.split() == [text])
candidates = st.lists(st.tuples(field, st.integers(0, 1)), min_size=1, max_size=4)
questions = st.lists(st.tuples(field, candidates), min_size=1, max_size=4)
in_xml = (
    st.text(
        st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"),
        min_size=1,
    )
    .map(nfc)
    .filter(str.strip)
)
xml_candidates = st.lists(st.tuples(in_xml, st.integers(0, 1)), min_size=1, max_size=4)
xml_questions = st.lists(st.tuples(in_xml, xml_candidates), min_size=1, max_size=4)
finite = st.floats(-1e6, 1e6, width=32).map(lambda value: value if abs(value) > 1e-30 else 0.0)
vectors = st.integers(1, 4).flatmap(
    lambda dim: st.dictionaries(words, st.lists(finite, min_size=dim, max_size=dim), min_size=1)
)
texts = st.text(letters)
inferences = st.lists(st.tuples(texts, texts, st.sampled_from(LABELS)), min_size=1)
hashes = st.text("0123456789abcdef", min_size=64, max_size=64)
entry = st.fixed_dictionaries(
    {"title": field, "sha256": hashes, "licence": field, "citation": field},
    optional={"bytes": st.integers(1, 2**62), "urls": st.just(["http://a/b"])},
)
entries = st.dictionaries(st.text(letters, min_size=1), entry, min_size=1, max_size=4)
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10
)
mappings = st.dictionaries(st.text(), values)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def corpus_is_read(name: str, path: Path, content: list) -> None:
    read = [(pair.question, pair.candidate, pair.label) for pair in READERS[name].load()(path)]
    assert read == [(question, *pair) for question, pairs in content for pair in pairs]


def wikiqa_is_read(folder: Path, content: list) -> None:
    lines = ["QuestionID\tQuestion\tSentence\tLabel"]
    for number, (question, pairs) in enumerate(content):
        lines += [f"Q{number}\t{question}\t{text}\t{label}" for text, label in pairs]
    corpus_is_read("wikiqa", write(folder / "it.tsv", "\n".join(lines)), content)


def trecqa_is_read(folder: Path, content: list) -> None:
    lines = []
    for number, (question, pairs) in enumerate(content):
        blocks = [("question", question)]
        blocks += [("positive" if label else "negative", text) for text, label in pairs]
        assume(not any(text.strip().startswith("<") for _, text in blocks))  # which may be a tag
        lines.append(f"<QApairs id='{number}'>")
        for kind, text in blocks:
            lines += [f"<{kind}>", text.replace(" ", "\t"), f"</{kind}>"]
        lines.append("</QApairs>")
    corpus_is_read("trecqa", write(folder / "it.xml", "\n".join(lines)), content)


def semeval_is_read(folder: Path, content: list) -> None:
    lines = ["<xml>"]
    for number, (question, pairs) in enumerate(content):
        lines.append(f'<Thread><RelQuestion RELQ_ID="Q{number}"><RelQSubject/>')
        lines.append(f"<RelQBody>{escape(question)}</RelQBody></RelQuestion>")
        for index, (text, label) in enumerate(pairs):
            own = f'RELC_ID="Q{number}_C{index}" RELC_RELEVANCE2RELQ="{("Bad", "Good")[label]}"'
            lines.append(f"<RelComment {own}><RelCText>{escape(text)}</RelCText></RelComment>")
        lines.append("</Thread>")
    single = [
        (" ".join(question.split()), [(" ".join(text.split()), label) for text, label in pairs])
        for question, pairs in content
    ]
    corpus_is_read("semeval", write(folder / "it.xml", "\n".join([*lines, "</xml>"])), single)


def yahoocqa_is_read(folder: Path, content: list) -> None:
    lines = [f"{question}#{text}#{label}" for question, pairs in content for text, label in pairs]
    assume(all(line.count("#") == 2 for line in lines))
    corpus_is_read("yahoocqa", write(folder / "it.txt", "\n".join(lines)), content)


def vectors_are_read(folder: Path, content: dict[str, list[float]]) -> None:
    expected = np.array(list(content.values()), dtype=np.float32)
    text = binary = f"{expected.shape[0]} {expected.shape[1]}\n".encode()
    for word, vector in content.items():
        text += f"{word} {' '.join(map(repr, vector))}\n".encode()
        binary += word.encode() + b" " + np.array(vector, "<f4").tobytes() + b"\n"
    files = {"it.vec": text, "it.vec.gz": gzip.compress(text, 1, mtime=0), "word2vec.bin": binary}
    for name, data in {**files, "it.bin.zip": zipped(("it.bin", binary))}.items():
        (folder / name).write_bytes(data)
        read, found = select_vectors(folder / name, list(content), "zero")
        assert found.all()
        np.testing.assert_array_equal(read, expected)


def inferences_are_read(folder: Path, content: list[tuple[str, str, str]]) -> None:
    names = ("sentence1", "sentence2", "gold_label")
    released = [json.dumps(dict(zip(names, pair, strict=True))) for pair in content]
    tabs = [f"{first}\t{second}\t{LABELS.index(label)}" for first, second, label in content]
    for name, lines in {"it.jsonl": released, "it.txt": tabs}.items():
        path = write(folder / name, "".join(f"{line}\n" for line in lines))
        assert [*read_nli([str(path)]).itertuples(index=False, name=None)] == content


def a_registry_is_read(folder: Path, content: dict[str, dict]) -> None:
    content = {
        name: entry | {"file": f"data/{number}"}
        for number, (name, entry) in enumerate(content.items())
    }
    read = load_registry(write(folder / "sources.yaml", yaml.safe_dump(content)))
    assert list(read) == sorted(content)
    for name, entry in content.items():
        assert (read[name].title, read[name].sha256) == (entry["title"], (entry["sha256"],))


def other_values_are_refused(folder: Path, content: dict) -> None:
    assume("cell" not in content)
    path = write(folder / "other.json", json.dumps(content))
    for reader in ("registry", "paper", "run record", "inference"):
        with pytest.raises(AnalogyQAError, match=r"other\.json"):
            TARGETS[reader].read(path)


PROPERTIES = {
    "WikiQA": (questions, wikiqa_is_read),
    "TrecQA": (questions, trecqa_is_read),
    "SemEval": (xml_questions, semeval_is_read),
    "YahooCQA": (questions, yahoocqa_is_read),
    "word vectors": (vectors, vectors_are_read),
    "pairs of inference": (inferences, inferences_are_read),
    "a registry": (entries, a_registry_is_read),
    "values of another kind": (mappings, other_values_are_refused),
}


@pytest.mark.parametrize("name", PROPERTIES)
@pytest.mark.parametrize(
    "examples", [settings.default.max_examples, pytest.param(MANY, marks=pytest.mark.slow)]
)
def test_what_is_written_is_read(tmp_path, name, examples):
    strategy, check = PROPERTIES[name]
    given(strategy)(settings(max_examples=examples)(lambda content: check(tmp_path, content)))()
