"""A run is merged into its papers; a message names the wrong key and its file."""

import copy
from pathlib import Path

import pytest
import yaml

from analogyqa.errors import AnalogyQAError
from analogyqa.settings.base import merge, nearest_hint
from analogyqa.settings.load import (
    load_config,
    read_config,
    read_paper_config,
    snakemake_command,
)
from analogyqa.settings.overrides import value_at
from analogyqa.settings.systems import Training
from builders.papers import CONFIG

ROOT = Path(__file__).parents[2]
MINE = """
datasets: {mine: {title: Mine, reader: wikiqa, train: b/train, dev: b/dev, test: b/test}}
systems: {net: {title: Net, encoder: cnn, vectors: some, ranker: cosine}}
"""
OVER = """
over: small
training: {margin: 2}
systems:
  net: {title: Net, encoder: cnn, vectors: some, ranker: cosine}
  random: null
"""


def repository_config(*overlays: str) -> dict:
    values = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))
    for overlay in overlays:
        values = merge(values, yaml.safe_load((ROOT / overlay).read_text("utf-8")))
    return values


# The configuration in the repository


@pytest.fixture(scope="module")
def together():
    """The configuration of all papers together."""
    return read_config(ROOT / "config.yaml")


def test_a_paper_has_the_same_systems_and_data_sets_alone_and_together(together):
    for name in together.papers:
        alone = load_config(repository_config() | {"papers": [name]})
        assert alone.systems.items() <= together.systems.items()
        assert alone.datasets.items() <= together.datasets.items()


def test_plain_hyperqa_differs_only_in_title_and_optimiser(together):
    coded, plain = (together.systems[name] for name in ("hyperqa", "hyperqa-plain"))
    changed = {"title": plain.title}
    changed["training"] = coded.training.model_copy(update={"optimiser": "adagrad_clipped"})
    assert plain == coded.model_copy(update=changed)


def test_the_sample_is_merged_into_the_repositorys_file():
    config = read_config(ROOT / "sample" / "config.yaml")
    assert config == load_config(repository_config("sample/config.yaml"))
    for dataset in config.datasets.values():
        for files in (dataset.train, dataset.dev, dataset.test):
            assert files[0].startswith("sample/") and (ROOT / files[0]).is_file()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *((content, "cannot be read as a YAML mapping")
          for content in (b"seeds: [1", b"- a\n", b"text", b"title: \xff")),
        *((content, r"the file is empty\. Give at least one key")
          for content in (b"", b"# no\n", b"---\n")),
        (None, "no such file"),
    ],
)  # fmt: skip
def test_a_file_without_a_mapping_is_named(tmp_path, papers, content, message):
    if content is not None:
        (tmp_path / "config.yaml").write_bytes(content)
        papers.write("small", content.decode("latin-1")).write_bytes(content)
        with pytest.raises(AnalogyQAError, match=rf"small/config\.yaml: .*{message}"):
            papers.load()
    with pytest.raises(AnalogyQAError, match=rf"config\.yaml: .*{message}"):
        read_config(tmp_path / "config.yaml")


# Papers


# A system, changes of the run, and values of the system.
MERGED = """
analogy | training: {margin: 1} | {margin: 1, dropout: 0.25, negatives.per: question}
analogy | systems: {analogy: {training: {negatives: {count: 2}}}} | {negatives.per: question}
analogy | {training: {margin: 2}, systems: {analogy: {training: {margin: 1}}}} | {margin: 1}
baseline | {training: {margin: 2}, systems: {analogy: {training: {margin: 1}}}} | {margin: 2}
ap | training: {margin: 2} | {margin: 2, loss: pairwise}
mean | prototypes: {p: 2} | {p: 2}
mean | {prototypes: {p: 2}, systems: {mean: {p: 4}}} | {p: 4}
""".strip().splitlines()
AP = "{title: N, encoder: words, vectors: some, ranker: ap_cnn, training: {loss: pairwise}}"


