"""Legends: what cells, intervals, marks and verdicts mean, in the same words on every page."""

import re
from collections.abc import Collection

from analogyqa.evaluation.comparing import level_of
from analogyqa.evaluation.learning import NOT_LEARNT
from analogyqa.evaluation.significance import SAMPLES
from analogyqa.evaluation.verdicts import LOOKS, MARKS, OTHER_DATA
from analogyqa.report.table_formats import SUBSTITUTE
from analogyqa.settings.paper import OWN, Paper
from analogyqa.settings.run import Config

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
        f"Holm's correction, level {level_of(config):g})."
    )


def percent(config: Config) -> str:
    """Return the configured confidence, such as 95%."""
    return f"{config.bootstrap.confidence * 100:g}%"
