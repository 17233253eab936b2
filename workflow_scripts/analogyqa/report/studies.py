"""Cross-validation: each question is tested by systems trained on the other folds.

Systems are compared with the first one, and named pairs of them also in groups of questions.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import product

import pandas as pd

from analogyqa.cells import (
    Cell,
    cross_validation_cells,
    split_corpus,
    why_left_out,
)
from analogyqa.corpora.questions import count_shared, fold_ids, original_split, select_subset
from analogyqa.evaluation.significance import (
    COMPARED,
    compare_runs,
    compare_with_best,
    p_text,
    pool_differences,
    row_p_value,
    significance_level,
)
from analogyqa.evaluation.summary import (
    DECIMALS,
    MEASURED,
    LearnedCount,
    Values,
    item_folds,
    join_folds,
    learned_text,
    measure_columns,
    sum_learned,
    to_frame,
)
from analogyqa.evaluation.verdicts import NOT_RUN, no_run
from analogyqa.measures import MEASURES, RANKED, titles
from analogyqa.report.table_formats import (
    Block,
    Table,
    Value,
    short_text,
    three_decimals,
    value_text,
)
from analogyqa.report.tables import (
    LEARNED,
    PAIRED_TEST,
    cell_legend,
    for_data,
    group_by_fact,
    interval_facts,
    top_group_legend,
)
from analogyqa.schemas import SPLITS
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import CrossValidation

EVERY = "all"  # the questions of all origins or types
POOLED = "pooled"  # instead of a data set: all of them
EQUAL = "equal"  # a column: the test of equal differences on all data sets
CROSS_VALIDATION = {
    **dict.fromkeys(["paper", "dataset", "subset", "system", "measure", "origin"], "str"),
    **MEASURED,
    **COMPARED,
    "top_group": "boolean",
    "reason": "str",
}
FOLDS = {
    **dict.fromkeys(["paper", "dataset", "subset", "first", "system", "measure"], "str"),
    **dict.fromkeys(["seed", "fold", "n_items"], "Int64"),
    "difference": "float64",
}
PAIRS = {
    **dict.fromkeys(["paper", "pair", "dataset", "measure", "first", "second"], "str"),
    **dict.fromkeys(["by", "group"], "str"),
    "n_items": "Int64",
    **COMPARED,
    **dict.fromkeys(["error", "heterogeneity"], "float64"),
    "reason": "str",
}
OVERLAP = (
    "Cross-validated systems are paired by seed, since both have its partition. The test allows "
    "for training sets that overlap (Nadeau and Bengio 2003)."
)
POOLING = (
    "Pooled: the mean of the differences on all data sets, weighted by the inverse of their "
    "variance, and Cochran's test of equal differences. Where they differ, the mean says little."
)
# Questions are grouped by their type, by the type of their answer, or by where they come from.
QUESTION, ANSWER, ORIGIN = "question", "answer", "origin"
ENTITY, NUMBER, CLAUSE = "entity", "number", "clause"
SHOWN = 10  # the number of questions with gains, and with losses


def build_cross_validation(
    paper: str,
    study: CrossValidation,
    config: Config,
    values: Values,
    learned: Mapping[Cell, LearnedCount],
) -> pd.DataFrame:
    """Summarise every cross-validated system of a paper: columns CROSS_VALIDATION.

    There is a row for each data set, system, measure and origin: the split of the data set that a
    question comes from, or `all`. Only rows of `all` have a `top_group` and a `difference`, which
    is the first system minus this one. A system without runs on a data set has one row for each
    measure, with the reason. `learned` counts the training runs of each trained cell, see
    `read_learned`.
    """
    cells = cross_validation_cells(config, paper)
    joined = {
        (dataset, measure): _joined_scores(cells, dataset, measure, values)
        for dataset, measure in product(study.datasets, RANKED)
    }
    level = significance_level(config.bootstrap)
    top = {key: compare_with_best(runs, level)[1] for key, runs in joined.items()}
    rows = []
    for dataset, system, measure in product(study.datasets, study.systems, RANKED):
        folds = cells.get((system, dataset), [])
        counts = sum_learned(folds, learned, config)
        row: dict = {"paper": paper, "dataset": dataset, "subset": study.subset, "system": system}
        row |= {"measure": measure, "origin": EVERY}
        by_system = joined[dataset, measure]
        if system not in by_system:
            missing = [cell for cell in folds if values(cell, measure) is None]
            reason = why_left_out(system, dataset, config) or no_run(*missing)
            rows.append(row | {"reason": reason})
            continue
        scores, first = by_system[system], by_system.get(study.systems[0])
        compared: dict = {"top_group": system in top[dataset, measure]}
        if first is not None and first is not scores:
            names = study.systems[0], system
            compared |= compare_runs(names, first, scores, level).rounded()
        rows.append(row | measure_columns(scores, measure, config, counts) | compared)
        origins = scores.columns.map(original_split)
        for origin in (split for split in SPLITS if split in origins):
            columns = measure_columns(scores.loc[:, origins == origin], measure, config, counts)
            rows.append(row | {"origin": origin} | columns)
    return to_frame(rows, CROSS_VALIDATION)


def build_folds(paper: str, study: CrossValidation, config: Config, values: Values) -> pd.DataFrame:
    """Return the first system minus each other one, in each fold of each seed: columns FOLDS.

    The arguments are those of `build_cross_validation`.
    """
    cells, name = cross_validation_cells(config, paper), study.systems[0]
    rows = []
    for dataset, measure in product(study.datasets, study.measures):
        joined = _joined_scores(cells, dataset, measure, values)
        if name not in joined:
            continue
        first = joined[name]
        folds = item_folds(first)
        assert folds is not None
        about = {"paper": paper, "dataset": dataset, "subset": study.subset, "first": name}
        for system in (other for other in study.systems[1:] if other in joined):
            by_seed = zip(first.index, (first - joined[system]).to_numpy(), folds, strict=True)
            for seed, differences, tested in by_seed:
                for fold, part in pd.Series(differences).groupby(tested):
                    row = about | {"system": system, "measure": measure, "seed": seed}
                    row |= {"fold": fold + 1, "n_items": len(part)}
                    rows.append(row | {"difference": round(float(part.mean()), DECIMALS)})
    return to_frame(rows, FOLDS)


def _joined_scores(
    cells: Mapping[tuple[str, str], list[Cell]], dataset: str, measure: str, values: Values
) -> dict[str, pd.DataFrame]:
    """Return the scores [seeds, items] of all folds of each system that lacks no run."""
    joined = {at[0]: join_folds(cells[at], measure, values) for at in cells if at[1] == dataset}
    return {system: scores for system, scores in joined.items() if scores is not None}


def shared_notes(corpora: Mapping[str, pd.DataFrame], subset: str, config: Config) -> list[str]:
    """Return how many tested questions and candidates of each corpus are also in train or dev."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    types = config.subset_types(subset)
    for name, corpus in corpora.items():
        dataset, overrides = split_corpus(name)
        splits = "all folds of all seeds" if overrides else "the paper's split"
        key = config.datasets[dataset].title, splits
        selected = pd.concat([select_subset(corpus, split, types) for split in SPLITS])
        counts.setdefault(key, Counter()).update(count_shared(selected))
    return [
        f"Test items also in train or dev, {title}, {splits}: {total['questions']} of "
        f"{total['of_questions']} questions, {total['candidates']} of {total['of_candidates']} "
        "candidates (answers that the data set gives to several questions)."
        for (title, splits), total in counts.items()
    ]


