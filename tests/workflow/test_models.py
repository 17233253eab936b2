"""Every kind of system runs, and unavailable systems are left out with their reason."""

import json
import re
import zipfile

import pytest
from typer.testing import CliRunner

from analogyqa.cli import app
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.claims import CLAIM_MARKS
from analogyqa.model import Model
from analogyqa.report.archive import sort_files
from analogyqa.report.stored import read_configuration
from analogyqa.report.verify import verify
from analogyqa.runs.depends_on import sha256
from analogyqa.schemas import CORPUS, SCORES, read_table, write_table
from builders.projects import read_csv

pytestmark = [pytest.mark.workflow, pytest.mark.draw]


def read_json(path):
    return json.loads(path.read_text("utf-8"))


def run_of(project, system):
    return project.results / "runs" / system / "wikiqa" / "comb" / "default"


def record_of(project, system):
    return read_json(run_of(project, system) / "run.json")


def corpus_of(project):
    return read_table(project.results / "corpora" / "wikiqa.parquet", CORPUS)


ORIGINS = {
    "infersent": "infersent infersent2, vectors data/words.vec",
    "infersent-cosine": (
        "infersent, trained here on data/nli.txt (4 per direction), vectors data/words.vec"
    ),
    "sent2vec-cosine": "sent2vec data/words.vec",
}


def test_records_name_where_sentence_vectors_weights_and_questions_come_from(finished):
    stores = {name: record_of(finished, name)["stores"]["sentence_vectors"] for name in ORIGINS}
    assert {name: store["origin"] for name, store in stores.items()} == ORIGINS
    source = finished.folder / "resources" / "models" / "infersent2.pkl.source.json"
    assert read_json(source)["origin"] == "drop-in"
    record = read_json(finished.results / "sentence_vectors" / "trained" / "infersent-nli.json")
    assert record["pairs"] == {"train": 60, "dev": 60}
    # TAM ranks the rewritten questions.
    rewritten = sha256(finished.results / "rewritten" / "wikiqa" / "entity.parquet")
    inputs = record_of(finished, "tam")["inputs"]
    assert inputs["corpus, seed 0"] == inputs["corpus, seed 1"] == rewritten
    assert record_of(finished, "tam")["sources"]["entities"] == "entities.jsonl"


# Unavailable systems


def test_a_row_that_was_not_run_names_the_missing_file_and_the_other_rows_run(finished):
    ledger = read_csv(finished.results / "ledger.csv")
    of_wikiqa = [row for row in ledger
                 if row["artefact"] == "table3" and row["column"].startswith("WikiQA")]  # fmt: skip
    missing = {
        "Word2Vec": "vectors/enwiki-105m-300d.word2vec.vec.gz",
        "Sent2Vec": "models/wiki_unigrams.bin",
    }
    assert {row["row"] for row in of_wikiqa if row["mean"]} == {"InferSent", "This work"}
    for row in of_wikiqa:
        if row["row"] in missing:
            assert row["verdict"] == "not run"
            assert f"put {missing[row['row']]}" in row["reason"]


def test_every_claim_has_a_verdict_and_compares_cells_with_metrics(finished):
    claims = read_csv(finished.results / "claims.csv")
    for claim in claims:
        assert claim["verdict"] in CLAIM_MARKS
        assert claim["reason"] or claim["verdict"] != "not run"
    # Here nothing is cross-validated, which would decide the claim, and dev chooses for analogy
    # only, so no claim compares tuned systems.
    folds, split = (claim for claim in claims if claim["claim"] == "overall-wikiqa")
    assert (folds["role"], folds["verdict"]) == ("primary", "not run")
    assert (split["role"], split["hyperparameters"]) == ("sensitivity", "paper")
    assert 0 <= float(split["p_value"]) <= 1
    comparisons = read_csv(finished.results / "comparisons.csv")
    cells = {row[side].split()[0] for row in comparisons for side in ("better", "worse")}
    assert cells
    assert all((finished.results / "runs" / cell / "metrics.parquet").is_file() for cell in cells)


# Where numbers come from


def _increase(column):
    """Return a function that adds 1 to the fourth value of a column of scores."""

    def change_table(path):
        table = read_table(path, SCORES)
        table.loc[3, column] += 1
        write_table(table, SCORES, path)

    return change_table


