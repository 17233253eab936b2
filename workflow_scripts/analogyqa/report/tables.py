"""The tables of the papers: our values next to the published ones, with legends and notes."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from analogyqa.cells import Cell, cells_by_hyperparameters
from analogyqa.evaluation.published import FRAME, IN_PAPER, NOT_IN_PAPER
from analogyqa.evaluation.significance import SAMPLES, compare_with_best, significance_level
from analogyqa.evaluation.summary import (
    HYPERPARAMETERS_USED,
    KEY,
    Results,
    cell_columns,
    learned_text,
)
from analogyqa.evaluation.verdicts import (
    LOOKS,
    MARKS,
    NOT_COMPARABLE,
    NOT_RUN,
    OTHER_DATA,
    OUR_DATA,
)
from analogyqa.measures import ACCURACY, MEASURES, SHARED_TIES
from analogyqa.rankers.specs import AnalogyOptions
from analogyqa.report.table_formats import (
    BY_TIES,
    SUBSTITUTE,
    Block,
    Table,
    Value,
    short_text,
    ties_text,
    value_text,
)
from analogyqa.settings.artefacts import CITED, Artefact
from analogyqa.settings.coordinates import COST, COUNT, SCORE, Coordinates
from analogyqa.settings.overrides import TUNED, dataset_overrides
from analogyqa.settings.paper import FEW_QUESTIONS, OWN, Paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER
from analogyqa.settings.systems import Training
from analogyqa.tasks import dataset_task


def build_table(
    paper: Paper, name: str, numbers: pd.DataFrame, config: Config, results: Results
) -> Table:
    """Return a table of a paper, such as `table4`, from its rows of `compare_numbers`."""
    artefact = paper.artefacts[name]
    is_shown = numbers["paper"].eq(paper.paper) & numbers["artefact"].eq(name)
    rows = numbers[is_shown].reset_index(drop=True)
    if artefact.top_group:
        scores = rows[rows["kind"].eq(SCORE) & rows["mean"].notna()]
        # If the columns are systems, the groups are those of the rows.
        for _, part in scores.groupby("column" if artefact.systems_in == "row" else "row"):
            cells = [_cell(row, artefact, config) for row in part.to_dict("records")]
            measured = zip(cells, part["measure"], strict=True)
            runs = {cell.path: results.values(cell, measure) for cell, measure in measured}
            _, in_top = compare_with_best(runs, significance_level(config.bootstrap))
            rows.loc[part.index, "top_group"] = [cell.path in in_top for cell in cells]
    return lay_out(paper, name, rows[list(FRAME)], results.summary, config)


def lay_out(
    paper: Paper, name: str, frame: pd.DataFrame, summary: pd.DataFrame, config: Config
) -> Table:
    """Return a table of a paper from its csv: columns FRAME, a row for each value.

    The rows of blocks and notes also have the `cell` of a score, None for other values, the path of
    its run, `name`, the system as the table calls it, `system_at`, the name with tuned
    hyperparameters, `csv_row`, the accuracy `with_shared_ties`, and more columns of the summary, in
    which `trained_with` are the hyperparameters. If our data are not the paper's, rows have no
    published value.
    """
    artefact, is_own = paper.artefacts[name], paper.paper == OWN
    cells = [
        _cell(row, artefact, config) if row["kind"] == SCORE and pd.notna(row["mean"]) else None
        for row in frame.to_dict("records")
    ]
    keys = [cell_columns(cell) if cell else dict.fromkeys(KEY, "") for cell in cells]
    located = frame.assign(
        csv_row=range(len(frame)),
        cell=cells,
        path=[cell.with_run(config).path if cell else "" for cell in cells],
        **{name: [key[name] for key in keys] for name in KEY[1:4]},
        name=frame[artefact.systems_in or "column"],
    )
    if not artefact.systems_in:
        titles = {name: system.title for name, system in config.systems.items()}
        located["name"] = located["system"].map(titles).fillna(located["name"])
    is_tuned = located["hyperparameters"].eq(TUNED)
    located["system_at"] = located["name"].where(~is_tuned, located["name"] + " (tuned on dev)")
    if not config.comparable:
        located = located[located["kind"] != CITED].assign(published=np.nan)
        located["verdict"] = located["verdict"].replace(NOT_COMPARABLE, "")
    facts = summary[[*KEY, "tied_candidates", "all_correct", "mean_of_others", "hyperparameters"]]
    facts = facts.rename(columns={"hyperparameters": "trained_with"})
    shared = summary[summary["measure"].eq(SHARED_TIES)].assign(measure=ACCURACY)
    shared = shared[[*KEY, "mean"]].rename(columns={"mean": "with_shared_ties"})
    rows = located.merge(facts, "left", KEY).merge(shared, "left", KEY).to_dict("records")
    notes = [*table_notes(paper, artefact, rows, config)]
    if is_own and frame["n_items"].lt(FEW_QUESTIONS).any():
        notes.append(
            f"Means over fewer than {FEW_QUESTIONS} test questions say little, and so do intervals."
        )
    source = f"Published: {paper.citation}" if config.comparable and not is_own else paper.citation
    return Table(
        title=artefact.title if is_own else for_data(artefact.title, config),
        blocks=_blocks(artefact, rows),
        notes=[*notes, source],
        printed_as=printed_as(paper, name),
        frame=frame,
    )


def row_coordinates(row: dict, artefact: Artefact) -> Coordinates:
    """Return the coordinates of a row of FRAME."""
    if row["block"] == IN_PAPER:
        return artefact.coordinates(row["row"], row["column"])
    label = {"column": row["column"]} if artefact.systems_in == "row" else {"row": row["row"]}
    return artefact.coordinates(**label) | Coordinates(system=row["system"])


def _cell(row: dict, artefact: Artefact, config: Config) -> Cell:
    return cells_by_hyperparameters(row_coordinates(row, artefact), config)[row["hyperparameters"]]


def _blocks(artefact: Artefact, rows: list[dict]) -> list[Block]:
    """Lay out the values as in the paper; systems that it lacks are rows of the last block."""
    others = [row for row in rows if row["block"] == NOT_IN_PAPER]
    stated, tuned = (
        [r for r in rows if r["block"] == IN_PAPER and (r["hyperparameters"] == TUNED) == is_tuned]
        for is_tuned in (False, True)
    )
    system = {"System": "name", "ranked by": "ranked_by"}
    other_system = system | {"System": "system_at"}
    labels, across, text, meaning = {"": "row"}, "row", short_text, ": mean {other questions}"
    if artefact.systems_in == "row":
        labels, across, text, meaning = system, "column", value_text, ""
    blocks = [
        _block("In the paper" if tuned or others else "", stated, labels, "column", value_text),
        _block("In the paper, hyperparameters tuned on dev", tuned, labels, "column", value_text),
        _block(f"Not in the paper{meaning}", others, other_system, across, text),
    ]
    return [block for block in blocks if block.rows]


def _block(
    heading: str, rows: list[dict], labels: dict[str, str], across: str, text: Callable
) -> Block:
    """Return a block with a column for each distinct value of the key `across`, in their order."""
    columns = list(dict.fromkeys(row[across] for row in rows))
    # Two systems may have the same title, so the system is a part of the key.
    key = [*labels.values(), *(["system"] if "System" in labels else [])]
    cells: dict[tuple, dict[str, Value]] = {}
    for row in rows:
        value = text(row)
        cells.setdefault(tuple(row[name] for name in key), {})[row[across]] = value._replace(
            mark=" ".join(filter(None, [value.mark, ties_text(row)])),
            verdict=row["verdict"],
            run=row["path"],
            bold=row["top_group"] is True,
            row=None if row["kind"] == CITED else row["csv_row"],
        )
    lines = [
        (list(names[: len(labels)]), [values.get(column, Value("")) for column in columns])
        for names, values in cells.items()
    ]
    return Block(heading, list(labels), columns, lines)


SUBSTITUTES = f"{SUBSTITUTE}: made with a substitute for a file of the paper"
INTERVALS = (
    "[one more run]: prediction interval of one more run on the same questions. {other questions}: "
    "interval for other questions, by a bootstrap over seeds and questions."
)
COSTS = (
    "Parameters: the trained ones. Seconds: one epoch on one thread of this machine, estimated "
    "from a few interleaved training steps of all systems; compare their ratios with the published "
    "ones."
)
CITED_ROWS = "Rows without our value show what the paper prints."
PROTOCOL = "Protocol: the epoch is chosen by dev {}; the test split is scored once, for that epoch."
PAIRED_TEST = (
    f"p-values: two-sided, by a paired randomisation test over questions and seeds ({SAMPLES} "
    f"draws, so none is below {2 / (1 + SAMPLES):.1g})."
)
DECIDED_BY_TIES = (
    f"{BY_TIES}: decided by ties; the accuracy with shared ties follows, which is outside the "
    "interval for other pairs."
)
DIFFERENCES = (
    f"Difference: ours minus the published value, without a verdict, because {OTHER_DATA}."
)
NO_PUBLISHED = f"No published values: {OTHER_DATA}."
LEARNED = (
    "Learned k of n: in the epoch that dev chose, the loss of k of the n training runs is below "
    "that of one constant energy for all quadruples. Where k is less than n, the mean has no "
    "interval, and no published number is judged by it; below half of n, there is no verdict on a "
    "comparison of systems, either."
)


def printed_as(paper: Paper, name: str) -> str:
    """Return what a paper calls a table or figure, such as "Table 4 of diallo2019"; "" for OWN."""
    return "" if paper.paper == OWN else f"{printed_name(name)} of {paper.paper}"


def printed_name(name: str) -> str:
    """Return the name of an artefact as papers print it: "Table 4" for table4."""
    return re.sub(r"(\d+)", r" \1", name).capitalize()


def heading(paper: Paper, name: str, title: str) -> str:
    return ": ".join(filter(None, [printed_as(paper, name), title]))


def for_data(title: str, config: Config) -> str:
    """Return a title, which says so if our data are not the paper's."""
    return title if config.comparable else f"{title} ({OTHER_DATA})"


