"""A system that has learned from a corpus, and scores and ranks candidates.

from analogyqa.model import Model

model = Model.load("results/demo", "analogy/wikiqa/comb/default")
print(model.rank("who wrote the book?", ["Ada wrote it.", "It was long."]))
"""

import copy
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analogyqa.analogies.prototypes import take_prototypes
from analogyqa.analogies.quadruples import evaluation_blocks
from analogyqa.arithmetic import reproducible_arithmetic
from analogyqa.corpora.questions import classify_question, select_subset
from analogyqa.errors import AnalogyQAError, shown
from analogyqa.files import write_text
from analogyqa.measures import MEASURES
from analogyqa.model.fitting import fit
from analogyqa.model.learned import Learned, find_run, read_folder, write_folder
from analogyqa.rankers import build_ranker
from analogyqa.runs.finished import finished_checkpoint
from analogyqa.runs.record import compute_metrics
from analogyqa.runs.score import score_texts
from analogyqa.schemas import CORPUS, EXPLANATIONS, PROTOTYPES, SCORES, Explanation, read_table
from analogyqa.settings.data import OTHER
from analogyqa.settings.systems import System
from analogyqa.text import require_text
from analogyqa.training.data import (
    CellData,
    CellJob,
    answer_rows,
    cell_data,
    fitted_pairs,
    load_pairs,
    read_vocabulary,
)
from analogyqa.training.scoring import EVALUATED, score_untrained, scores_table

if TYPE_CHECKING:
    from analogyqa.training.learner import Learner

NEW = "new question"
Pairs = dict[str, pd.DataFrame]  # by split


