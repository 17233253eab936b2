"""What moves a score besides the seed: the same cells with one thing changed, in moves.csv.

    python benchmarks/moves.py --with "Python 3.13=/path/to/python" --with "PyTorch 2.10=..."

Each level of each factor trains the seeds of a cell again, with everything else as before. The page
docs/what-moves-a-score.md compares them seed by seed. The real data need ANALOGYQA_MIRROR. What is
finished in results/moves is not repeated.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import torch
import yaml

from analogyqa.arithmetic import PORTABLE_VARIABLES
from analogyqa.measures import RANKED
from analogyqa.schemas import METRICS, SCORES, read_table

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
ROWS, PAGE = FOLDER / "moves.csv", ROOT / "docs" / "what-moves-a-score.md"
RESULTS = Path("results", "moves")  # below ROOT
MEASURES = [*RANKED][:2]
COLUMNS = ["date", "data", "cell", "factor", "level", "seed", *MEASURES, "change", "versions"]
COLUMNS += ["processor", "commit", "reason"]
BASE = "base"
RUN_SCRIPT = ROOT / "workflow_scripts" / "run_script.py"
# Runs a script as Python does, after a job has been told to use two threads.
TWO_THREADS = (
    "import runpy, sys, analogyqa.arithmetic as at; at.THREADS = 2; sys.argv.pop(0); "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)


class Level(NamedTuple):
    """One thing that differs from the base: variables, configuration, or how Python starts."""

    factor: str
    level: str
    variables: Mapping[str, str] = {}
    config: Mapping[str, object] = {}
    start: tuple[str, ...] = ()
    python: str = sys.executable


LEVELS = [
    Level("", BASE),
    Level("threads", "two", start=("-c", TWO_THREADS)),
    Level("instructions", "none", {"ATEN_CPU_CAPABILITY": "default"}),
    Level("instructions", "AVX2", {"ATEN_CPU_CAPABILITY": "avx2"}),
    Level("library", "MKL for all processors", {"MKL_CBWR": "COMPATIBLE"}),
    Level("library", "oneDNN for AVX2", {"ONEDNN_MAX_CPU_ISA": "AVX2"}),
    Level("arithmetic", "portable", config={"arithmetic": "portable"}),
    Level("precision", "bfloat16", config={"training": {"precision": "bfloat16"}}),
    Level("device", "GPU", config={"device": "cuda"}),
]
# Factors and levels for which --with names an interpreter, that of another environment.
GIVEN = [("Python", "3.13"), ("PyTorch", "2.10")]


class Data(NamedTuple):
    """A run whose cells are trained again."""

    title: str
    config: dict
    base: Path
    cells: list[str]


DATA = [
    Data(
        "WikiQA",
        {"seeds": 3, "papers": ["diallo2019"]},
        ROOT / "config.yaml",
        ["analogy/wikiqa/comb", "similarity/wikiqa/comb"],
    ),
    Data(
        "the demo",
        {"seeds": 5, "papers": ["diallo2019"]},
        ROOT / "sample" / "config.yaml",
        ["analogy/wikiqa/comb", "similarity/wikiqa/comb", "hyperqa/wikiqa/comb"],
    ),
]
SHARED = ("corpora", "vectors", "prototypes", "quadruples", "rewritten")


def environment(level: Level) -> dict[str, str]:
    """Return the variables of a level; those that choose code are not inherited."""
    inherited = {k: v for k, v in os.environ.items() if k not in PORTABLE_VARIABLES}
    return inherited | dict(level.variables)


def results_folder(data: Data, level: Level) -> Path:
    name = "-".join(filter(None, [level.factor, level.level]))
    return Path(str(RESULTS / data.title / name).replace(" ", "-"))


def run_folder(data: Data, cell: str, level: Level) -> Path:
    return results_folder(data, level) / "runs" / cell / "default"


def train(data: Data, cell: str, level: Level) -> str:
    """Train the seeds of a cell at a level; return why it cannot run, or ""."""
    folder, base = results_folder(data, level), results_folder(data, LEVELS[0])
    if (run_folder(data, cell, level) / "run.json").exists():
        return ""
    if not level.python:
        return f'`python benchmarks/moves.py --with "{level.factor} {level.level}=/path/to/python"`'
    if level.config.get("device") == "cuda" and not torch.cuda.is_available():
        return "`python benchmarks/moves.py` on a machine with a GPU"
    folder.mkdir(parents=True, exist_ok=True)
    config = {"arithmetic": "native", "device": "cpu", **data.config, **level.config}
    configfile = folder.with_suffix(".yaml")
    configfile.write_text(yaml.safe_dump(config | {"output_dir": str(folder)}))
    if folder == base:  # with the tables that all levels read
        target = str(run_folder(data, cell, level) / "run.json")
        command = [sys.executable, "-m", "snakemake", "--cores", "1", "--quiet", "all"]
        command += ["--configfile", str(data.base), str(configfile), "--", target]
        subprocess.run(command, check=True, env=environment(level))
        return ""
    for name in SHARED:
        if (base / name).exists() and not (folder / name).exists():
            (folder / name).symlink_to(Path("..", base.name, name))
    system, dataset, subset = cell.split("/")
    command = [level.python, *level.start, str(RUN_SCRIPT), "train_encoder", f"system={system}"]
    command += [f"dataset={dataset}", f"subset={subset}", "overrides=default"]
    command += ["--configfile", str(data.base), "--configfile", str(configfile)]
    done = subprocess.run(command, env=environment(level), text=True, capture_output=True)
    if not done.returncode:
        return ""
    lines = [line.removeprefix("Error: ") for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    return errors[0].removeprefix("Error: ") if errors else lines[-1]


def level_rows(data: Data, cell: str, level: Level, reason: str) -> Iterator[dict]:
    """Yield a row for each seed, or one with the reason why there is none."""
    row = {"date": date.today(), "data": data.title, "cell": cell}
    row |= {"factor": level.factor, "level": level.level}
    if reason:
        yield row | {"reason": reason}
        return
    folder, base = (run_folder(data, cell, at) for at in (level, LEVELS[0]))
    record = json.loads((folder / "run.json").read_text())
    versions = [f"{name} {record['versions'][name]}" for name in ("python", "torch", "numpy")]
    instructions = record["machines"]["0"][0]["instructions"]
    row |= {"versions": ", ".join([*versions, f"torch uses {instructions}"])}
    row |= {"processor": record["processor"], "commit": record["git_commit"][:8]}
    scores, before = (read_table(at / "scores.parquet", SCORES) for at in (folder, base))
    changes = (scores["score"] - before["score"]).abs().groupby(scores["seed"]).max()
    metrics = read_table(folder / "metrics.parquet", METRICS)
    metrics = metrics[metrics["split"].eq("test") & metrics["measure"].isin(MEASURES)]
    means = metrics.groupby(["seed", "measure"], observed=True)["value"].mean().unstack()
    for seed, values in means.iterrows():
        numbers = {name: f"{values[name]:.6f}" for name in MEASURES}
        yield row | numbers | {"seed": seed, "change": f"{changes[seed]:.3g}"}


def comparison(part: pd.DataFrame, base: pd.DataFrame) -> list[str]:
    """Return what a level of a factor does to a cell, as the fields of a row of the page.

    The variance of a factor is that within pairs of runs of one seed, half of the mean squared
    difference; its share is that of the sum with the variance over seeds.
    """
    paired = part.set_index("seed")[MEASURES] - base.set_index("seed")[MEASURES]
    fields = [f"{(part['change'] == 0).sum()} of {len(part)}", f"{part['change'].max():.2g}"]
    for name in MEASURES:
        differences, spread = paired[name], base[name].var()
        own = (differences**2).mean() / 2
        share = own / (own + spread) if own else 0.0
        fields += [f"{differences.mean():+.3f} ({differences.abs().max():.3f})", f"{share:.0%}"]
    return fields


def findings(rows: pd.DataFrame) -> Iterator[str]:
    """Yield for each cell how far rounding alone and another seed move the last measure."""
    measure = MEASURES[-1]
    for (data, cell), part in rows.groupby(["data", "cell"], sort=False):
        base = part[part["factor"] == ""].set_index("seed")[measure]
        rounding = part[~part["factor"].isin(["", "precision", "device"]) & part["reason"].eq("")]
        changes = (rounding[measure] - rounding["seed"].map(base)).abs()
        farthest, spread = rounding.loc[changes.idxmax()], base.max() - base.min()
        moved = f"{changes.max():.3f}, by {farthest['factor']} ({farthest['level']})"
        yield (
            f"- {cell.replace('/', ' ')}, {data}: the largest of {len(changes)} changes of "
            f"{RANKED[measure].short} by rounding alone is {moved if changes.max() else 'zero'}; "
            f"{len(base)} seeds are {spread:.3f} apart."
        )


def seed_fields(base: pd.DataFrame) -> list[str]:
    """Return the fields of the row of the seed, with differences from the first seed."""
    fields = [f"0 of {len(base) - 1}", "-"]
    for name in MEASURES:
        differences = base[name].iloc[1:] - base[name].iloc[0]
        fields += [f"{differences.mean():+.3f} ({differences.abs().max():.3f})", "-"]
    return fields


def table(lines: list[list[str]]) -> str:
    rows = [lines[0], ["---"] * len(lines[0]), *lines[1:]]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def render() -> str:
    """Return the text of the page."""
    rows = pd.read_csv(ROWS, keep_default_na=False)
    rows["seed"] = pd.to_numeric(rows["seed"])
    for name in (*MEASURES, "change"):
        rows[name] = pd.to_numeric(rows[name])
    shown = [f"{RANKED[name].short} (largest)" for name in MEASURES]
    head = ["factor", "level", "same scores", "largest change of a score"]
    head += [field for name in shown for field in (name, "share")]
    parts = [HEAD + "\n".join(findings(rows)) + "\n"]
    for (data, cell), of_cell in rows.groupby(["data", "cell"], sort=False):
        base = of_cell[of_cell["factor"] == ""]
        lines = [head, ["seed", "another", *seed_fields(base)]]
        for (factor, level), part in of_cell.groupby(["factor", "level"], sort=False):
            if not factor:
                continue
            label = [factor, level]
            reason = part["reason"].iloc[0]
            missing = [f"not run: {reason}", *["-"] * 5]
            lines.append([*label, *(missing if reason else comparison(part, base))])
        spread = ", ".join(
            f"{RANKED[name].short} {base[name].mean():.3f} ± {base[name].std():.3f}"
            for name in MEASURES
        )
        first = base.iloc[0]
        parts.append(
            f"## {cell.replace('/', ' ')}, {data}\n\nBase: {spread} over {len(base)} seeds; "
            f"{first['versions']}; {first['processor']}; commit `{first['commit']}`.\n\n"
            + table(lines)
        )
    seen = pd.read_csv(ROOT / "sample" / "processors.csv", dtype=str)
    parts.append(PROCESSORS + table([[*seen.columns], *seen.to_numpy().tolist()]))
    return "\n".join(parts)


HEAD = """# What moves a score

