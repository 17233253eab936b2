"""What can be had of a configuration, and the reason for each model that cannot be run."""

from pathlib import Path

import pytest
import yaml

from analogyqa.availability import Availability, find_entity_model
from analogyqa.errors import AnalogyQAError
from analogyqa.settings.run import load_config
from analogyqa.sources.registry import Source

CONFIG = """
output_dir: out
seeds: 1
datasets:
  toy: {title: Toy, reader: wikiqa, train: [web, local], dev: local, test: local}
subsets: [comb]
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
models:
  mean: {title: M, encoder: mean, vectors: here, ranker: cosine}
"""
ANALOGY = {"title": "A", "encoder": "bigru", "vectors": "here", "ranker": "analogy"}


def source(name: str) -> Source:
    return Source(
        name=name,
        title=name,
        file=f"a/{name}.txt",
        sha256="unknown",
        urls=("https://example.org/web",) if name == "web" else (),
        licence="none",
        citation="nobody",
    )


REGISTRY = {name: source(name) for name in ("local", "other", "web", "gone", "lost")}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with two of the five sources, one of which is in a mirror only."""
    monkeypatch.chdir(tmp_path)
    for place in ("resources/a/local.txt", "mirror/a/other.txt"):
        Path(place).parent.mkdir(parents=True)
        Path(place).touch()
    return tmp_path


@pytest.fixture
def available(folder):
    """Return a function: what is available of the configuration with models laid over it."""

    def available(models=None, registry=REGISTRY, **changes) -> Availability:
        values = yaml.safe_load(CONFIG)
        values["models"] |= models or {}
        for section, change in changes.items():
            known = values.get(section)
            values[section] = known | change if isinstance(known, dict) else change
        return Availability(load_config(values), registry, "resources", ["mirror"])

    return available


def stored(*names: str) -> dict:
    return {"stored": {"title": "S", "sentence_vectors": list(names), "ranker": "cosine"}}


def vectors(name: str) -> dict:
    return {"model": {"title": "V", "encoder": "mean", "vectors": name, "ranker": "cosine"}}


# Files


def test_of_alternatives_the_first_that_is_here_is_taken(available):
    assert available().file_of(["gone", "other", "local"]) == "resources/a/other.txt"


def test_what_is_here_comes_before_what_is_on_the_web(available):
    found = available()
    assert found.splits["toy"] == dict.fromkeys(("train", "dev", "test"), "resources/a/local.txt")
    assert found.vectors["here"] == ["resources/a/local.txt"]


def test_what_is_on_the_web_comes_before_what_is_nowhere(available):
    assert available().vectors["web"] == ["resources/a/web.txt"]


def test_a_path_is_taken_as_it_is(available, folder):
    (folder / "mine.vec").touch()
    assert available().file_of(["./mine.vec", "local"]) == "./mine.vec"


def test_a_path_behind_a_source_is_taken_where_there_is_no_source(available, folder):
    (folder / "mine.vec").touch()
    assert available().file_of(["local", "./mine.vec"]) == "resources/a/local.txt"
    assert available().file_of(["gone", "./mine.vec"]) == "./mine.vec"


@pytest.mark.parametrize(
    "changes",
    [
        {"vectors": {"mine": {"source": ["local", "data/none.vec"]}}},
        {"vectors": {"mine": {"train_on": ["data/none.txt"]}}},
        {"sentence_vectors": {"mine": {"encoder": "sent2vec", "weights": "data/none.bin"}}},
    ],
)
def test_a_path_that_is_not_there_is_an_error(available, changes):
    with pytest.raises(AnalogyQAError, match=r"data/none\.\w+: no such file\. Correct the path"):
        available(**changes)


def test_a_file_without_a_slash_is_told_to_have_one(available):
    datasets = {"toy": yaml.safe_load(CONFIG)["datasets"]["toy"] | {"dev": "nope.tsv"}}
    with pytest.raises(AnalogyQAError, match=r"'nope\.tsv'.* with a slash: \./nope\.tsv"):
        available(datasets=datasets)


def test_a_path_that_is_a_folder_is_an_error(available, folder):
    (folder / "texts").mkdir()
    with pytest.raises(AnalogyQAError, match=r"\./texts: a folder; name a file\. Correct the path"):
        available(vectors={"mine": {"train_on": ["./texts"]}})


def test_a_split_that_cannot_be_had_is_an_error_that_names_the_place(available):
    datasets = {"toy": yaml.safe_load(CONFIG)["datasets"]["toy"] | {"dev": "gone"}}
    with pytest.raises(AnalogyQAError, match=r"gone: neither in .* put the file at resources/a/go"):
        available(datasets=datasets)


def test_a_source_that_is_not_registered_is_an_error(available):
    with pytest.raises(AnalogyQAError, match="no source 'locla' in the registry; did you mean loc"):
        available(vectors={"mine": {"source": "locla"}})


def test_texts_to_train_on_are_all_needed(available):
    assert available().vectors["trained"] == ["resources/a/local.txt", "resources/a/other.txt"]
    found = available(vectors("part"), vectors={"part": {"train_on": ["local", "lost"]}})
    assert "part" not in found.vectors
    assert found.reasons == {"model": "part is neither here nor on the web; drop in a/lost.txt"}


def test_sentence_vectors_say_what_they_are_made_of(available):
    assert available().sentence_vectors == {
        "weights": {"weights": ["resources/a/local.txt"]},
        "web-weights": {"weights": ["resources/a/web.txt"]},
        "nli": {
            "train_on": ["resources/a/local.txt", "resources/a/other.txt"],
            "dev_on": ["resources/a/other.txt"],
        },
        "sif": {},
    }


def test_a_model_that_is_installed_has_a_name_in_place_of_a_file(available, folder):
    (folder / "minilm").mkdir()
    (folder / "minilm" / "modules.json").write_text("[]")
    section = {"encoder": "sentence_transformers", "weights": ["none-of-that-name", "./minilm"]}
    assert available(sentence_vectors={"mine": section}).sentence_vectors["mine"] == {
        "name": ["./minilm"]
    }


def test_of_sentence_vectors_those_whose_files_are_here_come_first(available):
    assert available().first_of(["web-weights", "weights", "nli"]) == "weights"


def test_of_sentence_vectors_that_are_here_the_first_is_taken(available):
    assert available().first_of(["nli", "weights"]) == "nli"


def test_of_sentence_vectors_that_are_on_the_web_the_first_is_taken(available):
    found = available(sentence_vectors={"second": {"encoder": "sif", "vectors": "web"}})
    assert found.first_of(["published", "web-weights", "second"]) == "web-weights"
    assert found.first_of(["second", "web-weights"]) == "second"


def test_sentence_vectors_are_here_when_their_word_vectors_are(available):
    found = available(sentence_vectors={"second": {"encoder": "sif", "vectors": "web"}})
    assert found.first_of(["second", "sif"]) == "sif"


# Reasons


def test_models_that_have_all_they_need_have_no_reason(available):
    assert available(vectors("here")).reasons == {}
    assert available(stored("sif")).reasons == {}


def test_missing_vectors_are_a_reason_that_names_every_file_to_drop_in(available):
    assert available(vectors("gone")).reasons == {
        "model": "gone is neither here nor on the web; drop in a/gone.txt or a/lost.txt"
    }


def test_missing_weights_are_a_reason_that_names_the_file_to_drop_in(available):
    assert available(stored("published")).reasons == {
        "stored": "published is neither here nor on the web; drop in a/lost.txt"
    }


def test_missing_data_to_choose_an_epoch_on_are_named_as_such(available):
    section = {"encoder": "infersent", "train_on": ["local"], "dev_on": ["lost"], "vectors": "here"}
    assert available(stored("mine"), sentence_vectors={"mine": section}).reasons == {
        "stored": "mine is neither here nor on the web; drop in a/lost.txt"
    }


def test_a_model_that_is_not_installed_is_named(available):
    section = {"encoder": "sentence_transformers", "weights": ["none-of-that-name"]}
    assert available(stored("mine"), sentence_vectors={"mine": section}).reasons == {
        "stored": "mine is not installed here: none-of-that-name"
    }


def test_sentence_vectors_lack_what_their_word_vectors_lack(available):
    assert available(stored("no-words")).reasons == {
        "stored": "gone is neither here nor on the web; drop in a/gone.txt or a/lost.txt"
    }


def test_of_sentence_vectors_the_first_that_can_be_had_are_enough(available):
    assert available(stored("published", "sif")).reasons == {}


def test_of_sentence_vectors_that_are_all_missing_each_is_explained(available):
    assert available(stored("published", "no-words")).reasons["stored"].count("drop in") == 2


def test_word_and_sentence_vectors_of_one_name_are_two_things(available):
    gone = {"here": {"encoder": "sent2vec", "weights": "gone"}}
    after = {"later": {"encoder": "sif", "vectors": "here"}}
    assert available(stored("later"), sentence_vectors=gone | after).reasons == {}


def test_a_reason_names_no_place_of_this_machine(available, folder):
    reasons = available(vectors("gone") | stored("published")).reasons
    assert len(reasons) == 2
    assert not any(str(folder) in reason or "mirror" in reason for reason in reasons.values())


def test_a_dropped_in_file_takes_the_reason_away(available, folder):
    (folder / "resources/a/lost.txt").touch()
    assert available(vectors("gone") | stored("published")).reasons == {}


# Variations


def sensitivity(**variations: dict) -> dict:
    return {"models": ["analogy"], "axes": {"axis": variations}}


def test_a_variation_that_cannot_be_had_is_left_out_alone(available):
    varied = sensitivity(gone={"model": {"vectors": "gone"}}, web={"model": {"vectors": "web"}})
    assert available({"analogy": ANALOGY}, sensitivity=varied).reasons == {
        "analogy+axis.gone": "gone is neither here nor on the web; drop in a/gone.txt or a/lost.txt"
    }


def test_a_model_that_is_left_out_takes_its_variations_along(available):
    varied = sensitivity(mean={"model": {"aggregate": "mean"}})
    analogy = ANALOGY | {"vectors": "gone"}
    reasons = available({"analogy": analogy}, sensitivity=varied).reasons
    assert set(reasons) == {"analogy", "analogy+axis.mean"}


# Named entities


TAM = {"tam": ANALOGY | {"ranker": "cosine", "rewriting": "entity"}}


def entities(model, vectors="here") -> dict:
    return {"model": model, "vectors": vectors}


def test_a_missing_model_of_entities_leaves_out_what_rewrites(available):
    found = available(TAM, named_entities=entities(["none_of_that", "models/none.jsonl"]))
    assert set(found.reasons) == {"tam"}
    assert found.entities is None
    for part in ("none_of_that, models/none.jsonl", "spacy download"):
        assert part in found.reasons["tam"]


def test_missing_vectors_of_entities_leave_out_what_rewrites(available, folder):
    (folder / "patterns.jsonl").touch()
    found = available(TAM, named_entities=entities("patterns.jsonl", "gone"))
    assert found.reasons == {
        "tam": "gone is neither here nor on the web; drop in a/gone.txt or a/lost.txt"
    }


def test_without_a_model_of_entities_nothing_else_is_left_out(available):
    assert available(named_entities=entities("none_of_that")).reasons == {}


def test_of_models_of_entities_the_first_there_is_is_found(folder):
    for place in ("mirror/m/second.jsonl", "resources/m/second.jsonl", "mirror/first.jsonl"):
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        Path(place).touch()
    folders = ["resources", Path("mirror")]
    assert find_entity_model(["first.jsonl", "m/second.jsonl"], folders) == "mirror/first.jsonl"
    assert (
        find_entity_model(["none.jsonl", "m/second.jsonl"], folders) == "resources/m/second.jsonl"
    )


def test_a_model_of_entities_as_it_is_named_comes_before_those_below_folders(folder):
    for place in ("mine.jsonl", "resources/mine.jsonl"):
        Path(place).touch()
    assert find_entity_model(["mine.jsonl"], ["resources"]) == "mine.jsonl"


def test_the_models_that_are_not_there_are_named():
    with pytest.raises(AnalogyQAError, match=r"models a_b, c\.jsonl is here .*named_entities\.mod"):
        find_entity_model(["a_b", "c.jsonl"], [])
