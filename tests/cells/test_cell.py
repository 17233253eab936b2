"""A record keeps the part of the configuration that its result depends on, and nothing else."""

import json

import pytest

from analogyqa.cells import Cell, why_no_run
from analogyqa.cells.cell import corpora_by_seed, differences, require_same
from analogyqa.errors import AnalogyQAError
from analogyqa.settings.coordinates import Coordinates
from builders.papers import Papers

CELLS = {
    "analogy": Cell("analogy", "toy", "who"),
    "folded": Cell("analogy", "toy", "who", (("fold", "1of5"),)),
    "tuned": Cell("analogy", "toy", "who", (("hyperparameters", "tuned"),)),
    "mean": Cell("mean", "toy", "both"),
    "stored": Cell("stored", "toy", "all"),
    "words": Cell("words", "toy", "who"),
    "both": Cell("both", "toy", "who"),
}
BOTH = "both: {title: F, ranker: {name: fused, parts: [mean, words]}}"
EVERY = set(CELLS)
WITH_VECTORS = EVERY - {"words"}
TRAINED = {"analogy", "folded", "tuned"}

# Changes of the configuration, with the cells that they affect.
CHANGES = {
    "systems: {analogy: {title: Renamed}}": set(),
    "{resources_dir: elsewhere, mirrors: [a], device: cpu, bootstrap: {samples: 700}}": set(),
    "datasets: {toy: {title: Renamed, questions: null}}": set(),
    "seeds: 3": EVERY,
    "seeds: {default: 2, cross_validation: 3}": {"folded"},
    "seeds: {default: 2, variations: 1}": set(),
    "systems: {analogy: {most_seeds: 1}}": TRAINED,
    "training: {margin: 0.3}": TRAINED,
    "selection: {hyperparameters: {hinge: {margin: 0.3}}}": {"tuned"},
    "prototypes: {p: 2}": {*TRAINED, "mean", "both"},
    "datasets: {toy: {drop_all_correct: [dev]}}": EVERY,
    "datasets: {toy: {dev: a/other}}": EVERY,
    "subsets: {both: [who]}": {"mean"},
    "question_types: {what: [what]}": {"folded", "stored"},
    "question_types: {who: [who, whom]}": EVERY,
    "lowercase: false": EVERY,
    "vectors: {some: {out_of_vocabulary: zero}}": WITH_VECTORS,
    "vectors: {cased: {out_of_vocabulary: zero}}": set(),
    "sentence_vectors: {means: {lowercase: false}}": {"stored"},
    "systems: {mean: {weighting: sif}}": {"mean", "both"},
    "named_entities: {model: another}": set(),
}


def cell_settings(papers: Papers, over: str = "{}") -> dict[str, dict]:
    config = papers.load(over)
    return {name: cell.settings(config) for name, cell in CELLS.items()}


@pytest.fixture
def papers(papers) -> Papers:
    """The papers of all tests, with a fused system."""
    file = papers.folder / "small" / "config.yaml"
    file.write_text(file.read_text().replace("systems:\n", f"systems:\n  {BOTH}\n", 1))
    return papers


@pytest.mark.parametrize("over", CHANGES)
def test_a_change_affects_only_the_cells_that_depend_on_it(papers, over):
    before, now = cell_settings(papers), cell_settings(papers, over)
    assert {name for name in CELLS if before[name] != now[name]} == CHANGES[over]


SEEDS = "seeds: {default: [0, 4, 2, 7], cross_validation: [4, 2, 7]}"
THREE = "systems: {both: {ranker: {name: fused, parts: {words: [0, 2], mean: [1]}}}}"


def test_the_parts_of_an_ensemble_share_the_partition_of_each_seed(papers):
    """So none of them is trained on what another one tests."""
    config = papers.load(f"{SEEDS}\n{THREE}")
    cell = CELLS["both"]._replace(overrides=(("fold", "1of5"),))
    names = [f"toy@fold=1of5-partition{seed}" for seed in (4, 2, 7)]
    assert cell.corpora(cell.settings(config)) == dict(zip((4, 2, 7), names, strict=True))
    parts = {name: part.settings(config) for name, part in cell.parts(config).items()}
    assert {name: at["corpora"] for name, at in parts.items()} == dict.fromkeys(
        ("words", "words-shift2", "mean-shift1"), names
    )
    assert {name: at["seeds"] for name, at in parts.items()} == {
        "words": [4, 2, 7], "words-shift2": [7, 0, 4], "mean-shift1": [2, 7, 0],
    }  # fmt: skip


