"""Run the cells that solve the analogies of a data set with one system and every solver."""

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analogyqa.analogies.solve import Category, Rules, Solved, cosines, solve
from analogyqa.analogies.specs import SOLVERS
from analogyqa.encoders import build_encoder
from analogyqa.errors import AnalogyQAError
from analogyqa.files import write_json
from analogyqa.measures import (
    ACCURACY,
    ALL_CORRECT,
    CHOSE_C,
    OF_DISTRACTORS,
    SHARED_TIES,
    TIED,
    WEIGHT,
)
from analogyqa.runs.depends_on import sha256
from analogyqa.runs.finished import trained_encoder
from analogyqa.runs.record import run_record
from analogyqa.schemas import CORPUS, METRICS, read_table, write_table
from analogyqa.settings.data import Evaluation
from analogyqa.text import Sentences
from analogyqa.training.data import CellJob, read_vocabulary
from analogyqa.training.scoring import Encode, encode_all

SPLIT = "test"
_OF_TEMPLATE = re.compile(r"\.\d+$")  # the end of the id of a pair that a template made


def solve_cells(
    jobs: Mapping[str, CellJob],
    folders: Mapping[str, str | Path],
    evaluation: Evaluation,
    weights: str | Path | None = None,
    code: str = "",
) -> None:
    """Solve all analogies with all solvers; write metrics.parquet and run.json for each solver.

    Args:
        jobs: The cell of each solver. All have the same system and the same tables: the corpus of
            relations, and the vectors of its words or sentences.
        folders: The folder of the run of each solver.
        evaluation: How the analogies are asked and answered.
        weights: The weights of a trained encoder, as `write_weights` wrote them.
        code: The hash of the code, for the record.
    """
    started = time.perf_counter()
    any_job = next(iter(jobs.values()))
    files = next(iter(any_job.files.values()))
    corpus = read_table(files.corpus, CORPUS)
    parts: dict[str, list[pd.DataFrame]] = {solver: [] for solver in jobs}
    previous: np.ndarray | None = None
    for seed in any_job.files:
        vectors = sentence_vectors(corpus, any_job, seed, weights, evaluation.ties == "first")
        if previous is None or not np.array_equal(previous, vectors):  # or solved already
            solved = solve_corpus(corpus, vectors, list(jobs), evaluation)
        for solver, table in solved.items():
            parts[solver].append(table.assign(seed=seed, split=SPLIT))
        previous = vectors
    named = files.by_role() | ({"weights": str(weights)} if weights else {})
    inputs = {name: sha256(path) for name, path in named.items()}
    seconds = round((time.perf_counter() - started) / len(jobs), 3)
    for solver, job in jobs.items():
        metrics = Path(folders[solver], "metrics.parquet")
        write_table(pd.concat(parts[solver], ignore_index=True)[METRICS.names], METRICS, metrics)
        record = run_record(job, inputs, metrics, wall_seconds=seconds, code=code)
        write_json(metrics.with_name("run.json"), record)


def sentence_vectors(
    corpus: pd.DataFrame, job: CellJob, seed: int, weights: str | Path | None = None, exact=False
) -> np.ndarray:
    """Return the vectors of the questions and the candidates of a corpus: [2, rows, dim].

    `job` and `weights` are as in `solve_cells`. With `exact`, averages are taken in float64, and
    sentences with the same words have the same vector, bit by bit.
    """
    system = job.system
    vectors, word_ids, split = read_vocabulary(job.files[seed], system, job.lowercase)
    texts = corpus["question"].tolist() + corpus["candidate"].tolist()
    sentences = Sentences(texts, word_ids, split)
    numbers = sentences.numbers(texts)
    if weights:
        encode: Encode = trained_encoder(system, vectors, seed, weights)
    else:
        encoder = system.encoder_spec
        if exact and vectors is not None and encoder and encoder.keeps_float64:
            vectors = vectors.astype(np.float64)
            numbers = _with_same_words(sentences, numbers, vectors.any(axis=1))
        encode = build_encoder(system.encoder_name, vectors, system.training, seed)
    return encode_all(encode, sentences, numbers).reshape(2, len(corpus), -1)


def _with_same_words(
    sentences: Sentences, numbers: np.ndarray, has_vector: np.ndarray
) -> np.ndarray:
    """Return, for each of n sentences, the number of the first one with the same words, int [n].

    A sum is rounded, so it would depend on their order. Words without a vector do not count: they
    only change the length of an average.
    """
    first: dict[bytes, int] = {}
    words = map(sentences.words, numbers)
    bags = (np.sort(ids[has_vector[ids]]).tobytes() for ids in words)
    return np.array([first.setdefault(*bag) for bag in zip(bags, numbers, strict=True)])


