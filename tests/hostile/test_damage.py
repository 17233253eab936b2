"""Damaged and refused files: each ends in one message that names the file and the cause.

A row of a reader is the content of its file, or a pair of texts to replace in its valid file, and
the parts of the message that name the cause. Some rows were found by fuzzing (test_fuzz.py).
"""

import codecs
import gzip
import json
import pickle

import numpy as np
import pytest
import torch

from analogyqa.corpora.tabular import WIKIQA
from analogyqa.errors import AnalogyQAError, shown
from analogyqa.pretrained.infersent import InferSent
from analogyqa.sources.registry import load_registry
from builders.damaged import (
    BAD,
    COMMENT,
    CQA,
    INFERSENT,
    NUMBERS,
    PARQUET,
    RELATED,
    TARGETS,
    THREAD,
    USEFUL,
    npy,
    saved,
    sent2vec,
    vectors_binary,
    vectors_text,
    zipped,
)

TEXT = b"Ada 1 2 3\nrome 4 5 6\n"
NESTED = b"[" * 100_000
ONES = np.ones((2, 2), np.float32)
NO_YAML = "cannot be read as a YAML mapping"
NO_JSON = "not a JSON object with gold_label"
NO_RECORD = "not a record of vectors"
NO_INFERSENT, NO_WEIGHTS = "not the weights of InferSent", "not a file of PyTorch weights"
OTHER_FORMAT = "another format, not a model of Sent2Vec"
OTHER_TYPE = "fastText model of another type"
ONE_QUESTION = "expected a RelQuestion"

HEADER = "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel\n"
ROW = "Q1\twho is it ?\tD1\tTitle\tD1-0\tIt is anna .\t1\n"
QUESTION = "<QApairs id='1'>\n<question>\nwho\t?\n</question>\n"
UNCLOSED = "the <positive> of line 5 is not closed"
BILLION = '<!ENTITY a0 "boom">' + "".join(
    f'<!ENTITY a{number} "{f"&a{number - 1};" * 10}">' for number in range(1, 12)
)
NAN = NUMBERS.copy()
NAN[1, 2] = np.nan
HUGE = NUMBERS.copy()
HUGE[1, 2] = 1e9
WEIGHTS = InferSent(3, 2).state_dict()
BIAS = "enc_lstm.bias_hh_l0"


def corpus_rows(*rows: str) -> str:
    return "\n".join(["QuestionID\tQuestion\tSentence\tLabel", *rows, ""])


def with_entity(declaration: str, text: str) -> str:
    return CQA.replace("]>", f"{declaration}\n]>", 1).replace("an oak", text)


def related(**changes: object) -> str:
    """Return two lines with a pair of related questions, the second with changes."""
    pair = {"split": "a", "label": "Relevant", "orgq": "be tree", "relq": "elm"}
    return f"{json.dumps(pair)}\n{json.dumps(pair | changes)}\n"


def pairs(first: str = "a", second: str = "b", label: str = "neutral") -> str:
    return json.dumps({"sentence1": first, "sentence2": second, "gold_label": label}) + "\n"


def sick(*rows: str) -> str:
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
    return "\n".join([header, *rows, ""])


def splits(value: object) -> bytes:
    return zipped(("env.pkl", pickle.dumps(value)))