def cell_legend(mark: str = "", both_intervals: bool = False) -> tuple[str, str]:
    """Return what a cell with a score shows; `mark` is what follows the intervals."""
    others = " {other questions}"
    varied = f"mean ± standard deviation over seeds [one more run]{others * both_intervals}{mark}"
    return f"Cell: {varied}; if the seeds do not differ, mean{others}{mark}.", INTERVALS


def interval_facts(config: Config) -> str:
    """Return the settings of the intervals."""
    return (
        f"Intervals: {percent(config)}. Bootstrap samples: {config.bootstrap.samples}. "
        "The csv has both intervals of every value."
    )


def marks_legend(verdicts: Collection[str], has_substitutes: bool, config: Config) -> list[str]:
    """Return what the marks of the verdicts in a table mean."""
    if not config.comparable:
        return [NO_PUBLISHED]
    parts = [f"{MARKS[name]} {name}: {LOOKS[name].meaning}" for name in MARKS if name in verdicts]
    parts += [SUBSTITUTES] if has_substitutes else []
    return [f"Marks: {'; '.join(parts)}."] if parts else []


def top_group_legend(config: Config) -> str:
    """Return what bold values are."""
    return (
        "Bold: the highest mean, and those not significantly different from it (paired tests, "
        f"Holm's correction, level {significance_level(config.bootstrap):g})."
    )


