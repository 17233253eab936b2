r"""Write the values of a reference run into papers/sample/paper.yaml, where a paper has its own.

The run has one seed, which is none of the demo's, and trains the baseline with two hyperparameters
of diallo2019, which are meant for more data:

snakemake --cores 2 --configfile sample/config.yaml --config output_dir=results/reference \
    "seeds=[100]" "systems={similarity: {training: {dropout: 0.5, learning_rate: 0.001}}}" -- \
    results/reference/{tables/sample/table{2,3,4,5},figures/sample/figure{6,7}}.csv
python sample/reference.py results/reference
"""

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from analogyqa.evaluation.published import FRAME
from analogyqa.evaluation.summary import FIGURE, find_records, read_csv, read_record
from analogyqa.settings.coordinates import COUNT
from analogyqa.settings.load import PAPERS

PAPER = PAPERS / "sample" / "paper.yaml"


def printed_values(path: Path) -> dict[str, list[str]]:
    """Return the values of each row of a table, or the best point of each line of a figure.

    `path` is the csv of the table or figure.
    """
    if path.stem.startswith("figure"):
        points = read_csv(path, FIGURE)
        best = points.loc[points.groupby(["line", "panel"], sort=False)["mean"].idxmax()]
        return best.groupby("line", sort=False)["x"].agg(list).to_dict()
    table = read_csv(path, FRAME)
    texts = [
        f"{mean:.0f}" if kind == COUNT else f"{mean:.3f}"
        for kind, mean in zip(table["kind"], table["mean"], strict=True)
    ]
    return table.assign(text=texts).groupby("row", sort=False)["text"].agg(list).to_dict()


def with_values(text: str, name: str, values: dict[str, list[str]]) -> str:
    """Return the text of a paper.yaml with other values of an artefact."""
    lines = "".join(f"      {row}: [{', '.join(texts)}]\n" for row, texts in values.items())
    section = rf"(?m)(^  {name}:\n(?:    .*\n)*?    (?:published|best):).*\n(?:      .*\n)*"
    return re.sub(section, lambda match: f"{match[1]}\n{lines}", text, count=1)


def main(results: Path) -> None:
    text = PAPER.read_text("utf-8")
    for path in sorted(results.glob("*/sample/*.csv")):
        text = with_values(text, path.stem, printed_values(path))
    record = read_record(next(iter(find_records(results).values())))
    run = f"Seed {record['seeds'][0]}, commit {record['git_commit'][:8]}"
    citation = f"Ours, a reference run (no paper). {run}, {datetime.now(UTC):%Y-%m-%d}."
    PAPER.write_text(re.sub(r"(?m)^citation: .*$", f'citation: "{citation}"', text), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
