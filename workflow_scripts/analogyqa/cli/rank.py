"""`analogyqa rank`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from analogyqa.cli.explain import show
from analogyqa.cli.options import JsonOption, ResultsOption, SeedOption, results_folder
from analogyqa.errors import AnalogyQAError


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

    lines = [line for line in _read(candidates).splitlines() if line.strip()]
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


def _read(path: str) -> str:
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return data.decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise AnalogyQAError(
            f"{path}: cannot be read ({reason}). Name a file with a candidate in each line, or -"
        ) from error