def percent(config: Config) -> str:
    """Return the configured confidence, such as 95%."""
    return f"{config.bootstrap.confidence * 100:g}%"


# A table lists this many hyperparameters and origins; the report has all of them.
MOST_LINES = 4
MOST_TIED = 6  # cells whose ties are counted
CONFIGURATION = "../../report.html#configuration"


def table_notes(
    paper: Paper, artefact: Artefact, rows: list[dict], config: Config
) -> Iterator[str]:
    """Yield the notes of a table from the rows of its frame, see `tables.lay_out`."""
    runs = [row for row in rows if pd.notna(row["tied_candidates"])]
    computed_kinds = {row["kind"] for row in rows if pd.notna(row["mean"])}
    verdicts = {row["verdict"] for row in rows if pd.notna(row["published"])}
    has_published = bool(artefact.published) and config.comparable
    mark = " (published)" if has_published else ""
    mark += " mark" if mark and verdicts & {*MARKS} else ""
    differs = has_published and any(
        row["verdict"] == NOT_COMPARABLE and row["data"] == OUR_DATA for row in rows
    )
    mark += " difference" if differs else ""
    if all(row["kind"] == COUNT for row in rows):
        yield _counted(artefact, config)
    if runs:
        yield _data(runs, config)
        yield from _protocol(runs, config)
        yield from (*cell_legend(mark), interval_facts(config))
        if any(learned_text(row["n_learned"], row["n_trained"]) for row in runs):
            yield LEARNED
        if artefact.top_group:
            yield top_group_legend(config)
        yield from _all_correct(runs, config)
        yield _ties(runs, config)
        if any(map(ties_text, runs)):
            yield DECIDED_BY_TIES
    elif computed_kinds:
        yield f"Cell: ours{mark}."
    if differs:
        yield DIFFERENCES
    if COST in computed_kinds:
        yield COSTS
    if any(row["kind"] == CITED for row in rows):
        yield CITED_ROWS
    if artefact.published:
        yield from marks_legend(verdicts, any(row["substitute"] for row in rows), config)
    remarks = names_by_fact((remark, name) for name, remark in artefact.remarks.items())
    yield from (f"{', '.join(names)}: {remark}" for remark, names in remarks.items())
    yield from group_by_fact("Substitutes", [(row["substitute"], row["name"]) for row in rows])
    several, missing = [], []
    for row in rows:
        reason = row["reason"].removesuffix(artefact.remark_on(row["row"], row["column"]))
        if pd.notna(row["attainable_runs"]) and row["attainable_runs"] > 1:
            several.append((reason.rstrip("; "), row["name"]))
        if row["verdict"] == NOT_RUN:
            missing.append((reason.rstrip("; "), row["name"]))
    yield from group_by_fact("Compared with a mean of runs", several)
    yield from group_by_fact("Not run", missing)
    yield from _hyperparameters_and_origins(paper, rows, config)


