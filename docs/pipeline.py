"""Draw the pipeline, as Snakemake knows it, into docs/pipeline.svg.

python docs/pipeline.py
"""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import networkx as nx
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from analogyqa.report.style import INK, own_style, write_figure

ROOT = Path(__file__).parents[1]
STAGES = {  # rule file to colour
    "sources": "#b5b5b5",
    "corpora": "#9fbfdc",
    "analogies": "#93c47d",
    "vectors": "#b5cfa9",
    "quadruples": "#dccb84",
    "runs": "#dea66b",
    "report": "#b4a7d6",
}
# The hyperparameters that dev chose are trained again, on all subsets.
BACK = ["choose_hyperparameters", "train_encoder"]
WIDTH, HEIGHT = 2.1, 0.42


def rule_graph() -> tuple[dict[int, str], list[tuple[int, int]]]:
    """Return the rules of a run of the sample that start a process, and which needs which."""
    command = [sys.executable, "-m", "snakemake", "--rulegraph", "dot", "--configfile"]
    changes = ["output_dir=results/pipeline"]
    done = subprocess.run(
        [*command, "sample/config.yaml", "--config", *changes],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    names = {int(n): name for n, name in re.findall(r'(\d+)\[label = "(\w+)"', done.stdout)}
    edges = [(int(a), int(b)) for a, b in re.findall(r"(\d+) -> (\d+)", done.stdout)]
    shown = {number: name for number, name in names.items() if name != "all"}
    return shown, [(a, b) for a, b in edges if a in shown and b in shown]


def stage_of(name: str) -> str:
    """Return the rule file that defines a rule, also one made by `use rule ... as`."""
    defined = re.compile(rf"\brule (?:\w+ as )?{name}\b(?! as)")
    return next(
        stage for stage in STAGES if defined.search((ROOT / f"rules/{stage}.smk").read_text())
    )


def main() -> None:
    rules, edges = rule_graph()
    back = [edge for edge in edges if [rules[end] for end in edge] == BACK]
    graph = nx.transitive_reduction(nx.DiGraph([edge for edge in edges if edge not in back]))
    depth = {
        rule: layer for layer, column in enumerate(nx.topological_generations(graph))
        for rule in column
    }  # fmt: skip
    columns = defaultdict(list)
    for rule in sorted(rules, key=lambda rule: (list(STAGES).index(stage_of(rules[rule])), rule)):
        columns[depth[rule]].append(rule)
    place = {
        rule: (column * 2.75, (len(rows) - 1) / 2 - row)
        for column, rows in columns.items()
        for row, rule in enumerate(rows)
    }
    figure = Figure((13, 3.6), layout="constrained")
    axes = figure.subplots()
    # Snakemake numbers and lists them differently each time.
    for first, second in sorted([*graph.edges, *back], key=lambda edge: [rules[k] for k in edge]):
        (x0, y0), (x1, y1) = place[first], place[second]
        start, end = (x0 + WIDTH / 2, y0), (x1 - WIDTH / 2, y1)
        arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 0.9, "shrinkB": 0}
        if (first, second) in back:
            start, end = (x0, y0 + HEIGHT / 2), (x1, y1 + HEIGHT / 2)
            arrow["connectionstyle"] = "arc3,rad=0.3"
        axes.annotate("", end, start, arrowprops=arrow, zorder=0)
    for rule, (x, y) in place.items():
        colour = STAGES[stage_of(rules[rule])]
        box = Rectangle((x - WIDTH / 2, y - HEIGHT / 2), WIDTH, HEIGHT, facecolor=colour)
        box.set(edgecolor=INK, linewidth=0.8)
        axes.add_patch(box)
        text = rules[rule].replace("_", " ").removeprefix("build ")
        axes.text(x, y, text, ha="center", va="center", fontsize=8, color="black")
    handles = [Rectangle((0, 0), 1, 1, facecolor=colour) for colour in STAGES.values()]
    labels = [f"rules/{stage}.smk" for stage in STAGES]
    used = [stage_of(name) for name in rules.values()]
    chosen = [index for index, stage in enumerate(STAGES) if stage in used]
    figure.legend([handles[i] for i in chosen], [labels[i] for i in chosen], ncols=7,
                  loc="outside lower center", frameon=False, fontsize=8)  # fmt: skip
    axes.set_axis_off()
    axes.autoscale_view()
    axes.set_aspect("auto")
    write_figure(figure, "svg", Path(__file__).with_suffix(".svg"))


if __name__ == "__main__":
    with own_style():
        main()
