"""Solving the analogies of a data set, and summarising the cells of its subsets."""

import json

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analogyqa.analogies.solve import ThreeCosMul
from analogyqa.analogies.specs import SOLVERS, SolverSpec
from analogyqa.cells import Cell, cells_by_run
from analogyqa.corpora.relations import relations_corpus
from analogyqa.evaluation.summary import read_runs, summarise_runs
from analogyqa.measures import ACCURACY, OF_DISTRACTORS, SHARED_TIES, WEIGHT
from analogyqa.runs.solve import sentence_vectors, solve_cells, solve_corpus, with_both_roles
from analogyqa.schemas import CORPUS, METRICS, read_table, write_table
from analogyqa.settings.data import Evaluation
from analogyqa.training.data import CellFiles
from analogyqa.vectors.store import write_store
from builders.cells import toy_job, untrained_system

SEEDS = [0, 1]


@pytest.fixture
def folder(tmp_path):
    """A relation whose vectors are parallelograms, and one with random vectors."""
    names = {"capitals": 5, "others": 4}
    random = np.random.default_rng(0)
    shift, words, vectors = random.standard_normal(8), [], []
    (tmp_path / "relations").mkdir()
    for name, pairs in names.items():
        sentences = [[f"{name}{side}{pair}" for side in "ab"] for pair in range(pairs)]
        for pair in sentences:
            vector = 3 * random.standard_normal(8)
            other = vector + shift if name == "capitals" else random.standard_normal(8)
            words += pair
            vectors += [vector, other]
        lines = "".join("\t".join(pair) + "\n" for pair in sentences)
        (tmp_path / "relations" / f"{name}.tsv").write_text(lines)
    corpus = relations_corpus({name: tmp_path / "relations" / f"{name}.tsv" for name in names})
    write_files(tmp_path, corpus, words, vectors)
    return tmp_path


def write_files(folder, corpus, words, vectors):
    """Write a corpus, and the vectors of words."""
    store, is_found = np.array(vectors, dtype=np.float32), np.ones(len(words), dtype=bool)
    write_store(store, is_found, words, "by hand", folder / "vectors.npy")
    write_table(corpus, CORPUS, folder / "corpus.parquet")


def solving_job(folder, solver="3cosadd"):
    files = CellFiles(str(folder / "corpus.parquet"), str(folder / "vectors.npy"), None, {})
    cell = Cell("s", "mine", "all", (("solver", solver),))
    return toy_job(untrained_system("cosine"), dict.fromkeys(SEEDS, files), None, cell)


def run(folder):
    """Return the cell and the folder of each solver."""
    jobs = {name: solving_job(folder, name) for name in SOLVERS}
    cells = {name: job.cell for name, job in jobs.items()}
    folders = {name: folder / "runs" / cell.path for name, cell in cells.items()}
    for path in folders.values():
        path.mkdir(parents=True)
    solve_cells(jobs, folders, Evaluation())
    return cells, folders


def test_a_run_has_every_pair_of_every_relation_for_each_seed(folder):
    cells, folders = run(folder)
    for name, cell in cells.items():
        metrics = read_table(folders[name] / "metrics.parquet", METRICS)
        record = json.loads((folders[name] / "run.json").read_text())
        assert Cell.from_record(record["cell"]) == cell
        assert metrics.groupby("measure", observed=True).size()[ACCURACY] == 2 * 9
        weights = metrics[metrics["measure"] == WEIGHT].groupby("group", observed=True)["value"]
        assert weights.sum().to_dict() == {"capitals": 2 * 10, "others": 2 * 6}
        first, second = (metrics[metrics["seed"] == seed]["value"].tolist() for seed in SEEDS)
        assert first == second  # no random numbers are used


@given(st.integers(0, 1000), st.sampled_from(["mean", "unit_mean", "sum"]))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_same_words_have_the_same_vector(tmp_path, seed, encoder):
    random = np.random.default_rng(seed)
    words, vectors = [f"w{word}" for word in range(9)], random.normal(size=(9, 30))
    vectors[-1] = 0  # an unknown word
    bags = [random.choice(words[:-1], size=random.integers(1, 9)) for _ in range(20)]
    sides = [[random.permutation(bag) for bag in bags] for _ in "ab"]
    sides[1] = [[*bag, words[-1]] for bag in sides[1]]
    texts = [[" ".join(bag) for bag in side] for side in sides]
    corpus = corpus_of(s=list(zip(map(str, range(20)), *texts, strict=True)))
    write_files(tmp_path, corpus, words, vectors)
    job = solving_job(tmp_path)
    job = job._replace(system=job.system.model_copy(update={"encoder": encoder}))
    exact = sentence_vectors(corpus, job, 0, exact=True)
    assert exact.dtype == np.float64
    assert (exact[0] == exact[1]).all()
    np.testing.assert_allclose(exact[0], sentence_vectors(corpus, job, 0)[0], rtol=1e-4, atol=1e-5)