@pytest.mark.parametrize("case", MERGED)
def test_a_run_is_laid_over_its_paper_and_a_system_over_both(papers, case):
    name, changes, expected = case.split(" | ")
    over = merge(yaml.safe_load(changes), {"systems": {"ap": yaml.safe_load(AP)}})
    system = papers.load(yaml.safe_dump(over)).systems[name]
    for key, value in yaml.safe_load(expected).items():
        assert value_at(system, key if key == "p" else f"training.{key}") == str(value)


def test_systems_share_the_training_section_that_they_do_not_change(papers):
    """So it is validated once."""
    systems = papers.load().systems
    assert systems["analogy"].training is systems["baseline"].training
    changed = papers.load("systems: {analogy: {training: {margin: 1}}}").systems
    assert changed["analogy"].training is not changed["baseline"].training


def test_the_command_of_a_run_has_its_files_and_its_changes():
    changes = {"seeds": 3, "papers": "x y", "training": {"dropout": 0}}
    address = {"tracking_uri": "http://me:secret@there"}
    assert snakemake_command([Path("a")], address) == "snakemake --cores all --configfile a"
    assert snakemake_command([Path("a b.yaml")], changes) == (
        "snakemake --cores all --configfile 'a b.yaml' --config seeds=3 'papers=x y' "
        """'training={"dropout": 0}'"""
    )


@pytest.mark.parametrize("names", ["small other", "other small", ["small", "other", "small"]])
def test_the_training_of_a_paper_does_not_apply_to_systems_of_another(papers, names):
    papers.write("other", "training: {margin: 9}\nprototypes: {p: 9}\n" + MINE)
    config, alone = papers.load(f"papers: {names}"), papers.load()
    assert alone.systems.items() <= config.systems.items()
    net = config.systems["net"]
    assert (net.p, net.training) == (9, Training(margin=9))
    assert set(config.datasets) == {"toy", "mine"}


def test_a_paper_over_another_inherits_definitions_but_no_studies(papers):
    papers.write("late", OVER)
    config, base = papers.load("papers: late"), papers.load()
    assert set(config.systems) == {*base.systems, "net"} - {"random"}
    net = config.systems["net"]
    assert (net.p, net.training.margin, net.training.dropout) == (3, 2, 0.25)
    assert config.systems["mean"] == base.systems["mean"]
    study = config.studies["late"]
    assert (study.selection, study.sensitivity, study.extra_rows) == (None, None, {})


def test_papers_may_share_equal_definitions_and_conflicts_name_both(papers):
    papers.write("late", OVER.replace("training: {margin: 2}", ""))
    assert set(papers.load("papers: small late").systems) >= {"net", "random"}
    # A system may repeat what its paper says.
    papers.write("late", "over: small\nsystems: {analogy: {training: {dropout: 0.25}}}")
    assert papers.load("papers: small late").systems["analogy"] == papers.load().systems["analogy"]
    papers.write("late", OVER)
    with pytest.raises(AnalogyQAError) as error:
        papers.load("papers: small late")
    for name, line in zip(("analogy", "baseline"), str(error.value).splitlines(), strict=True):
        assert f"small/config.yaml: systems.{name}: the papers small and late define it" in line
    changes = "systems: {analogy: {training: {margin: 1}}, baseline: {training: {margin: 1}}}"
    assert papers.load(f"papers: small late\n{changes}").systems["analogy"].training.margin == 1


def test_a_run_may_define_systems_and_data_sets_of_no_paper(papers):
    config = papers.load("training: {margin: 1}\nprototypes: {p: 2}\n" + MINE)
    assert [config.outside_papers(key) for key in ("datasets", "systems")] == [["mine"], ["net"]]
    net = config.systems["net"]
    assert (net.p, net.training) == (2, Training(margin=1))


