"""A record keeps the part of the configuration that its result depends on, and nothing else."""

import json

import pytest

from analogyqa.cells import Cell
from analogyqa.cells.cell import differences, require_same
from analogyqa.errors import AnalogyQAError
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


@pytest.mark.parametrize("record", ["{", "[]", '{"settings": null}'])
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