def solve_corpus(
    corpus: pd.DataFrame, vectors: np.ndarray, solvers: Sequence[str], evaluation: Evaluation
) -> dict[str, pd.DataFrame]:
    """Solve all analogies of a corpus of relations: item, group, measure, value by solver.

    An item is a pair C : D that other pairs of its category ask for, or all pairs that templates
    make of one pair of words. `WEIGHT` is the number of these questions. The value of an item is
    the share of them that are solved, corrected for the questions that it asks as A : B, see
    `with_both_roles`.
    """
    parts: dict[str, list[pd.DataFrame]] = {solver: [] for solver in solvers}
    first_wins, as_coded = evaluation.ties == "first", evaluation.candidates == "coded"
    for group in corpus["question_type"].unique():
        rows = np.flatnonzero(corpus["question_type"] == group)
        category, sentence_vectors = _category(corpus.iloc[rows], vectors[:, rows])
        table = cosines(sentence_vectors, exact=first_wins)
        ids = corpus["question_id"].iloc[rows[corpus["label"].iloc[rows] == 1]]
        for solver in solvers:
            entry = SOLVERS[solver]
            rules = Rules(entry.constrained, as_coded, first_wins, evaluation.both_directions)
            epsilon = evaluation.epsilon[category.candidates is not None]
            formula = entry.load()(*([epsilon] if entry.has_epsilon else []))
            solved = solve(table, category, formula, rules)
            parts[solver].append(_measured(solved, ids, category).assign(group=group))
    return {solver: pd.concat(tables, ignore_index=True) for solver, tables in parts.items()}


def _measured(solved: Solved, ids: pd.Series, category: Category) -> pd.DataFrame:
    """Return the item, measure and value columns for the pairs of a category, given their ids."""
    wrong = [CHOSE_C] if category.candidates is None else [*OF_DISTRACTORS]
    columns = [ACCURACY, SHARED_TIES, *wrong]
    values = dict(zip(columns, solved.chosen.T, strict=True))
    values |= {TIED: solved.tied, ALL_CORRECT: 0, WEIGHT: solved.questions}
    items = pd.Index(ids.astype(str).str.replace(_OF_TEMPLATE, "", regex=True), name="item")
    frame = pd.DataFrame(values, index=items, dtype=float).groupby("item").sum()
    sources = pd.Series(solved.source_questions, index=items).groupby("item").sum()
    for name, chosen in zip(columns, solved.source_chosen.T, strict=True):
        source_chosen = pd.Series(chosen, index=items).groupby("item").sum()
        frame[name] = with_both_roles(frame[name], frame[WEIGHT], source_chosen, sources)
    return frame.melt(ignore_index=False, var_name="measure").reset_index()


def with_both_roles(
    chosen: pd.Series, questions: pd.Series, source_chosen: pd.Series, source_questions: pd.Series
) -> pd.Series:
    """Return the values of items whose weighted spread is that of the accuracy.

    A pair is in the questions that ask for it, and in those that it asks as A : B. If only the
    former counted, intervals and tests would miss half of the variation between pairs. So the value
    of an item is the accuracy plus its influence in both roles: the first term of the decomposition
    of a U-statistic (Hoeffding 1948, "A class of statistics with asymptotically normal
    distribution", Annals of Mathematical Statistics 19). It may be below 0 or above 1; the weighted
    mean is the accuracy.

    Args:
        chosen, questions: How often the item as C : D had this choice, and how often it was asked.
        source_chosen, source_questions: The same for the item as A : B.
    """
    mean = chosen.sum() / questions.sum()
    return (chosen + source_chosen - mean * source_questions) / questions


def _category(rows: pd.DataFrame, vectors: np.ndarray) -> tuple[Category, np.ndarray]:
    """Number the distinct sentences of a category; return it and their vectors [m, dim]."""
    texts = [*rows["question"], *rows["candidate"]]
    numbers, _ = pd.factorize(pd.Series(texts))
    first_rows = np.unique(numbers, return_index=True)[1]
    questions, candidates = numbers[: len(rows)], numbers[len(rows) :]
    correct = (rows["label"] == 1).to_numpy()
    distinct = vectors.reshape(2 * len(rows), -1)[first_rows]
    if correct.all():
        return Category(questions, candidates), distinct
    width = len(rows) // int(correct.sum())
    grid = candidates.reshape(-1, width)
    if not (correct.reshape(-1, width)[:, 0].all() and correct.sum() == len(grid)):
        raise AnalogyQAError(
            f"the pairs of the category {rows['question_type'].iloc[0]} have different numbers of "
            "distractors. Give each of them the same number."
        )
    return Category(questions[correct], grid[:, 0], grid), distinct