Besides the seed, a score depends on what nobody writes into a paper: the number of threads, the
instructions of the processor, the libraries that multiply matrices, and the versions of the
packages. Crane (2018, "Questionable Answers in Question Answering Research") showed for answer
selection that they can move a score by more than many published gains.

`python benchmarks/moves.py` trains the same cells again with one of these changed at a time, and
writes this page. The base is one thread in native arithmetic. A level is compared with it seed by
seed: for how many seeds all scores have the same bytes, the largest change of a candidate's score
on dev and test, and the mean and the largest change of the measures on test. The share is that of
the factor beside the seed: half of the mean squared change, over its sum with the variance
between seeds. With so few seeds, take the shares as orders of magnitude.

Where training is short, as in the demo, rounding hardly moves a measure. Where it is long, it
grows until a run is another run, as with another seed:

"""
PROCESSORS = """## Portable arithmetic

With `arithmetic: portable`, the default of the demo, a run has the same bytes on every x86-64
processor with AVX2. Five environment variables fix the code that PyTorch, oneDNN, MKL, OpenBLAS
and NumPy choose, and NumPy computes what these variables cannot fix:

- **square roots**, which MKL computes from an approximation that differs between processors, and
- **matrix products**, which MKL computes alike on all processors only with SSE2, at twice the
  time. OpenBLAS has one code for all processors from Haswell on.

