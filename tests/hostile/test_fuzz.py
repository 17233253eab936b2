"""Damaged files and senseless values: each reader gives a result or an AnalogyQAError.

Most inputs are valid files with a few bytes changed at random, which costs some microseconds; of
the configuration and the registry the values are changed as well. A failure shows the input and
names its number and the seed.
"""

import gzip
import io
import random
import struct
import zipfile
from collections.abc import Callable, Iterator
from copy import deepcopy
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
import yaml

from analogyqa.availability import Availability
from analogyqa.corpora.table import build_corpus
from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import infersent
from analogyqa.pretrained.nli import read_nli
from analogyqa.pretrained.sent2vec import encode_tokens
from analogyqa.registry import READERS
from analogyqa.report.summary import read_runs
from analogyqa.rewriting.entities import find_entities
from analogyqa.schemas import CORPUS, METRICS, SPLITS, read_table, write_table
from analogyqa.settings.paper import load_paper
from analogyqa.settings.run import load_config, read_config
from analogyqa.sources.registry import load_registry
from analogyqa.training.checkpoints import load_state
from analogyqa.vectors.select import select_vectors
from analogyqa.vectors.store import read_store, store_record

ROOT = Path(__file__).parents[2]
SEED = 2019
WORDS = ["Ada", "the", "who", "a", "rome"]
NUMBERS = np.random.default_rng(0).normal(size=(len(WORDS), 4)).astype("<f4")


# Valid files


