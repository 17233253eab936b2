"""What is written is read, whatever it is; what no program of ours has written is refused."""

import gzip
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained.nli import LABELS, read_nli
from analogyqa.registry import READERS
from analogyqa.report.summary import read_runs
from analogyqa.schemas import METRICS, write_table
from analogyqa.settings.paper import load_paper
from analogyqa.sources.registry import load_registry
from analogyqa.vectors.select import select_vectors
from analogyqa.vectors.store import read_store, store_record, write_store
from analogyqa.yaml_files import read_yaml

FEW, MANY = 50, 400

letters = st.characters(exclude_categories=["Cs"], exclude_characters="\t\r\n\0")
field = st.text(letters, min_size=1).filter(str.strip)
words = st.text(letters, min_size=1).filter(lambda text: text.split() == [text])
candidates = st.lists(st.tuples(field, st.integers(0, 1)), min_size=1, max_size=4)
questions = st.lists(st.tuples(field, candidates), min_size=1, max_size=4)
finite = st.floats(-1e6, 1e6, width=32)
vectors = st.integers(1, 4).flatmap(
    lambda dim: st.dictionaries(words, st.lists(finite, min_size=dim, max_size=dim), min_size=1)
)
inferences = st.lists(
    st.tuples(st.text(letters), st.text(letters), st.sampled_from(LABELS)), min_size=1
)
entries = st.dictionaries(
    st.text(letters, min_size=1),
    st.fixed_dictionaries(
        {
            "title": field,
            "sha256": st.text("0123456789abcdef", min_size=64, max_size=64),
            "licence": field,
            "citation": field,
        },
        optional={"bytes": st.integers(1, 2**62), "urls": st.just(["http://a/b"])},
    ),
    min_size=1,
    max_size=4,
)
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10
)
mappings = st.dictionaries(st.text(), values)


def wikiqa_is_read(folder: Path, content: list) -> None:
    lines = ["QuestionID\tQuestion\tSentence\tLabel"]
    lines += [
        f"Q{number}\t{question}\t{candidate}\t{label}"
        for number, (question, pairs) in enumerate(content)
        for candidate, label in pairs
    ]
    path = folder / "it.tsv"
    path.write_text("\n".join(lines), encoding="utf-8", newline="")
    read = [(pair.question, pair.candidate, pair.label) for pair in READERS["wikiqa"].load()(path)]
    assert read == [(question, *pair) for question, pairs in content for pair in pairs]


def trecqa_is_read(folder: Path, content: list) -> None:
    def block(kind: str, sentence: str) -> list[str]:
        return [f"<{kind}>", "\t".join(sentence.split(" ")), f"</{kind}>"]

    texts = [
        text for question, pairs in content for text in (question, *(pair[0] for pair in pairs))
    ]
    assume(not any(text.strip().startswith("<") for text in texts))  # which may be a tag
    lines = []
    for number, (question, pairs) in enumerate(content):
        lines += [f"<QApairs id='{number}'>", *block("question", question)]
        for candidate, label in pairs:
            lines += block("positive" if label else "negative", candidate)
        lines.append("</QApairs>")
    path = folder / "it.xml"
    path.write_text("\n".join(lines), encoding="utf-8", newline="")
    read = [(pair.question, pair.candidate, pair.label) for pair in READERS["trecqa"].load()(path)]
    assert read == [(question, *pair) for question, pairs in content for pair in pairs]


