"""Two cross-validated systems held against each other, by type of question and of answer."""

from collections.abc import Iterator, Mapping

import pandas as pd

from analogyqa.corpora.folds import fold_ids, original_split
from analogyqa.measures import MEASURES
from analogyqa.plan import cross_validation_cells
from analogyqa.report.comparing import COMPARED, compare_runs, p_value_of, rounded
from analogyqa.report.cross_validation import EVERY
from analogyqa.report.summary import Values, joined, typed
from analogyqa.report.table_formats import Block, Table, Value
from analogyqa.report.verdicts import NOT_RUN
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config

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
QUESTION, ANSWER = "question", "answer"  # what is grouped by its type
ENTITY, NUMBER, CLAUSE = "entity", "number", "clause"
SHOWN = 10  # questions each way

# Question, as a fold calls it, to its group.
Groups = Mapping[str, str]


def question_types(corpus: pd.DataFrame) -> dict[str, str]:
    """Return the type of each question of a data set that has one; keys are as in a fold."""
    typed_ones = corpus.dropna(subset="question_type")
    kinds = typed_ones["question_type"].astype(str)
    return dict(zip(fold_ids(typed_ones, "question_id"), kinds, strict=True))


def answer_types(corpus: pd.DataFrame, entities: pd.DataFrame) -> dict[str, str]:
    """Return what the right candidates of each question with a type answer with.

    An entity of the kind that the question asks for, or a number, where such an entity has a digit
    at least as often as not; a clause where no right candidate has one.

    Args:
        corpus: of a data set, a table of schema CORPUS.
        entities: of its candidates, a table of schema ENTITIES.
    """
    right = corpus.loc[corpus["label"] == 1, ["split", "question_id", "candidate_id"]]
    keys = ["split", "question_id", "candidate_id"]
    found = entities.astype(dict.fromkeys(keys, str)).merge(right.astype(str), on=keys)
    digits = found["entity"].str.contains(r"\d").groupby(fold_ids(found, "question_id")).mean()
    named = {item: NUMBER if share >= 0.5 else ENTITY for item, share in digits.items()}
    return {item: named.get(item, CLAUSE) for item in question_types(corpus)}


def build_pairs(
    paper: str, config: Config, values: Values, groups: Mapping[tuple[str, str], Groups]
) -> pd.DataFrame:
    """Compare the pairs of a cross-validation on all questions and in groups: columns PAIRS.

    Args:
        paper: whose study it is.
        config: what the runs were made with.
        values: as `summary.values_of` returns it.
        groups: by data set, and QUESTION or ANSWER.
    """
    rows = []
    for start, both in compared(paper, config, values):
        if both is None:
            rows.append(start | {"by": EVERY, "group": EVERY, "reason": NOT_RUN})
            continue
        items = list(both[0].columns)
        parts = {(EVERY, EVERY): items}
        for by in (QUESTION, ANSWER):
            of = groups.get((start["dataset"], by), {})
            for group in sorted({of[item] for item in items if item in of}):
                parts[by, group] = [item for item in items if of.get(item) == group]
        names = start["first"], start["second"]
        for (by, group), own in parts.items():
            parted = both if by == EVERY else tuple(each[own] for each in both)
            found = rounded(compare_runs(names, *parted, config))
            rows.append(start | found | {"by": by, "group": group, "n_items": len(own)})
    return typed(rows, PAIRS)


def compared(
    paper: str, config: Config, values: Values
) -> Iterator[tuple[dict, tuple[pd.DataFrame, pd.DataFrame] | None]]:
    """Yield each pair on each data set, with the values [seeds, items] of both, None without runs.

    They are of the main measure.
    """
    study, cells = config.studies[paper].cross_validation, cross_validation_cells(config, paper)
    for dataset in study.datasets:
        for name, (first, second) in study.pairs.items():
            start = {"paper": paper, "pair": name, "dataset": dataset}
            start |= {"measure": study.measures[0], "first": first, "second": second}
            keys = (first, dataset), (second, dataset)
            own = [
                joined(cells[key], start["measure"], values) if key in cells else None
                for key in keys
            ]
            yield start, None if any(each is None for each in own) else (own[0], own[1])


def pairs_table(frame: pd.DataFrame, paper: Paper, config: Config) -> Table:
    """Return a block for each data set.

    Args:
        frame: of columns PAIRS.
        paper: whose study it is.
        config: what the runs were made with.
    """
    blocks = []
    for dataset, part in frame.groupby("dataset", sort=False):
        lines = []
        for row in part.to_dict("records"):
            first, second = (config.systems[row[name]].title for name in ("first", "second"))
            group = "all questions" if row["by"] == EVERY else f"{row['by']}: {row['group']}"
            shown = [Value(row["reason"])] * 3
            if pd.notna(row["difference"]):
                interval = f"[{row['low']:+.3f}, {row['high']:+.3f}]"
                difference = Value(f"{row['difference']:+.3f}", interval)
                shown = [Value(str(row["n_items"])), difference, Value(f"{p_value_of(row):.2g}")]
            lines.append(([f"{first} against {second}", group], shown))
        columns = ["questions", f"{MEASURES[part['measure'].iloc[0]].short} more", "p-value"]
        blocks.append(
            Block(config.datasets[dataset].title, ["Systems", "by type of"], columns, lines)
        )
    notes = [
        "All questions by cross-validation, means over seeds. Interval and two-sided p-value "
        "are of a paired randomisation test over questions and seeds, not corrected for the number "
        "of groups.",
        f"A question's answer is a {NUMBER} or an {ENTITY} where its right candidates have a named "
        "entity of the kind that it asks for, with a digit in at least half of them or not. Else "
        f"it is a {CLAUSE}.",
    ]
    return Table(
        label=f"tab:{paper.paper}-pairs",
        title=f"Pairs of systems of {paper.paper} by type of question and of answer",
        blocks=blocks,
        notes=notes,
        frame=frame,
    )


def questions_page(
    paper: Paper, config: Config, values: Values, corpora: Mapping[str, pd.DataFrame]
) -> str:
    """Return, as Markdown, the questions that gain and lose the most by the first of each pair.

    It has sentences of the data, which their licences do not allow to be published.

    Args:
        paper: whose study it is.
        config: what the runs were made with.
        values: as `summary.values_of` returns it.
        corpora: data set to its table.
    """
    lines = [
        f"# Questions of the pairs of {paper.paper}",
        "Sentences of the data: not to be published.",
    ]
    for start, both in compared(paper.paper, config, values):
        if both is None:
            continue
        first, second = (each.mean() for each in both)
        gains = (first - second).sort_values(ascending=False, kind="stable")
        corpus = corpora[start["dataset"]].drop_duplicates(["split", "question_id"])
        texts = dict(zip(fold_ids(corpus, "question_id"), corpus["question"], strict=True))
        titles = [config.systems[start[name]].title for name in ("first", "second")]
        title, short = config.datasets[start["dataset"]].title, MEASURES[start["measure"]].short
        for heading, own in (("gain", gains.head(SHOWN)), ("lose", gains.tail(SHOWN)[::-1])):
            lines.append(f"## {title}: what {heading}s by {titles[0]} instead of {titles[1]}")
            ranked = (f"{short} {second[item]:.2f} to {first[item]:.2f}" for item in own.index)
            said = zip(own.index, ranked, strict=True)
            rows = [f"- {texts[item]} ({original_split(item)}; {change})" for item, change in said]
            lines.append("\n".join(rows))
    return "\n\n".join(lines) + "\n"
