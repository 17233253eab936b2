"""The verdicts on the claims as a page: first what each primary claim comes to, in words."""

from collections.abc import Iterable

import pandas as pd

from analogyqa.measures import MEASURES
from analogyqa.report.claims import (
    CLAIM_MARKS,
    FAILS,
    FOLDS,
    HOLDS,
    SAME,
    STEPS,
    UNDECIDED,
    effect_of,
)
from analogyqa.report.comparing import level_of
from analogyqa.report.learning import NOT_LEARNT
from analogyqa.report.ledger import NOT_RUN, OTHER_DATA
from analogyqa.report.significance import EQUIVALENT, POWER, SAMPLES
from analogyqa.report.table_formats import Block, Table, Value, to_markdown
from analogyqa.settings.coordinates import Coordinates
from analogyqa.settings.overrides import TUNED, text_of
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config

_SAID = {
    HOLDS: "The claim holds",
    FAILS: "The claim fails: it is the other way round",
    SAME: f"The two are equivalent: they differ by less than {EQUIVALENT}",
    UNDECIDED: "Nothing is decided",
}


def claims_markdown(frame: pd.DataFrame, papers: Iterable[Paper], config: Config) -> str:
    """Return the verdicts as a page of GitHub Markdown: words, a table for each paper, notes.

    Args:
        frame, papers, config: as of `claims_table`.
    """
    heading, rest = to_markdown(claims_table(frame, papers, config)).split("\n\n", 1)
    paragraphs = [
        "\n".join([f"**{paper}: {claim}** ({where}).", "", *(f"- {line}" for line in lines)])
        for paper, claim, where, lines in primary_claims(frame, papers, config)
    ]
    return "\n\n".join([heading, *paragraphs, rest])


def claims_table(frame: pd.DataFrame, papers: Iterable[Paper], config: Config) -> Table:
    """Return the verdicts counted, then a block for each paper that has claims.

    Args:
        frame: of columns CLAIMS.
        papers: where in a paper each claim stands, and what its sides are.
        config: what the runs were made with.
    """
    rows = {name: part.to_dict("records") for name, part in frame.groupby("paper", sort=False)}
    # A paper that is asked for since then has none yet.
    papers = [paper for paper in papers if paper.paper in rows]
    verdicts = [
        Block(
            f"{paper.paper}: as the paper puts it in short",
            ["Claim", "Where", "Judged on", "Verdict"],
            ["Effect", "p-value", "Detectable", "Power", "Evidence"],
            [_page_row(row, paper.claims[row["claim"]].where) for row in rows[paper.paper]],
        )
        for paper in papers
    ]
    return Table(
        label="claims",
        title="Claims of the papers" if config.comparable else f"Claims ({OTHER_DATA})",
        blocks=[_summary(frame), *verdicts],
        notes=[*_notes(config), *(f"Claims of {paper.citation}" for paper in papers)],
        frame=frame,
    )


def primary_claims(
    frame: pd.DataFrame, papers: Iterable[Paper], config: Config
) -> list[tuple[str, str, str, list[str]]]:
    """Return what comes out of each primary claim, in words.

    Returns: the paper, the claim, where it stands there, and a line of Markdown for each protocol
    and setting.
    """
    said = []
    for paper in papers:
        own = frame[frame["paper"].eq(paper.paper) & frame["primary"]].to_dict("records")
        for name in dict.fromkeys(row["claim"] for row in own):
            here = [row for row in own if row["claim"] == name]
            claim = paper.claims[name]
            (better, worse), *_ = claim.sides()
            titles = _told_apart(better, worse, config)
            lines = [_in_words(row, titles, MEASURES[better.measure].short, config) for row in here]
            said.append((paper.paper, claim.claim, claim.where, lines))
    return said


def _told_apart(better: Coordinates, worse: Coordinates, config: Config) -> list[str]:
    """Return what two sides are called; where they are of one system, with what they differ in."""
    titles = [
        config.systems[side.system].title if side.system in config.systems else side.system
        for side in (better, worse)
    ]
    if better.system != worse.system:
        return titles
    said = [side.model_dump(exclude_none=True) for side in (better, worse)]
    differing = [key for key in said[0] | said[1] if said[0].get(key) != said[1].get(key)]
    return [
        f"{title} ({', '.join(f'{key} {text_of(each[key])}' for key in differing if key in each)})"
        for title, each in zip(titles, said, strict=True)
    ]


def judged_on(row: dict) -> str:
    """Return what a verdict rests on, in words."""
    if row["protocol"] == STEPS:
        return "steps of training, in turns"
    on = (
        "all questions, cross-validated"
        if row["protocol"] == FOLDS
        else "the paper's test questions"
    )
    settings = {TUNED: ", hyperparameters tuned on dev", "": ""}
    return on + settings.get(row["hyperparameters"], ", the paper's hyperparameters")