def test_the_mean_of_a_subset_is_over_its_analogies(folder, papers):
    cells, folders = run(folder)
    dataset = {"title": "Mine", "reader": "relations", "test": f"{folder}/relations"}
    over = {"datasets": {"mine": dataset}, "subsets": {"mix": ["capitals", "others"]}}
    config = papers.load(yaml.safe_dump(over | {"bootstrap": {"samples": 100}}))
    cell, path = cells["3cosadd"], folders["3cosadd"]
    subsets = ("capitals", "others", "mix", "all")
    parts = cells_by_run(config, [cell, *(cell._replace(subset=subset) for subset in subsets)])
    runs = read_runs([path / "run.json"], [path / "metrics.parquet"], parts)
    summary = summarise_runs(list(runs), config).set_index(["subset", "measure"])["mean"]
    capitals, others = (summary[name, ACCURACY] for name in ("capitals", "others"))
    assert capitals == 1
    pooled = (10 * capitals + 6 * others) / 16
    assert summary["mix", ACCURACY] == pytest.approx(pooled)
    assert summary["all", ACCURACY] == pytest.approx(pooled)


def corpus_with_distractors() -> pd.DataFrame:
    """Return a corpus of four pairs with distractors."""
    rows = []
    for pair in range(4):
        candidates = [f"right{pair}", *(f"wrong{pair}{name}" for name in OF_DISTRACTORS)]
        rows += [
            ("test", f"r/{pair}", f"first{pair}", f"r/{pair}-{number}", text, number == 0, "r")
            for number, text in enumerate(candidates)
        ]
    return pd.DataFrame(rows, columns=CORPUS.names).astype({"label": "int8"})


def test_shares_of_right_and_wrong_answers_add_up_to_one():
    corpus = corpus_with_distractors()
    vectors = np.random.default_rng(0).standard_normal((2, len(corpus), 5))
    for metrics in solve_corpus(corpus, vectors, list(SOLVERS), Evaluation()).values():
        values = metrics.pivot(index="item", columns="measure", values="value")
        assert (values[ACCURACY] == values[SHARED_TIES]).all()
        assert np.allclose(values[[ACCURACY, *OF_DISTRACTORS]].sum(axis=1), 1)
        assert values[WEIGHT].sum() == 6


def corpus_of(**categories: list[tuple[str, str, str]]) -> pd.DataFrame:
    """Return a corpus from the ids and sentences of the pairs of each category."""
    rows = [
        ("test", f"{name}/{pair}", first, f"{name}/{pair}-0", second, 1, name)
        for name, pairs in categories.items()
        for pair, first, second in pairs
    ]
    return pd.DataFrame(rows, columns=CORPUS.names).astype({"label": "int8"})


def test_all_templates_of_a_word_pair_are_one_item_of_the_bootstrap():
    pairs = [("0001.1", "a", "b"), ("0002.1", "c", "d"), ("0001.2", "e", "f"), ("0003", "g", "h")]
    vectors, tables = np.random.default_rng(0).standard_normal((2, 4, 6)), []
    for ids in ("acbd", [pair[0] for pair in pairs]):
        corpus = corpus_of(capitals=pairs).assign(question_id=[f"capitals/{name}" for name in ids])
        solved = solve_corpus(corpus, vectors, ["3cosadd"], Evaluation(both_directions=True))
        table = solved["3cosadd"].pivot(index="item", columns="measure", values="value")
        tables.append(table)
    separate, joined = tables
    assert joined.index.tolist() == ["capitals/0001", "capitals/0002", "capitals/0003"]
    assert joined[WEIGHT].tolist() == [6, 3, 3]
    mean_of_both = separate.loc[["capitals/a", "capitals/b"], ACCURACY].mean()
    assert joined.loc["capitals/0001", ACCURACY] == pytest.approx(mean_of_both)


def test_shared_candidates_and_distractors_have_their_own_epsilon(monkeypatch):
    epsilons = []

    class Spy(ThreeCosMul):
        def __init__(self, epsilon):
            epsilons.append(epsilon)
            super().__init__(epsilon)

    monkeypatch.setattr(SolverSpec, "load", lambda self: Spy)
    shared = corpus_of(s=[(str(pair), f"a{pair}", f"b{pair}") for pair in range(3)])
    corpus = pd.concat([shared, corpus_with_distractors()], ignore_index=True)
    vectors = np.random.default_rng(0).standard_normal((2, len(corpus), 6))
    solve_corpus(corpus, vectors, ["3cosmul"], Evaluation(epsilon=[1e-5, 0.001]))
    assert epsilons == [1e-5, 0.001]


def test_the_spread_of_items_is_that_of_leaving_out_pairs():
    """A matrix of questions, A : B by C : D; pairs differ in both roles."""
    random, pairs = np.random.default_rng(0), 60
    given, asked = random.normal(0, 0.2, (2, pairs))
    is_solved = random.random((pairs, pairs)) < 0.5 + given[:, None] + asked
    is_question = ~np.eye(pairs, dtype=bool)
    solved = np.where(is_question, is_solved, 0)
    counts = pd.Series(np.full(pairs, pairs - 1))
    values = with_both_roles(
        pd.Series(solved.sum(axis=0)), counts, pd.Series(solved.sum(axis=1)), counts
    )
    assert values.mean() == pytest.approx(solved.sum() / is_question.sum())
    left = [np.delete(np.delete(solved, pair, 0), pair, 1).sum() for pair in range(pairs)]
    means = np.array(left) / ((pairs - 1) * (pairs - 2))
    jackknife = np.sqrt((pairs - 1) * means.var())
    assert values.std() / np.sqrt(pairs) == pytest.approx(jackknife, rel=0.05)
