"""The verdicts as pages: every published number next to ours, and the claims of each paper."""

from collections.abc import Iterable, Iterator

import pandas as pd

from analogyqa.evaluation.claims import (
    CLAIM_MARKS,
    EQUIVALENT,
    FOLDS,
    PRIMARY,
    SECONDARY,
    STEPS,
    UNDECIDED,
    effect_text,
)
from analogyqa.evaluation.published import IN_PAPER
from analogyqa.evaluation.significance import POWER, p_text, significance_level
from analogyqa.evaluation.verdicts import (
    HIGHER,
    INCONCLUSIVE,
    LOOKS,
    LOWER,
    MARKS,
    NOT_COMPARABLE,
    OTHER_DATA,
    OUR_DATA,
    REPRODUCED,
)
from analogyqa.report.outcomes import KIND_NOUNS
from analogyqa.report.table_formats import (
    SUBSTITUTE,
    Block,
    Table,
    Value,
    two_lines,
    unbroken,
    value_text,
)
from analogyqa.report.table_formats import to_markdown as table_to_markdown
from analogyqa.report.tables import (
    LEARNED,
    PAIRED_TEST,
    SUBSTITUTES,
    cell_legend,
    heading,
    percent,
)
from analogyqa.settings.artefacts import Artefact
from analogyqa.settings.coordinates import SCORE
from analogyqa.settings.overrides import TUNED
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config

TITLE = "Published numbers and ours"
HOW_MANY = "Published numbers by verdict"
_EVIDENCE = (REPRODUCED, HIGHER, LOWER, INCONCLUSIVE)
_WITH_SUBSTITUTES, _REPEATED = "with a substitute", "printed before"
LEGEND = (
    *cell_legend(" (published) mark [note]", both_intervals=True),
    SUBSTITUTES,
    f"New evidence: neither made {_WITH_SUBSTITUTES} nor enforced. A value that is printed several "
    f"times counts once; its other places are {_REPEATED}.",
    "Counts: no deviation and no interval. Best point of a curve: the point that is best most "
    "often in a bootstrap.",
    "Hyperparameters: paper, as printed; tuned, chosen on dev; empty if nothing is trained.",
)


def to_markdown(ledger: pd.DataFrame, papers: Iterable[Paper]) -> str:
    """Return the ledger as GitHub Markdown, with a table for each artefact that has a row in it."""
    blocks = [_verdict_counts(ledger)]
    notes: dict[str, int] = {}
    citations: dict[str, None] = {}
    for paper in papers:
        for name, artefact in paper.artefacts.items():
            judged = ledger[ledger["paper"].eq(paper.paper) & ledger["artefact"].eq(name)]
            if not judged.empty:
                title = heading(paper, name, artefact.title)
                blocks.append(_artefact_block(title, artefact, judged, notes))
                citations[paper.citation] = None
    all_notes = [
        *(f"{_sign(verdict)}: {look.meaning}" for verdict, look in LOOKS.items()),
        *LEGEND,
        *(f"[{number}] {note}" for note, number in notes.items()),
        *citations,
    ]
    return table_to_markdown(Table(TITLE, blocks, all_notes))


def _verdict_counts(ledger: pd.DataFrame) -> Block:
    """Return the number of each verdict, by paper and kind of number; each value counts once."""
    others = [verdict for verdict in LOOKS if verdict not in _EVIDENCE]
    heads = [
        *(f"New evidence: {_sign(verdict)}" for verdict in _EVIDENCE),
        f"{_WITH_SUBSTITUTES}: {' / '.join(MARKS[verdict] for verdict in _EVIDENCE)}",
        *map(_sign, others),
        _REPEATED,
    ]
    lines = []
    nouns = ledger["kind"].map(KIND_NOUNS)
    nouns = nouns.where(ledger["kind"].ne(SCORE), nouns + " with " + ledger["data"])
    for (paper, kind, name), rows in ledger.groupby(
        ["paper", nouns, ledger["hyperparameters"]], sort=False
    ):
        once = rows[rows["repeats"] == ""]
        has_substitute = once["substitute"] != ""
        new, substituted, every = (
            {verdict: str(part["verdict"].eq(verdict).sum()) for verdict in LOOKS}
            for part in (once[~has_substitute], once[has_substitute], once)
        )
        counts = [new[verdict] for verdict in _EVIDENCE]
        counts.append(" / ".join(substituted[verdict] for verdict in _EVIDENCE))
        counts += [*(every[verdict] for verdict in others), str(len(rows) - len(once))]
        lines.append(([paper, kind, name], list(map(Value, counts))))
    return Block(HOW_MANY, ["Paper", "Numbers", "Hyperparameters"], heads, lines)