def _in_words(row: dict, titles: list[str], measure: str, config: Config) -> str:
    on = judged_on(row)
    judged = f"*On {on}*"
    if row["verdict"] == NOT_RUN:
        return f"{judged}: not run, {row['reason']}."
    ahead = "ahead of" if row["effect"] > 0 else "behind"
    if row["effect"] == 0:
        ahead = "level with"
    sentences = [
        f"{judged} ({row['n_items']}; seeds: {row['n_seeds']}): {_SAID[row['verdict']]}. "
        f"{titles[0]} is {abs(row['effect']):.3f} {measure} {ahead} {titles[1]}, "
        f"[{row['low']:+.3f}, {row['high']:+.3f}] "
        f"(p = {row['p_value']:.2g})."
    ]
    if row["verdict"] == UNDECIDED:
        sentences.append(f"A difference below {row['detectable']:.3f} is likely to be missed here.")
        if pd.notna(row["paper_effect"]):
            sentences.append(
                f"The paper's own, {row['paper_effect']:+.3f}, would be found with a chance of "
                f"{row['power']:.0%}; {_needed(row)}."
            )
    if row["reason"]:
        sentences.append(f"Do not build on it: {row['reason']}.")
    return " ".join(sentences)


def _needed(row: dict) -> str:
    if pd.isna(row["items_needed"]):
        return "no number of questions makes that sure with so few seeds"
    if row["items_needed"] <= row["n_items"]:
        return f"for a chance of {POWER:.0%} these questions are enough"
    return f"a chance of {POWER:.0%} takes about {row['items_needed']:.0f} questions"


def _page_row(row: dict, coordinates: str) -> tuple[list[str], list[Value]]:
    ran = pd.notna(row["p_value"])
    power = f"{row['power']:.0%} at {row['paper_effect']:+.3f}" if pd.notna(row["power"]) else ""
    name = f"{row['text']} (primary)" if row["primary"] else row["text"]
    verdict = f"{CLAIM_MARKS[row['verdict']]} {row['verdict']}"
    texts = [
        effect_of(row["effect"], row, row["kind"]) if ran else "",
        f"{row['p_value']:.2g}" if ran else "",
        f"{row['detectable']:.3f}" if pd.notna(row["detectable"]) else "",
        power,
        "; ".join(filter(None, [row["evidence"], row["reason"]])),
    ]
    return [name, coordinates, judged_on(row), verdict], [Value(text) for text in texts]


def _summary(frame: pd.DataFrame) -> Block:
    kinds = frame["primary"].map({True: "primary", False: "secondary"})
    groups = frame.assign(kind=kinds).groupby(
        ["paper", "kind", "protocol", "hyperparameters"], sort=False, dropna=False
    )["verdict"]
    return Block(
        "Verdicts",
        ["Paper", "Claims", "Protocol", "Setting"],
        [f"{mark} {verdict}" for verdict, mark in CLAIM_MARKS.items()],
        [
            (list(names), [Value(str(verdicts.eq(verdict).sum())) for verdict in CLAIM_MARKS])
            for names, verdicts in groups
        ],
    )


def _notes(config: Config) -> list[str]:
    confidence = f"{config.bootstrap.confidence * 100:g}%"
    notes = [
        "A claim rests on comparisons of two systems, or of two measures, on the same questions; "
        "one of costs on steps of training that both took in turns. The evidence gives of each "
        "both means over questions and seeds, the difference with its "
        f"{confidence} interval and the one-sided p-value of the claimed direction, by a paired "
        f"randomisation test over questions and seeds ({SAMPLES} draws).",
        "A claim is judged at one setting at a time, and a verdict is about that setting. It holds "
        "when as many comparisons as it needs are true, and fails when so many are reversed that "
        "it cannot hold, by the p-value of a partial conjunction. Where a claim names a difference "
        "below which two systems are alike, a comparison is true down to it. p is two-sided and "
        f"decides below {level_of(config):g}. That of a primary claim is not corrected; those of "
        "the secondary claims of a paper at a setting are corrected together (Holm).",
        "Effect, with its interval, is that of the comparison that decides; of costs it says how "
        "many times less the better side takes. A claim of one comparison of scores that is not "
        "decided is equivalent where the difference is shown to be smaller "
        f"than {EQUIVALENT} (two one-sided tests), and else undecided.",
        f"Detectable: the smallest true difference that is found here with a chance of "
        f"{POWER:.0%}. Power: the chance to find the paper's own difference, if it were true.",
        "Cross-validated: all questions of the subset, in folds; each fold is tested by what was "
        "trained on the others, with the paper's hyperparameters. "
        "This is not the paper's protocol.",
        f"A system {NOT_LEARNT} where its training loss never comes below what one and the same "
        "energy for all quadruples would give.",
        "Settings: the paper's, the one that it states; tuned on dev, each system at the one that "
        "its dev split prefers, a system without a choice as it is. Claims about points of an "
        "override, where nothing was chosen, have the paper's hyperparameters only.",
    ]
    if not config.comparable:
        notes.insert(
            0, f"The verdicts say what is so on these data: {OTHER_DATA}, they judge no paper."
        )
    return notes
