"""A system of a finished run, as a model that ranks new answers.

from analogyqa.model import Model

model = Model.load("results/demo", "analogy/wikiqa/comb/default")
print(model.rank("who wrote the book?", ["Ada wrote it.", "It was long."]))
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from threadpoolctl import threadpool_limits

from analogyqa.analogies.prototypes import take_prototypes
from analogyqa.analogies.quadruples import evaluation_blocks, write_quadruples
from analogyqa.corpora.question_types import classify_question, select_subset
from analogyqa.errors import AnalogyQAError
from analogyqa.examples.files import CellFiles, CellJob, read_vocabulary
from analogyqa.plan import Cell
from analogyqa.rankers import build_ranker
from analogyqa.report.stored import read_configuration
from analogyqa.report.summary import read_record
from analogyqa.runs.depends_on import sha256
from analogyqa.runs.score import score_text
from analogyqa.runs.weights import finished_checkpoint
from analogyqa.schemas import CORPUS, PROTOTYPES, read_table, write_table
from analogyqa.settings.base import nearest_hint
from analogyqa.settings.data import OTHER
from analogyqa.settings.run import Config
from analogyqa.settings.systems import System
from analogyqa.training.scoring import score_untrained

# Where the inputs of a run are, by their name in its record.
_PLACES = {
    "corpus": "corpora/*.parquet",
    "vectors": "vectors/**/*.npy",
    "prototypes": "prototypes/**/*.parquet",
}
_NEW = "new question"


class Model:
    """A system of a finished run, with one of its seeds.

    Args:
        job: The cell of the run, with the tables of the seed.
        config: The configuration of the results folder.
        seed: The seed.
        checkpoint: The checkpoint of a trained system; None for any other.
    """

    def __init__(self, job: CellJob, config: Config, seed: int, checkpoint: Path | None) -> None:
        self.job, self.config, self.seed, self.checkpoint = job, config, seed, checkpoint
        files = job.files[seed]
        _, self._word_ids, self._split = read_vocabulary(files, job.system, job.lowercase)
        corpus = read_table(files.corpus, CORPUS)
        self._corpus = corpus.astype({"split": str, "question_type": object})
        self._prototypes: pd.DataFrame | None = None
        if files.prototypes:
            table = read_table(files.prototypes, PROTOTYPES)
            self._prototypes = take_prototypes(table, job.types, job.system.p, files.prototypes)

    @classmethod
    def load(cls, results: str | Path, run: str, seed: int | None = None) -> "Model":
        """Return the model of a run.

        Args:
            results: The output folder.
            run: The folder of the run below runs/, such as "analogy/wikiqa/comb/default".
            seed: One of the seeds of the run; None for the first.

        Raises AnalogyQAError when there is no such run or seed, when one of its files is missing or
        has changed, or when the system cannot read new texts.
        """
        results = Path(results)
        config, _, _ = read_configuration(results)
        runs = {
            path.parent.relative_to(results / "runs").as_posix(): path
            for path in results.glob("runs/*/*/*/*/run.json")
        }
        if run not in runs:
            raise AnalogyQAError(f"{results}: no run {run}{nearest_hint(run, sorted(runs))}")
        record = read_record(runs[run])
        cell, settings = Cell.from_record(record["cell"]), record["settings"]
        system = _system_of(settings)
        _require_new_texts(system, run)
        seed = record["seeds"][0] if seed is None else seed
        if seed not in record["seeds"]:
            seeds = ", ".join(map(str, record["seeds"]))
            raise AnalogyQAError(f"{run}: no seed {seed}; the run has {seeds}")
        hashes = {
            name.removesuffix(f", seed {seed}"): value
            for name, value in record["inputs"].items()
            if name.endswith(f", seed {seed}")
        }
        files = {name: _find(results, name, hashes[name]) for name in _PLACES if name in hashes}
        tables = CellFiles(files["corpus"], files.get("vectors"), files.get("prototypes"), {})
        job = CellJob(
            cell, config.types_of(cell.subset), system, {seed: tables}, settings["lowercase"], {}
        )
        checkpoint = None
        if system.trained:
            folder = results / "checkpoints"
            checkpoint = finished_checkpoint(job, seed, hashes, folder, runs[run])
        return cls(job, config, seed, checkpoint)

    def rank(self, question: str, candidates: Sequence[str]) -> pd.DataFrame:
        """Rank candidates for a question.

        Args:
            question: The question; its first word must be one of the types of the run's subset.
            candidates: The candidates, at least one.

        Returns a row for each candidate, the best first: `candidate`, `score`, `unknown` (its words
        without a vector, which are ignored) and, for a system that compares with prototypes, the
        question and the answer of the prototype that decided: `prototype_question` and
        `prototype_answer`.

        Raises AnalogyQAError when the question has no type of the subset or there is no candidate.
        """
        if not candidates:
            raise AnalogyQAError("no candidates are given")
        question_type = self._type_of(question)
        known, unknown = zip(*map(self._without_unknown, candidates), strict=True)
        asked, _ = self._without_unknown(question)
        new = pd.DataFrame(
            {
                "split": "test",
                "question_id": _NEW,
                "question": asked,
                "candidate_id": [f"{_NEW} {number}" for number in range(len(candidates))],
                "candidate": known,
                "label": 1,  # what is not answerable is not ranked; no score depends on it
                "question_type": question_type,
            }
        )
        scores = self._score(pd.concat([self._corpus, new], ignore_index=True))
        ranked = scores[scores["question_id"].astype(str) == _NEW].reset_index(drop=True)
        frame = pd.DataFrame(
            {
                "candidate": list(candidates),
                "score": ranked["score"],
                "unknown": [" ".join(words) for words in unknown],
            }
        )
        if self.job.system.compares and self._prototypes is not None:
            is_of_type = self._prototypes["question_type"] == (question_type or OTHER)
            prototypes = self._prototypes[is_of_type]
            frame = frame.join(self._decided(ranked["best_prototype"], prototypes))
        return frame.sort_values("score", ascending=False, kind="stable", ignore_index=True)

    def _type_of(self, question: str) -> str | None:
        question_type = classify_question(question, self.config.question_types)
        if self.job.types is not None and question_type not in self.job.types:
            words = (self.config.question_types[name] for name in self.job.types)
            first = ", ".join(word for each in words for word in each)
            raise AnalogyQAError(
                f"{question!r}: {self.job.cell.label} ranks answers to questions that start with "
                f"{first}"
            )
        return question_type

    def _without_unknown(self, text: str) -> tuple[str, list[str]]:
        """Return a text without the words that have no vector, and these words."""
        if self._word_ids is None:
            return text, []
        tokens = self._split(text)
        unknown = [token for token in tokens if token not in self._word_ids]
        if not unknown:
            return text, []
        return " ".join(token for token in tokens if token in self._word_ids), unknown

    def _score(self, corpus: pd.DataFrame) -> pd.DataFrame:
        """Score the test split of a corpus: the columns of SCORES that `rank` needs."""
        system, types = self.job.system, self.job.types
        with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
            path = f"{folder}/corpus.parquet"
            write_table(corpus, CORPUS, path)
            if system.ranker_spec.reads == "text":
                scores = score_text(path, types, build_ranker(system), self.job.lowercase)
                return scores[scores["split"] == "test"]
            quadruples = {}
            if self._prototypes is not None:
                table = read_table(path, CORPUS)
                for split in ("dev", "test"):
                    pairs = select_subset(table, split, types)
                    quadruples[split] = f"{folder}/{split}.parquet"
                    blocks = evaluation_blocks(pairs, self._prototypes)
                    write_quadruples(blocks, pairs, quadruples[split])
            files = self.job.files[self.seed]._replace(corpus=path, quadruples=quadruples)
            job = self.job._replace(files={self.seed: files})
            if self.checkpoint is None:
                scores = score_untrained(job.load(self.seed), system, self.seed)
                return scores[scores["split"] == "test"]
            from analogyqa.training.loop import score_checkpoint

            return score_checkpoint(job.load(self.seed), system, self.seed, self.checkpoint)

    def _decided(self, ranks: pd.Series, prototypes: pd.DataFrame) -> pd.DataFrame:
        """Return the question and the answer of the prototypes of one type with some ranks."""
        texts = self._corpus[self._corpus["split"] == "train"].set_index("candidate_id")
        chosen = texts.loc[prototypes.set_index("rank").loc[ranks, "candidate_id"]]
        return pd.DataFrame(
            {
                "prototype_question": chosen["question"].to_numpy(),
                "prototype_answer": chosen["candidate"].to_numpy(),
            }
        )


def _system_of(settings: dict) -> System:
    """Return the system that the settings of a record describe."""
    values = {key: value for key, value in settings["system"].items() if value is not None}
    if settings["training"]:
        values["training"] = settings["training"]
    if settings["p"]:
        values["p"] = settings["p"]
    return System(title="", **values)


def _require_new_texts(system: System, run: str) -> None:
    """Raise AnalogyQAError when a system reads what only a run makes."""
    obstacles = {
        "it reads sentence vectors that were made before": system.sentence_vectors,
        "it reads rewritten questions": system.rewriting,
        "it fuses the scores of other runs": system.parts,
        "it weights words by their frequencies in a larger text": system.weighting != "uniform",
    }
    for reason, applies in obstacles.items():
        if applies:
            raise AnalogyQAError(f"{run} cannot rank new answers: {reason}. Choose another run")


def _find(results: Path, name: str, value: str) -> str:
    """Return the input of a run with some sha256."""
    matches = (path for path in results.glob(_PLACES[name]) if sha256(path) == value)
    if found := next(matches, None):
        return str(found)
    raise AnalogyQAError(
        f"{results}: the {name} of this run are not there, or have changed since ({value[:12]})"
    )
