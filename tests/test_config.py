"""Every key of the configuration is checked before any job starts."""

import copy
import math
from pathlib import Path

import pytest
import yaml
from snakemake.utils import update_config

from analogyqa.config import (
    Cell,
    Training,
    load_config,
    read_config,
    selection_cells,
    tracking_uri_of,
)
from analogyqa.errors import AnalogyQAError

ROOT = Path(__file__).parents[1]
SMALL = """
output_dir: out
seeds: 2
datasets:
  toy: {title: Toy, reader: wikiqa, train: a/train, dev: a/dev, test: a/test,
        questions: {train: {who: 5, when: 6, where: 7}}}
subsets: [who, comb]
vectors:
  some: {source: some.vec}
prototypes: {p: 3, curve: [2, 3]}
models:
  analogy: {title: A, encoder: bigru, vectors: some, ranker: analogy}
  mean: {title: M, encoder: mean, vectors: some, ranker: analogy}
  mean-cosine: {title: C, encoder: mean, vectors: some, ranker: cosine}
  random: {title: R, encoder: random, ranker: cosine}
selection:
  models: [analogy]
  settings: {hinge: {loss: hinge}, drawn: {negatives: {count: 4}, dropout: 0}}
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
    assert set(config.vectors) == {"fasttext"}
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
)
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
        ("{selection: {models: [analgy]}}", "'analgy' is not configured; did you mean analogy?"),
        ("{selection: {models: [mean]}}", "selection.models: mean is not trained"),
        ("{selection: {settings: {paper: {}}}}", "selection.settings.paper: this name is taken"),
        ("{selection: {settings: {hinge: null, drawn: null}}}", "name at least one setting"),
    ],
)
def test_what_does_not_fit_together_is_explained(small, over, message):
    with pytest.raises(AnalogyQAError, match=f"^config: .*{message.replace('?', '[?]')}"):
        load_config(small(over))


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
    assert set(config.vectors) == {"some"}
    assert set(config.datasets) == {"toy"}
    assert "hinge" not in load_config(small("{selection: {settings: {hinge: null}}}")).settings


def test_loading_leaves_the_values_as_they_were(small):
    values = small("{models: {random: null}}")
    before = copy.deepcopy(values)
    load_config(values)
    assert values == before


def test_a_setting_is_laid_over_the_training_section(small):
    config = load_config(small("{training: {dropout: 0.25, negatives: {per: question}}}"))
    assert config.training_of("hinge") == config.training.model_copy(update={"loss": "hinge"})
    drawn = config.training_of("drawn")
    assert drawn.dropout == 0
    assert (drawn.negatives.per, drawn.negatives.count) == ("question", 4)
    assert config.training_of("paper") == config.training


def test_a_selection_needs_its_subset(small):
    with pytest.raises(
        AnalogyQAError, match=r"selection\.subset: comb is not among the subsets who"
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
    assert config.cells() == [
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


def test_without_comb_there_is_no_curve(small):
    cells = load_config(small("{subsets: [who], selection: {models: []}}")).cells()
    assert {(cell.subset, cell.p) for cell in cells} == {("who", 3), ("who", 0)}


def test_the_cells_that_a_selection_compares(small):
    assert selection_cells(load_config(small()), "analogy", "toy") == {
        "paper": Cell("analogy", "toy", "comb", 3),
        "hinge": Cell("analogy+hinge", "toy", "comb", 3),
        "drawn": Cell("analogy+drawn", "toy", "comb", 3),
    }


def test_a_cell_has_a_folder_of_its_own():
    cells = load_config(repository_config()).cells()
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
