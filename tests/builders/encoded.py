"""A run over the sentence vectors of a tiny model, in an output folder."""

import re
import shutil
from pathlib import Path

from analogyqa.cells import Cell
from analogyqa.pretrained import Resources, store_sentences
from analogyqa.report.stored import store_configuration
from analogyqa.runs.score import score_cell
from analogyqa.schemas import CORPUS, read_table
from analogyqa.settings.load import REPOSITORY, read_values
from analogyqa.settings.systems import System
from analogyqa.settings.vectors import SentenceVectors
from analogyqa.training.data import CellFiles, sentence_parts
from builders import tiny
from builders.cells import toy_job

MINE = Cell("mine", "toy", "comb")
LONGEST = 12  # tokens that the model reads


def run_encoded(results: Path, files: CellFiles, encoder: str, ranker: object = "analogy") -> Path:
    """Write what a workflow leaves of a run over the sentence vectors of a tiny model.

    Both encoders of local models read it. `files` are the tables of one seed. Returns the folder of
    the model, next to that of the results, which is made.
    """
    results.mkdir()
    corpus = read_table(files.corpus, CORPUS)
    texts = " ".join([*corpus["question"], *corpus["candidate"]])
    words = [*tiny.WORDS[:5], *dict.fromkeys(re.findall(r"\w+|[?]", texts))]
    model = tiny.save_bert(results.parent / "model", words, max_position_embeddings=LONGEST)
    tiny.add_pooling(model)
    section = SentenceVectors(encoder=encoder, weights=[str(model)])
    system = System(title="M", sentence_vectors="mine", ranker=ranker, p=3)
    parts = sentence_parts(corpus, True, system.fitted)
    resources = Resources(str(model), "", [], True, section.options)
    store = results / "sentence_vectors" / "toy" / "mine.npy"
    settings = section.model_dump(mode="json") | {"options": section.options, "lowercase": True}
    store_sentences(parts, settings, resources, f"{encoder} {model}", store)
    for path, folder in ((files.corpus, "corpora"), (files.prototypes, "prototypes")):
        (results / folder).mkdir(exist_ok=True)
        shutil.copy(path, results / folder)
    files = files._replace(vectors=None, sentence_vectors=str(store))
    files.quadruples.pop("train", None)
    job = toy_job(system, {0: files if system.compares else files.without_prototypes()}, cell=MINE)
    job.settings["sentence_vectors"] = {"mine": settings}
    score_cell(job, results / "runs" / MINE.path)
    values = read_values(REPOSITORY / "sample" / "config.yaml")[0]
    store_configuration(results, values, {}, "make it")
    return model