DAMAGE = {
    "lines": [
        ("é\n".encode() + b"\xe9\n", ", line 2: not UTF-8"),
        (b"a\nb\0c\n", ", line 2: a NUL character"),
        ("a\nb\n".encode("utf-16-le"), ", line 1: a NUL character"),
        (b"a\rb\r", ", line 1: a carriage return"),
        (b"a\nb\rc\n", ", line 2: a carriage return inside the line"),
        (gzip.compress(b"a\tb\n", mtime=0), ": this is ", "gzip"),
        (b"PK\x03\x04rest", ": this is ", "Excel workbook"),
        (b"PAR1rest", ": this is ", "Parquet"),
        ("a\tb\n".encode("utf-16"), ": this is ", "UTF-16"),
        (codecs.BOM_UTF16_BE + "a\tb\n".encode("utf-16-be"), ": this is ", "UTF-16"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"),
        (b"\n <!DOCTYPE html>\n", ": this is an HTML page"),
        (codecs.BOM_UTF8 + b"<HTML>", ": this is an HTML page"),
    ],
    "WikiQA": [
        ("", ", line 1: no column"),
        *((HEADER.replace(column, "Other") + ROW, f", line 1: no column {column}")
          for column in WIKIQA),
        (HEADER.replace("\n", "\tLabel\n") + ROW, ", line 1: the header repeats the column Label"),
        ('"QuestionID"\t"Question"\n', ", line 1: ", "double quotes"),
        (HEADER + ROW.replace("\t1\n", "\n"), ", line 2: 6 fields, but the header has 7"),
        (HEADER + ROW.replace("\n", "\tmore\n"), ", line 2: 8 fields, but the header has 7"),
        (HEADER + ROW + "\n", ", line 3: 1 fields"),
        ((HEADER + ROW).encode() + b"Q2\t\xff\n", ", line 3: not UTF-8"),
        *((HEADER + ROW.replace("\t1\n", f"\t{label}\n"), f"label '{label}' is neither 0 nor 1")
          for label in ("2", "-1", "", " 1", "1.0", "yes")),
    ],
    "WikiQA, table": [
        (corpus_rows("1\twho ?\ta\t1", "2\twho ?\ta\t1", "1\twho ?\tb\t1"),
         ", line 4: the question 1 already ended"),
        (corpus_rows("1\twho ?\ta\t1", "1\twhen ?\tb\t1"), ", line 3: the text of question 1 ",
         "line 2"),
        (corpus_rows(" \twho ?\ta\t1"), ", line 2: the question id is empty"),
        (corpus_rows("\u200b\twho ?\ta\t1"), ", line 2: the question id is empty"),
        (corpus_rows("1\t \ta\t1"), ", line 2: the question is empty"),
        (corpus_rows("1\twho ?\t \t1"), ", line 2: the candidate is empty"),
        (corpus_rows(), ": no questions"),
    ],
    "TrecQA": [
        (f"{QUESTION}</QApairs>\n", ", line 5: the question 1 has no candidates"),
        (f"{QUESTION}<positive>\na\n</QApairs>\n", f", line 7: {UNCLOSED}"),
        (f"{QUESTION}<positive>\na\n<QApairs id='2'>\n", f", line 7: {UNCLOSED}"),
        (f"{QUESTION}<positive>\na\n<negative>\n", f", line 7: {UNCLOSED}"),
        (f"{QUESTION}<positive>\n<question>\n", f", line 6: {UNCLOSED}"),
        (f"{QUESTION}<QApairs id='2'>\n", ", line 5: the question 1 is not closed"),
        (f"{QUESTION}<maybe>\na\n</maybe>\n</QApairs>\n", ", line 5: unexpected text '<maybe>'"),
        (f"{QUESTION}<positive>\n</positive>\n</QApairs>\n", ", line 6: an empty <positive>"),
        (f"{QUESTION}<positive>\n\n</positive>\n</QApairs>\n", ", line 7: an empty <positive>"),
        (f"{QUESTION}<positive>\n".encode() + b"\xe9\n", ", line 6: not UTF-8"),
        ("<QApairs id='1'>\n<positive>\na\n</positive>\n", "a <positive> before the question"),
        ("<positive>\na\n</positive>\n", ", line 1: <positive> outside of <QApairs>"),
        ("</QApairs>\n", ", line 1: </QApairs> without <QApairs>"),
    ],
    "SemEval": [
        ((' RELQ_ID="Q1_R2"', ""), ", line 8: a RelQuestion without RELQ_ID"),
        ((' RELC_RELEVANCE2RELQ="Bad"', ""), ", line 14: a RelComment without RELC_RELEVANCE2RELQ"),
        (('"Bad"', '"?"'), ", line 14: unknown label '?'", "Good, Potential"),
        (('"Bad"', f'"{"x" * 9999}"'), ", line 14: unknown label 'xxx", "..."),
        ((COMMENT + BAD + USEFUL, ""), ", line 8: the question Q1_R2 has no comments"),
        ((RELATED, ""), ", line 7: expected a RelQuestion and then RelComments"),
        ((RELATED, RELATED * 2), f", line 7: {ONE_QUESTION}"),
        ((THREAD, "<Thread/>"), f", line 7: {ONE_QUESTION}"),
        (("RelQBody", "RelQClean"), ", line 8: a RelQuestion with 0 RelQBody instead of one"),
        (("an oak", "an</RelCText><RelCText>oak"), ", line 13: a RelComment with 2 RelCText"),
        ((THREAD, THREAD * 2), ", line 18: a second element with the id Q1_R2"),
        ((COMMENT, COMMENT * 2), ", line 14: a second element with the id Q1_R2_C1"),
        (("Q1_R2_C3", "Q1_R2"), ", line 15: a second element with the id Q1_R2"),
        # Malformed XML: the parser raises a SAXException, a ValueError or a LookupError.
        (("an oak", "an <oak"), ", line 13: malformed XML ("),
        (("utf-8", "utf-7"), ", line 1: malformed"),
        (("utf-8", "no"), ", line 1: malformed"),
        # Entities
        (with_entity(BILLION, "&a11;"), "malformed XML"),
        (with_entity('<!ENTITY a "harmless">', "an oak"), "malformed XML"),
        (with_entity("%a;", "&b;"), "malformed XML"),
    ],
    "related questions": [
        (("PerfectMatch", "?"), ", line 5: unknown label '?'"),
        ((' RELQ_RELEVANCE2ORGQ="PerfectMatch"', ""), ", line 5: a RelQuestion without RELQ_RELE"),
        ((' ORGQ_ID="Q1"', ""), ", line 2: a OrgQuestion without ORGQ_ID"),
        (("RelQuestion", "Question"), ", line 2: the question Q1 has no related question"),
    ],
    "related questions, ids": [
        (("false", "maybe"), ", line 1: 'Q388_R14', 'maybe' are not an id"),
        (("Q388_R21", "Q388_C21"), ", line 2: 'Q388_C21', 'true' are not an id"),
        (("0.05\t", ""), ", line 2: 'Q388\\tQ388_R21"),
    ],
    "related questions, JSON": [
        (related() + "{\n", ", line 3: not a pair of questions"),
        (related() + "[]\n", ", line 3: not a pair of questions"),
        (related(label="maybe"), ", line 2: unknown label 'maybe'"),
        (related(relq=3), ", line 2: not a pair of questions"),
        (related(relq="half \ud83d"), ", line 2: ", "surrogates"),
        (related(orgq="a\0b"), ", line 2: ", "NUL"),
        (related(qid=True), ", line 2: ", "qid"),
        (related(qid="\ude00"), ", line 2: ", "surrogates"),
        ('{"split": "a", "label": "Relevant", "orgq": "x"}\n', "KeyError('relq_subject')"),
    ],
    "table": [
        ("", ", line 1: no column for the question and the candidate and the label"),
        ("a,answer,label\n", ", line 1: no column for the question", "'a', 'answer', 'label'"),
        ("question,answer,label\nwho?,it,2\n", ", line 2: label '2'"),
        ("question,answer,label\nwho?,it, is,1\n", ", line 2: 4 fields, but the header has 3"),
        ('question,answer,label\n"who" is?,it,1\n', ", line 2: ", "wikiqa"),
        ('question,answer,label\nwho?,"it,1\n', ", line 2: ", "wikiqa"),
        ('{"question": "who?", "answer": null, "label": 1}', ", line 1: the candidate is None"),
        ('{"question": "who?", "answer": "it", "label": 1}\n{', ", line 2: not JSON"),
        (b"PAR1damaged", ": damaged Parquet file"),
    ],
    "SelQA": [
        ("[", ": Invalid JSON"),
        ("{}", ": Input should be a valid array"),
        (NESTED, ": Invalid JSON"),
        (("when?", " "), ", question 2: question: the text is empty"),
        (("when?", "a\\u0000b"), ", question 2: question: ", "NUL"),
        (("when?", "half \\ud83d"), ": Invalid JSON"),
        (('"article": "B", ', ""), ", question 2: article: Field required"),
        (('["a", "b"]', "[]"), ", question 2: candidates: List should have at least 1"),
        (('["a", "b"]', '["a", 7]'), ", question 2: candidates.1: Input should be a valid string"),
        (("[1]", "[true]"), ", question 2: answers.0: Input should be a valid integer"),
        *((("[0]", f"[0, {answer}]"), f", question 1: answer {answer} is no candidate")
          for answer in (-1, 1, 2)),
    ],
    "relations": [
        ("In Rome\tIn Italy\nIn Oslo\n", ", line 2: 1 columns, 1 of them with"),
        ("In Rome\tIn Italy\nIn Oslo\tIn Norway\n", ": 2 pairs"),
        ('"In"\t"It"\n"On"\t"It"\n"At"\t"It"\n', "double quotes", "without a text"),
    ],
    "triplets": [("It rains\tIt pours\n", ", line 1: 2 columns, 2 of them with text")],
    "relatedness": [
        *((text, ": no column relatedness_score") for text in ("", "sentence_A\tsentence_B\n")),
        (("4.5", "much"), "'much'"),
    ],
    "YahooCQA": [
        (b"", ""),
        (zipped(("a.pkl", b""), ("b.pkl", b"")), "a.pkl"),
        *((zipped(("env.pkl", content)), "") for content in (b"", b"no pickle")),
        # Cut off, and a text of Python 2 that is not UTF-8.
        (zipped(("env.pkl", pickle.dumps({"dev": {"a": [["b", 1]]}})[:-9])), ""),
        (zipped(("env.pkl", b"(dp0\nS'dev'\np1\n(dp2\nS'\\xa9'\np3\n(lp4\nsas.")), ""),
        *((splits(value), "") for value in (
          *([], {"train": []}, {"train": {"a": {}}}, {"train": {"a": [["b"]]}}),
          *({"train": {1: [["b", 1]]}}, {"train": {"a": [[2, 1]]}}), {"train": {"a": [["b", 2]]}},
          )),
    ],
    "word pairs": [
        (": towns\n", "no section 'places'", "towns"),
        (": places\nRome Italy\n", ", line 2: 2 words"),
    ],
    "word counts": [
        ("oak 3\nelm\n", ", line 2: no word with its count"),
        ("oak 3\nelm 9909090909090909090\n", ", line 2: no word with its count"),
    ],
    "vectors": [
        ("2 2\nAda 1 2\nthe 1 nan\n", ", line 3: ", "'the'", "not finite"),
        ("1 2\nthe 1 1e99\n", ", line 2: ", "'the'", "not finite"),
        ("2 4\nAda 1 2 3 4\nwho 1 2 3\n", ", line 3: a vector of 3 numbers instead of 4"),
        ("2 4\nAda 1 2 3 4\nwho 1 2 3 4 5\n", ", line 3: a vector of 5 numbers instead of 4"),
        ("2 4\nAda 1 2 3 4\n\n", ", line 3: a vector of 0 numbers instead of 4"),
        (vectors_text("") + b"more 1 2\n", ", line 6: a vector of 2 numbers instead of 4"),
        ("1 2\nthe 1 two\n", ", line 2: ", "two"),
        ("hello world\nmore text here\n", ": none of the 5 words"),
        ("<html>\n</html>\n", ": this is an HTML page"),
        ("", ": none of the 5 words"),
        (vectors_text("6 4\n"), ": 5 vectors, but the first line says 6", "truncated"),
        (vectors_text("4 4\n"), ": 5 vectors, but the first line says 4", "too long"),
        (b"2 0\nAda\nrome\n", ", line 2: no numbers"),
        (TEXT + b"rome 1\t2 3 4\n", ", line 3: a vector of 4"),
        (b"Ada 1  2\nrome 1 2 3\n", ", line 1: a vector of 2"),
        (b"Ada 1 2\nrome  7\n", ", line 2: a vector of 1 numbers"),
        (b"%b 3\n" % (b"9" * 5000) + TEXT, ", line 2: a vector of"),
        (b" 3\n" + TEXT, ", line 2: a vector of"),
        (b"Ada 3e38 -3e38 3e38\n", "too large for a stand"),
        (b"Ada " + b"1" * (1 << 22), ", line 1: the line is too long"),
    ],
    "word2vec": [
        (vectors_binary(NAN), ", vector 2: ", "'the'", "not finite"),
        (vectors_binary(HUGE), ": vector 2 has the value 1e+09"),
        (b"1 4\nthen " + bytes(16), ": none of the 5 words"),
        (b"4" + vectors_binary()[1:], ": there are bytes after the last of 4 vectors"),
        (vectors_binary() + b"\n", ": there are bytes after the last of 5 vectors"),
        ("1 2 3\n", ": neither a fastText nor a word2vec"),
        (b"PK\x03\x04 1", ": neither a fastText nor a word2vec"),
        (b"999999999999 0\nAda ", "have 0 numbers"),
        (b"1 99999999999999999\nAda ", "have 99,9"),
        (b"1 3\n" + b"a" * 70_000, "the word of vector"),
        (b"1 " + b"9" * 90 + b"\n", "neither a fastText nor"),
    ],
    "word2vec, zipped": [(zipped(("a.bin", b"hello")), ": neither ", " Unpack it")],
    "vectors, zipped": [
        (zipped(("a.vec", b"2 2\nAda 1 2\nthe 1 nan\n")), ", line 3: ", "'the'", "not finite"),
        (zipped(("one.vec", TEXT), ("two.vec", TEXT)), "expected one file", "one.vec", "two.vec"),
        (zipped(("a.vec", TEXT), flags=1), "encrypted"),
        (zipped(("a.vec", TEXT), flags=32), "compressed patched data"),
        (zipped(("a.vec", TEXT), offset=1 << 20), "damaged or truncated"),
    ],
    "store": [
        *((npy(NUMBERS)[:end], "damaged", "Delete the file and its") for end in (0, 20, -1)),
        (zipped(("a", b"")), "damaged, or a.words.txt"),
        (npy(ONES).replace(b"2)", b"2,"), "damaged, or a.words.txt"),
        (npy(np.ones((2, 2))), "not float32 [V, d]"),
        (npy(ONES[0]), "float32 [2], not"),
        (npy(ONES[0, 0]), "float32 [], not float32"),
    ],
    "words of a store": [
        (("rome", "rome\nmore"), "5 vectors for 6 words"),
        (b"\xc3\n" * 5, "utf-8", "Delete the file and its"),
        ("Ada\n", "5 vectors for 1 words"),
    ],
    "record of a store": [
        (b"{", NO_RECORD),
        (b"{}", "KeyError: 'origin'"),
        (b"[]", NO_RECORD),
        (NESTED, NO_RECORD),
    ],
    "SNLI": [
        (pairs() + "{\n", f", line 2: {NO_JSON}"),
        ('{"gold_label": "neutral"}\n', f", line 1: {NO_JSON}"),
        ("[]\n", f", line 1: {NO_JSON}"),
        (pairs(label="maybe"), ", line 1: gold_label 'maybe' is none of"),
        (pairs("half \ud83d"), ", line 1: 'utf-8' codec can't encode"),
        (pairs("a", "b\0"), ", line 1: a NUL character"),
        ("", ": no pair of sentences"),
        (NESTED, ", line 1: not a JSON object"),
        (pairs().replace('"a"', "7"), ", line 1: sentence1 and sentence2"),
    ],
    "SICK": [
        (sick("1\tA\tB\t4\tNEUTRAL", "2\tone"), ", line 3: 2 fields, but the first line has 5"),
        (sick("1\ta\tb\t3\tMAYBE"), ", line 2: entailment_judgment 'MAYBE' is none of"),
        ("entailment_judgment\nNEUTRAL\n", ", line 2: the first line lacks one of"),
        (sick(), ": no pair of sentences"),
    ],
    "inference": [
        ('"a"\t"b"\t"0"\n', ", line 1: every field is in double quotes"),
        ("a\tb\t0\none\ttwo\n", ", line 2: expected premise, hypothesis and 0"),
        ("one\ttwo\t3\n", ", line 1: expected premise, hypothesis and 0"),
        ("", ": no pair of sentences"),
        (b"\xff\xfe\x00", ": this is UTF-16 text"),
    ],
    "SNLI, zipped": [
        ("no archive", ": damaged or truncated"),
        (zipped(("a_dev.jsonl", b"{}")), ": expected one file with a name in *_train.jsonl"),
        (zipped(("a_train.jsonl", b"{\n")), ", a_train.jsonl, line 1: not a JSON object"),
    ],
    "Sent2Vec": [
        (sent2vec(magic=1), OTHER_FORMAT),
        (sent2vec(version=12), OTHER_TYPE),
        (sent2vec(kind=2), OTHER_TYPE),
        (sent2vec(quantised=True), "a quantised model"),
        (sent2vec(pruned=0), "a quantised model"),
        (sent2vec(shape=(8, 4)), "a matrix of 8 x 4 for 5 words, 4 buckets and 4 dimensions"),
        (sent2vec(shape=(9, 3)), "a matrix of 9 x 3 for"),
        (sent2vec(word_count=1), "a word after the 1 words"),
        (sent2vec(word_count=-9), "a word after the -9"),
        (sent2vec(buckets=-1), "-1 buckets"),
        (sent2vec(order=-1, buckets=0), "0 buckets"),
        (sent2vec(height=1 << 62), "damaged or truncated"),
    ],
    "InferSent": [
        (saved({}), NO_INFERSENT, "weight_ih_l0"),
        (saved({("other" if name == BIAS else name): value for name, value in WEIGHTS.items()}),
         NO_INFERSENT, "Missing", BIAS, "Unexpected", "other"),
        (saved(WEIGHTS | {BIAS: torch.zeros(3)}), f"size mismatch for {BIAS}"),
        (saved(WEIGHTS[BIAS]), NO_INFERSENT),
        (saved(InferSent(2, 2)), NO_WEIGHTS),  # never unpickled
        (b"", NO_WEIGHTS),
        (b"<?xml version='1.0'?>", NO_WEIGHTS),
        # PyTorch would seek to before its start.
        (INFERSENT[40:], "not a file of PyTorch weights, or damaged"),
    ],
    "checkpoint": [(saved(torch.ones(2)), "damaged checkpoint (a Tensor)")],
    "entity patterns": [
        *((content, ": spaCy cannot load ", "named_entities") for content in (
          *("no json\n", '{"label": "PERSON"}\n', "[1]\n"),
          '{"label": "PERSON", "pattern": [{"SHAP": "d"}]}\n', )),
    ],
    "registry": [
        (b"{}", "expected a mapping"),
        (b"- a\n", "(it is ['a'])"),
        (b"a: b\n", "a: "),
        (b"a: !!float b\n", NO_YAML),
        (b"a: 2001-99-99\n", NO_YAML),
        (b"a: " + b"[" * 500, NO_YAML),
    ],
    "paper": [
        (("  table1:", "  figure9:"), "artefacts.figure9"),
        (b"a: \xff\n", NO_YAML),
        (b"a: !!bool b\n", NO_YAML),
    ],
    "configuration": [
        *((content, NO_YAML) for content in (b"seeds: [1", b"- a\n", b"text", b"title: \xff")),
        *((content, "the file is empty. Give at least one")
          for content in (b"", b"# no\n", b"---\n")),
        (b"a: !!timestamp b\n", NO_YAML),
        (b"device: 0x" + b"f" * 5000, "a number of"),
        (b"seeds: 99999999999999\n", "at most 10,000"),
    ],
    "run record": [
        (b"{", "cannot be read"),
        (b"[]", "cannot be read"),
        (NESTED, "cannot be read"),
        (b'{"cell": {"model": "a"}}', "cannot be read"),
        (b'{"cell": {"overrides": []}}', "cannot be read"),
        (('"cell"', '"cells"'), "cannot be read"),
        ((', "subset": "who"', ""), "cannot be read"),
        (('"overrides": {}', '"overrides": "none"'), "cannot be read"),
        (('"overrides": {}', '"overrides": {}, "seed": 0'), "cannot be read"),
        (('"systems"', '"system"'), "cannot be read"),
    ],
    "costs": [
        (content, "cannot be read", "run the same command")
        for content in ("", "[]", "{", '{"systems": {"a": {}}}', '{"systems": 1}')
    ],
    "tuned hyperparameters": [
        (content, "not a record of tuned") for content in ("", "[]", "{}", '{"tuned"')
    ],
    "scores": [
        ("", ", line 1: no column system and no item"),
        ("system,item,value\n", ", line 1: no column seed", "--qrels"),
        ("system,item,seed,value\n", ": no scores"),
        (("0.5", "0.5,1"), ", line 2: 5 fields"),
        *((("0.5", value), ", line 2: the value", "not a number")
          for value in ("", "nan", "inf", "0.5%", "good")),
        (("a,x", ",x"), ", line 2: an empty field"),
        (("a,y", "a,x"), ", line 3: system a, item x, seed 0 is also in line 2"),
        (("a,y", "b,y"), "system a, seed 0 has no value for item y"),
    ],
    "TREC run": [
        ("# q1\n\n", ": no lines of `question Q0"),
        ((" x", ""), ", line 2: 5 fields instead of the 6"),
        *((("0.5", score), f", line 2: the score '{score}' is not a number")
          for score in ("nan", "1e999", "high")),
        (("Q0 b", "Q0 a"), ", line 3: question q1 already has the candidate a"),
    ],
    "TREC qrels": [
        ("q1 Q0 a 1 0.5 x\n", ", line 1: 6 fields instead of the 4"),
        *((("0 a 1", f"0 a {label}"), f", line 1: the label '{label}' is not a whole number")
          for label in ("0.5", "9" * 5000, str(2**63), "yes")),
    ],
    "Parquet": [
        (b"PAR1", "damaged Parquet file", "Delete it"),
        *((PARQUET[:end], "damaged Parquet file") for end in (0, 3, 200, -1)),
        (PARQUET.replace(b"measure", b"meas\xf6re"), "damaged Parquet file"),
    ],
}  # fmt: skip
ROWS = [
    pytest.param(reader, damage, causes, id=f"{reader} {number}")
    for reader, rows in DAMAGE.items()
    for number, (damage, *causes) in enumerate(rows)
]


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize(("reader", "damage", "causes"), ROWS)
def test_damage_is_one_message_that_names_file_and_cause(tmp_path, reader, damage, causes):
    target = TARGETS[reader]
    if isinstance(damage, tuple):
        old, new = (text.encode() for text in damage)
        assert old in target.valid[0]
        damage = target.valid[0].replace(old, new)
    path = tmp_path / f"a{target.suffix}"
    path.write_bytes(damage.encode() if isinstance(damage, str) else damage)
    with pytest.raises(AnalogyQAError) as caught:
        target.read(path)
    message = str(caught.value)
    assert [part for part in (f"{tmp_path}/a.", *causes) if part not in message] == []


# Files that are cut off: the reader, and the lengths at which some part is missing.
TRUNCATED = {
    "SemEval": "malformed XML",
    "vectors, gzipped": "truncated",
    "vectors, zipped": "truncated",
    "word2vec": "truncated",
    "Sent2Vec": "damaged or truncated Sent2Vec model",
}


@pytest.mark.parametrize("reader", TRUNCATED)
def test_a_truncated_file_is_named(tmp_path, reader):
    target = TARGETS[reader]
    path = tmp_path / f"a{target.suffix}"
    content = target.valid[0].rstrip()
    for kept in range(4, len(content), 1 + len(content) // 200):
        path.write_bytes(content[:kept])
        with pytest.raises(AnalogyQAError) as caught:
            target.read(path)
        assert str(path) in str(caught.value), kept
        assert TRUNCATED[reader] in str(caught.value), kept


@pytest.mark.parametrize(
    "reader", ["lines", "YahooCQA", "vectors", "store", "configuration", "Parquet"]
)
def test_a_missing_file_is_named(tmp_path, reader):
    path = tmp_path / f"none{TARGETS[reader].suffix}"
    with pytest.raises(AnalogyQAError, match=r"none\.[a-z.]+: "):
        TARGETS[reader].read(path)


@pytest.mark.parametrize("value", ["x" * 10**6, ["x"] * 10**6, dict.fromkeys(range(10**6))])
def test_a_message_shortens_a_large_value(value):
    assert len(shown(value)) < 1000


def test_a_message_about_an_undecodable_name_can_be_printed(tmp_path):
    with pytest.raises(AnalogyQAError) as caught:
        load_registry(tmp_path / "\udcff.yaml")
    assert r"\udcff.yaml" in str(caught.value).encode("utf-8").decode()
