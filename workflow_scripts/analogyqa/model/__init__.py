"""A system that has learned from a corpus, and scores and ranks candidates; see docs/python.md."""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal, TypeVar
from weakref import finalize

import numpy as np
import pandas as pd
from tqdm import tqdm

from analogyqa.analogies.prototypes import take_prototypes
from analogyqa.analogies.quadruples import evaluation_blocks
from analogyqa.arithmetic import reproducible_arithmetic
from analogyqa.corpora.frames import TEXTS, corpus_from_frame, require_columns, require_sentence
from analogyqa.corpora.questions import classify_question, select_subset
from analogyqa.encoders import build_encoder
from analogyqa.errors import AnalogyQAError, shown
from analogyqa.files import write_text
from analogyqa.measures import MEASURES
from analogyqa.model.fitting import BAR, fit
from analogyqa.model.learned import Learned, find_run, read_folder, write_folder
from analogyqa.model.text_vectors import TextVectors, unique_texts
from analogyqa.rankers import build_ranker
from analogyqa.runs.finished import trained_checkpoint
from analogyqa.runs.record import compute_metrics
from analogyqa.runs.score import score_texts
from analogyqa.schemas import CORPUS, EXPLANATIONS, PROTOTYPES, SCORES, Explanation, read_table
from analogyqa.settings.data import OTHER, PrototypeChoice
from analogyqa.settings.systems import System
from analogyqa.text import Sentences
from analogyqa.training.data import (
    CellData,
    CellJob,
    VocabularyParts,
    answer_rows,
    cell_data,
    fitted_pairs,
    load_pairs,
    read_vocabulary,
    split_evenly,
)
from analogyqa.training.scoring import (
    EVALUATED,
    array_encoder,
    encode_all,
    score_untrained,
    scores_table,
)
from analogyqa.vectors.fasttext_files import OutOfVocabulary

if TYPE_CHECKING:
    from analogyqa.training.learner import Learner