def test_a_system_may_be_in_the_selection_of_only_one_paper(papers):
    papers.write("late", OVER.replace("training: {margin: 2}", "") + "selection: "
                 "{subset: both, systems: [analogy], "
                 "hyperparameters: {drop: {dropout: 0}}}")  # fmt: skip
    with pytest.raises(AnalogyQAError, match=r"late/\S+ selection\.systems: analogy is .*another"):
        papers.load("papers: small late")


def test_a_study_of_the_run_changes_the_first_paper_that_has_such_a_study(papers):
    late = OVER.replace("training: {margin: 2}", "")
    papers.write("late", late + "sensitivity: {subset: both, measure: map, systems: [net]}")
    changes = "sensitivity: {measure: p_at_1, systems: [analogy]}"
    studies = papers.load("papers: small late\n" + changes).studies
    compared = [(studies[name].sensitivity.measure, studies[name].sensitivity.systems)
             for name in ("small", "late")]  # fmt: skip
    assert compared == [("p_at_1", ["analogy"]), ("map", ["net"])]
    removed = papers.load("papers: small late\nsensitivity: null").studies
    assert [removed[name].sensitivity for name in ("small", "late")] == [None, None]


def test_null_removes_an_entry(papers):
    config = papers.load("""
        systems: {random: null, stored: null, new: null}
        vectors: {other: null}
        sentence_vectors: {means: null}
        datasets: {other: null}
        question_types: {why: null}
        named_entities: null
        selection: {hyperparameters: {hinge: null}}
        sensitivity: {choices: {loss: {workshop: null}, case: null, aggregation: null}}
        extra_rows: {table1: null}
        sweeps: {p: null}
        left_out: {words: null}
    """)
    assert not {"random", "stored", "new"} & set(config.systems)
    assert (set(config.vectors), set(config.datasets)) == ({"some", "cased"}, {"toy"})
    assert (set(config.sentence_vectors), config.named_entities) == ({"published"}, None)
    assert (config.studies["small"].extra_rows, config.sweeps, config.left_out) == ({}, {}, {})
    assert set(config.find_selection("analogy").hyperparameters) == {"drawn"}
    variations = set(config.studies["small"].sensitivity.variations())
    assert variations == {("paper", ""), ("loss", "stated"), ("questions", "dropped")}
    study = papers.load("{selection: null, sensitivity: null, extra_rows: null}").studies["small"]
    assert (study.selection, study.sensitivity, study.extra_rows) == (None, None, {})


def test_null_may_be_a_string_as_on_the_command_line(papers):
    values = papers.values("{sensitivity: 'null', systems: {words: 'null', mean: {p: 2}}}")
    before = copy.deepcopy(values)
    config = load_config(values, papers=papers.folder)
    assert config.studies["small"].sensitivity is None
    assert "words" not in config.systems
    assert values == before  # loading does not change them


# Messages


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ("papers: nope", r"papers: there is no paper 'nope'; known: late, small"),
        ("papers: smal", r"papers: there is no paper 'smal'; did you mean small\?"),
        ("papers: []", "papers: none are given, and no data set of your own"),
        ("papers: [small, 3]", r"papers: \['small', 3\] is not allowed: give names of folders"),
        ("papers: null", r"papers: None is not allowed: give names"),
        ("studies: {}", "unknown key studies"),
        *((f"{key}: 5", f"{key}: 5 is not allowed: give a map") for key in yaml.safe_load(CONFIG)),
    ],
)  # fmt: skip
def test_unknown_papers_and_sections_are_named(papers, over, message):
    papers.write("late", OVER)
    with pytest.raises(AnalogyQAError, match=f"^config: {message}"):
        papers.load(over)
    with pytest.raises(AnalogyQAError, match=f"^--config: {message}"):
        papers.load(over, (yaml.safe_load(over),))