def group_by_fact(heading: str, facts: Iterable[tuple[str, str]]) -> list[str]:
    """Return one note with the names that share each fact, or none; an empty fact is skipped."""
    groups = names_by_fact(facts)
    text = "; ".join(f"{', '.join(names)} ({fact})" for fact, names in groups.items())
    return [f"{heading}: {text}."] if text else []


def seeds_fact(runs: Iterable[Mapping]) -> str:
    """Return the number of seeds of runs, by subset if it differs."""
    subsets = names_by_fact((int(run["n_seeds"]), run["subset"]) for run in runs)
    if len(subsets) < 2:
        return ", ".join(map(str, subsets)) or "none"
    return ", ".join(f"{count} ({', '.join(names)})" for count, names in subsets.items())


def names_by_fact(facts: Iterable[tuple[Any, str]]) -> dict[Any, dict[str, None]]:
    """Return the names that share each fact, in order and each once; empty facts are left out."""
    groups: dict[Any, dict[str, None]] = {}
    for fact, name in facts:
        if fact:
            groups.setdefault(fact, {})[name] = None
    return groups


def _counted(artefact: Artefact, config: Config) -> str:
    coordinates = [number.coordinates for number in artefact.numbers()]
    datasets = {at.dataset for at in coordinates} & {*config.datasets}
    questions = (dataset_task(config.datasets[name]).counted for name in sorted(datasets))
    meanings = {
        "questions": " or ".join(dict.fromkeys(questions)),
        "all_questions": "all questions",
        "pairs": "pairs of a question and a candidate",
        "analogies": "pairs of sentence pairs within a category",
    }
    counts = dict.fromkeys(at.count for at in coordinates if at.count)
    return f"Counted: {', '.join(meanings[name] for name in counts)}."


def _data(runs: list[dict], config: Config) -> str:
    items: dict[str, dict[str, set[int]]] = {}
    for run in runs:
        cell = run["cell"]
        subset = " ".join([cell.subset, *map("=".join, dataset_overrides(cell.overrides))])
        items.setdefault(cell.dataset, {}).setdefault(subset, set()).add(run["n_items"])
    data = "; ".join(
        f"{config.datasets[name].title}, {dataset_task(config.datasets[name]).tested}: "
        + ", ".join(f"{subset} {_either(counts)}" for subset, counts in subsets.items())
        for name, subsets in items.items()
    )
    return f"Data: {data}. Seeds: {seeds_fact(runs)}."