def _change_published(path):
    text = path.read_text("utf-8")
    path.write_text(re.sub("(table4,Comb.,Analogy,.*,0.68)4,", r"\g<1>5,", text), "utf-8")


RUN = "runs/analogy/wikiqa/comb/default"


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("", None),
        (f"{RUN}/scores.parquet", _increase("score")),
        (f"{RUN}/scores.parquet", _increase("best_prototype")),
        ("ledger.csv", _change_published),
    ],
)
def test_a_changed_value_is_found_in_its_file(finished, tmp_path, file, change):
    project = finished.copy_to(tmp_path / "project")
    if change:
        before = (project.results / file).read_bytes()
        change(project.results / file)
        assert (project.results / file).read_bytes() != before
    config, papers, _ = read_configuration(project.results)
    differences = list(verify(project.results, config, papers))
    files = [file for file, _ in differences]
    assert [project.results / file] * bool(change) == files[:1], differences


# An archive of the results


def test_an_archive_of_a_whole_run_can_be_verified_elsewhere(finished, tmp_path):
    config, papers, _ = read_configuration(finished.results)
    contents = sort_files(finished.results, config, papers.values())
    assert "" not in contents.left_out  # every file of a run is of a known kind
    target = tmp_path / "results.zip"
    invoked = CliRunner().invoke(app, ["archive", str(finished.results), "--to", str(target)])
    assert invoked.exit_code == 0, invoked.output
    zipfile.ZipFile(target).extractall(tmp_path / "elsewhere")
    assert list(verify(tmp_path / "elsewhere", config, papers)) == []
    corpus = corpus_of(finished)
    texts = {text.encode() for text in (*corpus["question"], *corpus["candidate"])}
    paths = [path for path in (tmp_path / "elsewhere").rglob("*.*") if path.is_file()]
    assert [path for path in paths for text in texts if text in path.read_bytes()] == []


# New answers


@pytest.mark.parametrize("system", ["analogy", "similarity", "bm25"])
def test_a_loaded_run_gives_the_scores_of_its_test_split(finished, system):
    model = Model.load(finished.results, f"{system}/wikiqa/comb/default", seed=1)
    scores = read_table(run_of(finished, system) / "scores.parquet", SCORES)
    scores = scores[scores["seed"] == 1].astype({"candidate_id": str})
    corpus = corpus_of(finished)
    asked = corpus[(corpus["split"] == "test") & corpus["question_type"].notna()]
    _, pairs = next(iter(asked.groupby("question_id")))
    ranked = model.rank(pairs["question"].iloc[0], pairs["candidate"].tolist())
    by_candidate = pairs.merge(scores, on="candidate_id").set_index("candidate")["score"]
    expected = by_candidate[ranked["candidate"]].tolist()
    assert ranked["score"].tolist() == pytest.approx(expected, abs=1e-6)


def test_a_system_fitted_in_python_has_the_scores_of_its_run(finished, tmp_path):
    config, _, _ = read_configuration(finished.results)
    corpus = corpus_of(finished)
    model = Model.fit(
        config.systems["analogy"], corpus, tmp_path, vectors=finished.data / "words.vec", seed=1,
        question_types=config.question_types, types=["who"],
    )  # fmt: skip
    path = finished.results / "runs" / "analogy" / "wikiqa" / "who" / "default" / "scores.parquet"
    expected = read_table(path, SCORES).query("seed == 1").astype(object)
    assert model.score_splits(corpus).astype(object).to_dict("list") == expected.to_dict("list")


@pytest.mark.parametrize(
    ("run", "seed", "message"),
    [
        ("anology/wikiqa/comb/default", None, "did you mean analogy/wikiqa/comb/default"),
        ("analogy/wikiqa/comb/default", 7, "no seed 7; the run has 0, 1"),
        ("sif/wikiqa/comb/default", None, "sentence vectors"),
        ("tam/wikiqa/comb/default", None, "rewritten"),
    ],
)
def test_a_run_that_cannot_rank_new_answers_is_refused(finished, run, seed, message):
    with pytest.raises(AnalogyQAError, match=message):
        Model.load(finished.results, run, seed)