BROKEN = r"""
{over: nope} => over: 'nope' is not another paper; known: other, small
{over: smal} => over: 'smal' is not another paper; did you mean small?
{over: late} => over: 'late' is not another paper
{over: [small]} => over: ['small'] is not another paper
{seeds: 3} => unknown key seeds; did you mean subsets?
{training: 5} => training: 5 is not allowed: give a mapping
{over: small, training: {dropout: 2}} => training.dropout: 2 is not allowed: Input
{over: small, prototypes: {q: 2}} => unknown key prototypes.q; known: p
{over: small, systems: {mean: {vectors: sme}}} => systems.mean.vectors: 'sme' is not configured
{over: small, systems: {new: {title: N}}} => key systems.new.ranker is missing
{over: small, selection: {subset: a}} => selection.subset: 'a' is not configured
{over: small, selection: {}} => key selection.subset is missing
{systems: &a {b: *a}} => its aliases (*name) expand to more than
""".strip().splitlines()


@pytest.mark.parametrize("case", BROKEN)
def test_a_message_names_the_file_of_the_paper_with_the_wrong_key(papers, case):
    config, _, message = case.partition(" => ")
    papers.write("other", "over: late")
    papers.write("late", config)
    with pytest.raises(AnalogyQAError) as error:
        papers.load("papers: late")
    assert f"papers/late/config.yaml: {message}" in str(error.value).splitlines()[0]


def test_papers_over_each_other_are_refused(papers):
    papers.write("one", "over: two")
    papers.write("two", "over: one")
    with pytest.raises(AnalogyQAError, match=r"two/config\.yaml: over: 'one' is not another paper"):
        papers.load("papers: one")


def test_a_message_names_the_first_file_with_the_wrong_key(papers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    base, mine = tmp_path / "config.yaml", tmp_path / "sub" / "mine.yaml"
    mine.parent.mkdir()
    base.write_text("training: {dropout: 2}\nsedes: 1\nbootstrap: {samples: 1}\n")
    mine.write_text("training: {dropout: 3}\nsystems: {new: {title: N}}\n")
    papers.write("small", CONFIG.replace("p: 3", "p: 0"))
    over = "{training: {dropout: 3, loss: x}, sedes: 1, bootstrap: {samples: 1}, "
    values = papers.values(over + "systems: {new: {title: N}}}")
    del values["output_dir"]
    with pytest.raises(AnalogyQAError) as error:
        load_config(values, "all", [{"training": {"loss": "x"}}, mine, base], papers.folder)
    lines = str(error.value).replace(" sedes", " is ").splitlines()
    assert sorted(line.partition(" is ")[0] for line in lines) == [
        "--config: training.loss: 'x'",
        "all: key output_dir",
        "config.yaml: bootstrap.samples: 1",
        "config.yaml: unknown key",
        "papers/small/config.yaml: prototypes.p: 0",
        "sub/mine.yaml: key systems.new.ranker",
        "sub/mine.yaml: training.dropout: 3",
    ]


def test_a_message_escapes_known_names_that_are_invalid_text():
    assert nearest_hint("analogy", ["\ud800"]) == "; known: \\ud800"


def test_a_folder_without_papers_is_named_with_the_remedy(tmp_path):
    """As the working folder of an installed library outside of a checkout."""
    for folder in (tmp_path, tmp_path / "papers"):
        with pytest.raises(AnalogyQAError, match="start in a checkout") as caught:
            load_config({"papers": ["diallo2019"]}, papers=folder)
        assert str(folder) in str(caught.value)


def test_a_system_is_found_in_the_configurations_of_the_papers():
    assert "lwda" not in read_paper_config(system="analogy").systems
    # Only a paper that is laid over another one has it.
    assert read_paper_config(system="lwda").systems["lwda"].training.dropout == 0.6
    assert {"lwda", "analogy"} < {*read_paper_config("lwda2019").systems}
    for paper, system, message in (
        (None, "anology", "did you mean analogy"),
        ("lwda2019", "sbert-base-cls", "lwda2019: no system"),
        ("lwda2091", None, "did you mean lwda2019"),
    ):
        with pytest.raises(AnalogyQAError, match=message):
            read_paper_config(paper, system)