def _artefact_block(
    title: str, artefact: Artefact, judged: pd.DataFrame, notes: dict[str, int]
) -> Block:
    """Return the block of a table or figure, and add its notes, each with its number.

    A printed row is there once for each set of hyperparameters. A value without hyperparameters is
    in the first of them.
    """
    columns = heads = list(artefact.panels if artefact.is_figure else artefact.columns)
    if artefact.is_figure:
        # The ledger has the best points of a figure, not what its panels show.
        best = f"best {next(iter(artefact.x), '')}"
        heads = [f"{best} by {panel}" if panel else best for panel in columns]
    rows = []
    for label, part in judged.groupby("row", sort=False):
        names = list(dict.fromkeys(filter(None, part["hyperparameters"]))) or [""]
        values = {
            (row["hyperparameters"] or names[0], row["column"]): _value(row, notes)
            for row in part.to_dict("records")
        }
        for name in names:
            cells = [values.get((name, column), Value("")) for column in columns]
            rows.append(([str(label), name], cells))
    return Block(title, ["Row", "Hyperparameters"], heads, rows)


def _value(row: dict, notes: dict[str, int]) -> Value:
    """Return a value as one text, with the symbol of its verdict and the number of its note."""
    value = value_text(row, both_intervals=True)
    substitute = f"substitute: {row['substitute']}" if row["substitute"] else ""
    parts = [row["provenance"], substitute, row["repeats"], row["reason"]]
    note = ". ".join(filter(None, parts))
    number = f"[{notes.setdefault(note, len(notes) + 1)}]" if note else ""
    return Value(" ".join(filter(None, [LOOKS[row["verdict"]].colour, *value.parts, number])))


def _sign(verdict: str) -> str:
    """Return a verdict with its colour and its mark."""
    mark = f" {MARKS[verdict]}" if verdict in MARKS else ""
    return f"{LOOKS[verdict].colour}{mark} {verdict}"


COMPARED = ["published", "verdict"]
SIDE_BY_SIDE = 2  # columns of a table; more are below each other


def compared_scores(frame: pd.DataFrame, artefact: Artefact) -> list[list[str]]:
    """Return our scores of a table next to the published ones, as cells, the heads first.

    Values that were not run are left out, and so are those of systems tuned on dev.

    Args:
        frame: The csv of the table, columns FRAME.
    """
    is_shown = frame["block"].eq(IN_PAPER) & frame["kind"].eq(SCORE)
    is_shown &= frame["hyperparameters"].ne(TUNED)
    rows = frame[is_shown & frame["published"].notna() & frame["mean"].notna()]
    cells = {(row["row"], row["column"]): _compared(row) for row in rows.to_dict("records")}
    names, columns = rows["row"].unique(), rows["column"].unique()
    label = "System" if artefact.systems_in == "row" else ""
    if len(columns) <= SIDE_BY_SIDE:
        heads = [text for column in columns for text in (f"{column}: ours", *COMPARED)]
        lines = [
            [name, *(text for column in columns for text in cells.get((name, column), [""] * 3))]
            for name in names
        ]
        return [[label, *heads], *lines]
    first = dict(reversed(cells))  # the column of each row's first line
    lines = [
        [name if first[name] == column else "", column, *texts]
        for (name, column), texts in cells.items()
    ]
    return [[label, "" if label else "System", "ours", *COMPARED], *lines]


def _compared(row: dict) -> list[str]:
    """Return our value with its interval, the published one, and the verdict."""
    value, verdict = value_text(row), row["verdict"]
    judged = f"{LOOKS[verdict].colour} {verdict}{SUBSTITUTE * bool(row['substitute'])}"
    if verdict == NOT_COMPARABLE:
        judged = f"{value.mark}, {OUR_DATA}"
    ours = two_lines(value.ours, value.interval)
    return [unbroken(ours), value.published.strip("()"), unbroken(judged)]