def cross_validation_table(
    frame: pd.DataFrame, paper: Paper, study: CrossValidation, shared: Iterable[str], config: Config
) -> Table:
    """Return a block for each data set of columns CROSS_VALIDATION; `shared` are `shared_notes`."""
    title = f"Cross-validation of {paper.paper}: all questions of {study.subset}"
    blocks = [
        _systems_block(part, study.measures, config)
        for _, part in frame.groupby("dataset", sort=False)
    ]
    first = config.systems[study.systems[0]].title
    notes = [
        f"Folds: {study.folds}, by question, and by article where a data set has articles, over "
        "all splits together, in a new division for each seed. Each fold is tested by systems "
        "trained on the others; every eighth question of these chooses the epoch. Prototypes: "
        f"training questions. Trained with {paper.hyperparameters}. "
        "This is not the paper's protocol.",
        *cell_legend(both_intervals=True),
        interval_facts(config),
        top_group_legend(config),
        f"Measures: {titles(study.measures)}. From train, dev and test: the questions of each "
        "split of the data set, whose labels differ in quality; mean {other questions} (number).",
        f"First minus this: {first} minus the system of the row. Correction for several systems: "
        "none.",
        PAIRED_TEST,
        OVERLAP,
        *shared,
        LEARNED,
        *_notes_on_systems(frame, config),
        f"Published values, for the paper's own split: {paper.citation}",
    ]
    return Table(for_data(title, config), blocks, notes)