def vectors_are_read(folder: Path, content: dict[str, list[float]]) -> None:
    dim = len(next(iter(content.values())))
    header = f"{len(content)} {dim}\n".encode()
    text = header + b"".join(
        f"{word} {' '.join(map(repr, vector))}\n".encode() for word, vector in content.items()
    )
    binary = header + b"".join(
        word.encode() + b" " + np.array(vector, "<f4").tobytes() + b"\n"
        for word, vector in content.items()
    )
    (folder / "it.vec").write_bytes(text)
    (folder / "it.vec.gz").write_bytes(gzip.compress(text, 1))
    (folder / "word2vec.bin").write_bytes(binary)
    with zipfile.ZipFile(folder / "it.bin.zip", "w") as archive:
        archive.writestr("it.bin", binary)
    expected = np.array(list(content.values()), dtype=np.float32)
    for name in ("it.vec", "it.vec.gz", "word2vec.bin", "it.bin.zip"):
        read, found = select_vectors(folder / name, list(content), "zero")
        assert found.all()
        np.testing.assert_array_equal(read, expected)


def a_store_is_read(folder: Path, content: dict[str, list[float]]) -> None:
    expected = np.array(list(content.values()), dtype=np.float32)
    found = np.ones(len(content), dtype=bool)
    write_store(expected, found, list(content), "here", folder / "store.npy")
    read, rows = read_store(folder / "store.npy")
    assert list(rows) == list(content)
    np.testing.assert_array_equal(read, expected)
    assert store_record(folder / "store.npy") == {"name": "store", "origin": "here"}


def inferences_are_read(folder: Path, content: list[tuple[str, str, str]]) -> None:
    released = [
        json.dumps({"sentence1": first, "sentence2": second, "gold_label": label})
        for first, second, label in content
    ]
    tabs = [f"{first}\t{second}\t{LABELS.index(label)}" for first, second, label in content]
    for name, lines in {"it.jsonl": released, "it.txt": tabs}.items():
        path = folder / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
        assert [*read_nli([str(path)]).itertuples(index=False, name=None)] == content


def a_registry_is_read(folder: Path, content: dict[str, dict]) -> None:
    path = folder / "sources.yaml"
    entries = {
        name: entry | {"file": f"data/{number}"}
        for number, (name, entry) in enumerate(content.items())
    }
    path.write_text(yaml.safe_dump(entries), encoding="utf-8")
    read = load_registry(path)
    assert list(read) == sorted(entries)
    for name, entry in entries.items():
        assert (read[name].title, read[name].sha256) == (entry["title"], (entry["sha256"],))


def yaml_is_read(folder: Path, content: dict) -> None:
    path = folder / "it.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    assert read_yaml(path) == content


def other_values_are_refused(folder: Path, content: dict) -> None:
    assume("cell" not in content)
    path = folder / "other.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    metrics = folder / "metrics.parquet"
    if not metrics.exists():
        write_table(METRICS.empty_table().to_pandas(), METRICS, metrics)
    for read in (
        load_registry,
        load_paper,
        lambda path: list(read_runs([path], [metrics])),
        lambda path: read_nli([str(path)]),
    ):
        with pytest.raises(AnalogyQAError, match=r"other\.json"):
            read(path)


PROPERTIES = {
    "WikiQA": (questions, wikiqa_is_read),
    "TrecQA": (questions, trecqa_is_read),
    "word vectors": (vectors, vectors_are_read),
    "a store of vectors": (vectors, a_store_is_read),
    "pairs of inference": (inferences, inferences_are_read),
    "a registry": (entries, a_registry_is_read),
    "YAML": (mappings, yaml_is_read),
    "values of another kind": (mappings, other_values_are_refused),
}


def holds(name: str, folder: Path, examples: int) -> None:
    strategy, check = PROPERTIES[name]

    @settings(max_examples=examples)
    @given(strategy)
    def property_holds(content: object) -> None:
        check(folder, content)

    property_holds()


@pytest.mark.parametrize("name", PROPERTIES)
def test_what_is_written_is_read(tmp_path, name):
    holds(name, tmp_path, FEW)


@pytest.mark.slow
def test_what_is_written_is_read_many_times(tmp_path, report_count):
    for name in PROPERTIES:
        holds(name, tmp_path, MANY)
    report_count(f"{MANY * len(PROPERTIES):,} examples of {len(PROPERTIES)} properties")