PRIMARY_CLAIMS = "Primary claims"
LABELS = ["Claim", "Where", "Judged on", "Verdict"]
COLUMNS = [
    "Effect", "Ratio", "p-value", "Items", "Seeds", "Detectable", "Power", "Needed", "Evidence",
    "Beside",
]  # fmt: skip
FORMS = {
    "effect_ratio": "{effect_ratio:.2f}",
    "p_value": "{p}",
    "n_items": "{n_items}",
    "n_seeds": "{n_seeds}",
    "detectable": "{detectable:.3f}",
    "power": "{power:.0%} at {paper_effect:+.3f}",
    "items_needed": "{items_needed:.0f}",
}
CLAIMS_LEGEND = (
    PAIRED_TEST,
    "Evidence: for each comparison both means over questions and seeds, their difference, and its "
    "p-value, uncorrected. Costs are compared by interleaved training steps of both systems.",
    "Beside: the means of strong simple systems, our choice, on the same questions.",
    "Verdict: a claim holds if as many of its comparisons as it needs are true, and fails if so "
    "many are reversed that it cannot hold (partial conjunction). If the claim names a tolerance, "
    "a comparison is true down to it.",
    "Primary: the one judgement that decides a primary claim, fixed before the run. Its other "
    "protocols and hyperparameters are its sensitivity, and are not corrected.",
    "Correction: Holm's, for the primary judgements of a paper, and for its secondary claims with "
    "the same hyperparameters. Our own secondary claims are corrected separately.",
    "Effect: that of the deciding comparison; for costs, how many times cheaper the better side "
    "is. Ratio: our effect over the published one.",
    "Items: questions, or the pairs that analogies ask for; all sentence pairs that templates make "
    "of one pair of words are one item.",
    f"{EQUIVALENT.capitalize()}: one comparison of scores, not decided, whose difference is below "
    "half of the published one, or below the margin that the claim names, by two one-sided tests. "
    f"{UNDECIDED.capitalize()}: all others.",
    f"Detectable: the smallest true difference that these data find with probability {POWER:.0%}. "
    "Power: the probability of finding the paper's own difference if it is true. Needed: the "
    f"items for a power of {POWER:.0%}; empty if no number suffices with so few seeds.",
    "Cross-validated: all questions of the subset; each fold is tested by systems trained on the "
    "others, with the paper's hyperparameters; the test allows for training sets that overlap. "
    "This is not the paper's protocol.",
    LEARNED,
    "Tuned on dev: each system with the hyperparameters that its dev split prefers. A claim has "
    "no such row if one of its trained systems is not tuned.",
)


def claims_table(frame: pd.DataFrame, papers: Iterable[Paper], config: Config) -> Table:
    """Return the primary claims, the number of verdicts, and the claims of each paper.

    `frame` has the columns CLAIMS.
    """
    # A paper that was added to the configuration later has no verdicts yet.
    papers = [paper for paper in papers if paper.paper in set(frame["paper"])]
    primary = frame[frame["role"].eq(PRIMARY)].assign(role=SECONDARY)
    rows = [([p.paper, *labels], texts) for p in papers for labels, texts in _rows(primary, p)]
    blocks = [Block(PRIMARY_CLAIMS, ["Paper", *LABELS], COLUMNS, rows)] if rows else []
    blocks += [_claim_counts(frame), *(b for p in papers for b in claim_blocks(p, frame))]
    no_verdict = f"{OTHER_DATA.capitalize()}: no verdict is about a paper."
    notes = [] if config.comparable else [no_verdict]
    notes += [
        f"Intervals: {percent(config)}. Level: {significance_level(config.bootstrap):g}.",
        *CLAIMS_LEGEND,
    ]
    title = "Claims of the papers" if config.comparable else f"Claims ({OTHER_DATA})"
    return Table(title, blocks, [*notes, *(f"Claims of {paper.citation}" for paper in papers)])


IN_SHORT = ["Verdict", "Effect", "Questions", "Where"]


def claims_in_short(frame: pd.DataFrame, paper: Paper) -> list[list[str]]:
    """Return the claims of a paper as five Markdown cells each, the heads first; columns CLAIMS."""
    lines = [["Claim", *IN_SHORT]]
    for claim, (verdict, effect, items, where, _) in _rows_in_short(frame, paper):
        score = unbroken(two_lines(effect.ours, effect.interval))
        place = two_lines(where.ours, where.interval)
        lines.append([claim, unbroken(verdict.ours), score, items.ours, place])
    return lines


