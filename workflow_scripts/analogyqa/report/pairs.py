"""Compare two cross-validated systems by type of question and of answer."""

from collections.abc import Iterator, Mapping

import pandas as pd

from analogyqa.cells import cross_validation_cells
from analogyqa.corpora.questions import fold_ids, original_split
from analogyqa.evaluation.comparing import COMPARED, compare_runs, round_comparison
from analogyqa.evaluation.summary import Values, join_folds, to_frame
from analogyqa.evaluation.verdicts import NOT_RUN
from analogyqa.measures import MEASURES
from analogyqa.report.cross_validation import EVERY, difference_values
from analogyqa.report.legend import PAIRED_TEST
from analogyqa.report.table_formats import Block, Table, Value
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import CrossValidation

PAIRS = {
    "paper": "str",
    "pair": "str",
    "dataset": "str",
    "measure": "str",
    "first": "str",
    "second": "str",
    "by": "str",
    "group": "str",
    "n_items": "Int64",
    **COMPARED,
    "reason": "str",
}
QUESTION, ANSWER = "question", "answer"  # the groups are types of questions or of answers
ENTITY, NUMBER, CLAUSE = "entity", "number", "clause"
SHOWN = 10  # the number of questions with gains, and with losses


def question_types(corpus: pd.DataFrame) -> dict[str, str]:
    """Return the type of each question that has one; the keys are the questions' ids in a fold."""
    with_type = corpus.dropna(subset="question_type")
    types = with_type["question_type"].astype(str)
    return dict(zip(fold_ids(with_type, "question_id"), types, strict=True))


def answer_types(corpus: pd.DataFrame, entities: pd.DataFrame) -> dict[str, str]:
    """Return the answer type of each question that has a question type.

    It depends on the entities, of the kind that the question asks for, in the correct candidates: a
    clause if there are none, a number if at least half of them have a digit, or else an entity.

    Args:
        corpus: Schema CORPUS.
        entities: The entities in its candidates, schema ENTITIES.
    """
    keys = ["split", "question_id", "candidate_id"]
    correct = corpus.loc[corpus["label"] == 1, keys].astype(str)
    correct_entities = entities.astype(dict.fromkeys(keys, str)).merge(correct, on=keys)
    digits = (
        correct_entities["entity"]
        .str.contains(r"\d")
        .groupby(fold_ids(correct_entities, "question_id"))
        .mean()
    )
    types = {item: NUMBER if share >= 0.5 else ENTITY for item, share in digits.items()}
    return {item: types.get(item, CLAUSE) for item in question_types(corpus)}


def build_pairs(
    paper: str,
    study: CrossValidation,
    config: Config,
    values: Values,
    groups: Mapping[tuple[str, str], Mapping[str, str]],
) -> pd.DataFrame:
    """Compare the pairs of a cross-validation on all questions and in groups: columns PAIRS.

    Args:
        paper, study: The name of the paper, and its cross-validation.
        values: As `summary.values_of` returns it.
        groups: The group of each question by its id in a fold, by data set and QUESTION or ANSWER.
    """
    rows = []
    for start, scores in _pair_scores(paper, study, config, values):
        if scores is None:
            rows.append(start | {"by": EVERY, "group": EVERY, "reason": NOT_RUN})
            continue
        first, second = scores
        parts = {(EVERY, EVERY): list(first.columns)}
        for by in (QUESTION, ANSWER):
            group_of = groups.get((start["dataset"], by), {})
            for group in sorted({group_of[item] for item in first.columns if item in group_of}):
                items = [item for item in first.columns if group_of.get(item) == group]
                parts[by, group] = items
        names = start["first"], start["second"]
        for (by, group), items in parts.items():
            # The comparison on all questions checks that both systems have the same ones.
            other = second if by == EVERY else second[items]
            compared = round_comparison(compare_runs(names, first[items], other, config))
            rows.append(start | compared | {"by": by, "group": group, "n_items": len(items)})
    return to_frame(rows, PAIRS)


