"""All readers of files from users or earlier jobs, with valid files for tests to damage."""

import gzip
import io
import pickle
import struct
import zipfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from analogyqa.analogies.induce import read_triplets, read_word_pairs, related_pairs
from analogyqa.corpora.relations import relations_corpus
from analogyqa.corpora.specs import READERS
from analogyqa.corpora.table import build_corpus
from analogyqa.evaluation.summary import read_runs
from analogyqa.evaluation.systems import read_scores
from analogyqa.evaluation.trec import read_qrels, read_run
from analogyqa.files import read_lines
from analogyqa.pretrained import infersent
from analogyqa.pretrained.nli import read_nli
from analogyqa.pretrained.sent2vec import encode_tokens
from analogyqa.rewriting.annotate import find_entities
from analogyqa.runs.cost import read_costs
from analogyqa.runs.train import read_tuned
from analogyqa.schemas import CORPUS, METRICS, SPLITS, read_table, write_table
from analogyqa.settings.load import read_config
from analogyqa.settings.paper import load_paper
from analogyqa.sources.registry import load_registry
from analogyqa.training.learner import load_state
from analogyqa.vectors.files import select_vectors
from analogyqa.vectors.frequencies import read_frequencies
from analogyqa.vectors.store import read_store, store_record
from builders.tiny import sent2vec_bytes

ROOT = Path(__file__).parents[2]
WORDS = ["Ada", "the", "who", "a", "rome"]
NUMBERS = np.random.default_rng(0).normal(size=(len(WORDS), 4)).astype("<f4")
WORD_LINES = "".join(f"{word}\n" for word in WORDS).encode()


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def npy(value: object) -> bytes:
    return written(lambda file: np.save(file, value))


def saved(value: object, **options) -> bytes:
    return written(lambda file: torch.save(value, file, **options))