def claim_blocks(paper: Paper, frame: pd.DataFrame) -> list[Block]:
    """Return a block with the claims of a paper, and one with ours about it, if there are any."""
    return [
        Block(title, LABELS, COLUMNS, _rows(part, paper))
        for title, part in _by_origin(frame, paper)
    ]


def claim_blocks_in_short(paper: Paper, frame: pd.DataFrame) -> list[Block]:
    """Return these blocks with one column for all facts that the others do not show."""
    return [
        Block(
            title,
            ["Claim"],
            [*IN_SHORT, "Evidence"],
            [([claim], values) for claim, values in _rows_in_short(part, paper)],
        )
        for title, part in _by_origin(frame, paper)
    ]


def _by_origin(frame: pd.DataFrame, paper: Paper) -> Iterator[tuple[str, pd.DataFrame]]:
    of_paper = frame[frame["paper"].eq(paper.paper)]
    for title, is_ours in (("Claims of", False), ("Our claims about", True)):
        if len(part := of_paper[of_paper["ours"].eq(is_ours)]):
            yield f"{title} {paper.paper}", part


def _rows_in_short(frame: pd.DataFrame, paper: Paper) -> Iterator[tuple[str, list[Value]]]:
    """Yield each claim, its cells of IN_SHORT, and a last one with all other facts."""
    for (claim, where, judged, verdict), values in _rows(frame, paper):
        texts = {name: value.ours for name, value in zip(COLUMNS, values, strict=True)}
        effect, bracket, interval = texts.pop("Effect").partition(" [")
        items, evidence = texts.pop("Items"), texts.pop("Evidence")
        facts = [f"{name.lower()} {text}" for name, text in texts.items() if text]
        yield (
            claim,
            [
                Value(verdict),
                Value(effect, f"[{interval}" if bracket else ""),
                Value(items),
                Value(where, judged),
                Value("; ".join(filter(None, [*facts, evidence]))),
            ],
        )


def judged_on(row: dict, paper: Paper) -> str:
    """Return the data and the hyperparameters that a verdict on a paper rests on."""
    if row["protocol"] == STEPS:
        return "interleaved training steps"
    is_cross_validated = row["protocol"] == FOLDS
    data = "all questions, cross-validated" if is_cross_validated else "the test questions"
    which = {TUNED: ", hyperparameters tuned on dev", "": ""}
    return data + which.get(row["hyperparameters"], f", {paper.hyperparameters}")


def _rows(frame: pd.DataFrame, paper: Paper) -> list[tuple[list[str], list[Value]]]:
    rows = []
    for row in frame[frame["paper"].eq(paper.paper)].to_dict("records"):
        row["p"] = p_text(row["p_value"])
        texts = [
            effect_text(row["effect"], row, row["kind"]) if pd.notna(row["p_value"]) else "",
            *("" if pd.isna(row[name]) else form.format(**row) for name, form in FORMS.items()),
            "; ".join(filter(None, [row["evidence"], row["reason"]])),
            row["beside"],
        ]
        role = "" if row["role"] == SECONDARY else f" ({row['role']})"
        claim = f"{row['text']}{role}"
        verdict = f"{CLAIM_MARKS[row['verdict']]} {row['verdict']}"
        labels = [claim, paper.claims[row["claim"]].where, judged_on(row, paper), verdict]
        rows.append((labels, list(map(Value, texts))))
    return rows


def _claim_counts(frame: pd.DataFrame) -> Block:
    labels = frame["role"].where(~frame["ours"], frame["role"] + ", ours")
    keys = ["paper", "kind", "protocol", "hyperparameters"]
    groups = frame.assign(kind=labels).groupby(keys, sort=False, dropna=False)["verdict"]
    rows = [
        (list(names), [Value(str(verdicts.eq(verdict).sum())) for verdict in CLAIM_MARKS])
        for names, verdicts in groups
    ]
    heads = [f"{mark} {verdict}" for verdict, mark in CLAIM_MARKS.items()]
    return Block("Verdicts", ["Paper", "Claims", "Protocol", "Hyperparameters"], heads, rows)