def _protocol(runs: list[dict], config: Config) -> Iterator[str]:
    cells = [run["cell"] for run in runs]
    systems = [config.system_at(cell.system, cell.overrides) for cell in cells]
    measures = {MEASURES[system.training.select_by].short for system in systems if system.trained}
    if measures:
        yield PROTOCOL.format(_either(measures))
    datasets = dict.fromkeys(cell.dataset for cell in cells)
    tasks = [dataset_task(config.datasets[name]) for name in datasets]
    yield from dict.fromkeys(note for task in tasks for note in task.notes)
    used = [(s.p, s.ranker.aggregate) for s in systems if isinstance(s.ranker, AnalogyOptions)]
    if used:
        counts, aggregates = map(_either, map(set, zip(*used, strict=True)))
        yield f"Prototypes of the question's type: p = {counts}. Aggregate: {aggregates}."


def _either(values: Iterable) -> str:
    return " or ".join(map(str, sorted(values)))


def _all_correct(runs: list[dict], config: Config) -> list[str]:
    """Return how many questions have only correct candidates, and the means without them."""
    groups: dict[str, list[str]] = {}
    for row in runs:
        if row["all_correct"] and pd.notna(row["published"]):
            title, which = config.datasets[row["dataset"]].title, row["hyperparameters"]
            counts = f"{title} {row['subset']}, {row['all_correct']} of {row['n_items']}"
            name = f"{row['name']} ({which})" if which else row["name"]
            means = f"{name} {row['mean']:.3f} and {row['mean_of_others']:.3f}"
            groups.setdefault(counts, []).append(means)
    return [
        f"Questions with only correct candidates: {counts}. Means with and without them: "
        f"{', '.join(means)}."
        for counts, means in groups.items()
    ]


def _ties(runs: list[dict], config: Config) -> str:
    counts = {run["cell"].label: run["tied_candidates"] for run in runs if run["tied_candidates"]}
    if len(counts) > MOST_TIED:
        most = sorted(counts, key=lambda label: -counts[label])[:MOST_TIED]
        text = ", ".join(f"{label} {counts[label]:,}" for label in most)
        text += f" and fewer in {len(counts) - len(most)} other cells (summary.csv)"
    else:
        text = ", ".join(f"{label} {count}" for label, count in counts.items())
    return dataset_task(config.datasets[runs[0]["dataset"]]).tie_note(text)


def _hyperparameters_and_origins(paper: Paper, rows: list[dict], config: Config) -> list[str]:
    """Return the hyperparameters and origins of systems, in a few lines."""
    tuned, stated, origins = [], [], []
    defaults = Training().model_dump()
    for row in rows:
        if row["hyperparameters"] == PAPER and row["system"] in config.systems:
            system = config.systems[row["system"]]
            values = system.training.model_dump()
            changes = _flat({k: v for k, v in values.items() if v != defaults[k]})
            fact = paper.hyperparameters[:1].upper() + paper.hyperparameters[1:]
            stated.append(((fact, changes or "the defaults"), system.title))
        elif row["cell"] and (selection := config.find_selection(row["system"])):
            name = row["trained_with"]
            changes = _flat(selection.hyperparameters.get(name, {}))
            choice = f"{name} ({changes})" if changes else name
            heading = f"Hyperparameters tuned on {selection.subset}"
            tuned.append(((heading, choice), row["name"]))
        if row["provenance"] and row["kind"] != COST:
            origin = row["provenance"].rpartition(HYPERPARAMETERS_USED)[0] or row["provenance"]
            origins.append((("Origin", origin), row["name"]))
    lines = [
        f"{heading} of {', '.join(names)}: {fact}."
        for (heading, fact), names in names_by_fact([*tuned, *stated, *origins]).items()
    ]
    reference = f"All hyperparameters and origins: [report]({CONFIGURATION})."
    return [*lines[:MOST_LINES], reference] if lines else []


def _flat(values: dict) -> str:
    flat = pd.json_normalize(values, sep=" ").to_dict("records")[0] if values else {}
    return ", ".join(f"{key} {value}".replace("_", " ") for key, value in flat.items())
