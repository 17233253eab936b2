"""Write the values of a reference run into papers/sample/paper.yaml, where a paper has its own.

The run has one seed, which is none of the demo's, and trains the baseline with dropout:

snakemake --cores 2 --configfile sample/config.yaml --config output_dir=results/reference \
    "seeds={default: [100], comb: [100], cross_validation: [100]}" \
    "systems={similarity: {training: {dropout: 0.5}}}"
python sample/reference.py results/reference
"""

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from analogyqa.evaluation.published import FRAME, IN_PAPER
from analogyqa.evaluation.summary import FIGURE, find_records, read_csv, read_record
from analogyqa.settings.artefacts import Artefact
from analogyqa.settings.coordinates import COUNT
from analogyqa.settings.load import PAPERS
from analogyqa.settings.paper import load_paper

PAPER = PAPERS / "sample" / "paper.yaml"


def printed_values(results: Path, name: str, artefact: Artefact) -> dict[str, list[str]]:
    """Return the values of each row of a table, or the best point of each line of a figure."""
    if artefact.is_figure:
        points = read_csv(results / "figures" / "sample" / f"{name}.csv", FIGURE)
        best = points.loc[points.groupby(["line", "panel"], sort=False)["mean"].idxmax()]
        return best.groupby("line", sort=False)["x"].agg(list).to_dict()
    table = read_csv(results / "tables" / "sample" / f"{name}.csv", FRAME)
    rows = table[table["block"].eq(IN_PAPER)]
    digits = 0 if rows["kind"].eq(COUNT).all() else 3
    texts = rows.assign(text=rows["mean"].map(f"{{:.{digits}f}}".format))
    return texts.groupby("row", sort=False)["text"].agg(list).to_dict()


def with_values(text: str, name: str, values: dict[str, list[str]]) -> str:
    """Return the text of a paper.yaml with other values of an artefact, if it has values."""
    lines = "".join(f"      {row}: [{', '.join(texts)}]\n" for row, texts in values.items())
    section = rf"(?m)(^  {name}:\n(?:    .*\n)*?    (?:published|best):).*\n(?:      .*\n)*"
    return re.sub(section, lambda match: f"{match[1]}\n{lines}", text, count=1)


def main(results: Path) -> None:
    record = read_record(next(iter(find_records(results).values())))
    text = PAPER.read_text("utf-8")
    for name, artefact in load_paper(PAPER).artefacts.items():
        text = with_values(text, name, printed_values(results, name, artefact))
    run = f"seed {record['seeds'][0]}, commit {record['git_commit'][:8]}"
    citation = f'"Ours: a reference run of the sample ({run}, {datetime.now(UTC):%Y-%m-%d})"'
    text = re.sub(r"(?m)^citation: .*$", f"citation: {citation}", text)
    PAPER.write_text(text, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