def vectors_text(header: str = "5 4\n") -> bytes:
    rows = zip(WORDS, NUMBERS, strict=True)
    return (header + "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in rows)).encode()


def vectors_binary() -> bytes:
    rows = zip(WORDS, NUMBERS, strict=True)
    return b"5 4\n" + b"".join(b"%s %s\n" % (word.encode(), row.tobytes()) for word, row in rows)


def sent2vec_model(buckets: int = 4) -> bytes:
    arguments = (793712314, 11, 4, 5, 5, 5, 10, 2, 1, 4, buckets, 0, 0, 100, 1e-4)
    counts = (len(WORDS), len(WORDS), 0, 10, -1)
    words = b"".join(word.encode() + b"\0" + struct.pack("<qb", 3, 0) for word in WORDS)
    matrices = [np.ones((rows, 4), "<f4") for rows in (len(WORDS) + buckets, len(WORDS))]
    return (
        struct.pack("<2i12id3i2q", *arguments, *counts)
        + words
        + b"".join(struct.pack("<?2q", False, *m.shape) + m.tobytes() for m in matrices)
    )


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def zipped(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def first_lines(path: str, number: int) -> bytes:
    return b"".join((ROOT / path).read_bytes().splitlines(keepends=True)[:number])


def first_question(path: str) -> bytes:
    return (ROOT / path).read_bytes().partition(b"</QApairs>\n")[0] + b"</QApairs>\n"


TABLE = b"qid\tquestion\tsentence\tlabel\n1\twho ?\tAda .\t1\n1\twho ?\tthe .\t0\n"
SNLI = (
    b'{"sentence1": "a b", "sentence2": "c", "gold_label": "neutral"}\n'
    b'{"sentence1": "a", "sentence2": "c \\u00e9", "gold_label": "-"}\n'
)
SICK = (
    b"pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    b"1\tA kid\tB\t4.5\tNEUTRAL\n2\tA\tC\t4\tENTAILMENT\n"
)
REGISTRY = b"""\
snli: &x
  title: SNLI
  file: nli/snli_1.0.zip
  sha256: [afb3d70a5af5d8de0d9d81e2637e0fb8c22d1235c2749d83125ca43dab0dbd3e]
  bytes: 94550081
  urls: [https://a.edu/a.zip, {url: http://a/b.zip, member: a/b}]
  licence: &l CC BY
  citation: >-
    A
b: {<<: *x, file: b, sha256: unknown, licence: *l, citation: "x"}
"""
CONFIG = b"""\
seeds: 3
training: {dropout: 0.5, negatives: {per: pair, count: 2}}
prototypes: {p: 3, curve: [1, 2]}
models:
  mine: {title: Mine, encoder: mean, vectors: fasttext, ranker: analogy}
  bm25: null
selection: {settings: {a: {dropout: 0.1}}}
"""
PAPER = b"""\
paper: me
citation: x
artefacts:
  table4:
    title: T
    value: score
    cells: {dataset: wikiqa, metric: mrr}
    columns: {a: {subset: who}, b: {subset: comb}}
    rows: {m: {model: analogy}, n: {model: similarity}}
    published: {m: [0.1, 0.2], n: [.3, 1]}
claims:
  c:
    claim: x
    where: y
    cells: {dataset: wikiqa, metric: mrr, subset: who}
    comparisons: [{better: {model: a}, worse: {model: b}}]
"""
RECORD = (
    b'{"cell": {"model": "a", "dataset": "b", "subset": "who", "p": 3}, "settings": {}, '
    b'"seeds": [0], "content_hash": "x"}'
)
PATTERNS = (
    b'{"label": "PERSON", "pattern": "ada"}\n'
    b'{"label": "GPE", "pattern": [{"LOWER": {"IN": ["rome", "oslo"]}, "OP": "?"}]}\n'
    b'{"label": "DATE", "pattern": [{"TEXT": {"REGEX": "[0-9]{4}"}}], "id": "x"}\n'
)


# Readers


def read_nli_alone(path: Path) -> object:
    return read_nli([str(path)])


def read_corpus(name: str) -> Callable[[Path], object]:
    return lambda path: list(READERS[name].load()(path))


def build(name: str) -> Callable[[Path], object]:
    return lambda path: build_corpus("it", name, dict.fromkeys(SPLITS, str(path)), {})


def select(path: Path) -> None:
    vectors, found = select_vectors(path, WORDS, "random")
    assert vectors.dtype == np.float32 and len(vectors) == len(WORDS) and found.any()
    assert vectors.shape[1] > 0 and np.isfinite(vectors).all()


def encode(path: Path) -> None:
    assert encode_tokens([WORDS, ["who", "x", "rome"], []], path).dtype == np.float32


def read_words_of_store(path: Path) -> None:
    path.with_suffix("").with_suffix(".npy").write_bytes(STORE)
    read_store(path.with_suffix("").with_suffix(".npy"))


def read_store_alone(path: Path) -> None:
    path.with_suffix(".words.txt").write_text("".join(f"{word}\n" for word in WORDS))
    vectors, rows = read_store(path)
    assert vectors.shape[0] == len(rows) and np.asarray(vectors).dtype == np.float32


def record(path: Path) -> None:
    table = path.with_suffix(".parquet")
    if not table.exists():
        write_table(METRICS.empty_table().to_pandas(), METRICS, table)
    list(read_runs([path], [table]))


def find(path: Path) -> None:
    rows = [("dev", "q", "who ?", "c", "ada was in rome in 1901", 1, "who")]
    find_entities(pd.DataFrame(rows, columns=CORPUS.names), str(path))


def checkpoint(path: Path) -> None:
    assert isinstance(load_state(path, torch.device("cpu")), dict)


METRICS_TABLE = pa.Table.from_pylist(
    [
        dict.fromkeys(METRICS.names, 1)
        | {"split": "test", "question_id": f"q{number}", "question_type": "who"}
        for number in range(9)
    ],
    METRICS,
)
STORE = written(lambda file: np.save(file, NUMBERS))


class Target(NamedTuple):
    """A reader, valid files for it, the end of their name, and the inputs of the slow run."""

    read: Callable[[Path], object]
    valid: list[bytes]
    suffix: str
    inputs: int


WIKIQA = first_lines("sample/wikiqa/WikiQA-dev.tsv", 9)
WIKIQA_CRLF = WIKIQA.replace(b"\n", b"\r\n")
JACANA = [first_question("sample/trecqa/DEV.xml"), first_question("sample/trecqa/TEST.xml")]
TARGETS = {
    "WikiQA": Target(read_corpus("wikiqa"), [WIKIQA, WIKIQA_CRLF], ".tsv", 25_000),
    "WikiQA, table": Target(build("wikiqa"), [WIKIQA], ".tsv", 500),
    "TrecQA": Target(read_corpus("trecqa"), JACANA, ".xml", 25_000),
    "TrecQA, table": Target(build("trecqa"), JACANA, ".xml", 500),
    "TrecQA in columns": Target(read_corpus("trecqa"), [TABLE], ".tsv", 15_000),
    "vectors": Target(select, [vectors_text(), vectors_text("")], ".vec", 25_000),
    "vectors, gzipped": Target(select, [gzip.compress(vectors_text())], ".vec.gz", 8_000),
    "vectors, zipped": Target(select, [zipped("a.vec", vectors_text())], ".vec.zip", 12_000),
    "word2vec": Target(select, [vectors_binary()], ".bin", 20_000),
    "word2vec, zipped": Target(select, [zipped("a.bin", vectors_binary())], ".bin.zip", 4_000),
    "store": Target(read_store_alone, [STORE], ".npy", 10_000),
    "words of a store": Target(
        read_words_of_store, ["".join(f"{w}\n" for w in WORDS).encode()], ".words.txt", 2_000
    ),
    "record of a store": Target(
        store_record, [b'{"dim": 4, "found": 5, "origin": "x"}'], ".json", 8_000
    ),
    "Sent2Vec": Target(encode, [sent2vec_model()], ".bin", 20_000),
    "Sent2Vec's words": Target(encode, [vectors_text()], ".vec", 2_000),
    "inference": Target(read_nli_alone, [b"a b\tc\t0\nd\te\t2\n"], ".txt", 4_000),
    "SICK": Target(read_nli_alone, [SICK], ".txt", 6_000),
    "SNLI": Target(read_nli_alone, [SNLI], ".jsonl", 10_000),
    "SNLI, zipped": Target(read_nli_alone, [zipped("a/snli_train.jsonl", SNLI)], ".zip", 6_000),
    "run record": Target(record, [RECORD], ".json", 5_000),
    "registry": Target(load_registry, [REGISTRY], ".yaml", 2_500),
    "paper": Target(load_paper, [PAPER], ".yaml", 2_500),
    "configuration": Target(read_config, [CONFIG], ".yaml", 300),
    "entity patterns": Target(find, [PATTERNS], ".jsonl", 100),
    "checkpoint": Target(
        checkpoint, [written(lambda f: torch.save({"a": torch.ones(3)}, f))], ".pt", 1_500
    ),
    "InferSent": Target(
        infersent.load,
        [written(lambda f: torch.save(infersent.InferSent(3, 2).state_dict(), f))],
        ".pkl",
        1_500,
    ),
    "Parquet": Target(
        lambda path: read_table(path, METRICS),
        [written(lambda f: pq.write_table(METRICS_TABLE, f, compression="zstd"))],
        ".parquet",
        2_000,
    ),
}
TOKENS = [
    *(b"\0", b"\t", b"\n", b"\r\n", b" ", b"  ", b'"', b"'", b"\xff\xfe", b"\xef\xbb\xbf"),
    *(b"-1", b"0", b"1", b"nan", b"inf", b"1e999", b"1_0", b"9" * 20, b"9" * 5000, b"3.4e38"),
    *(b"\xf4\x8f\xbf\xbf", b"\xed\xa0\x80", b'"\\ud800"', b'"\\0"', b"\xc2\xa0", b"\x0c", b"\x1c"),
    *(b"\xff\xff\xff\x7f", b"\xff" * 8, b"\xff" * 7 + b"\x7f", b"\0" * 8, b"\0" * 7 + b"\x80"),
    *(b"<QApairs id='1'>\n", b"</QApairs>\n", b"<question>\n", b"</question>\n", b"<positive>\n"),
    *(b"{", b"}", b"[", b"]", b"{}", b"[]", b"null", b"true", b"~", b": ", b"- ", b", ", b"#"),
    *(b"[" * 300, b'{"a":' * 1500, b"&x ", b"*x", b"<<: ", b"!!int ", b"!!bool x", b"!!float x"),
    *(b"!!timestamp x", b"!!binary x", b"2001-99-99", b"0x" + b"f" * 5000, b"|", b">", b"? "),
    *(b"%YAML 9\n---\n", b".inf", b"../", b"/", b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"),
]


def mutants(valid: list[bytes], seed: object) -> Iterator[bytes]:
    """Yield valid files without end, each with one to nine changes at random."""
    draw = random.Random(f"{seed}")
    while True:
        data = bytearray(draw.choice(valid))
        for _ in range(draw.choice((1, 1, 2, 3, 5, 9))):
            start = draw.randrange(len(data) + 1)
            end = min(len(data), start + draw.choice((0, 1, 1, 2, 4, 8, 40)))
            change = draw.randrange(7)
            if change == 0:
                data[start:end] = b""
            elif change == 1:
                data[start:end] = draw.randbytes(end - start)
            elif change == 2 and start < len(data):
                data[start] ^= 1 << draw.randrange(8)
            elif change == 3:
                data[start:start] = data[start:end] * draw.choice((1, 2, 8))
            elif change == 4:
                data[start:end] = draw.choice(TOKENS)
            elif change == 5:
                other, place = draw.choice(valid), draw.randrange(1 + len(data))
                data[start:end] = other[place : place + draw.choice((4, 16, 64))]
            elif draw.random() < 0.3:
                del data[start:]
        yield bytes(data)


def survives(name: str, folder: Path, inputs: int) -> int:
    """Give a reader damaged files; return how many it read, all the others being refused."""
    target = TARGETS[name]
    path = folder / f"it{target.suffix}"
    for content in target.valid:
        path.write_bytes(content)
        target.read(path)
    read = 0
    damaged = mutants(target.valid, f"{name} {SEED}")
    for number in range(inputs):
        content = next(damaged)
        path.write_bytes(content)
        try:
            target.read(path)
            read += 1
        except AnalogyQAError as error:
            assert str(folder / "it") in str(error)
        except Exception as error:
            raise AssertionError(f"{name}, input {number} of seed {SEED}: {content!r}") from error
    return read


# Values of a configuration or registry

NONSENSE = [
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 10**30, 0.0, -0.5, 1.5, 1e308),
    *(float("nan"), float("inf"), "", " ", "a", "a/b", "../a", "/", "x" * 300, "a/" + "x" * 300),
    *("\0", "a/\0", "\ud800", "é", "None", "paper", "comb", "who", "analogy", "wikiqa", "unknown"),
    *("0" * 64, "http://a/b", "a+b", "a.b", "C:/a", [], [[]], [None], [1, 1], ["a", "a"], {}),
    *({"a": None}, {"a": {}}, {1: 2}, {None: 1}, {"": ""}, {True: "a"}, [{"url": "http://a"}]),
    *(date(2019, 11, 3), b"\xff", {"loss": "lwda"}, {"dropout": 2}, {"model": {"training": 1}}),
]


def places(values: object, above: tuple = ()) -> Iterator[tuple]:
    """Yield the path of every value within nested dictionaries and lists."""
    parts = values.items() if isinstance(values, dict) else enumerate(values)
    for key, value in parts:
        yield (*above, key)
        if isinstance(value, dict | list):
            yield from places(value, (*above, key))


def changed(values: dict, draw: random.Random) -> dict:
    """Return a copy of nested values, some of them replaced, taken away, renamed or added."""
    values = deepcopy(values)
    for _ in range(draw.choice((1, 1, 2, 4))):
        *above, key = draw.choice([*places(values)] or [("a",)])
        inner = values
        for part in above:
            inner = inner[part]
        change = draw.randrange(5)
        if change == 0 and isinstance(inner, dict):
            inner.pop(key, None)
        elif change == 1 and isinstance(inner, dict):
            inner[draw.choice(["a", f"{key}x", 1, None, "\ud800", 2.5])] = inner.pop(key, None)
        elif change == 2 and isinstance(inner, dict):
            inner[draw.choice(["a", 1, None, "title", "loss", "\0"])] = draw.choice(NONSENSE)
        elif change == 3:
            *further, last = draw.choice([*places(values)] or [("a",)])
            source = values
            for part in further:
                source = source[part]
            inner[key] = deepcopy(source.get(last) if isinstance(source, dict) else source[last])
        else:
            inner[key] = draw.choice(NONSENSE)
    return values


def config_survives(folder: Path, inputs: int) -> int:
    """Load changed configurations, and look for their files; return how many were accepted."""
    values = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    registry = load_registry(ROOT / "sources.yaml")
    draw, accepted = random.Random(SEED), 0
    for number in range(inputs):
        wrong = changed(values, draw)
        try:
            config = load_config(wrong, "it.yaml")
            accepted += 1
            Availability(config, registry, str(folder), [])
        except AnalogyQAError as error:
            assert str(error)
        except Exception as error:
            raise AssertionError(f"configuration {number} of seed {SEED}: {wrong!r}") from error
    return accepted


def registry_survives(folder: Path, inputs: int) -> int:
    """Load changed registries; return how many were accepted."""
    values = yaml.safe_load(REGISTRY)
    draw, accepted, path = random.Random(SEED), 0, folder / "it.yaml"
    for number in range(inputs):
        wrong = changed(values, draw)
        path.write_text(yaml.safe_dump(wrong), encoding="utf-8", errors="surrogatepass")
        try:
            load_registry(path)
            accepted += 1
        except AnalogyQAError as error:
            assert str(path) in str(error)
        except Exception as error:
            raise AssertionError(f"registry {number} of seed {SEED}: {wrong!r}") from error
    return accepted


VALUES = {
    "values of the configuration": (config_survives, 8_000),
    "values of the registry": (registry_survives, 2_000),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TARGETS)
def test_a_reader_survives_damaged_files(tmp_path, name):
    survives(name, tmp_path, max(5, TARGETS[name].inputs // 100))


@pytest.mark.parametrize("name", VALUES)
def test_senseless_values_are_refused(tmp_path, name):
    function, inputs = VALUES[name]
    function(tmp_path, inputs // 20)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_all_readers_survive_many_inputs(tmp_path, report_count):
    read = {name: survives(name, tmp_path, target.inputs) for name, target in TARGETS.items()}
    read |= {name: function(tmp_path, inputs) for name, (function, inputs) in VALUES.items()}
    inputs = {name: target.inputs for name, target in TARGETS.items()}
    inputs |= {name: number for name, (_, number) in VALUES.items()}
    # Neither are all of them refused at the first byte, nor do the changes change nothing.
    assert all(0 < read[name] < inputs[name] for name in inputs), read
    assert sum(inputs.values()) >= 200_000
    report_count(
        f"fuzz: {sum(inputs.values()):,} inputs of {len(inputs)} readers, 0 uncaught exceptions, "
        f"{sum(read.values()):,} read, the others refused (seed {SEED})"
    )