def _systems_block(part: pd.DataFrame, measures: list[str], config: Config) -> Block:
    """Return the table of a data set, with a row for each system."""
    # The other keys that `value_text` reads.
    part = part.assign(published=None, verdict="", substitute="")
    rows = {(row["system"], row["measure"], row["origin"]): row for row in part.to_dict("records")}
    main = measures[0]  # origins and differences are shown for the main measure only
    lines = []
    for system in part["system"].unique():
        values = [
            value_text(row, both_intervals=True)._replace(bold=row["top_group"] is True)
            for row in (rows[system, name, EVERY] for name in measures)
        ]
        for origin in SPLITS:
            value = Value("")
            if row := rows.get((system, main, origin)):
                value = short_text(row)
                interval = f"{value.interval} ({row['n_items']})".lstrip()
                # The first columns say how many training runs learned.
                value = value._replace(ours=three_decimals(row["mean"]), interval=interval)
            values.append(value)
        values += difference_values(rows[system, main, EVERY])
        lines.append(([config.systems[system].title], values))
    columns = [MEASURES[name].short for name in measures]
    columns += [f"from {origin}" for origin in SPLITS] + ["first minus this", "p-value"]
    return Block(title_with_count(part, config), ["System"], columns, lines)


def title_with_count(part: pd.DataFrame, config: Config) -> str:
    """Return the title of a data set, from its rows, with the number of questions that ran."""
    count = part["n_items"].max()
    questions = f"{count} questions" if pd.notna(count) else NOT_RUN
    return f"{data_title(part, config)}, {questions}"


def data_title(part: pd.DataFrame, config: Config) -> str:
    """Return the title of the data set of rows."""
    dataset = part["dataset"].iloc[0]
    titles = {name: section.title for name, section in config.datasets.items()}
    return (titles | {POOLED: "Pooled"}).get(dataset, dataset)  # left out: its name


def difference_values(row: dict) -> list[Value]:
    """Return a difference with its interval, and the two-sided p-value."""
    if pd.isna(row["difference"]):
        return [Value(""), Value("")]
    interval = f"[{row['low']:+.3f}, {row['high']:+.3f}]"
    return [Value(f"{row['difference']:+.3f}", interval), Value(p_text(row_p_value(row)))]


def _notes_on_systems(frame: pd.DataFrame, config: Config) -> Iterator[str]:
    """Yield which systems did not learn in some training runs, and which have not run."""
    failed, not_run = [], []
    every = frame[frame["origin"] == EVERY].drop_duplicates(["dataset", "system"])
    for row in every.to_dict("records"):
        name = f"{config.systems[row['system']].title} on {config.datasets[row['dataset']].title}"
        if row["reason"]:
            not_run.append((row["reason"], name))
        learned, trained = row["n_learned"], row["n_trained"]
        if learned_text(learned, trained):
            failed.append(f"{name} learned in {learned} of {trained} training runs")
    yield f"{', '.join(failed) or 'All training runs learned'}."
    yield from group_by_fact("Not run", not_run)


def question_types(corpus: pd.DataFrame) -> dict[str, str]:
    """Return the type of each question that has one; the keys are the questions' ids in a fold."""
    with_type = corpus.dropna(subset="question_type")
    types = with_type["question_type"].astype(str)
    return dict(zip(fold_ids(with_type, "question_id"), types, strict=True))


def question_origins(corpus: pd.DataFrame) -> dict[str, str]:
    """Return the split of the data set that each question comes from, by its id in a fold."""
    return {item: original_split(item) for item in fold_ids(corpus, "question_id")}


