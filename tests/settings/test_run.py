"""The keys of a configuration: their checks before any job starts, and their meaning."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from snakemake.cli import parse_config
from sqlalchemy import create_engine

from analogyqa.errors import AnalogyQAError
from analogyqa.settings.overrides import as_overrides
from analogyqa.settings.paper import load_paper
from analogyqa.settings.run import leave_out
from analogyqa.settings.tracking import database_path
from analogyqa.settings.vectors import SentenceVectors
from builders.papers import PAPER


def leaves(values: dict, prefix: str = "") -> Iterator[str]:
    """Yield the keys of the values in a mapping, those of nested mappings joined by dots."""
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


INVALID_VALUES = """
{seeds: 0, device: gpu, lowercase: 7, bootstrap: {confidence: 95, samples: 1}}
{seeds: -1, training: {dropout: -0.1, learning_rate: 0, margin: .inf, weight_decay: -1}}
{seeds: [], training: {dropout: 1, learning_rate: .nan, loss: squared, sentence_dim: 3}}
{training: {batch_size: 0, max_epochs: many, select_by: auc, weight_decay_coupling: loose}}
{seeds: [1, 1], training: {dropout: .nan, negatives: {count: 0, per: all, draw: once}, patience: 0}}
{seeds: [-1], prototypes: {p: 0}, datasets: {toy: {reader: json, dev: []}}}
{seeds: [true], prototypes: {p: thirty}, datasets: {toy: {questions: {train: {who: -1}}}}}
{seeds: true, prototypes: {p: 2.5}, datasets: {toy: {drop_all_correct: [all], prototype_choice: x}}}
{seeds: 2.5, prototypes: {p: true}, vectors: {some: {out_of_vocabulary: guess, lowercase: 7}}}
{seeds: null, sentence_vectors: {means: {encoder: elmo, lstm_dim: 0}, published: {weights: []}}}
{seeds: 10001, systems: {mean: {encoder: bert, ranker: {aggregate: median}, rewriting: verb, p: 0}}}
{seeds: [9999999999], systems: {analogy: {training: {loss: ranked, dropout: 2}}, mean: 3}}
{systems: {random: {encoder: [a], ranker: tfidf}, analogy: {training: 3}}}
{named_entities: {model: [], labels: 3}, subsets: {who: []}, question_types: {who: who}}
{selection: {hyperparameters: {hinge: 3}}, sensitivity: {choices: {case: 3}}}
{extra_rows: {table1: 3}}
{sweeps: {p: 3}, comparable: 7, mirrors: a, papers: [small], output_dir: 3, left_out: 3}
{training: {max_epochs: 1000000000000000000000000, negatives: {count: 101}}, seeds: [1.5]}
{prototypes: {p: 1000000000000000000000000}, bootstrap: {samples: 1000000000000000000000000}}
{output_dir: "~/out", device: null, resources_dir: "a{b}"}
""".strip().splitlines()


@pytest.mark.parametrize("over", INVALID_VALUES)
def test_every_wrong_value_has_a_line_with_its_key_and_what_is_allowed(papers, over):
    keys = sorted(set(leaves(yaml.safe_load(over))) - {"papers"})
    with pytest.raises(AnalogyQAError) as error:
        papers.load(over)
    lines = sorted(str(error.value).splitlines())
    assert len(lines) == len(keys)
    for line, key in zip(lines, keys, strict=True):
        assert line.startswith((f"config: {key}: ", f"config: {key}.")), line
        assert " is not allowed: " in line


# A configuration and the message about it; KEY is the key of its first value.
ERROR_MESSAGES = r"""
datasets: {o: {title: O, reader: wikiqa, dev: a/b, test: a/b}} => key datasets.o.train is missing
datasets: {o: {title: O, reader: wikiqa, train: [], dev: a/b, fold: 1of5}} => o.test: .*its file
trainning: {} => unknown key KEY; did you mean training?
training: {negatives: {cuont: 1}} => unknown key KEY; did you mean count?
datasets: {toy: {raeder: wikiqa}} => unknown key KEY; did you mean reader?
named_entities: {modle: a} => unknown key KEY; did you mean model?
bootstrap: {zzz: 1} => unknown key KEY; known: samples, conf
systems: {mean: {vectors: sme}} => KEY: 'sme' .*did you mean some?
{systems: {1.5: null}, extra_rows: {table1: [nope]}} => extra_rows.table1: 'nope' is not .*1.5
systems: {mean: {vectors: null}} => systems.mean: .*mean needs vectors
systems: {mean: {sentence_vectors: means}} => systems.mean: .*give one of encoder, sen
systems: {both: {title: F, ranker: fused}} => systems.both: .*ranker: fused needs parts
systems: {f: {title: F, ranker: {name: fused, parts: [words]}}} => f: .*parts of at least
systems: {mean: {ranker: {name: analogy, agregate: max}}} => mean.ranker: .*mean aggregate?
systems: {mean: {ranker: {name: cosine, aggregate: max}}} => mean.ranker: .*an option of analogy
systems: {mean: {ranker: {name: cosine, k: 1}}} => systems.mean.ranker: .*this ranker has no options
systems: {mean: {aggregate: max}} => systems.mean: .*write ranker: {name: analogy, aggregate: ...}
systems: {mean: {ranker: cosin}} => KEY: .*no ranker 'cosin'; did you mean cosine?
systems: {new: {title: N, ranker: {aggregate: max}}} => key systems.new.ranker.name is missing
systems: {f: {title: F, ranker: {name: fused, parts: [mean, nope]}}} => ranker.parts: 'nope' is
systems: {baseline: {starts_from: analogyy}} => KEY: 'analogyy' is not .*mean analogy?
systems: {mean: {starts_from: [baseline]}} => systems.mean.starts_from: .*valid dict
systems: {mean: {starts_from: baseline}} => systems.mean: .*starts_from: both systems must be tr
systems: {baseline: {starts_from: analogy}} => systems.baseline: .*give a system without prot
systems: {mean: {ranker: bm25}} => systems.mean: .*sentence_vectors and ranker: bm25
systems: {mean: {training: {loss: hinge}}} => systems.mean: .*this system is not trained
systems: {stored: {sentence_vectors: [means, pblished]}} => KEY: 'pblished' is .*mean published?
{systems: {mean: {rewriting: entity}}, named_entities: null} => KEY: the section named_entities is
systems: {analogy: {training: {loss: pairwise}}} => the loss pairwise has no prototypes
vectors: {some: {source: null, corpora: {toys: [train]}}} => vectors.some.corpora: 'toys' .*toy
vectors: {some: {source: null, corpora: {toy: [train]}, lemmas: true}} => vectors.some.lemmas: .*sec
vectors: {some: {lemmas: true}} => vectors.some: .*lemmas, window, model and seed belong to
systems: {mean: {window: 3}} => systems.mean.window: some are not trained by word2vec
systems: {analogy: {shortest_word: 3}} => systems.analogy: .*shortest_word: .*not trained
systems: {baseline: {ranker: mapped}} => systems.baseline: .*the ranker mapped is fitted
vectors: {some: {source: null}} => vectors.some: .*one of source .* and texts
vectors: {some: {dim: 5}} => vectors.some: .*only for vectors
vectors: {some: {source: a/b.vec, out_of_vocabulary: subword}} => some: .*fastText \.bin
sentence_vectors: {means: {vectors: sme}} => KEY: 'sme' .*did you mean some?
sentence_vectors: {means: {vectors: null}} => means: .*the encoder sif needs vectors
sentence_vectors: {published: {weights: null}} => the encoder infersent needs weights
sentence_vectors: {published: {train_on: [a/b], dev_on: [a/b]}} => train_on is only for
sentence_vectors: {published: {weights: null, train_on: [a/b]}} => train_on is only for
sentence_vectors: {published: {disjoint_from: toy}} => disjoint_from is only for an encoder with
named_entities: {vectors: sme} => KEY: 'sme' .*did you mean some?
subsets: {all: [who]} => KEY: this subset always exists
subsets: {why: [whi]} => KEY: 'whi' is not configured; did you mean who?
question_types: {which: [what, when]} => question_types: when belongs to two types
sweeps: {p: [2, 0]} => sweeps: .* p: Input should be greater
selection: {subset: whi} => KEY: 'whi' is not configured; did you mean who?
selection: {systems: [analgy]} => KEY: 'analgy' .*did you mean analogy?
selection: {systems: [mean]} => KEY: mean is not trained
selection: {hyperparameters: {paper: {dropout: 0}}} => hyperparameters.paper: this name is taken
selection: {hyperparameters: {hinge: null, drawn: null}} => give at least one choice
selection: {hyperparameters: {few: {p: 2}}} => hyperparameters.few: 'p' is not a key of training
selection: {hyperparameters: {hinge: {dropout: 2}}} => hinge: .* training.dropout: Input
seeds: many => seeds: .* give a number, a list of numbers
seeds: {who: 3} => seeds: default is missing
seeds: {default: 4, who: 2, variations: [3]} => seeds.variations: no seed in common
tracking_uri: mlruns => KEY: .* is not allowed: give sqlite:///
tracking_uri: "sqlite:///:memory:" => KEY: .* is not allowed: give sqlite:///
tracking_uri: http:///x => KEY: .* is not allowed: give sqlite:///
tracking_uri: sqlite:///what?/mlflow.db => KEY: .*write sqlite:///file:what%3F%2Fmlflow.db?uri=true
seeds: {default: 4, dropuot=0: 2} => seeds: 'dropuot' is not an override
seeds: {default: 4, p=2@dropout=0: 2, dropout=0@p=2: 3} => seeds: dropout=0@p=2 and an earlier key
seeds: {default: 4, 2024: 3} => seeds: 2024 is not allowed: put it in quotes
systems: {v1.5: {title: V, encoder: mean, vectors: sme, ranker: cosine}} => v1.5.vectors: 'sme' is
cross_validation: {folds: 3} => cross_validation: none of the papers small has this section
sensitivity: {measure: mr} => KEY: 'mr' .*did you mean mrr?
sensitivity: {datasets: [toi]} => KEY: 'toi' .*did you mean toy?
sensitivity: {choices: {more: {less: {}}}} => KEY: .*at least 1 item
sensitivity: {choices: {case: {kept: {vectors: casd}}}} => KEY: 'casd' .*did you mean cased?
sensitivity: {choices: {case: {kept: {sentence_vectors: [means]}}}} => kept: analogy: give one of
""".strip().splitlines()


@pytest.mark.parametrize("case", ERROR_MESSAGES)
def test_unknown_keys_and_contradictions_are_explained(papers, case):
    over, _, message = case.partition(" => ")
    values = yaml.safe_load(over)
    message = message.replace("KEY", next(leaves(values))).replace("?", "[?]")
    with pytest.raises(AnalogyQAError, match=f"^--config: .*{message}") as error:
        papers.load(over, (values,))
    assert "\n" not in str(error.value)


def test_a_system_needs_the_encoder_of_the_system_that_it_starts_from(papers):
    late = "{title: L, encoder: cnn, vectors: some, ranker: cosine, starts_from: baseline}"
    with pytest.raises(AnalogyQAError, match=r"systems\.late: .*encoder must be bigru, .* not cnn"):
        papers.load(f"systems: {{baseline: {{training: {{loss: listwise}}}}, late: {late}}}")


# Meaning


def test_numbers_may_be_strings_as_snakemake_passes_them(papers):
    system = papers.load("{prototypes: {p: '4'}, training: {dropout: '.1'}}").systems["analogy"]
    assert (system.p, system.training.dropout) == (4, 0.1)
    with pytest.raises(AnalogyQAError, match=r"prototypes\.p: '4\.5' is not allowed"):
        papers.load("prototypes: {p: '4.5'}")


def test_a_value_may_replace_a_list_and_a_number_may_replace_the_seeds(papers):
    config = papers.load("seeds: 3")
    assert (config.seeds, papers.load("seeds: [7, 3]").seeds) == ([0, 1, 2], [7, 3])
    strings = papers.load("seeds: {default: '2', cross_validation: '3'}")  # as --config passes them
    assert (strings.seeds, strings.seeds_of) == ([0, 1], {"cross_validation": [0, 1, 2]})
    seeds = papers.load(
        "seeds: {default: 4, who: 5, cross_validation: 2, variations: [3, 1], p=2@dropout=0: [1]}"
    )
    for subset, overrides, expected in [
        ("both", {}, [0, 1, 2, 3]),
        ("who", {"p": 2, "hyperparameters": "tuned"}, [0, 1, 2, 3, 4]),
        ("who", {"dropout": 0}, [3, 1]),
        ("who", {"dropout": 0, "fold": "1of5"}, [0, 1]),
        ("who", {"p": 2, "dropout": 0}, [1]),
    ]:
        assert seeds.seeds_at(subset, as_overrides(overrides)) == expected
    numbers = papers.load("seeds: {default: 4, dropout=0.50: [7], p=020: [8]}")
    assert numbers.seeds_at("who", as_overrides({"dropout": 0.5})) == [7]
    assert numbers.seeds_at("who", as_overrides({"p": 20})) == [8]
    assert config.vectors["some"].source == ["some.vec"]
    assert config.systems["stored"].sentence_vectors == ["means"]
    stored = SentenceVectors(encoder="infersent", train_on=["a"], dev_on=[["x", "y"]], vectors="v")
    assert (stored.train_on, stored.dev_on) == ([["a"]], [["x", "y"]])


def test_scores_depend_on_neither_title_nor_training_section(papers):
    over = "systems: {analogy: {title: Other, training: {loss: hinge}}}"
    first, second = (papers.load(text).systems["analogy"] for text in ("{}", over))
    assert first.scientific() == second.scientific() != papers.load().systems["mean"].scientific()


def test_sections_without_lowercase_use_the_value_of_the_configuration(papers):
    for value in (True, False):
        config = papers.load(f"lowercase: {value}")
        sections = (*config.vectors.values(), config.sentence_vectors["published"])
        assert [config.is_lowercase(section) for section in sections] == [value, False, False]


def test_systems_that_compare_or_learn_from_quadruples_need_prototypes(papers):
    systems = papers.load().systems
    expected = {
        "trained": {"analogy", "baseline"},
        "compares": {"analogy", "mean"},
        "needs_prototypes": {"analogy", "baseline", "mean"},  # baseline for its quadruples
    }
    for key, names in expected.items():
        assert {name for name, system in systems.items() if getattr(system, key)} == names


@pytest.mark.parametrize("name", ["what?", "a?b=c&d", "c#1", "50% off", "%20", "a b", "é", "x:y@z"])
def test_the_default_store_is_in_the_output_folder_whatever_its_name(papers, tmp_path, name):
    database = tmp_path / name / "mlflow.db"
    database.parent.mkdir()
    tracking_uri = papers.load(f"output_dir: '{database.parent}'").store_uri
    assert database_path(tracking_uri) == database
    create_engine(tracking_uri).connect().close()
    assert database.exists()
    assert papers.load("tracking_uri: 'http://host:5000'").store_uri == "http://host:5000"
    assert database_path("sqlite:///mlflow.db?timeout=60") == Path("mlflow.db")


@pytest.mark.parametrize("user", ["me:hunter2@", "hunter2@", ":hunter2@"])
def test_a_password_in_the_tracking_uri_is_refused_and_not_shown(papers, user):
    with pytest.raises(AnalogyQAError, match="MLFLOW_TRACKING_PASSWORD") as caught:
        papers.load(f"tracking_uri: 'https://{user}host:5000/x'")
    assert "tracking_uri" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in str(caught.value.__cause__)


@pytest.mark.parametrize("text", ["2024_01", "3", "1.5", "2024-01-01", "yes"])
def test_a_name_that_yaml_reads_as_another_type_must_be_quoted(papers, text):
    with pytest.raises(AnalogyQAError, match="in quotes"):
        papers.load(f"output_dir: {text}")
    assert papers.load(f'output_dir: "{text}"').output_dir == text


def test_only_a_key_that_the_command_line_can_give_has_a_command(papers):
    """Within braces, `--config` gives only strings."""
    with pytest.raises(AnalogyQAError, match="true/false") as error:
        papers.load("output_dir: yes\nsystems: {mean: {title: yes}}")
    commands = [line.partition(": --config ")[2] for line in str(error.value).splitlines()]
    given = [parse_config(shlex.split(command)) for command in sorted(commands)]
    assert given == [{}, {"output_dir": "./2024_01"}]
    path = papers.write("other", "", PAPER.replace("citation: C", "citation: 2018"))
    with pytest.raises(AnalogyQAError, match="in quotes") as error:
        load_paper(path.with_name("paper.yaml"))
    assert "--config" not in str(error.value)


# What is left out


def test_a_left_out_system_is_in_no_study_and_has_a_reason(papers):
    config = papers.load("left_out: {old: no memory}")
    reasons = {"analogy": "no vectors", "mean default": "only shown"}
    remaining = leave_out(config, reasons)
    assert set(config.systems) - set(remaining.systems) == {"analogy"}
    assert remaining.left_out == {"old": "no memory", **reasons}
    study = remaining.studies["small"]
    assert (study.selection.systems, study.sensitivity.systems) == ({}, ["baseline"])
    assert study.extra_rows == config.studies["small"].extra_rows


def test_without_any_system_the_reasons_are_given_once_each(papers):
    config = papers.load()
    with pytest.raises(AnalogyQAError) as error:
        leave_out(config, dict.fromkeys(config.systems, "no vectors"))
    assert str(error.value) == "no vectors"
