"""`analogyqa explain`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analogyqa.cli.options import JsonOption, ResultsOption, SeedOption, results_folder

if TYPE_CHECKING:
    from analogyqa.schemas.explanations import Explanation


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
    show(explanation, as_json)


def show(explanation: "Explanation", as_json: bool) -> None:
    """Print an explanation."""
    from analogyqa.report.explained import terminal_lines

    if as_json:
        print(explanation.model_dump_json(indent=2))
    else:
        print("\n".join(terminal_lines(explanation)))