class Model:
    """A system with one seed, and what it has learned.

    Args:
        learned: The cell with the tables of the seed, and the checkpoint of a trained system.
    """

    def __init__(self, learned: Learned) -> None:
        self.learned = learned
        self.job, self.seed = learned.job, learned.seed
        files, system = learned.files, self.job.system
        vocabulary = read_vocabulary(files, system, self.job.lowercase)
        self.vectors, self.word_ids, self._split = vocabulary
        corpus = read_table(files.corpus, CORPUS)
        self.corpus = corpus.astype({"split": str, "question_type": object})
        self.prototypes = pd.DataFrame(columns=PROTOTYPES.names)
        if system.compares and files.prototypes:
            table = read_table(files.prototypes, PROTOTYPES)
            self.prototypes = take_prototypes(table, self.job.types, system.p, files.prototypes)

    @classmethod
    def load(cls, results: str | Path, run: str, seed: int | None = None) -> "Model":
        """Return the model of a finished run.

        Args:
            results: The output folder.
            run: The folder of the run below runs/, such as "analogy/wikiqa/comb/default", of
                which "/default" may be left out.
            seed: One of the seeds of the run; None for the first.

        Raises AnalogyQAError when there is no such run or seed, when one of its files is missing or
        has changed, or when the system cannot read new texts.
        """
        return cls(find_run(results, run, seed))

    @classmethod
    def fit(cls, system: System, corpus: pd.DataFrame, folder: str | Path, **options) -> "Model":
        """Return a system that has learned from a corpus; see `fitting.fit` for the options."""
        return cls(fit(system, corpus, folder, **options))

    @classmethod
    def open(cls, folder: str | Path) -> "Model":
        """Return the model that `save` or `fit` wrote; raises AnalogyQAError when there is none."""
        return cls(read_folder(folder))

    def save(self, folder: str | Path) -> None:
        """Write what the model needs to rank, and no other data, to a folder that `open` reads.

        Only a system that is fitted to sentences, or counts their words, needs the whole corpus;
        any other one needs the pairs of its prototypes.
        """
        system = self.job.system
        needs_corpus = system.fitted or system.ranker_spec.reads == "text"
        write_folder(self.learned, self.corpus if needs_corpus else self._prototype_pairs, folder)

    def rank(self, question: str, candidates: Sequence[str]) -> pd.DataFrame:
        """Rank candidates for a question.

        Args:
            question: The question; its first word must be one of the types of the run's subset.
            candidates: The candidates, at least one.

        Returns a row for each candidate, the best first: `candidate`, `score`, `unknown` (its words
        without a vector, which are ignored) and, for a system that compares with prototypes, the
        question and the answer of the prototype that decided: `prototype_question` and
        `prototype_answer`.

        Raises AnalogyQAError when the question has no type of the subset, when there is no
        candidate, or when one of them is not a text.
        """
        new = self._new_pairs(question, candidates)
        scores = self._score({"test": new}, self._prototype_pairs)
        unknown = list(map(self._unknown, candidates))
        frame = new[["candidate"]].assign(score=scores["score"], unknown=unknown)
        if len(self.prototypes):
            prototypes, texts = self.prototypes, self._prototype_pairs.set_index("candidate_id")
            answers = prototypes["candidate_id"].iloc[answer_rows(prototypes, self.job.system)]
            is_of_type = prototypes["question_type"] == new["question_type"].iloc[0]
            by_rank = prototypes.assign(answer_id=answers.to_numpy())[is_of_type].set_index("rank")
            chosen = by_rank.loc[scores["best_prototype"]]
            frame["prototype_question"] = texts["question"].loc[chosen["candidate_id"]].to_numpy()
            frame["prototype_answer"] = texts["candidate"].loc[chosen["answer_id"]].to_numpy()
        return frame.sort_values("score", ascending=False, kind="stable", ignore_index=True)

    def explain(self, question: str, candidates: Sequence[str]) -> Explanation:
        """Rank candidates for a question as `rank` does, and explain the ranking.

        Raises AnalogyQAError as `rank`.
        """
        explanation = self._explain(self._new_pairs(question, candidates))
        for candidate in explanation.candidates:
            candidate.label = None
            candidate.unknown = self._unknown(candidate.candidate)
        return explanation

    def explain_question(self, question_id: str) -> Explanation:
        """Explain the ranking of the candidates of a question of the model's corpus.

        Args:
            question_id: A question of test, or else of dev, of the model's types.

        Raises AnalogyQAError when there is no such question.
        """
        for split in ("test", "dev"):
            pairs = select_subset(self.corpus, split, self.job.types)
            question_pairs = pairs[pairs["question_id"] == question_id]
            if len(question_pairs):
                # Equal scores are ranked as in the measures.
                return self._explain(question_pairs.sort_values("candidate_id", ascending=False))
        known = select_subset(self.corpus, "test", self.job.types)["question_id"].unique()
        if not len(known):
            raise AnalogyQAError(
                f"{self.job.cell.label}: this model has no test questions. Load its run to explain "
                "one, or explain a question and candidates of your own"
            )
        near = ", ".join(get_close_matches(question_id, known, n=3, cutoff=0))
        name = self.job.cell.label
        raise AnalogyQAError(
            f"{name} ranks no question {question_id}; the most similar names are {near}"
        )

    def score(self, corpus: pd.DataFrame) -> pd.DataFrame:
        """Score the candidates of dev and test: a table of schema SCORES.

        On a CPU, the scores of the corpus that the system has learned from are, byte by byte, those
        of the run with the same settings.

        Args:
            corpus: A table of schema CORPUS; words without a vector are ignored.

        Raises AnalogyQAError when a split has no question of the model's types.
        """
        pairs = load_pairs(corpus, self.job.types, EVALUATED, "the corpus")
        train = self._prototype_pairs
        if self.job.system.trained:  # the last bits depend on which sentences share a batch
            train = select_subset(self.corpus, "train", self.job.types)
        return self._score(pairs, train)

    def evaluate(self, corpus: pd.DataFrame) -> pd.DataFrame:
        """Return the mean of each measure over questions: a row for each, columns dev and test.

        Args:
            corpus: A table of schema CORPUS.

        Raises AnalogyQAError as `score`.
        """
        metrics = compute_metrics(self.score(corpus), corpus, self.job.types)
        metrics = metrics[metrics["measure"].isin(MEASURES)]
        return metrics.pivot_table("value", "measure", "split", sort=False)[[*EVALUATED]]

    def _new_pairs(self, question: str, candidates: Sequence[str]) -> pd.DataFrame:
        """Return a question and its candidates as a table of schema CORPUS.

        Raises AnalogyQAError as `rank`.
        """
        if isinstance(candidates, str):
            raise AnalogyQAError(
                f"candidates: {shown(candidates)} is one text, and would be ranked letter by "
                "letter. Give a list of texts"
            )
        for text in (question, *candidates):
            if not isinstance(text, str):
                raise AnalogyQAError(f"{shown(text)}: questions and candidates must be texts")
            if not text.strip():
                raise AnalogyQAError("a question or candidate is empty. Leave out empty candidates")
            try:
                require_text(text)
            except ValueError as error:  # such as bytes that a terminal could not decode
                raise AnalogyQAError(f"{shown(text)}: is no valid text ({error})") from error
        if not candidates:
            raise AnalogyQAError(f"{question!r}: no candidates are given")
        return pd.DataFrame(
            {
                "split": "test",
                "question_id": NEW,
                "question": question,
                "candidate_id": [f"{NEW} {number}" for number in range(len(candidates))],
                "candidate": list(candidates),
                "label": 0,  # no score depends on it
                "question_type": self._question_type(question) or OTHER,
            }
        )

    def _explain(self, pairs: pd.DataFrame) -> Explanation:
        """Rank and explain the pairs of a question."""
        from analogyqa.training.explanation import Explainer

        pairs = pairs.reset_index(drop=True)
        split = pairs["split"].iloc[0]
        scores = self._score({split: pairs}, self._prototype_pairs)["score"]
        ranked = pairs.assign(score=scores).sort_values("score", ascending=False, kind="stable")
        data = self._data({"train": self._prototype_pairs, split: pairs})
        learner = self._learner if self.job.system.trained else None
        with reproducible_arithmetic():
            known = self.prototypes, self.word_ids
            return Explainer(self.job, self.seed, data, *known, learner).explain(ranked)

    def _question_type(self, question: str) -> str | None:
        question_type = classify_question(question, self.learned.question_types)
        if self.job.types is not None and question_type not in self.job.types:
            types = self.learned.question_types
            first = ", ".join(word for name in self.job.types for word in types[name])
            raise AnalogyQAError(
                f"{question!r}: {self.job.cell.label} ranks answers to questions that start with "
                f"{first}"
            )
        # The corpus has only the types that some subset asks for.
        is_known = self.job.types or question_type in {*self.prototypes["question_type"]}
        return question_type if is_known else None

    def _known(self, text: str) -> list[str]:
        """Return the words of a text that have a vector, or all words if no vectors are read."""
        words, known = self._split(text), self.word_ids
        return words if known is None else [word for word in words if word in known]

    def _unknown(self, text: str) -> str:
        """Return the words of a text that have no vector."""
        known = self._known(text)
        return " ".join(word for word in self._split(text) if word not in known)

    @cached_property
    def _prototype_pairs(self) -> pd.DataFrame:
        """The pairs of the prototypes."""
        is_used = self.corpus["candidate_id"].isin(self.prototypes["candidate_id"])
        return self.corpus[is_used & (self.corpus["split"] == "train")]

    def _score(self, pairs: Pairs, train: pd.DataFrame) -> pd.DataFrame:
        """Score pairs, by split: a table of schema SCORES."""
        system = self.job.system
        if system.ranker_spec.reads == "text":
            all_pairs = pd.concat(pairs.values(), ignore_index=True)
            collection = pd.concat([self.corpus["candidate"], all_pairs["candidate"]]).unique()
            scored = score_texts(all_pairs, collection, build_ranker(system), self.job.lowercase)
            return scored.assign(seed=self.seed)[SCORES.names]
        data = self._data({"train": train, **pairs})
        if not system.trained:
            with reproducible_arithmetic():
                return score_untrained(data, system, self.seed, pairs)
        from analogyqa.training.loop import score_learner

        learner = copy.copy(self._learner)  # requests to a server come at the same time
        learner.data = data
        with reproducible_arithmetic():
            scores = {split: score_learner(learner, split) for split in pairs}
        tables = [scores_table(data, split, self.seed, *scores[split]) for split in pairs]
        return pd.concat(tables, ignore_index=True)

    def _data(self, pairs: Pairs) -> CellData:
        system, quadruples = self.job.system, {}
        if len(self.prototypes):
            quadruples = {
                split: _quadruples(table, self.prototypes)
                for split, table in pairs.items()
                if split in EVALUATED
            }
        all_pairs = fitted_pairs(self.corpus, self.job.types, system)
        vocabulary = (self.vectors, self.word_ids, self._known)
        return cell_data(system, pairs, self.prototypes, quadruples, vocabulary, all_pairs)

    @cached_property
    def _learner(self) -> "Learner":
        """The trained system, with the weights of the epoch that dev chose."""
        from analogyqa.training.learner import trained_learner

        if self.learned.checkpoint is None:
            raise ValueError("a trained system has a checkpoint")
        data = self._data({"train": self._prototype_pairs})
        return trained_learner(data, self.job.system, self.seed, self.learned.checkpoint)


def _quadruples(pairs: pd.DataFrame, prototypes: pd.DataFrame) -> pd.DataFrame:
    """Return the evaluation quadruples of pairs, with the columns prototype and candidate_id."""
    blocks = zip(*evaluation_blocks(pairs, prototypes), strict=True)
    ranks, rows = (np.concatenate(column) for column in blocks)
    candidate_ids = pd.Categorical.from_codes(rows, categories=pairs["candidate_id"])
    return pd.DataFrame({"prototype": ranks, "candidate_id": candidate_ids})


def write_explanations(
    job: CellJob, results: str | Path, question_ids: Iterable[str], path: str | Path
) -> None:
    """Write the explanations of questions by a trained cell, with the tables of one seed, as JSON.

    Raises AnalogyQAError when the checkpoint is missing, or when a file is damaged.
    """
    checkpoint = finished_checkpoint(job, next(iter(job.files)), results)
    model = Model(Learned(job, {}, checkpoint))  # the types of new questions are not needed
    explanations = [model.explain_question(question_id) for question_id in question_ids]
    write_text(path, EXPLANATIONS.dump_json(explanations).decode() + "\n")
