"""Every key of the configuration is checked before any job starts."""

import copy
import math
from pathlib import Path

import pytest
import yaml
from snakemake.utils import update_config

from analogyqa.errors import AnalogyQAError
from analogyqa.plan import Cell, cells_of, selection_cells, sensitivity_cells
from analogyqa.settings.run import leave_out, load_config, read_config, tracking_uri_of
from analogyqa.settings.studies import join_id, split_id
from analogyqa.settings.systems import Training
from analogyqa.settings.vectors import SentenceVectors

ROOT = Path(__file__).parents[2]
SMALL = """
output_dir: out
seeds: 2
datasets:
  toy: {title: Toy, reader: wikiqa, train: a/train, dev: a/dev, test: a/test,
        questions: {train: {who: 5, when: 6, where: 7}}}
subsets: [who, comb]
vectors:
  some: {source: some.vec}
  cased: {source: some.vec, lowercase: false}
sentence_vectors:
  means: {encoder: sif, vectors: some}
  published: {encoder: infersent, weights: infersent1, vectors: cased, lowercase: false}
named_entities: {model: some_model, vectors: some}
prototypes: {p: 3, curve: [2, 3]}
models:
  analogy: {title: A, encoder: bigru, vectors: some, ranker: analogy}
  mean: {title: M, encoder: mean, vectors: some, ranker: analogy}
  mean-cosine: {title: C, encoder: mean, vectors: some, ranker: cosine}
  random: {title: R, encoder: random, ranker: cosine}
selection:
  models: [analogy]
  settings: {hinge: {loss: hinge}, drawn: {negatives: {count: 4}, dropout: 0}}
sensitivity:
  models: [analogy]
  axes:
    loss: {workshop: {training: {loss: lwda}}}
    case: {kept: {model: {vectors: cased}}}
    questions: {dropped: {dataset: {drop_all_correct: [dev]}}}
"""


@pytest.fixture
def small():
    """Return a function: the small configuration with values laid over it, not yet checked."""

    def small(over: str = "{}") -> dict:
        values = yaml.safe_load(SMALL)
        update_config(values, yaml.safe_load(over))
        return values

    return small


def repository_config(*overlays: str) -> dict:
    values = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))
    for overlay in overlays:
        update_config(values, yaml.safe_load((ROOT / overlay).read_text("utf-8")))
    return values


# The repository's own


def test_the_paper_run_is_valid():
    config = load_config(repository_config())
    assert config.seeds == [0, 1, 2, 3, 4]
    assert config.comparable


def test_the_sample_laid_over_it_is_valid():
    config = load_config(repository_config("sample/config.yaml"))
    assert not config.comparable
    assert set(config.vectors) == {"fasttext", "fasttext-zero"}
    assert set(config.sentence_vectors) == {"minilm"}
    assert config.datasets["wikiqa"].train == ["sample/wikiqa/WikiQA-train.tsv"]


def test_a_file_is_laid_over_the_repositorys_as_snakemake_does_it():
    values = repository_config("sample/config.yaml")
    assert read_config(ROOT / "sample" / "config.yaml") == load_config(values)
    assert read_config(ROOT / "config.yaml") == load_config(repository_config())


@pytest.mark.parametrize(
    "content", [b"seeds: [1", b"- a\n- b\n", b"just text", b"title: \xff"],
    ids=["YAML", "a list", "a text", "UTF-8"],
)  # fmt: skip
def test_a_file_that_is_no_mapping_is_named(tmp_path, content):
    (tmp_path / "mine.yaml").write_bytes(content)
    with pytest.raises(AnalogyQAError, match=r"mine\.yaml: cannot be read as a YAML mapping"):
        read_config(tmp_path / "mine.yaml")


@pytest.mark.parametrize("content", ["", "# nothing\n", "---\n"])
def test_a_file_that_holds_nothing_is_named(tmp_path, content):
    (tmp_path / "mine.yaml").write_text(content)
    with pytest.raises(AnalogyQAError, match=r"mine\.yaml: holds no value\. Give at least one key"):
        read_config(tmp_path / "mine.yaml")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(AnalogyQAError, match=r"none\.yaml"):
        read_config(tmp_path / "none.yaml")


def test_the_files_of_the_sample_exist():
    config = load_config(repository_config("sample/config.yaml"))
    for dataset in config.datasets.values():
        for files in (dataset.train, dataset.dev, dataset.test):
            assert (ROOT / files[0]).is_file()


