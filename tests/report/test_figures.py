"""The figures: their data, and files that depend on nothing else."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from analogyqa.plan import cells_of
from analogyqa.report.figures import FIGURE, build_figure, draw_figure
from analogyqa.report.summary import SUMMARY, read_csv, typed, write_csv
from analogyqa.settings.paper import load_paper
from analogyqa.settings.run import Config, load_config

PAPERS = Path(__file__).parents[2] / "papers"
PAPER = load_paper(PAPERS / "diallo2019" / "paper.yaml")
WORKSHOP = load_paper(PAPERS / "lwda2019" / "paper.yaml")


def make_config(datasets=("wikiqa", "trecqa"), **changes) -> Config:
    dataset = {"reader": "wikiqa", "train": "a", "dev": "b", "test": "c"}
    model = {"title": "Analogy", "encoder": "bigru", "vectors": "wiki", "ranker": "analogy"}
    values = {
        "output_dir": "results",
        "seeds": 2,
        "datasets": {name: dataset | {"title": name.upper()} for name in datasets},
        "vectors": {"wiki": {"source": "wiki.vec"}},
        "models": {"analogy": model, "lwda": model},
        "prototypes": {"p": 30, "curve": [10, 30]},
    }
    return load_config(values | changes)


def make_summary(config: Config) -> pd.DataFrame:
    rows = [
        {
            **cell._asdict(),
            "metric": metric,
            "mean": 0.6 + cell.p / 1000 + (metric == "mrr") / 100,
            "sd": 0.01,
            "ci_low": 0.5,
            "ci_high": 0.7,
            "n_seeds": 2,
            "n_questions": 20,
        }
        for cell in cells_of(config)
        for metric in ("map", "mrr")
    ]
    return typed(rows, SUMMARY)


def make_figure(name: str, config: Config) -> pd.DataFrame:
    return build_figure(PAPER, name, make_summary(config), config)


def draw(frame: pd.DataFrame, config: Config, folder: Path) -> dict[str, bytes]:
    files = {kind: folder / f"figure.{kind}" for kind in ("png", "svg")}
    draw_figure(frame, PAPER, "figure7", config, files)
    return {kind: path.read_bytes() for kind, path in files.items()}


def test_there_is_a_row_for_each_data_set_and_p_of_the_curve():
    frame = make_figure("figure6", make_config())
    rows = frame[["dataset", "metric", "p", "mean"]].to_numpy().tolist()
    assert rows == [
        ["wikiqa", "map", 10, 0.61],
        ["wikiqa", "map", 30, 0.63],
        ["trecqa", "map", 10, 0.61],
        ["trecqa", "map", 30, 0.63],
    ]


@pytest.mark.parametrize(
    ("name", "dataset", "place"),
    [
        ("figure6", "wikiqa", ("table3", "This work", 0)),
        ("figure7", "wikiqa", ("table3", "This work", 1)),
        ("figure7", "trecqa", ("table5", "Comb.", 2)),
    ],
)
def test_the_published_value_of_the_tables_stands_at_the_best_p(name, dataset, place):
    table, row, column = place
    frame = make_figure(name, make_config()).set_index(["dataset", "p"])["published"]
    best = PAPER.artefacts[name].published["WikiQA"][0]
    assert frame.loc[dataset].dropna().to_dict() == {
        best: PAPER.artefacts[table].published[row][column]
    }


def test_a_figure_of_two_metrics_has_the_rows_of_both():
    config = make_config()
    frame = build_figure(WORKSHOP, "figure1", make_summary(config), config)
    assert len(frame) == 8
    at_30 = frame[frame["p"] == 30].set_index(["metric", "dataset"])
    assert at_30["mean"].to_dict() == {
        ("map", "wikiqa"): 0.63,
        ("map", "trecqa"): 0.63,
        ("mrr", "wikiqa"): 0.64,
        ("mrr", "trecqa"): 0.64,
    }
    published = WORKSHOP.artefacts["table1"].published["This work"]
    assert at_30["published"].dropna().to_dict() == {
        ("map", "wikiqa"): published[0],
        ("mrr", "wikiqa"): published[1],
    }


def test_a_figure_of_two_metrics_has_a_panel_for_each(tmp_path):
    config = make_config()
    frame = build_figure(WORKSHOP, "figure1", make_summary(config), config)
    # As text, not as outlines, so that it can be found.
    with plt.rc_context({"svg.fonttype": "none"}):
        draw_figure(frame, WORKSHOP, "figure1", config, {"svg": tmp_path / "figure.svg"})
    text = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    for label in ("Mean average precision", "Mean reciprocal rank", "WIKIQA", "WikiQA, published"):
        assert text.count(f">{label}<") == 1


def test_what_no_table_prints_is_not_marked():
    frame = make_figure("figure6", make_config())
    assert frame.loc[frame["dataset"] == "trecqa", "published"].isna().all()


def test_a_data_set_that_the_paper_lacks_comes_last_without_published_values():
    frame = make_figure("figure7", make_config(datasets=("mine", "wikiqa")))
    assert frame["dataset"].unique().tolist() == ["wikiqa", "mine"]
    assert frame.loc[frame["dataset"] == "mine", "published"].isna().all()


def test_the_published_value_stands_alone_where_the_curve_lacks_its_p():
    config = make_config(prototypes={"p": 5, "curve": [5, 10]})
    alone = make_figure("figure7", config).set_index(["dataset", "p"]).loc[("wikiqa", 30)]
    assert pd.isna(alone["mean"])
    assert alone["published"] == PAPER.artefacts["table3"].published["This work"][1]


def test_without_a_curve_the_configured_p_is_the_only_point():
    frame = make_figure("figure7", make_config(prototypes={"p": 30, "curve": []}))
    assert frame["p"].tolist() == [30, 30]


def test_the_data_survive_the_round_trip(tmp_path):
    frame = make_figure("figure7", make_config())
    write_csv(frame, tmp_path / "figure.csv")
    pd.testing.assert_frame_equal(read_csv(tmp_path / "figure.csv", FIGURE), frame)


def test_the_same_data_give_the_same_bytes(tmp_path):
    config = make_config()
    frame = make_figure("figure7", config)
    assert draw(frame, config, tmp_path / "a") == draw(frame, config, tmp_path / "b")


def test_other_data_give_another_picture(tmp_path):
    config = make_config()
    frame = make_figure("figure7", config)
    moved = frame.assign(mean=frame["mean"] + 0.05)
    one, other = draw(frame, config, tmp_path / "a"), draw(moved, config, tmp_path / "b")
    assert one["png"] != other["png"]
    assert one["svg"] != other["svg"]


def test_the_files_bear_no_date_and_are_sharp_enough_for_print(tmp_path):
    config = make_config()
    files = draw(make_figure("figure7", config), config, tmp_path)
    assert b"date>" not in files["svg"]
    assert b"tEXt" not in files["png"]
    assert int.from_bytes(files["png"][16:20], "big") >= 6 * 150


@pytest.mark.parametrize("curve", [[], [30], [5]])
def test_a_single_point_and_no_run_at_all_can_be_drawn(tmp_path, curve):
    config = make_config(prototypes={"p": 30, "curve": curve})
    full = make_figure("figure7", config)
    empty = build_figure(PAPER, "figure7", make_summary(config).iloc[:0], config)
    assert draw(full, config, tmp_path / "a") != draw(empty, config, tmp_path / "b")


def test_a_drawing_that_fails_leaves_the_earlier_figure(tmp_path):
    config = make_config()
    frame = make_figure("figure7", config)
    before = draw(frame, config, tmp_path)
    with pytest.raises(ValueError, match="nonsense"):
        draw_figure(frame, PAPER, "figure7", config, {"nonsense": tmp_path / "figure.png"})
    assert (tmp_path / "figure.png").read_bytes() == before["png"]