def answer_types(corpus: pd.DataFrame, entities: pd.DataFrame) -> dict[str, str]:
    """Return the answer type of each question that has a question type.

    It depends on the entities, of the kind that the question asks for, in the correct candidates: a
    clause if there are none, a number if at least half of them have a digit, or else an entity. The
    tables have the schemas CORPUS and ENTITIES.
    """
    keys = ["split", "question_id", "candidate_id"]
    correct = corpus.loc[corpus["label"] == 1, keys].astype(str)
    correct_entities = entities.astype(dict.fromkeys(keys, str)).merge(correct, on=keys)
    has_digit = correct_entities["entity"].str.contains(r"\d")
    digits = has_digit.groupby(fold_ids(correct_entities, "question_id")).mean()
    types = {item: NUMBER if share >= 0.5 else ENTITY for item, share in digits.items()}
    return {item: types.get(item, CLAUSE) for item in question_types(corpus)}


def question_groups(
    corpora: Mapping[str, pd.DataFrame], entities: Mapping[str, pd.DataFrame]
) -> dict[tuple[str, str], dict[str, str]]:
    """Return the groups of questions by data set and kind: by question, origin and answer.

    The tables have the schemas CORPUS and ENTITIES; there are no groups by answer without entities.
    """
    groups = {(name, QUESTION): question_types(corpus) for name, corpus in corpora.items()}
    groups |= {(name, ORIGIN): question_origins(corpus) for name, corpus in corpora.items()}
    return groups | {
        (name, ANSWER): answer_types(corpora[name], table) for name, table in entities.items()
    }


def build_pairs(
    paper: str,
    study: CrossValidation,
    config: Config,
    values: Values,
    groups: Mapping[tuple[str, str], Mapping[str, str]],
) -> pd.DataFrame:
    """Compare the pairs of a cross-validation on all questions and in groups: columns PAIRS.

    `groups`: the group of each question by its id in a fold, by data set and QUESTION, ANSWER or
    ORIGIN.
    """
    rows: list[dict] = []
    level = significance_level(config.bootstrap)
    for row, scores in _pairs_with_scores(paper, study, config, values):
        if len(scores) < 2:
            rows.append(row | {"by": EVERY, "group": EVERY, "reason": NOT_RUN})
            continue
        # The first comparison checks that both systems have the same questions.
        parts: dict[tuple[str, str], object] = {(EVERY, EVERY): slice(None)}
        for by in (QUESTION, ANSWER, ORIGIN):
            types = scores[0].columns.map(groups.get((row["dataset"], by), {}))
            parts |= {(by, group): types == group for group in sorted({*types.dropna()})}
        for (by, group), part in parts.items():
            first, second = (by_seed.loc[:, part] for by_seed in scores)
            compared = compare_runs((row["first"], row["second"]), first, second, level)
            row |= {"by": by, "group": group, "n_items": first.shape[1]}
            error = round(compared.error, DECIMALS)
            rows.append(row | compared.rounded() | {"error": error})
    every = pd.DataFrame([row for row in rows if "error" in row and row["by"] == EVERY])
    for _, part in every.groupby("pair", sort=False) if len(every) else ():
        if len(part) > 1:
            pooled = pool_differences(part["difference"], part["error"], level)
            total = {"dataset": POOLED, "n_items": part["n_items"].sum()}
            rows.append(part.iloc[0].to_dict() | total | pooled)
    return to_frame(rows, PAIRS)


def _pairs_with_scores(
    paper: str, study: CrossValidation, config: Config, values: Values
) -> Iterator[tuple[dict, list[pd.DataFrame]]]:
    """Yield each pair on each data set, and the main measure of those that have run."""
    cells, measure = cross_validation_cells(config, paper), study.measures[0]
    for dataset in study.datasets:
        by_system = _joined_scores(cells, dataset, measure, values)
        for name, pair in study.pairs.items():
            row = {"paper": paper, "pair": name, "dataset": dataset, "measure": measure}
            row |= {"first": pair[0], "second": pair[1]}
            yield row, [by_system[system] for system in pair if system in by_system]


