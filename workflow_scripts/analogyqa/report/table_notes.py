"""The notes of tables and pages: legends, in the same words everywhere, and facts about numbers."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from analogyqa.evaluation.results import NOT_LEARNT
from analogyqa.evaluation.significance import SAMPLES, significance_level
from analogyqa.evaluation.summary import HYPERPARAMETERS_USED
from analogyqa.evaluation.verdicts import LOOKS, MARKS, NOT_RUN, OTHER_DATA
from analogyqa.measures import MEASURES
from analogyqa.rankers.specs import AnalogyOptions
from analogyqa.report.table_formats import SUBSTITUTE
from analogyqa.settings.artefacts import CITED, Artefact
from analogyqa.settings.coordinates import COST, COUNT
from analogyqa.settings.overrides import dataset_overrides
from analogyqa.settings.paper import OWN, Paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER
from analogyqa.settings.systems import Training
from analogyqa.tasks import dataset_task

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
    "draws)."
)
NO_PUBLISHED = f"No published values: {OTHER_DATA}."
LEARNT = (
    f"{NOT_LEARNT.capitalize()}: in the epoch that dev chose, the training loss of a seed was not "
    "below that of one constant energy for all quadruples, so nothing follows from the scores."
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


def cell_legend(mark: str = "", both_intervals: bool = False) -> str:
    """Return what a cell with a score shows; `mark` is what follows the intervals."""
    others = " {other questions}"
    varied = f"mean ± standard deviation over seeds [one more run]{others * both_intervals}{mark}"
    return f"Cell: {varied}; if the seeds do not differ, mean{others}{mark}."


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
        f"Holm's correction, level {significance_level(config):g})."
    )


def percent(config: Config) -> str:
    """Return the configured confidence, such as 95%."""
    return f"{config.bootstrap.confidence * 100:g}%"


# A table lists this many hyperparameters and origins; the report has all of them.
MOST_LINES = 4
MOST_TIED = 6  # cells whose ties are counted
CONFIGURATION = "../../report.html#configuration"


def table_notes(artefact: Artefact, rows: list[dict], config: Config) -> Iterator[str]:
    """Yield the notes of a table from the rows of its frame, see `tables.lay_out`."""
    runs = [row for row in rows if pd.notna(row["tied_candidates"])]
    computed_kinds = {row["kind"] for row in rows if pd.notna(row["mean"])}
    verdicts = {row["verdict"] for row in rows if pd.notna(row["published"])}
    has_published = bool(artefact.published) and config.comparable
    mark = " (published)" if has_published else ""
    mark += " mark" if mark and verdicts & {*MARKS} else ""
    if all(row["kind"] == COUNT for row in rows):
        yield _counted(artefact, config)
    if runs:
        yield _data(runs, config)
        yield from _protocol(runs, config)
        yield from (cell_legend(mark), INTERVALS, interval_facts(config))
        if artefact.top_group:
            yield top_group_legend(config)
        yield from _all_correct(runs, config)
        yield _ties(runs, config)
    elif computed_kinds:
        yield f"Cell: ours{mark}."
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
    yield from _hyperparameters_and_origins(rows, config)


def group_by_fact(heading: str, facts: Iterable[tuple[str, str]]) -> list[str]:
    """Return one note with the names that share each fact, or none if there is no fact.

    `facts` are pairs of a fact, such as a reason, and a name; an empty fact is skipped.
    """
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


def _hyperparameters_and_origins(rows: list[dict], config: Config) -> list[str]:
    """Return the hyperparameters and origins of systems, in a few lines."""
    tuned, stated, origins = [], [], []
    defaults = Training().model_dump()
    for row in rows:
        if row["hyperparameters"] == PAPER and row["system"] in config.systems:
            system = config.systems[row["system"]]
            values = system.training.model_dump()
            changes = _flat({k: v for k, v in values.items() if v != defaults[k]})
            stated.append((("Paper's hyperparameters", changes or "the defaults"), system.title))
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
