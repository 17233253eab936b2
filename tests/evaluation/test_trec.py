"""TREC files: measured as by ir_measures, and written from runs with all that they hold."""

from itertools import pairwise
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest
import pytrec_eval
import yaml

from analogyqa.cells import Cell
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation import export_runs, find_runs, measure_runs
from analogyqa.evaluation.trec import FILE_MEASURES, read_qrels, read_run
from analogyqa.measures import RANKED, measure_items
from analogyqa.schemas import SCORES, write_table
from builders.report import write_made_run


def write_files(folder: Path) -> tuple[Path, Path]:
    """Write a run with ties, and qrels with graded labels and questions that the run lacks."""
    random = np.random.default_rng(0)
    run, qrels = folder / "a.run", folder / "a.qrels"
    scores = [
        f"q{q} Q0 d{d} 1 {random.normal():.1f} tag" for q in range(30) for d in range(q % 9 + 2)
    ]
    run.write_text("\n".join(scores))
    labels = [f"q{q} 0 d{d} {random.integers(-1, 3)}" for q in range(2, 33) for d in range(12)]
    qrels.write_text("\n".join(labels))
    return run, qrels


@pytest.mark.parametrize("measure", FILE_MEASURES)
def test_values_are_those_of_ir_measures_and_trec_eval_to_the_last_bit(tmp_path, measure, caplog):
    run, qrels = write_files(tmp_path)
    (values,) = measure_runs({"a": [run]}, qrels, measure)["a"].to_dict("records")
    computed_by = RANKED[measure].computed_by
    results = ir_measures.iter_calc(
        [computed_by], ir_measures.read_trec_qrels(str(qrels)), ir_measures.read_trec_run(str(run))
    )
    assert values == {result.query_id: result.value for result in results}
    assert len(values) == 31 and "3 of the 31 questions" in caplog.text
    names = {"AP": "map", "RR": "recip_rank", "P@1": "P_1", "Success@1": "success_1"}
    name = names[str(computed_by)]
    evaluator = pytrec_eval.RelevanceEvaluator(read_qrels(qrels), {name.replace("_1", ".1")})
    by_trec_eval = {
        question: at[name] for question, at in evaluator.evaluate(read_run(run)).items()
    }
    assert values == {question: by_trec_eval.get(question, 0) for question in values}


def test_a_folder_has_a_file_for_each_seed_of_a_system(tmp_path):
    run, qrels = write_files(tmp_path)
    for seed in range(3):
        path = tmp_path / "b" / f"seed{seed}.run"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(run.read_bytes())
    assert list(find_runs([path, run, tmp_path / "b"])) == ["seed2", "a", "b"]
    values = measure_runs(find_runs([run, tmp_path / "b"]), qrels, "mrr")
    assert {name: len(by_seed) for name, by_seed in values.items()} == {"a": 1, "b": 3}
    assert np.array_equal(values["b"], np.repeat(values["a"], 3, axis=0))


@pytest.mark.parametrize(
    ("names", "measure", "cause"),
    [
        (("a.run", "a.run"), "map", "a.run is there twice"),
        (("c/empty",), "map", "no run files"),
        (("other.run",), "map", "no question of"),
        (("a.run",), "mapp", "did you mean map"),
    ],
)
def test_runs_that_cannot_be_measured_are_refused(tmp_path, names, measure, cause):
    _, qrels = write_files(tmp_path)
    (tmp_path / "c" / "empty").mkdir(parents=True)
    (tmp_path / "other.run").write_text("x Q0 d1 1 0.5 tag\n")
    with pytest.raises(AnalogyQAError, match=cause):
        measure_runs(find_runs(tmp_path / name for name in names), qrels, measure)


def write_scored_run(results: Path, cell: Cell, prefix: str = "q") -> pd.DataFrame:
    """Write a run with the scores of two seeds, some of them equal; return those on test."""
    random = np.random.default_rng(1)
    rows = [
        (seed, split, f"{prefix}{q}", f"q{q}-{c}", int(c == 2), random.normal(), -1)
        for seed in (0, 1)
        for split in ("dev", "test")
        for q in range(12)
        for c in range(q % 5 + 3)
    ]
    scores = pd.DataFrame(rows, columns=SCORES.names)
    scores["score"] = scores["score"].astype("float32").where(random.random(len(rows)) < 0.8, 0)
    write_made_run(results, cell, {"map": np.ones((2, 3))})
    write_table(scores, SCORES, results / "runs" / cell.path / "scores.parquet")
    return scores[scores["split"] == "test"]


def test_exported_runs_have_the_measures_of_the_workflow(tmp_path):
    cell = Cell("analogy", "wikiqa", "comb", (("hyperparameters", "tuned"),))
    scores = write_scored_run(tmp_path, cell)
    write_scored_run(tmp_path, cell._replace(overrides=(("p", "10"),)))  # is left out
    (qrels,) = export_runs(tmp_path, tmp_path / "out")
    assert qrels == tmp_path / "out/wikiqa/comb.qrels"
    systems = find_runs((tmp_path / "out/wikiqa/comb").iterdir())
    assert list(systems) == ["analogy-tuned"]
    measured = {
        seed: measure_items(of_seed, dict.fromkeys(of_seed["question_id"], "who"))
        for seed, of_seed in scores.groupby("seed")
    }
    for name in FILE_MEASURES:
        values = measure_runs(systems, qrels, name)["analogy-tuned"]
        for row, rows in zip(values.to_numpy(), measured.values(), strict=True):
            assert row.tolist() == rows.loc[rows["measure"] == name, "value"].tolist()


def test_a_run_file_starts_with_its_metadata_and_has_the_order_of_trec_eval(tmp_path):
    write_scored_run(tmp_path, Cell("analogy", "wikiqa", "comb"))
    export_runs(tmp_path, tmp_path / "out", "make paper")
    text = (tmp_path / "out/wikiqa/comb/analogy/seed1.run").read_text("utf-8")
    comments = [line[2:] for line in text.splitlines() if line.startswith("# ")]
    assert (comments[0], comments[-1]) == ("ir_metadata.start", "ir_metadata.end")
    metadata = yaml.safe_load("\n".join(comments[1:-1]))
    components = ["platform", "research goal", "implementation", "method", "actor", "data"]
    assert list(metadata) == ["schema-version", "run-version", "tag", *components]
    assert metadata["implementation"]["executable"]["cmd"] == "make paper"
    assert metadata["data"]["training data"] == [{"name": "wikiqa-train"}]
    rows = [line.split() for line in text.splitlines()[len(comments) :]]
    assert {row[5] for row in rows} == {metadata["tag"]} == {"analogy-seed1"}
    keys = [(row[0], -float(row[4])) for row in rows]
    assert keys == sorted(keys) and [row[3] for row in rows[:3]] == ["1", "2", "3"]
    ties = [
        (first[2], second[2])
        for first, second in pairwise(rows)
        if (first[0], first[4]) == (second[0], second[4])
    ]
    assert ties and all(first > second for first, second in ties)


def test_what_trec_files_cannot_hold_and_used_folders_are_refused(tmp_path):
    with pytest.raises(AnalogyQAError, match="no run has scores"):
        export_runs(tmp_path, tmp_path / "out")
    write_scored_run(tmp_path, Cell("analogy", "wikiqa", "comb"), "question ")
    with pytest.raises(AnalogyQAError, match="'question 0' has a space"):
        export_runs(tmp_path, tmp_path / "out")
    with pytest.raises(AnalogyQAError, match="not an empty folder"):
        export_runs(tmp_path, tmp_path)
