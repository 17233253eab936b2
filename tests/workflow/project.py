"""A project of a few sentences in a temporary folder, and Snakemake run on it."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import yaml

REPOSITORY = Path(__file__).parents[2]
SNAKEMAKE = [sys.executable, "-m", "snakemake", "--snakefile", str(REPOSITORY / "Snakefile")]

PEOPLE = ["ada", "boole", "curie", "dirac", "euler", "fermi", "gauss", "hopper"]
PLACES = ["paris", "rome", "oslo", "lima", "cairo", "delhi", "kyoto", "quito"]
YEARS = ["1801", "1822", "1843", "1864", "1885", "1906", "1927", "1948"]
THINGS = ["engine", "logic", "radium", "spin", "graph", "pile", "sum", "compiler"]
ANSWERS = {"who": PEOPLE, "where": PLACES, "when": YEARS}


class Project:
    """A folder with data, word vectors and a configuration, on which Snakemake is run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.results = folder / "results"
        folder.mkdir(parents=True, exist_ok=True)

    def create(self) -> "Project":
        self.data.mkdir()
        for split, count in (("train", 6), ("dev", 3), ("test", 4)):
            _write_wikiqa(self.data / f"{split}.tsv", split, count)
        _write_vectors(self.data / "words.vec")
        self.configure()
        return self

    def copy_to(self, folder: Path) -> "Project":
        shutil.copytree(self.folder, folder, symlinks=True)
        return Project(folder)

    def configure(self, **changes) -> None:
        """Write config.yaml: the tiny run with the top-level sections in `changes` replaced."""
        base = {
            "output_dir": "results",
            "seeds": 2,
            "comparable": False,
            "datasets": {
                "wikiqa": {
                    "title": "Tiny",
                    "train": "data/train.tsv",
                    "dev": "data/dev.tsv",
                    "test": "data/test.tsv",
                    "questions": None,
                },
                "trecqa": None,
            },
            "subsets": ["who", "comb"],
            "vectors": {"fasttext": {"source": "data/words.vec"}, "word2vec": None, "glove": None},
            "prototypes": {"p": 3, "curve": [2, 3]},
            "training": {"sentence_dim": 8, "max_epochs": 2, "batch_size": 4},
            "models": {
                "glove": None,
                "word2vec": None,
                "glove-cosine": None,
                "word2vec-cosine": None,
                "fasttext-cosine": None,
                "random": None,
            },
            "selection": {
                "models": ["analogy"],
                "settings": {"hinge": None},
            },
            "bootstrap": {"samples": 100},
        }
        self.write_config({**base, **changes})

    def write_config(self, values: dict) -> None:
        (self.folder / "config.yaml").write_text(yaml.safe_dump(values))

    def command(self, *arguments: str) -> list[str]:
        tail = [] if "--configfile" in arguments else ["--configfile", "config.yaml"]
        return [*SNAKEMAKE, *arguments, "--cores", "2", "--quiet", "rules", *tail]

    def run(
        self, *arguments: str, preexec_fn: Callable[[], None] | None = None
    ) -> subprocess.CompletedProcess:
        """Run Snakemake to its end; stdout and stderr come together in `stdout`."""
        return subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            preexec_fn=preexec_fn,
        )

    def jobs(self, *arguments: str) -> list[tuple[str, str]]:
        """Return (rule, first output) of every job that a dry run would do, sorted."""
        done = self.run("--dry-run", "--summary", *arguments)
        assert done.returncode == 0, done.stdout
        rows = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
        header, rows = rows[0], rows[1:]
        plan = header.index("plan")
        return sorted(
            {(row[header.index("rule")], row[0]) for row in rows if row[plan] == "update pending"}
        )

    def products(self) -> dict[str, bytes]:
        """Return the files that a user opens, by name, but for the MLflow store."""
        places = ("tables", "figures")
        files = [path for place in places for path in (self.results / place).rglob("*.*")]
        files += [self.results / "ledger.csv", self.results / "summary.csv"]
        return {str(path.relative_to(self.results)): path.read_bytes() for path in files}


def clean_environment() -> dict[str, str]:
    """The environment without what would lead the run to real data."""
    return {key: value for key, value in os.environ.items() if key != "ANALOGYQA_MIRROR"}


def _write_wikiqa(path: Path, split: str, count: int) -> None:
    chance = random.Random(split)
    header = "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel"
    lines = [header]
    for kind, answers in ANSWERS.items():
        for number in range(count):
            name = f"{split}-{kind}-{number}"
            thing, right = chance.choice(THINGS), chance.choice(answers)
            others = [word for words in ANSWERS.values() if words is not answers for word in words]
            candidates = [(right, 1), *((word, 0) for word in chance.sample(others, 3))]
            chance.shuffle(candidates)
            for place, (word, label) in enumerate(candidates):
                sentence = f"the {thing} number {number} has {word} ."
                question = f"{kind} has the {thing} {number} ?"
                lines.append(f"{name}\t{question}\tD\tT\tD-{place}\t{sentence}\t{label}")
    path.write_text("\n".join(lines) + "\n")


def _write_vectors(path: Path) -> None:
    words = [*PEOPLE, *PLACES, *YEARS, *THINGS, "the", "has", "number", "who", "when", "where", "."]
    generator = np.random.default_rng(0)
    lines = [f"{len(words)} 6"]
    lines += [f"{word} {' '.join(f'{x:.3f}' for x in generator.normal(size=6))}" for word in words]
    path.write_text("\n".join(lines) + "\n")