def test_the_defaults_of_training_are_the_paper_run():
    assert load_config(repository_config()).training == Training()


# Unknown keys


@pytest.mark.parametrize(
    ("over", "key", "nearest"),
    [
        ("{trainning: {}}", "trainning", "training"),
        ("{training: {dropuot: 0}}", "training.dropuot", "dropout"),
        ("{training: {negatives: {cuont: 1}}}", "training.negatives.cuont", "count"),
        ("{datasets: {toy: {raeder: wikiqa}}}", "datasets.toy.raeder", "reader"),
        ("{vectors: {some: {sorce: a}}}", "vectors.some.sorce", "source"),
        ("{models: {mean: {rankr: cosine}}}", "models.mean.rankr", "ranker"),
        ("{prototypes: {curv: [1]}}", "prototypes.curv", "curve"),
        ("{bootstrap: {sample: 100}}", "bootstrap.sample", "samples"),
        ("{selection: {setings: {}}}", "selection.setings", "settings"),
        ("{datasets: {toy: {prototype_choise: pair}}}", "datasets.toy.prototype_choise",
         "prototype_choice"),
        ("{vectors: {some: {lowercased: true}}}", "vectors.some.lowercased", "lowercase"),
        ("{sentence_vectors: {means: {wieghts: a}}}", "sentence_vectors.means.wieghts", "weights"),
        ("{named_entities: {modle: a}}", "named_entities.modle", "model"),
        ("{models: {mean: {rewritng: entity}}}", "models.mean.rewritng", "rewriting"),
        ("{models: {analogy: {training: {los: hinge}}}}", "models.analogy.training.los", "loss"),
        ("{sensitivity: {axis: {}}}", "sensitivity.axis", "axes"),
        ("{sensitivity: {axes: {case: {kept: {modl: {}}}}}}", "sensitivity.axes.case.kept.modl",
         "model"),
        ("{sensitivity: {axes: {loss: {workshop: {training: {los: lwda}}}}}}",
         "sensitivity.axes.loss.workshop.training.los", "loss"),
        ("{sensitivity: {axes: {case: {kept: {model: {vector: some}}}}}}",
         "sensitivity.axes.case.kept.model.vector", "vectors"),
        ("{sensitivity: {axes: {case: {kept: {dataset: {drop_all_corect: [dev]}}}}}}",
         "sensitivity.axes.case.kept.dataset.drop_all_corect", "drop_all_correct"),
        (
            "{selection: {settings: {hinge: {los: hinge}}}}",
            "selection.settings.hinge.los",
            "loss",
        ),
        (
            "{selection: {settings: {hinge: {negatives: {prr: pair}}}}}",
            "selection.settings.hinge.negatives.prr",
            "per",
        ),
    ],
)  # fmt: skip
def test_an_unknown_key_is_named_with_the_nearest(small, over, key, nearest):
    with pytest.raises(AnalogyQAError) as error:
        load_config(small(over))
    message = str(error.value)
    assert f"unknown key {key};" in message
    assert f"did you mean {nearest}?" in message
    assert len(message.splitlines()) == 1


def test_an_unknown_key_like_no_other_lists_the_known(small):
    with pytest.raises(AnalogyQAError, match=r"unknown key bootstrap\.zzz; known: samples, conf"):
        load_config(small("{bootstrap: {zzz: 1}}"))


def test_a_missing_key_is_named(small):
    values = small()
    del values["datasets"]["toy"]["dev"]
    with pytest.raises(AnalogyQAError, match=r"key datasets\.toy\.dev is missing"):
        load_config(values)


# Impossible values