def pairs_table(frame: pd.DataFrame, paper: Paper, config: Config) -> Table:
    """Return a block of all questions, and one for each data set with groups: columns PAIRS."""
    short = MEASURES[frame["measure"].iloc[0]].short
    blocks = [_pairs_on_all_questions(frame[frame["by"] == EVERY], short, config)]
    in_groups = frame[frame["by"] != EVERY]
    for _, part in in_groups.groupby("dataset", sort=False) if len(in_groups) else ():
        lines = [
            (
                [_pair_title(row, config), f"{row['by']}: {row['group']}"],
                [Value(str(row["n_items"])), *difference_values(row)],
            )
            for row in part.to_dict("records")
        ]
        columns = ["questions", f"difference in {short}", "p-value"]
        blocks.append(Block(data_title(part, config), ["Systems", "group"], columns, lines))
    notes = [
        "All questions, by cross-validation. Differences: the first system minus the second, means "
        "over seeds. Correction for the number of groups: none.",
        PAIRED_TEST,
        OVERLAP,
        *([POOLING] if POOLED in frame["dataset"].to_numpy() else []),
        f"Answer types: {CLAUSE}, if no correct candidate has a named entity of the kind that the "
        f"question asks for; {NUMBER}, if at least half of these entities have a digit; or else "
        f"{ENTITY}.",
        "Origins: the splits of the data set, whose labels differ in quality.",
    ]
    title = f"Pairs of systems of {paper.paper} by type of question or answer and by origin"
    return Table(title, blocks, notes)


def _pairs_on_all_questions(frame: pd.DataFrame, short: str, config: Config) -> Block:
    """Return a row for each pair, with a column for each data set, and for all of them pooled."""
    by_dataset = frame.groupby("dataset", sort=False)
    columns = {dataset: title_with_count(part, config) for dataset, part in by_dataset}
    equality = {EQUAL: "equal on all"} if POOLED in columns else {}
    lines = []
    for _, part in frame.groupby("pair", sort=False):
        rows = part.to_dict("records")
        values = {row["dataset"]: _difference_with_p(row) for row in rows}
        if POOLED in values:
            values[EQUAL] = Value(f"p = {rows[-1]['heterogeneity']:.2g}")  # the pooled row is last
        cells = [values.get(column, Value("")) for column in columns | equality]
        lines.append(([_pair_title(rows[0], config)], cells))
    title = f"All questions, difference in {short}"
    return Block(title, ["Systems"], [*(columns | equality).values()], lines)


def _difference_with_p(row: dict) -> Value:
    if row["reason"]:
        return Value(row["reason"])
    difference, _ = difference_values(row)
    p_value = p_text(row_p_value(row), "= ")
    return difference._replace(interval=f"{difference.interval} p {p_value}")


def _pair_title(row: Mapping, config: Config) -> str:
    """Return the titles of both systems of a pair."""
    return " against ".join(config.systems[row[name]].title for name in ("first", "second"))


def questions_page(
    paper: str,
    study: CrossValidation,
    config: Config,
    values: Values,
    corpora: Mapping[str, pd.DataFrame],
) -> str:
    """Return, as Markdown, the questions with the largest gains and losses of each pair.

    The page contains sentences of the data, which their licences do not allow to publish.
    """
    lines = [
        f"# Questions of the pairs of {paper}",
        "Do not publish this page: it contains sentences of the data.",
    ]
    for row, scores in _pairs_with_scores(paper, study, config, values):
        if len(scores) < 2:
            continue
        first, second = (by_seed.mean() for by_seed in scores)
        gains = (first - second).sort_values(ascending=False, kind="stable")
        corpus = corpora[row["dataset"]].drop_duplicates(["split", "question_id"])
        texts = dict(zip(fold_ids(corpus, "question_id"), corpus["question"], strict=True))
        title, short = config.datasets[row["dataset"]].title, MEASURES[row["measure"]].short
        systems = " over ".join(config.systems[row[name]].title for name in ("first", "second"))
        largest, smallest = gains[gains > 0].head(SHOWN), gains[gains < 0].tail(SHOWN)[::-1]
        for heading, items in (("gains", largest.index), ("losses", smallest.index)):
            lines.append(f"## {title}: largest {heading} of {systems}")
            questions = (
                f"- {texts[item]} ({original_split(item)}; "
                f"{short} {second[item]:.2f} to {first[item]:.2f})"
                for item in items
            )
            lines.append("\n".join(questions))
    return "\n\n".join(lines) + "\n"