def zipped(*members: tuple, flags: int = 0, offset: int | None = None) -> bytes:
    """Return an archive of members: name, content and, by default 0, Unix mode.

    `flags` and `offset` replace what its directory says about the member.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, *mode in members:
            info = zipfile.ZipInfo()
            info.filename = name  # given to ZipInfo itself, some names would be corrected
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = sum(mode) << 16
            archive.writestr(info, content)
    packed = bytearray(buffer.getvalue())
    if flags:
        directory = packed.index(b"PK\x01\x02")
        packed[directory + 8 : directory + 10] = struct.pack("<H", flags)
    if offset is not None:
        packed[-6:-2] = struct.pack("<L", offset)
    return bytes(packed)


def vectors_text(header: str = "5 4\n") -> bytes:
    rows = zip(WORDS, NUMBERS, strict=True)
    return (header + "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in rows)).encode()


def vectors_binary(numbers: np.ndarray = NUMBERS) -> bytes:
    rows = zip(WORDS, numbers, strict=True)
    return b"5 4\n" + b"".join(b"%s %s\n" % (word.encode(), row.tobytes()) for word, row in rows)


def sent2vec(buckets: int = 4, order: int = 2, shape: tuple[int, int] = (9, 4), **changes) -> bytes:
    """Return a model of 5 words and 4 buckets; its header may state other numbers."""
    return sent2vec_bytes(WORDS, np.ones(shape, "<f4"), 4, buckets, order, **changes)


def repository_file(path: str, until: bytes = b"") -> bytes:
    """Return a file of the repository, or its beginning up to the first `until`."""
    content = (ROOT / path).read_bytes()
    return content[: content.index(until) + len(until)] if until else content


def read_corpus(name: str) -> Callable[[Path], object]:
    return lambda path: list(READERS[name].load()(path))


def build(name: str) -> Callable[[Path], object]:
    return lambda path: build_corpus("it", name, dict.fromkeys(SPLITS, str(path)), {}, {})


def nli(path: Path) -> object:
    return read_nli([str(path)])


def select(path: Path) -> None:
    vectors, has_vector = select_vectors(path, WORDS, "random")
    assert vectors.dtype == np.float32 and len(vectors) == len(WORDS) and has_vector.any()
    assert vectors.shape[1] > 0 and np.isfinite(vectors).all()


def encode(path: Path) -> None:
    assert encode_tokens([WORDS, ["who", "x", "rome"], []], path).dtype == np.float32


def store_words(path: Path) -> None:
    path.with_suffix("").with_suffix(".npy").write_bytes(npy(NUMBERS))
    read_store(path.with_suffix("").with_suffix(".npy"))


def store(path: Path) -> None:
    path.with_suffix(".words.txt").write_bytes(WORD_LINES)
    vectors, rows = read_store(path)
    assert vectors.shape[0] == len(rows) and np.asarray(vectors).dtype == np.float32


def run_record(path: Path) -> None:
    table = path.with_suffix(".parquet")
    if not table.exists():
        write_table(METRICS.empty_table().to_pandas(), METRICS, table)
    list(read_runs([path], [table]))


def entities(path: Path | str) -> None:
    rows = [("dev", "q", "who ?", "c", "ada was in rome in 1901", 1, "who")]
    labels = {"who": ["PERSON"], "when": ["DATE"], "where": ["GPE"]}
    find_entities(pd.DataFrame(rows, columns=CORPUS.names), str(path), labels)


def checkpoint(path: Path) -> None:
    assert isinstance(load_state(path, torch.device("cpu")), dict)


class Target(NamedTuple):
    """A reader, valid files for it, their suffix, and the number of inputs in the suite `slow`."""

    read: Callable[[Path], object]
    valid: list[bytes]
    suffix: str
    inputs: int


WIKIQA = b"".join(repository_file("sample/wikiqa/WikiQA-dev.tsv").splitlines(True)[:9])
JACANA = [repository_file(f"sample/trecqa/{name}.xml", b"</QApairs>\n") for name in ("DEV", "TEST")]
DTD = """\
<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE xml [
<!ELEMENT xml (Thread*)>
<!ATTLIST Thread THREAD_SEQUENCE CDATA #REQUIRED>
]>
"""
RELATED = """\
<RelQuestion RELQ_ID="Q1_R2">
<RelQSubject>a tree</RelQSubject>
<RelQBody>which one   &amp; where
?</RelQBody>
</RelQuestion>
"""
COMMENT = '<RelComment RELC_ID="Q1_R2_C1" RELC_RELEVANCE2RELQ="Good"><RelCText>an oak</RelCText>'
COMMENT += "</RelComment>\n"
BAD = COMMENT.replace("C1", "C2").replace("Good", "Bad").replace("an oak", "a &lt;b> \xa0c")
USEFUL = COMMENT.replace("C1", "C3").replace("Good", "PotentiallyUseful").replace("an oak", "ask")
THREAD = f'<Thread THREAD_SEQUENCE="Q1_R2">\n{RELATED}{COMMENT}{BAD}{USEFUL}</Thread>\n'
CQA = f'{DTD}<xml version="1.0">\n{THREAD}</xml>\n'
RELATED_QUESTIONS = b"""\
<xml>
<OrgQuestion ORGQ_ID="Q1">
<OrgQSubject>a tree</OrgQSubject><OrgQBody>which?</OrgQBody>
<Thread THREAD_SEQUENCE="Q1_R1">
<RelQuestion RELQ_ID="Q1_R1" RELQ_RELEVANCE2ORGQ="PerfectMatch">
<RelQSubject>oak</RelQSubject><RelQBody></RelQBody></RelQuestion>
</Thread></OrgQuestion></xml>
"""
RELATED_GOLD = b"Q388\tQ388_R14\t14\t0.07\tfalse\nQ388\tQ388_R21\t21\t0.05\ttrue\n"
RELATED_LINES = (
    b'{"split": "a", "label": "Relevant", "orgq": "be tree", "relq": "elm"}\n'
    b'{"split": "b", "label": true, "qid": "Q7", "rid": "Q7_R1", "orgq": "a", "relq": "\\u00e9"}\n'
)
RELATIONS = b"In Rome\tIn Italy\nIn Oslo\tIn Norway\nIn Bern\tIn Switzerland\n"
PAIRS = pd.DataFrame({"premise": ["a"], "hypothesis": ["b"]})
SICK_SCORES = b"sentence_A\tsentence_B\trelatedness_score\na\tb\t4.5\n"
SELQA = (
    b'[{"question": "who?", "article": "A", "candidates": ["it", ""], "answers": [0]}, '
    b'{"question": "when?", "article": "B", "candidates": ["a", "b"], "answers": [1]}]'
)
SPLIT_PICKLE = pickle.dumps({"train": {"which": [["fir", 1], ["oak", 0]]}, "dev": {}})
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
RECORD = (
    b'{"cell": {"system": "a", "dataset": "b", "subset": "who", "overrides": {}}, '
    b'"settings": {"systems": {"paper": {"ranker": {"name": "cosine"}}}, "parts": {}}, '
    b'"hyperparameters": null, "sources": {}, "stores": {}, "seeds": [0], '
    b'"content_hash": "x", "inputs": {}, "scores": {}, "git_commit": "abc", '
    b'"device": "cpu", "machines": {}}'
)
PATTERNS = (
    b'{"label": "PERSON", "pattern": "ada"}\n'
    b'{"label": "GPE", "pattern": [{"LOWER": {"IN": ["rome", "oslo"]}, "OP": "?"}]}\n'
    b'{"label": "DATE", "pattern": [{"TEXT": {"REGEX": "[0-9]{4}"}}], "id": "x"}\n'
)
ROW = {"seed": 1, "split": "test", "group": "who", "measure": "mrr", "value": 1.0}
ROWS = pa.Table.from_pylist([ROW | {"item": f"q{number}"} for number in range(9)], METRICS)
PARQUET = written(lambda file: pq.write_table(ROWS, file, compression="zstd"))
INFERSENT = saved(infersent.InferSent(3, 2).state_dict())

TARGETS = {
    "WikiQA": Target(read_corpus("wikiqa"),
        [WIKIQA, WIKIQA.replace(b"\n", b"\r\n")], ".tsv", 25_000),
    "WikiQA, table": Target(build("wikiqa"), [WIKIQA], ".tsv", 500),
    "TrecQA": Target(read_corpus("trecqa"), JACANA, ".xml", 25_000),
    "TrecQA, table": Target(build("trecqa"), JACANA, ".xml", 500),
    "SemEval": Target(read_corpus("semeval"), [CQA.encode()], ".xml", 8_000),
    "SemEval, table": Target(build("semeval"), [CQA.encode()], ".xml", 500),
    "related questions": Target(read_corpus("semeval_related"), [RELATED_QUESTIONS], ".xml", 4_000),
    "related questions, ids": Target(read_corpus("semeval_ids"), [RELATED_GOLD], ".txt", 4_000),
    "related questions, JSON": Target(read_corpus("semeval_related"),
        [RELATED_LINES], ".jsonl", 4_000),
    "table": Target(read_corpus("table"), [b"question,answer,label\nwho?,it,1\n"], ".csv", 4_000),
    "relations": Target(lambda path: relations_corpus({"it": path}), [RELATIONS], ".tsv", 2_000),
    "YahooCQA": Target(read_corpus("yahoocqa_splits"),
        [zipped(("env.pkl", SPLIT_PICKLE))], ".pkl.zip", 2_000),
    "SelQA": Target(read_corpus("selqa"), [SELQA], ".json", 4_000),
    "lines": Target(lambda path: list(read_lines(path)), [b"a\tb\n\xc3\xa9\n"], ".tsv", 2_000),
    "triplets": Target(lambda path: list(read_triplets(path, (1, 2, 3))),
        [b"It rains\tIt pours\tIt snows\n"], ".txt", 2_000),
    "relatedness": Target(lambda path: related_pairs(PAIRS, path, 4), [SICK_SCORES], ".txt", 2_000),
    "word pairs": Target(lambda path: read_word_pairs(path, "places"),
        [b": places\nRome Italy Oslo Norway\n"], ".txt", 2_000),
    "word counts": Target(lambda path: read_frequencies(path, {"elm": 0}),
        [b"oak 3\nelm 990\n"], ".txt", 2_000),
    "vectors": Target(select, [vectors_text(), vectors_text("")], ".vec", 25_000),
    "vectors, gzipped": Target(select, [gzip.compress(vectors_text(), mtime=0)], ".vec.gz", 8_000),
    "vectors, zipped": Target(select, [zipped(("a.vec", vectors_text()))], ".vec.zip", 12_000),
    "word2vec": Target(select, [vectors_binary()], ".bin", 20_000),
    "word2vec, zipped": Target(select, [zipped(("a.bin", vectors_binary()))], ".bin.zip", 4_000),
    "store": Target(store, [npy(NUMBERS)], ".npy", 10_000),
    "words of a store": Target(store_words, [WORD_LINES], ".words.txt", 2_000),
    "record of a store": Target(store_record,
        [b'{"dim": 4, "found": 5, "origin": "x"}'], ".json", 8_000),
    "Sent2Vec": Target(encode, [sent2vec()], ".bin", 20_000),
    "Sent2Vec's words": Target(encode, [vectors_text()], ".vec", 2_000),
    "inference": Target(nli, [b"a b\tc\t0\nd\te\t2\n"], ".txt", 4_000),
    "SICK": Target(nli, [SICK], ".txt", 6_000),
    "SNLI": Target(nli, [SNLI], ".jsonl", 10_000),
    "SNLI, zipped": Target(nli, [zipped(("a/snli_train.jsonl", SNLI))], ".zip", 6_000),
    "run record": Target(run_record, [RECORD], ".json", 5_000),
    "costs": Target(lambda path: read_costs([path]), [b'{"systems": {}}'], ".json", 2_000),
    "tuned hyperparameters": Target(read_tuned, [b'{"tuned": "paper"}'], ".json", 2_000),
    "registry": Target(load_registry, [REGISTRY], ".yaml", 2_500),
    "paper": Target(load_paper, [repository_file("papers/lwda2019/paper.yaml")], ".yaml", 2_500),
    "configuration": Target(read_config, [repository_file("sample/config.yaml")], ".yaml", 300),
    "entity patterns": Target(entities, [PATTERNS], ".jsonl", 100),
    "checkpoint": Target(checkpoint, [saved({"a": torch.ones(3)})], ".pt", 1_500),
    "InferSent": Target(infersent.load, [INFERSENT], ".pkl", 1_500),
    "scores": Target(read_scores, [b"system,item,seed,value\na,x,0,0.5\na,y,0,1\n"], ".csv", 2_000),
    "TREC run": Target(read_run, [b"# tag\nq1 Q0 a 1 0.5 x\nq1 Q0 b 2 -1e-3 x\n"], ".run", 2_000),
    "TREC qrels": Target(read_qrels, [b"q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n"], ".qrels", 2_000),
    "Parquet": Target(lambda path: read_table(path, METRICS), [PARQUET], ".parquet", 2_000),
}  # fmt: skip


def mark_most_slow(*lists: list) -> list:
    """Return all combinations, marked slow if they differ from the first in several values."""
    combinations = []
    for indexed in product(*map(enumerate, lists)):
        indices, values = zip(*indexed, strict=True)
        marks = [pytest.mark.slow] if sum(map(bool, indices)) > 1 else []
        combinations.append(pytest.param(*values, marks=marks))
    return combinations