def test_a_data_set_has_one_partition_and_its_cross_validation_one_for_each_seed(papers):
    mine = "datasets: {mine: {title: M, reader: wikiqa, train: a/train, fold: 1of3}}"
    config = papers.load(f"{SEEDS}\n{mine}")
    own = Cell("words", "mine", "who")
    assert own.corpora(own.settings(config)) == dict.fromkeys([0, 4, 2, 7], "mine")
    overrides = config.canonical_overrides("words", (("fold", "1of3"),), "mine")
    folded = own._replace(overrides=overrides)
    assert [*folded.corpora(folded.settings(config)).values()] == [
        f"mine@fold=1of3-partition{seed}" for seed in (4, 2, 7)
    ]
    fixed = "mine@fold=1of3-partition2@train_share=0.5"
    assert corpora_by_seed(fixed, [4, 2], [4, 2]) == dict.fromkeys([4, 2], fixed)
    shifted = fixed.replace("partition2", "shift1")
    assert corpora_by_seed(shifted, [4], [0, 4, 2])[4] == fixed.replace("partition2", "partition0")


def test_a_ranker_may_choose_other_prototypes_than_its_corpus(papers):
    """They, and the quadruples, are those of the corpus with an override."""
    config = papers.load("systems: {analogy: {ranker: analogy_of_other_type}}")
    folded = CELLS["folded"]._replace(subset="both")
    required = folded.requires(config)
    corpora = {role: {at.get("corpus") for at in names} for role, names in required.items()}
    chosen = {"toy@fold=1of5@prototype_choice=other_type"}
    compared = ("prototypes", "training quadruples", "evaluation quadruples")
    assert {role: corpora[role] for role in compared} == dict.fromkeys(compared, chosen)
    assert corpora["corpus"] == {f"toy@fold=1of5-partition{seed}" for seed in config.seeds}
    reason = "analogy needs prototypes of another question type, and there is no other"
    at_one, at_both = (
        Coordinates(system="analogy", dataset="toy", subset=subset) for subset in ("who", "both")
    )
    assert (why_no_run(at_one, config), why_no_run(at_both, config)) == (reason, "")


def test_only_relations_record_how_analogies_are_evaluated(papers):
    """And weights of categories have no run of their own."""
    pairs = "pairs: {title: P, reader: relations, test: a/relations, evaluation: {ties: first}}"
    config = papers.load(f"datasets: {{{pairs}}}")
    solving = Cell("mean", "pairs", "all", (("both_directions", "true"), ("solver", "3cosadd")))
    evaluation = {"both_directions": True, "candidates": "described", "ties": "first"}
    assert solving.settings(config)["evaluation"] == evaluation | {"epsilon": [1e-5, 1e-5]}
    assert CELLS["mean"].settings(config)["evaluation"] is None
    overrides = (*solving.overrides, ("weighted_by", "configured"))
    assert Cell("mean", "pairs", "one", overrides).with_run(config) == solving
    assert CELLS["mean"].with_run(config) == CELLS["mean"]


def test_recorded_settings_equal_themselves(papers, tmp_path):
    for name, settings in cell_settings(papers).items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"settings": settings}))
        require_same(path, settings)


@pytest.mark.parametrize("record", ["[]", '{"settings": null}'])
def test_a_record_without_settings_is_refused(tmp_path, record):
    (tmp_path / "run.json").write_text(record)
    with pytest.raises(AnalogyQAError, match=r"run\.json: .*--forceall"):
        require_same(tmp_path / "run.json", {"seeds": [0]})


@pytest.mark.parametrize(
    ("before", "now", "lines"),
    [
        ({"a": {"b": 1}, "c": [2]}, {"a": {"b": 1}, "c": [2]}, []),
        ({"a": {"b": 1}, "c": [2]}, {"a": {"b": 3}, "c": [4]}, ["a.b: 1, now 3", "c: 2, now 4"]),
        ({"a": {}}, {"a": {"b": True}, "c": "d"}, ["a.b: null, now true", "c: null, now d"]),
        ({"a": {"b": 1}}, {"a": None}, ["a: {'b': 1}, now null"]),
    ],
)
def test_a_difference_names_its_key_and_both_values(before, now, lines):
    assert list(differences(before, now)) == lines
