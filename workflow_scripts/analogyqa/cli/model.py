"""`analogyqa explain` and `rank`: use a trained model."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analogyqa.cli.options import JsonOption, ResultsOption, SeedOption, results_folder
from analogyqa.files import decode_text, read_bytes, split_lines

if TYPE_CHECKING:
    from analogyqa.schemas import Explanation


def explain(
    question_id: Annotated[str, typer.Argument(help="A question of test or dev, such as Q280.")],
    run: Annotated[str, typer.Option(help="A run below runs/, such as analogy/wikiqa/comb.")],
    results: ResultsOption = None,
    seed: SeedOption = None,
    output: Annotated[
        Path | None, typer.Option(help="Draw a picture into this file: .svg or .png.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Explain how a run ranked the answers to a question.

    A system that ranks by analogy has a picture: --output draws the shifts, question minus answer,
    of the candidates and the prototypes.

    Example: `analogyqa explain Q280 --run analogy/wikiqa/comb --results results/demo`
    """
    from analogyqa.model import Model
    from analogyqa.report.explanation_figure import picture_format, save_picture

    if output:
        picture_format(output)
    model = Model.load(results_folder(results), run, seed)
    explanation = model.explain_question(question_id)
    if output:
        save_picture(explanation, output)
    _show(explanation, as_json)


def _show(explanation: "Explanation", as_json: bool) -> None:
    from analogyqa.report.explained import terminal_lines

    lines = terminal_lines(explanation)
    print(explanation.model_dump_json(indent=2) if as_json else "\n".join(lines))


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
        _show(model.explain(question, lines), as_json)
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