NEW = "new question"
QUESTIONS, SENTENCES = 64, 1024  # in a batch
T = TypeVar("T")
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
        self._texts = TextVectors(files.sentence_vectors) if files.sentence_vectors else None
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
    def fit(
        cls,
        system: str | System,
        frame: pd.DataFrame,
        folder: str | Path | None = None,
        *,
        prototypes: int | None = None,
        training: Mapping[str, object] | None = None,
        vectors: str | Path | None = None,
        question_types: Mapping[str, Sequence[str]] | None = None,
        types: Sequence[str] | None = None,
        seed: int = 0,
        lowercase: bool = True,
        out_of_vocabulary: OutOfVocabulary = "random",
        prototype_choice: PrototypeChoice = "pair",
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> "Model":
        """Return a system that has learned from a data frame, without a workflow or a checkout.

        Args:
            system: The name of a system of the papers, such as "analogy", with the paper's
                hyperparameters; or a `System`.
            frame: The columns question, candidate and label, and optionally split, question_id and
                candidate_id: see `corpora.frames.corpus_from_frame`. A missing dev or test split
                gets every tenth training question.
            folder: The folder for its tables and its checkpoint, which `Model.open` reads. An
                interrupted training run resumes from there, and a finished one is not repeated.
                None for a temporary folder, which goes with the model.
            prototypes: The number of prototypes of each question type; None for the system's.
            training: Changes of the system's section `training`, such as {"dropout": 0}.
            vectors: The file of word vectors, in any format of `vectors.files.select_vectors`;
                "minilm" for the vectors that all-MiniLM-L6-v2 gives each word alone; None, with a
                warning, for fastText trained on the frame's own sentences. For a system with
                sentence vectors: the folder or name of their model, such as one of
                sentence-transformers; None for the configured one. Ignored by a system that reads
                neither.
            question_types: The first words of each question type; None for those of the paper.
            types: The question types to learn from and to rank; None for all questions.
            seed: The seed of prototypes, initial weights and batches.
            lowercase, out_of_vocabulary, prototype_choice, device: As in the configuration.

        Raises AnalogyQAError when there is no such system, a column is missing or wrong, the system
        cannot read new texts, `vectors` has no word of the frame, or a type has too few questions.
        """
        owned = None
        if folder is None:
            owned = TemporaryDirectory(prefix="analogyqa-")
            folder = owned.name
        learned = fit(
            system,
            frame,
            Path(folder),
            prototypes=prototypes,
            training=training,
            vectors=vectors,
            question_types=question_types,
            types=types,
            seed=seed,
            lowercase=lowercase,
            out_of_vocabulary=out_of_vocabulary,
            prototype_choice=prototype_choice,
            device=device,
        )
        model = cls(learned)
        if owned:
            finalize(model, owned.cleanup)
        return model

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

        Returns a row for each candidate, the best first: `candidate`, `score` and `unknown` (its
        words without a vector, which are ignored). For a transformer, `unread` is how many tokens
        of the question and the candidate are beyond its longest input, and are not read. For a
        system that compares with prototypes, `prototype_question` and `prototype_answer` are those
        of the prototype that decided.

        Raises AnalogyQAError when the question has no type of the subset, when there is no
        candidate, or when one of them is not a text.
        """
        return self.rank_many([(question, candidates)]).drop(columns="question")

    def rank_many(
        self, questions: pd.DataFrame | Iterable[tuple[str, Sequence[str]]]
    ) -> pd.DataFrame:
        """Rank the candidates of many questions, in batches with a progress bar.

        Args:
            questions: Pairs of a question and its candidates; or a data frame with the columns
                question and candidate, and optionally question_id, without which questions are
                distinguished by their texts.

        Returns the rows of `rank` for one question after the other, with the column `question` and,
        if it was given, `question_id`.

        Raises AnalogyQAError as `rank`.
        """
        given = questions if isinstance(questions, pd.DataFrame) else _as_frame(questions)
        new = self._new_pairs(given)
        scores = self._score_new(new)
        frame = new[["question", "candidate"]].assign(score=scores["score"])
        if isinstance(questions, pd.DataFrame) and "question_id" in given:
            frame.insert(0, "question_id", given["question_id"].to_numpy())
        frame["unknown"] = list(map(self._unknown, new["candidate"]))
        if self._unread:
            unread = {text: self._unread(text) for text in unique_texts(new)}
            frame["unread"] = new["question"].map(unread) + new["candidate"].map(unread)
        if len(self.prototypes):
            prototypes, texts = self.prototypes, self._prototype_pairs.set_index("candidate_id")
            answers = prototypes["candidate_id"].iloc[answer_rows(prototypes, self.job.system)]
            by_rank = prototypes.assign(answer_id=answers.to_numpy())
            by_rank = by_rank.astype({"question_type": str}).set_index(["question_type", "rank"])
            chosen = by_rank.loc[zip(new["question_type"], scores["best_prototype"], strict=True)]
            frame["prototype_question"] = texts["question"].loc[chosen["candidate_id"]].to_numpy()
            frame["prototype_answer"] = texts["candidate"].loc[chosen["answer_id"]].to_numpy()
        order = np.lexsort((-frame["score"], new["question_id"]))
        return frame.iloc[order].reset_index(drop=True)

    def explain(self, question: str, candidates: Sequence[str]) -> Explanation:
        """Rank candidates for a question as `rank` does, and explain the ranking.

        The explanation has the methods `to_frame` and `plot`.

        Raises AnalogyQAError as `rank`.
        """
        new = self._new_pairs(_as_frame([(question, candidates)]))
        explanation = self._explain(new.assign(question_id=NEW))
        for candidate in explanation.candidates:
            candidate.label = None
            candidate.unknown = self._unknown(candidate.candidate)
            if self._unread:
                candidate.unread = self._unread(question) + self._unread(candidate.candidate)
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

    def score(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a data frame with the column `score`, the score of each candidate.

        Args:
            frame: As for `rank_many`; other columns are kept.

        Raises AnalogyQAError as `rank`.
        """
        return frame.assign(score=self._score_new(self._new_pairs(frame))["score"].to_numpy())

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the vectors of n sentences by the system's encoder: float32 [n, dim].

        Words without a vector are ignored, and so is what a transformer does not read of a long
        sentence.

        Raises AnalogyQAError when the system has no sentence vectors, when there is no sentence, or
        when one of them is not a text.
        """
        system = self.job.system
        if system.ranker_spec.reads != "vectors":
            raise AnalogyQAError(f"{self.job.cell.label}: this system has no sentence vectors")
        sentences = _require_texts("sentences", sentences)
        vectors, word_ids, split = self._vocabulary(sentences)
        texts = Sentences(sentences, word_ids, split)
        if system.trained:
            encoder = array_encoder(self._learner.encoder, self._learner.device)
        else:
            encoder = build_encoder(system.encoder_name, vectors, system.training, self.seed)
        batches = _progress(split_evenly(np.arange(len(texts)), SENTENCES), "Encode")
        with reproducible_arithmetic():
            encoded = [encode_all(encoder, texts, numbers) for numbers in batches]
        return np.concatenate(encoded)[texts.numbers(sentences)]

    def score_splits(self, corpus: pd.DataFrame) -> pd.DataFrame:
        """Score the candidates of dev and test: a table of schema SCORES.

        On a CPU, the scores of the corpus that the system has learned from are, byte by byte, those
        of the run with the same settings.

        Args:
            corpus: A table of schema CORPUS, of which either split may be missing; words without a
                vector are ignored.

        Raises AnalogyQAError when a split has no question of the model's types.
        """
        splits = [split for split in EVALUATED if split in set(corpus["split"])]
        pairs = load_pairs(corpus, self.job.types, splits or EVALUATED, "the corpus")
        train = self._prototype_pairs
        if self.job.system.trained:  # the last bits depend on which sentences share a batch
            train = select_subset(self.corpus, "train", self.job.types)
        return self._score(pairs, train)

    def measure(self, frame: pd.DataFrame | None = None) -> pd.DataFrame:
        """Measure the ranking of each question of dev and test: a table of schema METRICS.

        Args:
            frame: A data frame as for `fit`, whose training questions are ignored; without a column
                split, all of it is test. None for what the system was fitted to.

        Raises AnalogyQAError as `score_splits`, and for a wrong data frame.
        """
        corpus = self.corpus
        if frame is not None:
            corpus = corpus_from_frame(frame, self.learned.question_types, split="test")
        return compute_metrics(self.score_splits(corpus), corpus, self.job.types)

    def evaluate(self, frame: pd.DataFrame | None = None) -> pd.DataFrame:
        """Return the mean of each measure over questions: a row for each, columns dev and test.

        Takes and raises what `measure` does.
        """
        metrics = self.measure(frame)
        metrics = metrics[metrics["measure"].isin(MEASURES)]
        table = metrics.pivot_table("value", "measure", "split", sort=False)
        return table[[split for split in EVALUATED if split in table]]

    def __repr__(self) -> str:
        return f"<Model {self.job.cell.label}, seed {self.seed}>"

    def _repr_html_(self) -> str:
        """Return a table of what the model is, for notebooks."""
        questions = {
            split: pairs["question_id"].nunique()
            for split, pairs in self.corpus.groupby("split", sort=False)
        }
        rows = {
            "system": self.job.cell.system,
            "data set": self.job.cell.dataset,
            "question types": ", ".join(self.job.types or [self.job.cell.subset]),
            "seed": self.seed,
            "prototypes": len(self.prototypes),
            f"{'texts' if self._texts else 'words'} with a vector": len(self.word_ids or ()),
            **{f"{split} questions": count for split, count in questions.items()},
        }
        return pd.Series(rows, dtype=object).to_frame("Model").to_html()

    def _new_pairs(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return new questions and their candidates as a table of schema CORPUS, in their order.

        The ids of questions are numbers in order of appearance.

        Raises AnalogyQAError as `rank`.
        """
        require_columns(frame, TEXTS)
        frame = frame.reset_index(drop=True)
        for column in TEXTS:
            for row, text in frame[column].items():
                require_sentence(text, f"row {row}: the {column}")
        keys = [key for key in ("split", "question_id", "question") if key in frame]
        types = {text: self._question_type(text) or OTHER for text in frame["question"].unique()}
        return frame[[*TEXTS]].assign(
            split="test",
            question_id=frame.groupby(keys, sort=False, observed=True).ngroup(),
            candidate_id=[f"{NEW} {row}" for row in frame.index],
            label=0,  # no score depends on it
            question_type=frame["question"].map(types),
        )

    def _score_new(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """Score what `_new_pairs` returns, in batches: a table of schema SCORES, in its order."""
        # A ranker of texts counts words in all candidates that it gets, so questions are alone.
        size = 1 if self.job.system.ranker_spec.reads == "text" else QUESTIONS
        batches = [*pairs.groupby(pairs["question_id"] // size).indices.values()]
        scores = [
            self._score({"test": pairs.iloc[rows].reset_index(drop=True)}, self._prototype_pairs)
            for rows in _progress(batches, "Rank")
        ]
        return pd.concat(scores).set_axis(np.concatenate(batches)).sort_index()

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

    def _vocabulary(self, texts: Sequence[str]) -> VocabularyParts:
        """Return what `read_vocabulary` does, for texts that may be new."""
        if self._texts:
            return self._texts.look_up(texts)
        return self.vectors, self.word_ids, self._known

    def _known(self, text: str) -> list[str]:
        """Return the words of a text that have a vector, or all words if no vectors are read."""
        words, known = self._split(text), self.word_ids
        return words if known is None else [word for word in words if word in known]

    def _unknown(self, text: str) -> str:
        """Return the words of a text that have no vector."""
        if self._texts:
            return ""
        known = self._known(text)
        return " ".join(word for word in self._split(text) if word not in known)

    @property
    def _unread(self) -> Callable[[str], int] | None:
        """What counts the tokens of a text beyond the longest input; None without such a limit."""
        if self._texts:
            return self._texts.unread
        encoder = self.job.system.encoder_spec
        return encoder.unread.load() if encoder and encoder.unread else None

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
        tables = [*pairs.values()] if all_pairs is None else [*pairs.values(), all_pairs]
        vocabulary = self._vocabulary(unique_texts(*tables))
        return cell_data(system, pairs, self.prototypes, quadruples, vocabulary, all_pairs)

    @cached_property
    def _learner(self) -> "Learner":
        """The trained system, with the weights of the epoch that dev chose."""
        from analogyqa.training.learner import trained_learner

        if self.learned.checkpoint is None:
            raise ValueError("a trained system has a checkpoint")
        data = self._data({"train": self._prototype_pairs})
        return trained_learner(data, self.job.system, self.seed, self.learned.checkpoint)


def _as_frame(questions: Iterable[tuple[str, Sequence[str]]]) -> pd.DataFrame:
    """Return questions and their candidates with the columns question_id, question, candidate."""
    frames = []
    for pair in questions:
        if isinstance(pair, str) or len(pair) != 2:
            raise AnalogyQAError(f"{shown(pair)} is not a pair of a question and its candidates")
        question, candidates = pair
        require_sentence(question, "the question")
        texts = _require_texts("candidates", candidates)
        frames.append(pd.DataFrame({"question": question, "candidate": texts}))
    if not frames:
        raise AnalogyQAError("no questions are given")
    return pd.concat(frames, keys=range(len(frames)), names=["question_id"]).reset_index(0)


def _require_texts(name: str, texts: Sequence[str]) -> list[str]:
    """Return the texts of an argument; AnalogyQAError for one text, none, or what is no text."""
    if isinstance(texts, str):
        raise AnalogyQAError(
            f"{name}: {shown(texts)} is one text, and would be read letter by letter. Give a list "
            "of texts"
        )
    for row, text in enumerate(texts):
        require_sentence(text, f"{name}: row {row}")
    if not len(texts):
        raise AnalogyQAError(f"no {name} are given")
    return list(texts)


def _progress(batches: Sequence[T], name: str) -> Iterable[T]:
    """Yield batches, and show the progress."""
    return tqdm(batches, desc=name, unit="batch", **BAR)


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

    Raises AnalogyQAError when a file is damaged.
    """
    checkpoint = trained_checkpoint(job, next(iter(job.files)), results)
    model = Model(Learned(job, {}, checkpoint))  # the types of new questions are not needed
    explanations = [model.explain_question(question_id) for question_id in question_ids]
    write_text(path, EXPLANATIONS.dump_json(explanations).decode() + "\n")