LSTMs are computed without oneDNN, whose LSTM differs. Sums, norms, exponentials, `tanh`, softmax
and convolutions did not differ between this machine and the emulated processors. `x ** 0.5` does:
write `x.sqrt()` in an encoder of your own. Portable arithmetic uses no GPU.
[Performance](performance.md) has the cost of a step. The bytes are those of the locked
versions of the packages: another version of PyTorch may change them, as the tables above show.

`analogyqa verify results/demo` compares the scores of all cells with `sample/expected.csv`. If a
cell differs, it says which variable was not in force. `tests/workflow/test_portable.py` trains one
seed of two cells again on processors that QEMU emulates. These gave the expected scores:

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--with", action="append", default=[], metavar="NAME=PYTHON", dest="given")
    parser.add_argument("--render", action="store_true", help="only write the page again")
    options = parser.parse_args()
    os.chdir(ROOT)
    if not options.render:
        given = dict(text.split("=", 1) for text in options.given)
        write_rows(given)
    PAGE.write_text(render(), encoding="utf-8")


def write_rows(given: Mapping[str, str]) -> None:
    """Train what is not finished, and write all rows."""
    rows: list[dict] = []
    levels = LEVELS + [Level(*name, python=given.get(" ".join(name), "")) for name in GIVEN]
    for data in DATA:
        for cell in data.cells:
            for level in levels:
                reason = train(data, cell, level)
                rows += level_rows(data, cell, level, reason)
                print(data.title, cell, level.factor, level.level, reason, flush=True)
    with ROWS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