def _pair_scores(
    paper: str, study: CrossValidation, config: Config, values: Values
) -> Iterator[tuple[dict, tuple[pd.DataFrame, pd.DataFrame] | None]]:
    """Yield each pair on each data set, and its main measure [seeds, items], None without runs."""
    cells, measure = cross_validation_cells(config, paper), study.measures[0]
    for dataset in study.datasets:
        for name, (first, second) in study.pairs.items():
            start = {"paper": paper, "pair": name, "dataset": dataset}
            start |= {"measure": measure, "first": first, "second": second}
            folds = [cells.get((system, dataset), []) for system in (first, second)]
            scores = [join_folds(part, measure, values) if part else None for part in folds]
            complete = [frame for frame in scores if frame is not None]
            yield start, (complete[0], complete[1]) if len(complete) == 2 else None


def pairs_table(frame: pd.DataFrame, paper: Paper, config: Config) -> Table:
    """Return a block for each data set of columns PAIRS."""
    blocks = []
    for dataset, part in frame.groupby("dataset", sort=False):
        lines = []
        for row in part.to_dict("records"):
            first, second = (config.systems[row[name]].title for name in ("first", "second"))
            group = "all questions" if row["by"] == EVERY else f"{row['by']}: {row['group']}"
            cells = [Value(str(row["n_items"])), *difference_values(row)]
            if row["reason"]:
                cells = [Value(row["reason"])] * 3
            lines.append(([f"{first} against {second}", group], cells))
        short = MEASURES[part["measure"].iloc[0]].short
        columns = ["questions", f"difference in {short}", "p-value"]
        blocks.append(
            Block(config.datasets[dataset].title, ["Systems", "by type of"], columns, lines)
        )
    notes = [
        "All questions, by cross-validation. Differences: the first system minus the second, means "
        "over seeds. Correction for the number of groups: none.",
        PAIRED_TEST,
        f"Answer types: {CLAUSE}, if no correct candidate has a named entity of the kind that the "
        f"question asks for; {NUMBER}, if at least half of these entities have a digit; or else "
        f"{ENTITY}.",
    ]
    title = f"Pairs of systems of {paper.paper} by type of question and of answer"
    return Table(title, blocks, notes)


def questions_page(
    paper: str,
    study: CrossValidation,
    config: Config,
    values: Values,
    corpora: Mapping[str, pd.DataFrame],
) -> str:
    """Return, as Markdown, the questions with the largest gains and losses of each pair.

    The page contains sentences of the data, which their licences do not allow to publish. The
    arguments are those of `build_pairs`, and the corpora by data set.
    """
    lines = [
        f"# Questions of the pairs of {paper}",
        "Do not publish this page: it contains sentences of the data.",
    ]
    for start, scores in _pair_scores(paper, study, config, values):
        if scores is None:
            continue
        first, second = (frame.mean() for frame in scores)
        gains = (first - second).sort_values(ascending=False, kind="stable")
        corpus = corpora[start["dataset"]].drop_duplicates(["split", "question_id"])
        texts = dict(zip(fold_ids(corpus, "question_id"), corpus["question"], strict=True))
        titles = [config.systems[start[name]].title for name in ("first", "second")]
        title, short = config.datasets[start["dataset"]].title, MEASURES[start["measure"]].short
        largest = {
            "gains": gains[gains > 0].head(SHOWN).index,
            "losses": gains[gains < 0].tail(SHOWN).index[::-1],
        }
        for heading, items in largest.items():
            questions = [
                f"- {texts[item]} ({original_split(item)}; "
                f"{short} {second[item]:.2f} to {first[item]:.2f})"
                for item in items
            ]
            lines.append(f"## {title}: largest {heading} of {titles[0]} over {titles[1]}")
            lines.append("\n".join(questions))
    return "\n\n".join(lines) + "\n"
