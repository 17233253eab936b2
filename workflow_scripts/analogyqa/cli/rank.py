"""`analogyqa rank`."""

import sys
from typing import Annotated

import typer

from analogyqa.cli.explain import show
from analogyqa.cli.options import JsonOption, ResultsOption, SeedOption, results_folder
from analogyqa.files import decode_text, read_bytes, split_lines


def rank(
    run: Annotated[
        str, typer.Option(help="A run below runs/, such as analogy/wikiqa/comb/default.")
    ],
    question: Annotated[str, typer.Option(help="The question.")],
    candidates: Annotated[str, typer.Option(help="A file with a candidate in each line, or -.")],
    results: ResultsOption = None,
    seed: SeedOption = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show the most similar prototypes and the deciding words."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Rank answers to a question of yours with a system of a finished run.

    Example: `analogyqa rank --run bm25/wikiqa/comb/default --question "who is it?" --candidates -
    --results results/demo`
    """
    from analogyqa.model import Model

    data = sys.stdin.buffer.read() if candidates == "-" else read_bytes(candidates)
    name = "the standard input" if candidates == "-" else candidates
    lines = [line for _, line in split_lines(decode_text(data, name), name) if line.strip()]
    model = Model.load(results_folder(results), run, seed)
    if explain:
        show(model.explain(question, lines), as_json)
        return
    ranked = model.rank(question, lines)
    if as_json:
        print(ranked.to_json(orient="records", indent=2))
        return
    for place, row in enumerate(ranked.to_dict("records"), 1):
        print(f"{place:3}  {row['score']:.4f}  {row['candidate']}")
        if row["unknown"]:
            print(f"             ignored, as they have no vector: {row['unknown']}")
        if "prototype_question" in row:
            print(f"             like: {row['prototype_question']} {row['prototype_answer']}")
