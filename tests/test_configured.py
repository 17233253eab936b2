"""A record keeps what of the configuration its result depends on, and nothing else."""

import json

import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.plan import Cell
from analogyqa.plan.configured import configured_cell, differences, require_same
from small_papers import Papers

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
OF_VECTORS = EVERY - {"words"}
TRAINED = {"analogy", "folded", "tuned"}

# A change of the configuration, and the cells that it is about.
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
    "lowercase: false": OF_VECTORS,
    "vectors: {some: {out_of_vocabulary: zero}}": OF_VECTORS,
    "vectors: {cased: {out_of_vocabulary: zero}}": set(),
    "sentence_vectors: {means: {lowercase: false}}": {"stored"},
    "systems: {mean: {weighting: sif}}": {"mean", "both"},
    "named_entities: {model: another}": set(),
}


def made(papers: Papers, over: str = "{}") -> dict[str, dict]:
    config = papers.load(over)
    return {name: configured_cell(config, cell) for name, cell in CELLS.items()}


@pytest.fixture
def papers(papers) -> Papers:
    """Those of all tests, with a fused system."""
    file = papers.folder / "small" / "config.yaml"
    file.write_text(file.read_text().replace("systems:\n", f"systems:\n  {BOTH}\n", 1))
    return papers


@pytest.mark.parametrize("over", CHANGES)
def test_a_change_is_seen_in_the_cells_that_it_is_about(papers, over):
    before, now = made(papers), made(papers, over)
    assert {name for name in CELLS if before[name] != now[name]} == CHANGES[over]


def test_a_recorded_configuration_equals_itself(papers, tmp_path):
    for name, configured in made(papers).items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"configured": configured}))
        require_same(path, configured)


@pytest.mark.parametrize("record", ["{", "{}", "[]", '{"configured": null}'])
def test_a_record_without_a_configuration_is_refused(tmp_path, record):
    (tmp_path / "run.json").write_text(record)
    with pytest.raises(AnalogyQAError, match=r"run\.json: .*--forceall"):
        require_same(tmp_path / "run.json", {"seeds": [0]})


@pytest.mark.parametrize(
    ("before", "now", "lines"),
    [
        ({"a": {"b": 1}, "c": [2]}, {"a": {"b": 1}, "c": [2]}, []),
        (
            {"a": {"b": 1}, "c": [2]},
            {"a": {"b": 3}, "c": [2, 4]},
            ["a.b: 1, now 3", "c: 2, now 2+4"],
        ),
        ({"a": {}}, {"a": {"b": True}, "c": "d"}, ["a.b: null, now true", "c: null, now d"]),
        ({"a": {"b": 1}}, {"a": None}, ["a: {'b': 1}, now null"]),
    ],
)
def test_a_difference_names_its_key_and_both_values(before, now, lines):
    assert list(differences(before, now)) == lines
