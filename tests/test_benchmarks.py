"""The page of performance shows the recorded results, and its commands exist."""

from pathlib import Path

from builders.projects import load_script

ROOT = Path(__file__).parents[1]
performance = load_script(ROOT / "benchmarks" / "performance.py")
moves = load_script(ROOT / "benchmarks" / "moves.py")


def test_the_page_is_rendered_from_the_results():
    assert performance.PAGE.read_text(encoding="utf-8") == performance.render()


def test_the_page_of_what_moves_a_score_is_rendered_from_its_rows():
    assert moves.PAGE.read_text(encoding="utf-8") == moves.render()


def test_only_retired_goals_have_a_command_that_is_gone():
    goals, gone = performance.read_goals(), set()
    for row in performance.newest_results().to_dict("records"):
        if not (ROOT / row["command"].split()[1]).exists():
            gone.add(row["goal"])
    assert gone == {name for name, goal in goals.items() if goal.get("retired")}
