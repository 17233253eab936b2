"""The cross-fitted systems as a figure."""

import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from analogyqa.measures import MEASURES
from analogyqa.report.crossfit import EVERY
from analogyqa.report.figures import COLOURS, STYLE, finish, seeds_of
from analogyqa.report.ledger import NOT_RUN, OTHER_DATA
from analogyqa.settings.run import Config
from analogyqa.settings.studies import Crossfit

LETTERS_OF_LABEL = 40


def draw_crossfit(
    frame: pd.DataFrame, config: Config, study: Crossfit, files: dict[str, str | Path]
) -> None:
    """Draw the main measure of every system, a panel for each data set; same data, same bytes.

    Args:
        frame: of columns CROSSFIT.
        config: the titles, and what the intervals are.
        study: what was cross-fitted.
        files: format (png, svg) to path.
    """
    measure = study.measures[0]
    shown = frame[(frame["measure"] == measure) & (frame["origin"] == EVERY)]
    datasets, systems = shown["dataset"].unique(), list(shown["system"].unique())
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(
            ncols=max(1, len(datasets)),
            figsize=(2.4 + 3.6 * max(1, len(datasets)), 1.9 + 0.36 * len(systems)),
            layout="constrained",
            sharey=True,
            squeeze=False,
        )
        for axes, dataset in zip(panels.flat, datasets, strict=False):
            part = shown[shown["dataset"] == dataset].set_index("system").reindex(systems)
            for row, values in enumerate(part.to_dict("records")):
                if pd.isna(values["mean"]):
                    axes.text(0.5, row, NOT_RUN, transform=axes.get_yaxis_transform(), ha="center")
                    continue
                # The first system is the one that the others are compared with.
                colour = COLOURS[1 if row == 0 else 0]
                axes.plot([values["ci_low"], values["ci_high"]], [row, row], color=colour)
                if pd.notna(values["run_low"]):
                    run = [values["run_low"], values["run_high"]]
                    axes.plot(run, [row, row], color=colour, linewidth=5, alpha=0.35)
                axes.plot(values["mean"], row, marker="o", color=colour)
                axes.annotate(
                    f"{values['mean']:.3f}", (values["mean"], row), (0, 6),
                    textcoords="offset points", ha="center", fontsize="small",
                )  # fmt: skip
            count = part["n_items"].max()
            title = config.datasets[dataset].title
            heading = f"{title}, {count} questions" if pd.notna(count) else title
            axes.set_title(heading, fontsize="medium")
            axes.set_xlabel(MEASURES[measure].title)
            axes.grid(axis="x", alpha=0.3)
        first = panels.flat[0]
        titles = (config.systems[name].title for name in systems)
        labels = ["\n".join(textwrap.wrap(title, LETTERS_OF_LABEL)) for title in titles]
        first.set_yticks(range(len(systems)), labels)
        first.set_ylim(len(systems) - 0.4, -0.8)
        lines = [
            f"Cross-fitting: all questions of {study.subset}, in {study.folds} folds",
            f"thin: {config.bootstrap.confidence:.0%} intervals over questions and "
            f"{seeds_of(shown)} seeds; thick: where one further run would lie",
        ]
        finish(figure, "\n".join(lines + ([] if config.comparable else [OTHER_DATA])), files)
