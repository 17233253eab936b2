"""The data of figures, and the drawn files."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

import matplotlib
import pandas as pd
import pytest
from matplotlib.figure import Figure

from analogyqa.evaluation.summary import Results
from analogyqa.report import style
from analogyqa.report.explained import save_picture
from analogyqa.report.figures import build_figure, draw_figure, draw_sensitivity
from analogyqa.settings.paper import Paper, build_own_paper
from analogyqa.settings.run import Config
from analogyqa.settings.vectors import Vectors
from builders.golden import figure_text
from builders.report import (
    CONFERENCE,
    WORKSHOP,
    draw,
    drawn_text,
    make_config,
    make_explanation,
    make_paper,
    make_summary,
)
from report.test_sensitivity import CONFIG as SENSITIVITY_CONFIG
from report.test_sensitivity import make_frame

LONG_NAMES = [f"vectors-of-a-name-that-is-much-too-long-{number}" for number in range(4)]
POINTS = {"sweeps": {"p": [10, 30]}}
CELLS = {"system": "analogy", "dataset": "wikiqa", "subset": "comb", "measure": "mrr"}
COMB = {"subset": "comb", "measure": "mrr"}
AGGREGATES = {"aggregate": ["max", "mean"]}
DATA = {"WikiQA": {"dataset": "wikiqa"}, "TrecQA": {"dataset": "trecqa"}}
TINY = make_paper(
    {
        "table1": {
            "title": "Two axes",
            "cells": CELLS,
            "columns": {"max": {"aggregate": "max"}, "mean": {"aggregate": "mean"}},
            "rows": {"10": {"p": 10}, "30": {"p": 30}},
            "published": {"10": [0.61, 0.55], "30": [0.68, "-"]},
        },
        "figure1": {"title": "Heat", "cells": CELLS, "x": {"p": [10, 30]}, "y": AGGREGATES},
        "figure2": {
            "title": "Losses",
            "cells": COMB,
            "x": {"loss": ["printed", "hinge"]},
            "lines": {"Analogy": {"system": "analogy"}, "Baseline": {"system": "similarity"}},
            "panels": DATA,
            "references": {"MP-CNN": 0.693},
        },
        "figure3": {
            "title": "Rates",
            "cells": CELLS,
            "x": {"learning_rate": [0.0001, 0.001, 0.1]},
            "lines": {"One": {}},
        },
        "figure4": {
            "title": "Long names",
            "cells": CELLS,
            "x": {"vectors": LONG_NAMES},
            "lines": {"One": {}},
        },
        "figure5": {
            "title": "Systems",
            "cells": {"dataset": "wikiqa"} | COMB,
            "x": {"system": ["glove", "similarity"]},
            "lines": {"One": {}},
        },
    }
)
OWN_DATA_CONFIG = make_config(datasets=("mine",))
OWN_DATA_PAPER = build_own_paper(OWN_DATA_CONFIG)


def mean_of(cell, measure) -> float:
    overrides = dict(cell.overrides)
    return (
        0.6
        + int(overrides.get("p", 30)) / 1000
        + (measure == "mrr") / 100
        - 0.2 * (overrides.get("aggregate") == "mean")
    )


def make_figure(name: str, config: Config | None = None, paper: Paper = CONFERENCE) -> pd.DataFrame:
    config = config or make_config(**POINTS)
    return build_figure(paper, name, Results(make_summary(config, paper, mean=mean_of)), config)


def drawing(name: str, paper: Paper, config: Config | None = None) -> Callable:
    config = config or make_config()
    vectors = config.vectors | dict.fromkeys(LONG_NAMES, Vectors(source="words"))
    config = config.model_copy(update={"vectors": vectors})
    return partial(draw_figure, make_figure(name, config, paper), paper, name, config)


def drawing_of_sensitivity(**means: float) -> Callable:
    study = SENSITIVITY_CONFIG.studies["diallo2019"].sensitivity
    return partial(draw_sensitivity, make_frame(**means), SENSITIVITY_CONFIG, study)


class TestData:
    @pytest.mark.parametrize(
        ("paper", "name", "line", "panel", "published"),
        [
            (CONFERENCE, "figure6", "WikiQA", "MAP", 0.6771),
            (CONFERENCE, "figure6", "TrecQA", "MAP", None),  # in no table
            (CONFERENCE, "figure7", "TrecQA", "MRR", 0.909),
            (WORKSHOP, "figure1", "WikiQA", "MRR", 0.6841),
        ],
    )
    @pytest.mark.parametrize("points", [["10", "30"], [5, 10]], ids=["as text", "without the best"])
    def test_the_published_value_is_at_the_best_point(
        self, paper, name, line, panel, published, points
    ):
        frame = make_figure(name, make_config(sweeps={"p": points}), paper)
        rows = frame[frame["line"].eq(line) & frame["panel"].eq(panel)].set_index("x")
        assert list(rows.index) == list(dict.fromkeys([*map(str, points), "30"]))
        assert {*rows["dataset"], *rows["measure"]} == {line.lower(), panel.lower()}
        assert rows["published"].dropna().to_dict() == ({"30": published} if published else {})
        assert pd.isna(rows.loc["30", "mean"]) == ("30" not in points)

    def test_configured_points_replace_those_of_both_axes(self):
        config = make_config(sweeps={"p": [5], "aggregate": ["mean"]})
        frame = make_figure("figure1", config, TINY)
        assert frame[["x", "y", "reason"]].to_numpy().tolist() == [["5", "mean", ""]]

    def test_missing_runs_have_a_reason(self):
        config = make_config(datasets=("wikiqa",))
        summary = make_summary(config, TINY)
        frame = build_figure(
            TINY, "figure2", Results(summary[summary["system"] == "analogy"]), config
        )
        reasons = frame.set_index(["panel", "line", "x"])["reason"].to_dict()
        assert reasons["WikiQA", "Analogy", "hinge"] == ""
        assert reasons["WikiQA", "Baseline", "hinge"] == "no run similarity/wikiqa/comb/loss=hinge"
        assert reasons["TrecQA", "Analogy", "hinge"] == "data set trecqa is not configured"


class TestDrawing:
    @pytest.mark.parametrize(
        ("name", "paper", "file"),
        [
            ("figure1", WORKSHOP, "two_panels"),
            ("figure1", TINY, "heat_map"),
            ("figure2", TINY, "words"),
            ("figure3", TINY, "close_numbers"),
            ("figure5", TINY, "systems"),
            ("figure1", OWN_DATA_PAPER, "own_data"),
        ],
    )
    def test_a_figure_is_as_reviewed(self, tmp_path, golden, name, paper, file):
        config = OWN_DATA_CONFIG if paper is OWN_DATA_PAPER else None
        golden(figure_text(drawing(name, paper, config), tmp_path), f"figures/{file}.txt")

    @pytest.mark.parametrize("name", ["figure1", "figure2", "figure3", "figure4"])
    def test_x_labels_do_not_overlap(self, monkeypatch, tmp_path, name):
        saved: list[Figure] = []
        with monkeypatch.context() as patch:
            patch.setattr(style, "write_figure", lambda figure, *_: saved.append(figure))
            drawing(name, TINY)({"png": tmp_path})
        (figure,) = saved
        for axes in figure.axes:
            labels = axes.get_xticklabels()
            assert len(labels) > 1
            # Rotated labels are parallel: their boxes may overlap, but not the labels.
            assert name == "figure4" or {label.get_rotation() for label in labels} == {0}
            boxes = [label.get_window_extent() for label in labels if not label.get_rotation()]
            assert not any(one.overlaps(other) for one, other in pairwise(boxes))

    def test_long_titles_are_wrapped(self, tmp_path):
        artefact = TINY.artefacts["figure2"]
        panels = {f"{'much ' * 30}{data}": value for data, value in artefact.panels.items()}
        artefact = artefact.model_copy(update={"title": "long " * 40, "panels": panels})
        paper = TINY.model_copy(update={"artefacts": {"figure2": artefact}})
        text = drawn_text(drawing("figure2", paper), tmp_path)
        assert text.count("much") == 60 and "much " * 20 not in text
        assert text.count("long") == 40 and "long " * 30 not in text

    @pytest.mark.parametrize("points", [[30], [5]])
    def test_a_single_point_can_be_drawn_with_or_without_a_run(self, tmp_path, points):
        config = make_config(sweeps={"p": points})
        empty = build_figure(CONFERENCE, "figure7", Results(make_summary(config)), config)
        draw_empty = partial(draw_figure, empty, CONFERENCE, "figure7", config)
        assert ">not run<" in drawn_text(draw_empty, tmp_path / "a")
        assert ">not run<" not in drawn_text(drawing("figure7", CONFERENCE, config), tmp_path / "b")

    def test_figures_of_other_data_say_so(self, tmp_path):
        config = make_config(comparable=False)
        text = drawn_text(drawing("figure7", CONFERENCE, config), tmp_path)
        assert ">our data are not the paper's<" in text


def drawing_of_explanation(*labels: int) -> Callable:
    def draw_explanation(files: dict[str, Path]) -> None:
        for path in files.values():
            save_picture(make_explanation(list(labels)), path)

    return draw_explanation


STYLE_OF_A_USER = {"text.usetex": True, "font.family": "serif", "font.size": 20, "axes.grid": True,
                   "figure.dpi": 50, "savefig.bbox": "tight"}  # fmt: skip


@pytest.mark.usefixtures("fewer_permutations")
@pytest.mark.parametrize(
    ("first", "other"),
    [
        (lambda: drawing("figure7", CONFERENCE), lambda: drawing("figure6", CONFERENCE)),
        (drawing_of_sensitivity, lambda: drawing_of_sensitivity(analogy_hinge=0.9)),
        (lambda: drawing_of_explanation(1, 0), lambda: drawing_of_explanation(0, 1)),
    ],
    ids=["lines", "sensitivity", "explanation"],
)
def test_files_depend_only_on_their_data(tmp_path: Path, first, other):
    files, backend = draw(first(), tmp_path / "a"), matplotlib.get_backend()
    with matplotlib.rc_context(STYLE_OF_A_USER):
        assert draw(first(), tmp_path / "b") == files
        assert matplotlib.rcParams["font.size"] == 20  # of the user's own figures
    assert matplotlib.get_backend() == backend
    different = draw(other(), tmp_path / "c")
    assert files["png"] != different["png"] and files["svg"] != different["svg"]
    assert b"date>" not in files["svg"] and b"tEXt" not in files["png"]
    assert int.from_bytes(files["png"][16:20], "big") >= 6 * 150  # sharp enough for print


def test_files_are_written_atomically(tmp_path: Path):
    files, draw_figure7 = {"nonsense": tmp_path / "figure.png"}, drawing("figure7", CONFERENCE)
    files["nonsense"].write_bytes(b"before")
    with pytest.raises(ValueError, match="nonsense"):
        draw_figure7(files)
    assert files["nonsense"].read_bytes() == b"before"