@pytest.mark.parametrize(
    ("over", "key"),
    [
        ("{seeds: 0}", "seeds"),
        ("{seeds: -1}", "seeds"),
        ("{seeds: []}", "seeds"),
        ("{seeds: [1, 1]}", "seeds"),
        ("{seeds: [-1]}", "seeds.0"),
        ("{seeds: true}", "seeds"),
        ("{seeds: [true]}", "seeds.0"),
        ("{seeds: 2.5}", "seeds"),
        ("{seeds: null}", "seeds"),
        ("{device: gpu}", "device"),
        ("{lowercase: 7}", "lowercase"),
        ("{subsets: [why]}", "subsets.0"),
        ("{datasets: {}}", "datasets"),
        ("{datasets: {toy: {reader: json}}}", "datasets.toy.reader"),
        ("{datasets: {toy: {train: []}}}", "datasets.toy.train"),
        ("{datasets: {toy: {questions: {train: {who: -1}}}}}", "datasets.toy.questions.train.who"),
        ("{datasets: {a/b: {title: B}}}", "datasets.a/b"),
        ("{prototypes: {p: 0}}", "prototypes.p"),
        ("{prototypes: {p: thirty}}", "prototypes.p"),
        ("{prototypes: {p: 2.5}}", "prototypes.p"),
        ("{prototypes: {p: true}}", "prototypes.p"),
        ("{prototypes: {curve: [0]}}", "prototypes.curve.0"),
        ("{training: {dropout: -0.1}}", "training.dropout"),
        ("{training: {dropout: 1}}", "training.dropout"),
        ("{training: {dropout: .nan}}", "training.dropout"),
        ("{training: {learning_rate: .nan}}", "training.learning_rate"),
        ("{training: {learning_rate: 0}}", "training.learning_rate"),
        ("{training: {margin: .inf}}", "training.margin"),
        ("{training: {weight_decay: -1}}", "training.weight_decay"),
        ("{training: {sentence_dim: 3}}", "training.sentence_dim"),
        ("{training: {loss: squared}}", "training.loss"),
        ("{training: {batch_size: 0}}", "training.batch_size"),
        ("{training: {max_epochs: many}}", "training.max_epochs"),
        ("{training: {negatives: {count: 0}}}", "training.negatives.count"),
        ("{training: {negatives: {per: all}}}", "training.negatives.per"),
        ("{training: 3}", "training"),
        ("{vectors: {some: {out_of_vocabulary: guess}}}", "vectors.some.out_of_vocabulary"),
        ("{models: {mean: {encoder: bert}}}", "models.mean.encoder"),
        ("{models: {mean: {aggregate: median}}}", "models.mean.aggregate"),
        ("{bootstrap: {confidence: 95}}", "bootstrap.confidence"),
        ("{selection: {subset: why}}", "selection.subset"),
        ("{selection: {settings: {hinge: {dropout: 2}}}}", "selection.settings.hinge.dropout"),
        ("{datasets: {toy: {drop_all_correct: [all]}}}", "datasets.toy.drop_all_correct.0"),
        ("{datasets: {toy: {prototype_choice: candidate}}}", "datasets.toy.prototype_choice"),
        ("{vectors: {some: {lowercase: 7}}}", "vectors.some.lowercase"),
        ("{sentence_vectors: {means: {encoder: elmo}}}", "sentence_vectors.means.encoder"),
        ("{sentence_vectors: {means: {lstm_dim: 0}}}", "sentence_vectors.means.lstm_dim"),
        ("{sentence_vectors: {published: {weights: []}}}", "sentence_vectors.published.weights"),
        ("{named_entities: {model: []}}", "named_entities.model"),
        ("{models: {mean: {rewriting: verb}}}", "models.mean.rewriting"),
        ("{models: {mean: {ranker: tfidf}}}", "models.mean.ranker"),
        ("{models: {analogy: {training: {loss: ranked}}}}", "models.analogy.training.loss"),
        ("{models: {mean: {subsets: [why]}}}", "models.mean.subsets.0"),
        ("{sensitivity: {subset: why}}", "sensitivity.subset"),
        (
            "{sensitivity: {axes: {loss: {workshop: {training: {dropout: 1}}}}}}",
            "sensitivity.axes.loss.workshop.training.dropout",
        ),
        (
            "{sensitivity: {axes: {questions: {dropped: {dataset: {drop_all_correct: [all]}}}}}}",
            "sensitivity.axes.questions.dropped.dataset.drop_all_correct.0",
        ),
    ],
)
def test_an_impossible_value_names_its_key(small, over, key):
    values = small()
    if over == "{datasets: {}}":
        values["datasets"] = {}
    else:
        update_config(values, yaml.safe_load(over))
    with pytest.raises(AnalogyQAError) as error:
        load_config(values)
    assert any(line.startswith(f"config: {key}") for line in str(error.value).splitlines())


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ("{prototypes: {p: 6}}", "prototypes.p: 6 .* 5 .* who in toy, .*allowed: 1 to 5"),
        ("{prototypes: {curve: [2, 9]}}", "prototypes.curve: 9 .* allowed: 1 to 5"),
        ("{models: {mean: {vectors: sme}}}", "models.mean.vectors: 'sme' .*did you mean some?"),
        ("{models: {mean: {vectors: null}}}", "models.mean: .*mean needs vectors"),
        ("{models: {random: {vectors: some}}}", "models.random: .*random reads no vectors"),
        ("{vectors: {some: {train_on: a/b}}}", "vectors.some: .*either source .* or train_on"),
        ("{vectors: {some: {source: null}}}", "vectors.some: .*either source .* or train_on"),
        ("{vectors: {some: {dim: 5}}}", "vectors.some: .*belong to train_on"),
        (
            "{vectors: {some: {source: data/a.vec, out_of_vocabulary: subword}}}",
            r"vectors.some: .*fastText \.bin",
        ),
        ("{models: {mean: {sentence_vectors: means}}}", "models.mean: .*give one of encoder, sen"),
        ("{models: {mean: {encoder: null}}}", "models.mean: .*give one of encoder, sentence_vec"),
        ("{models: {mean: {ranker: bm25}}}", "models.mean: .*give one of encoder, sentence_vec"),
        ("{models: {mean: {training: {loss: hinge}}}}", "models.mean: .*this model is not trained"),
        ("{models: {mean: {encoder: null, vectors: null, sentence_vectors: [means, pblished]}}}",
         "models.mean.sentence_vectors: 'pblished' is not .*did you mean published?"),
        ("{models: {mean: {rewriting: entity}}, named_entities: null}",
         "models.mean.rewriting: the section named_entities is missing"),
        ("{models: {analogy: {training: {loss: pairwise}}}}",
         "models.analogy: the loss pairwise needs ranker: cosine"),
        ("{training: {loss: pairwise}}", "models.analogy: the loss pairwise needs ranker: cosine"),
        ("{sentence_vectors: {means: {vectors: sme}}}",
         "sentence_vectors.means.vectors: 'sme' .*did you mean some?"),
        ("{sentence_vectors: {means: {vectors: null}}}", "the encoder sif needs vectors"),
        ("{sentence_vectors: {published: {weights: null}}}", "the encoder infersent needs weights"),
        ("{sentence_vectors: {published: {encoder: sent2vec}}}", "sent2vec reads no vectors"),
        ("{sentence_vectors: {published: {train_on: [a/b], dev_on: [a/b]}}}",
         "train_on is for the encoder infersent without weights, with dev_on"),
        ("{sentence_vectors: {published: {weights: null, train_on: [a/b]}}}",
         "train_on is for the encoder infersent without weights, with dev_on"),
        ("{named_entities: {vectors: sme}}", "named_entities.vectors: 'sme' .*did you mean some?"),
        ("{sensitivity: {models: [analgy]}}",
         "sensitivity.models: 'analgy' is not configured; did you mean analogy?"),
        ("{sensitivity: {datasets: [tyo]}}",
         "sensitivity.datasets: 'tyo' is not configured; did you mean toy?"),
        ("{models: {analogy: {subsets: [who]}}}",
         "selection.subset: comb is not among the subsets of analogy: who"),
        ("{sensitivity: {models: [mean]}}", "sensitivity.models: mean is not trained"),
        ("{sensitivity: {datasets: [toi]}}", "sensitivity.datasets: 'toi' is not configured; did"),
        ("{sensitivity: {subset: where}}", "sensitivity.subset: where is not among the subsets"),
        ("{sensitivity: {axes: {loss: {workshop: {training: {}}}, more: {less: {}}}}}",
         "change something: training, model or dataset"),
        ("{sensitivity: {axes: {case: {kept: {model: {vectors: casd}}}}}}",
         "sensitivity.axes.case.kept.model.vectors: 'casd' .*did you mean cased?"),
        ("{sensitivity: {axes: {case: {kept: {model: {encoder: random}}}}}}",
         "sensitivity.axes.case.kept.model: .*random reads no vectors"),
        ("{selection: {models: [analgy]}}", "'analgy' is not configured; did you mean analogy?"),
        ("{selection: {models: [mean]}}", "selection.models: mean is not trained"),
        ("{selection: {settings: {paper: {}}}}", "selection.settings.paper: this name is taken"),
        ("{selection: {settings: {hinge: null, drawn: null}}}", "name at least one setting"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_explained(small, over, message):
    with pytest.raises(AnalogyQAError, match=f"^config: .*{message.replace('?', '[?]')}"):
        load_config(small(over))


@pytest.mark.parametrize(
    ("over", "key"),
    [
        ("prototypes: {p: 1000000000000000000000000}", "prototypes.p"),
        ("prototypes: {curve: [1000000000000000000000000]}", "prototypes.curve.0"),
        ("training: {max_epochs: 1000000000000000000000000}", "training.max_epochs"),
        ("bootstrap: {samples: 1000000000000000000000000}", "bootstrap.samples"),
        ("seeds: [1000000000000000000000000]", "seeds.0"),
    ],
)
def test_a_number_that_no_run_can_have_is_refused(small, over, key):
    with pytest.raises(AnalogyQAError, match=rf"^config: {key}: 10+ is not allowed: .*less than"):
        load_config(small(over))


def test_a_number_may_be_given_as_text_as_snakemake_hands_on_what_is_in_braces(small):
    config = load_config(small("{prototypes: {p: '4', curve: ['2']}, training: {dropout: '.1'}}"))
    assert config.prototypes.p == 4
    assert config.prototypes.curve == [2]
    assert config.training.dropout == 0.1
    with pytest.raises(AnalogyQAError, match=r"prototypes\.p: '4\.5' is not allowed"):
        load_config(small("prototypes: {p: '4.5'}"))


@pytest.mark.parametrize("seeds", ["many", 1.5, True, None, {"a": 1}])
def test_seeds_are_a_number_or_a_list_of_numbers(small, seeds):
    with pytest.raises(AnalogyQAError, match=r"seeds: .* give a number or a list of numbers"):
        load_config(small() | {"seeds": seeds})


def test_a_message_names_the_file_that_has_the_wrong_key(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own, mine = tmp_path / "config.yaml", tmp_path / "sub" / "mine.yaml"
    mine.parent.mkdir()
    own.write_text("training: {dropout: 2, margin: 0.1}\nsedes: 1\nprototypes: {curve: [1, 0]}\n")
    mine.write_text("training: {dropout: 3}\n")
    values = small("{training: {dropout: 3, loss: x}, sedes: 1, prototypes: {curve: [1, 0]}}")
    del values["output_dir"]
    with pytest.raises(AnalogyQAError) as raised:
        load_config(values, "config", [{"training": {"loss": "x"}}, mine, own])
    assert sorted(line.partition(" is ")[0].partition(" sedes")[0] for line in
                  str(raised.value).splitlines()) == [
        "--config: training.loss: 'x'",
        "config.yaml: prototypes.curve.1: 0",
        "config.yaml: unknown key",
        "config: key output_dir",
        f"{Path('sub', 'mine.yaml')}: training.dropout: 3",
    ]  # fmt: skip


def test_every_wrong_key_has_a_line(small):
    over = "{seeds: 0, device: gpu, training: {dropout: 2, looss: hinge}, bootstrap: {samples: 1}}"
    with pytest.raises(AnalogyQAError) as error:
        load_config(small(over), origin="my.yaml")
    lines = str(error.value).splitlines()
    assert len(lines) == 5
    assert all(line.startswith("my.yaml: ") for line in lines)


def test_the_message_has_the_value_and_what_is_allowed(small):
    with pytest.raises(AnalogyQAError, match=r"device: 'gpu' is not allowed: .*'cuda'"):
        load_config(small("{device: gpu}"))


# Meaning


def test_a_number_of_seeds_is_a_list_from_0(small):
    assert load_config(small("{seeds: 3}")).seeds == [0, 1, 2]
    assert load_config(small("{seeds: [7, 3]}")).seeds == [7, 3]


def test_one_source_is_a_list_of_one(small):
    assert load_config(small()).vectors["some"].source == ["some.vec"]


def test_null_takes_an_entry_away(small):
    over = "{models: {random: null}, vectors: {other: null}, datasets: {other: null}}"
    config = load_config(small(over))
    assert "random" not in config.models
    assert set(config.vectors) == {"some", "cased"}
    assert set(config.datasets) == {"toy"}
    assert "hinge" not in load_config(small("{selection: {settings: {hinge: null}}}")).settings


def test_null_takes_sentence_vectors_and_variations_away(small):
    over = "{sentence_vectors: {means: null}, sensitivity: {axes: {loss: {workshop: null}}}}"
    config = load_config(small(over))
    assert set(config.sentence_vectors) == {"published"}
    assert set(config.sensitivity.variations()) == {"case.kept", "questions.dropped"}
    config = load_config(small("{sensitivity: {axes: {case: null, questions: null}}}"))
    assert set(config.sensitivity.variations()) == {"loss.workshop"}


def test_loading_leaves_the_values_as_they_were(small):
    values = small("{models: {random: null}}")
    before = copy.deepcopy(values)
    load_config(values)
    assert values == before


def test_a_setting_is_laid_over_the_training_section(small):
    config = load_config(small("{training: {dropout: 0.25, negatives: {per: question}}}"))
    hinge = config.training_of("analogy", "hinge")
    assert hinge == config.training.model_copy(update={"loss": "hinge"})
    drawn = config.training_of("analogy", "drawn")
    assert drawn.dropout == 0
    assert (drawn.negatives.per, drawn.negatives.count) == ("question", 4)
    assert config.training_of("analogy", "paper") == config.training


def test_a_models_own_training_lies_over_the_section_and_under_a_setting(small):
    own = "{loss: lwda, margin: 1, negatives: {count: 2}}"
    config = load_config(small(f"{{models: {{analogy: {{training: {own}}}}}}}"))
    paper, hinge, drawn = (
        config.training_of("analogy", setting) for setting in ("paper", "hinge", "drawn")
    )
    assert (paper.loss, paper.margin, paper.dropout) == ("lwda", 1, config.training.dropout)
    assert (hinge.loss, hinge.margin, hinge.negatives.count) == ("hinge", 1, 2)
    assert (drawn.loss, drawn.negatives.count) == ("lwda", 4)


def test_what_scores_depend_on_is_neither_title_nor_training_section(small):
    over = "{models: {analogy: {title: Other, training: {loss: hinge}}}}"
    models = [load_config(small(each)).models["analogy"] for each in ("{}", over)]
    assert models[0].scientific() == models[1].scientific()


def test_sections_without_a_case_of_their_own_take_the_configurations(small):
    config = load_config(small("{lowercase: true}"))
    assert config.lowercase_of(config.vectors["some"])
    assert not config.lowercase_of(config.vectors["cased"])
    assert not config.lowercase_of(config.sentence_vectors["published"])
    assert not load_config(small("{lowercase: false}")).lowercase_of(config.vectors["some"])


def test_one_name_of_sentence_vectors_is_a_list_of_one():
    stored = SentenceVectors(
        encoder="infersent", train_on=["a/b"], dev_on=[["x", "y"]], vectors="v"
    )
    assert (stored.train_on, stored.dev_on) == ([["a/b"]], [["x", "y"]])


def test_bm25_needs_no_vectors_and_no_prototypes(small):
    config = load_config(small("{models: {bm25: {title: B, ranker: bm25}}}"))
    assert not config.models["bm25"].trained
    assert config.p_of("bm25") == 0


def test_an_analogy_of_sentence_vectors_needs_prototypes_and_no_training(small):
    over = "{models: {stored: {title: S, sentence_vectors: means, ranker: RANKER}}}"
    analogy, cosine = (
        load_config(small(over.replace("RANKER", ranker))) for ranker in ("analogy", "cosine")
    )
    assert not analogy.models["stored"].trained
    assert (analogy.p_of("stored"), cosine.p_of("stored")) == (3, 0)


def test_a_selection_needs_its_subset(small):
    with pytest.raises(
        AnalogyQAError, match=r"selection\.subset: comb is not among the subsets of"
    ):
        load_config(small("{subsets: [who]}"))


def test_only_models_that_meet_prototypes_have_a_p(small):
    config = load_config(small())
    assert {name: config.p_of(name) for name in config.models} == {
        "analogy": 3,
        "mean": 3,
        "mean-cosine": 0,
        "random": 0,
    }


def test_a_trained_baseline_needs_prototypes_for_its_quadruples(small):
    config = load_config(small("{models: {analogy: {ranker: cosine}}}"))
    assert config.p_of("analogy") == 3


def test_the_cells_of_a_small_configuration():
    config = load_config(yaml.safe_load(SMALL))
    assert cells_of(config) == [
        Cell("analogy", "toy", "who", 3),
        Cell("mean", "toy", "who", 3),
        Cell("mean-cosine", "toy", "who", 0),
        Cell("random", "toy", "who", 0),
        Cell("analogy+chosen", "toy", "who", 3),
        Cell("analogy", "toy", "comb", 3),
        Cell("mean", "toy", "comb", 3),
        Cell("mean-cosine", "toy", "comb", 0),
        Cell("random", "toy", "comb", 0),
        Cell("analogy+hinge", "toy", "comb", 3),
        Cell("analogy+drawn", "toy", "comb", 3),
        Cell("analogy+chosen", "toy", "comb", 3),
        Cell("analogy", "toy", "comb", 2),
    ]


def test_a_model_with_subsets_of_its_own_is_run_on_these_only(small):
    over = "{models: {analogy: {subsets: [comb]}, mean: {subsets: [who]}}}"
    cells = cells_of(load_config(small(over)))
    subsets = {name: {cell.subset for cell in cells if cell.model == name} for name in
               ("analogy", "analogy+chosen", "mean", "random")}  # fmt: skip
    assert subsets == {
        "analogy": {"comb"},
        "analogy+chosen": {"comb"},
        "mean": {"who"},
        "random": {"who", "comb"},
    }


def test_a_model_that_is_not_run_on_comb_has_no_curve(small):
    nobody = "selection: {models: []}, sensitivity: {models: []}"
    cells = cells_of(load_config(small(f"{{models: {{analogy: {{subsets: [who]}}}}, {nobody}}}")))
    assert {cell.p for cell in cells if cell.model == "analogy"} == {3}


def test_the_subsets_of_a_model_are_no_part_of_what_its_scores_depend_on(small):
    models = [
        load_config(small(over)).models["mean"]
        for over in ("{}", "{models: {mean: {subsets: [who]}}}")
    ]
    assert models[0].scientific() == models[1].scientific()


def test_without_comb_there_is_no_curve(small):
    cells = cells_of(
        load_config(small("{subsets: [who], selection: {models: []}, sensitivity: {models: []}}"))
    )
    assert {(cell.subset, cell.p) for cell in cells} == {("who", 3), ("who", 0)}


def test_the_cells_that_a_selection_compares(small):
    assert selection_cells(load_config(small()), "analogy", "toy") == {
        "paper": Cell("analogy", "toy", "comb", 3),
        "hinge": Cell("analogy+hinge", "toy", "comb", 3),
        "drawn": Cell("analogy+drawn", "toy", "comb", 3),
    }


def test_a_cell_has_a_folder_of_its_own():
    cells = cells_of(load_config(repository_config()))
    assert len({cell.path for cell in cells}) == len(cells)
    assert Cell("a+b", "toy", "comb", 3).path == "a+b/toy/comb/p3"


def test_tracking_defaults_to_a_file_in_the_output_folder(small):
    assert tracking_uri_of(load_config(small())) == "sqlite:///out/mlflow.db"
    over = "{tracking_uri: 'http://host:5000'}"
    assert tracking_uri_of(load_config(small(over))) == "http://host:5000"


def test_a_checked_configuration_cannot_change(small):
    config = load_config(small())
    with pytest.raises(ValueError, match="frozen"):
        config.training.dropout = math.pi


# Ids and variations


@pytest.mark.parametrize(("name", "setting"), [("analogy", "paper"), ("a.b-c", "case.kept")])
def test_an_id_is_split_as_it_was_joined(name, setting):
    assert split_id(join_id(name, setting)) == (name, setting)


def test_the_id_at_the_papers_setting_is_the_name():
    assert join_id("analogy", "paper") == "analogy"
    assert split_id("analogy") == ("analogy", "paper")


def test_a_variation_is_laid_over_the_section_that_it_names(small):
    config = load_config(small())
    assert config.training_of("analogy", "loss.workshop").loss == "lwda"
    assert config.model_of("analogy+case.kept").vectors == "cased"
    assert config.dataset_of("toy+questions.dropped").drop_all_correct == ["dev"]


def test_a_variation_leaves_the_other_sections_as_they_are(small):
    config = load_config(small())
    assert config.model_of("analogy+loss.workshop") == config.models["analogy"]
    assert config.training_of("analogy", "case.kept") == config.training
    assert config.dataset_of("toy") == config.datasets["toy"]


def test_a_changed_data_set_expects_no_counts(small):
    config = load_config(small())
    assert config.datasets["toy"].questions
    assert config.dataset_of("toy+questions.dropped").questions == {}


def test_a_variation_lies_over_a_models_own_training(small):
    over = "{models: {analogy: {training: {loss: hinge, margin: 1}}}}"
    varied = load_config(small(over)).training_of("analogy", "loss.workshop")
    assert (varied.loss, varied.margin) == ("lwda", 1)


def test_the_cells_of_the_sensitivity_table_are_named_by_what_they_change(small):
    assert sensitivity_cells(load_config(small())) == {
        ("analogy", "toy", "paper"): Cell("analogy", "toy", "comb", 3),
        ("analogy", "toy", "loss.workshop"): Cell("analogy+loss.workshop", "toy", "comb", 3),
        ("analogy", "toy", "case.kept"): Cell("analogy+case.kept", "toy", "comb", 3),
        ("analogy", "toy", "questions.dropped"): Cell(
            "analogy", "toy+questions.dropped", "comb", 3
        ),
    }


def test_a_variation_that_changes_nothing_in_a_model_has_the_papers_cell(small):
    over = """
    models: {baseline: {title: B, encoder: bigru, vectors: some, ranker: cosine}}
    sensitivity:
      models: [analogy, baseline]
      axes: {aggregation: {mean: {model: {aggregate: mean}}},
             loss: {stated: {training: {loss: printed}}, hinge: {training: {loss: hinge}}}}
    """
    cells = sensitivity_cells(load_config(small(over)))
    assert cells["analogy", "toy", "aggregation.mean"].model == "analogy+aggregation.mean"
    assert cells["baseline", "toy", "loss.hinge"].model == "baseline+loss.hinge"
    for variation in ("aggregation.mean", "loss.workshop"):  # of one side there is no other
        assert cells["baseline", "toy", variation] == cells["baseline", "toy", "paper"]
    for model in ("analogy", "baseline"):
        assert cells[model, "toy", "loss.stated"] == cells[model, "toy", "paper"]


def test_a_variation_that_changes_nothing_in_a_data_set_has_the_papers_cell(small):
    cells = sensitivity_cells(load_config(small("{datasets: {toy: {drop_all_correct: [dev]}}}")))
    assert cells["analogy", "toy", "questions.dropped"] == cells["analogy", "toy", "paper"]


def test_a_variation_that_changes_nothing_in_a_model_is_the_papers_own_cell(small):
    over = """
    models: {analogy: {ranker: cosine}}
    sensitivity: {axes: {case: {mean: {model: {aggregate: mean}}}}}
    """
    cells = sensitivity_cells(load_config(small(over)))
    assert cells["analogy", "toy", "case.mean"] == cells["analogy", "toy", "paper"]


def test_the_sensitivity_table_is_of_the_data_sets_that_it_names(small):
    other = "{title: O, reader: wikiqa, train: b/train, dev: b/dev, test: b/test}"
    every, one = (
        sensitivity_cells(load_config(small(f"{{datasets: {{other: {other}}}{over}}}")))
        for over in ("", ", sensitivity: {datasets: [other]}")
    )
    assert {dataset for _, dataset, _ in every} == {"toy", "other"}
    assert {dataset for _, dataset, _ in one} == {"other"}


def test_variations_have_no_part_in_the_other_tables(small):
    with_axes, without = (
        cells_of(load_config(small(over))) for over in ("{}", "{sensitivity: {models: []}}")
    )
    assert with_axes == without


# What is left out


def test_a_model_that_is_left_out_has_no_cell_and_a_reason(small):
    config = leave_out(load_config(small()), {"analogy": "no vectors", "random": "no dice"})
    assert set(config.models) == {"mean", "mean-cosine"}
    assert config.left_out == {"analogy": "no vectors", "random": "no dice"}
    assert config.selection.models == config.sensitivity.models == []
    assert {cell.model for cell in cells_of(config)} == {"mean", "mean-cosine"}


def test_a_variation_that_is_left_out_leaves_its_model(small):
    config = leave_out(load_config(small()), {"analogy+case.kept": "no vectors"})
    assert "analogy" in config.models
    assert {key[2] for key in sensitivity_cells(config)} == {
        "paper",
        "loss.workshop",
        "questions.dropped",
    }


def test_the_configurations_own_reasons_stay(small):
    config = load_config(small("{left_out: {infersent: no room}}"))
    assert leave_out(config, {"random": "no dice"}).left_out == {
        "infersent": "no room",
        "random": "no dice",
    }


def test_without_any_model_the_reasons_are_given_once_each(small):
    config = load_config(small())
    with pytest.raises(AnalogyQAError) as error:
        leave_out(config, dict.fromkeys(config.models, "no vectors"))
    assert str(error.value) == "no vectors"


def test_the_open_choices_are_varied_on_the_named_data_sets_only():
    values = repository_config()
    values["sensitivity"]["datasets"] = ["trecqa"]
    config = load_config(values)
    assert {dataset for _, dataset, _ in sensitivity_cells(config)} == {"trecqa"}
