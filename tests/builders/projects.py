"""A project of a few sentences in a temporary folder, and Snakemake run on it."""

import csv
import importlib.util
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import torch
import yaml

from analogyqa.pretrained.infersent import InferSent
from analogyqa.settings.base import merge

REPOSITORY = Path(__file__).parents[2]
SNAKEMAKE = [sys.executable, "-m", "snakemake", "--snakefile", str(REPOSITORY / "Snakefile")]

PEOPLE = ["ada", "boole", "curie", "dirac", "euler", "fermi", "gauss", "hopper"]
PLACES = ["paris", "rome", "oslo", "lima", "cairo", "delhi", "kyoto", "quito"]
YEARS = ["1801", "1822", "1843", "1864", "1885", "1906", "1927", "1948"]
THINGS = ["engine", "logic", "radium", "spin", "graph", "pile", "sum", "compiler"]
ANSWERS = {"who": PEOPLE, "where": PLACES, "when": YEARS}
ENTITIES = {"who": "PERSON", "where": "GPE", "when": "DATE"}

# The tiny run replaces these sections of the repository's config.yaml.
TRAINING = {"sentence_dim": 8, "max_epochs": 2, "batch_size": 4}
WORDS = {"source": "data/words.vec"}
VECTORS = {
    "fasttext": WORDS,
    "crawl": WORDS,
    "word2vec": {"source": "enwiki-105m-300d.word2vec"},  # which no project has
    **dict.fromkeys(["glove", "glove-cased", "fasttext-zero", "fasttext-cased"]),
}
SYSTEMS = {
    "tam": {"encoder": "cnn", "training": {"loss": "pairwise", "margin": 1}},
    "infersent": {"sentence_vectors": ["infersent2", "infersent-nli"]},
    "infersent-cosine": {"sentence_vectors": "infersent-nli"},
    "sent2vec-cosine": {"sentence_vectors": "sent2vec-words"},
    **dict.fromkeys(["glove", "glove-cosine", "word2vec-cosine", "fasttext-cosine", "sif-cosine"]),
    **dict.fromkeys(["minilm", "minilm-cosine", "random"]),
    **dict.fromkeys(["similarity-contrastive", "hyperqa"]),
}
CHOICES = {
    "loss": dict.fromkeys(["quadruples", "workshop", "workshop_distance", "workshop_euclidean"]),
    "all_correct_questions": {"dropped_from_dev_and_test": None},
    "vectors": {"glove": None},  # what is left is word2vec, which is not here
    **dict.fromkeys(["dropout_place", "weight_decay", "negatives", "prototype_choice"]),
    **dict.fromkeys(["aggregation", "out_of_vocabulary", "case", "margin", "dropout_mask"]),
    **dict.fromkeys(["batch_size", "batches", "comparison", "epochs", "padding", "precision"]),
    "prototypes": None,
}
SENSITIVITY = {"subset": "who", "systems": ["analogy", "similarity"], "choices": CHOICES}
# `infersent2` is dropped in; `sent2vec`, like word2vec above, is a file that no project has.
BASE = """
papers: [diallo2019]
output_dir: results
seeds: 2
comparable: false
datasets:
  wikiqa: {title: Tiny, train: data/train.tsv, dev: data/dev.tsv, test: data/test.tsv,
           questions: null}
  trecqa: null
subsets: {when: null, where: null}
sentence_vectors:
  infersent2: {encoder: infersent, weights: infersent2, vectors: crawl}
  infersent1: null
  infersent-nli: {train_on: [data/nli.txt], dev_on: [data/nli.txt], lstm_dim: 4}
  sent2vec: {weights: sent2vec-wiki-unigrams}
  sent2vec-words: {encoder: sent2vec, weights: data/words.vec}
  minilm: null
named_entities: {model: data/entities.jsonl}
prototypes: {p: 3}
sweeps: {p: [2, 3]}
selection: {systems: [analogy], hyperparameters: {hinge: null}}
cross_validation: null
bootstrap: {samples: 100}
"""
# A smaller run, for tests that repeat it: two trained models, one untrained, one subset.
SMALL_RUN = {
    "subsets": dict.fromkeys(["who", "when", "where"]),
    "sweeps": {"p": [3]},
    "systems": {
        **SYSTEMS,
        **dict.fromkeys(["tam", "infersent", "infersent-cosine", "word2vec", "sent2vec"]),
        **dict.fromkeys(["sent2vec-cosine", "sif", "random", "bm25"]),
    },
    "sentence_vectors": dict.fromkeys(
        ["infersent2", "infersent1", "infersent-nli", "sent2vec", "sif", "minilm"]
    ),
    "named_entities": None,
    "sensitivity": {**SENSITIVITY, "subset": "comb"},
}


class Project:
    """A folder with data, word vectors and a configuration, on which Snakemake is run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.results = folder / "results"
        folder.mkdir(parents=True, exist_ok=True)

    def create(self, **changes) -> "Project":
        """Write the data and the configuration, as `configure` does."""
        self.data.mkdir()
        for split, count in (("train", 6), ("dev", 3), ("test", 4)):
            _write_wikiqa(self.data / f"{split}.tsv", split, count)
        _write_vectors(self.data / "words.vec")
        patterns = [
            json.dumps({"label": ENTITIES[question_type], "pattern": word}) + "\n"
            for question_type, words in ANSWERS.items()
            for word in words
        ]
        (self.data / "entities.jsonl").write_text("".join(patterns))
        _write_inference(self.data / "nli.txt", 60)
        _write_weights(self.folder / "resources" / "models" / "infersent2.pkl")
        self.configure(**changes)
        return self

    def copy_to(self, folder: Path) -> "Project":
        shutil.copytree(self.folder, folder, symlinks=True)
        return Project(folder)

    def configure(self, **changes) -> None:
        """Write config.yaml: the tiny run with the top-level sections in `changes` replaced."""
        sections = {"vectors": VECTORS, "training": TRAINING, "systems": SYSTEMS}
        base = yaml.safe_load(BASE) | sections | {"sensitivity": SENSITIVITY}
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
        at = arguments.index("--snakefile") + 1 if "--snakefile" in arguments else None
        environment = clean_environment(Path(arguments[at]).parent if at else REPOSITORY)
        where = {"cwd": self.folder, "env": environment, "preexec_fn": preexec_fn}
        output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.run(self.command(*arguments), **where, **output)

    def make(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def jobs(self, *arguments: str) -> list[tuple[str, str]]:
        """Return (rule, first output) of every job that a dry run would do, sorted."""
        printed = self.make("--dry-run", "--summary", *arguments)
        lines = [line for line in printed.splitlines() if "\t" in line]
        rows = csv.DictReader(lines, delimiter="\t")
        pending = (row for row in rows if row["plan"] == "update pending")
        return sorted({(row["rule"], row["output_file"]) for row in pending})

    def products(self) -> dict[str, bytes]:
        return products_of(self.results)


def run_program(*command: str, checkout: Path, status: int = 0, **options) -> str:
    """Run a program of the environment in a checkout; return what it prints to both streams."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=checkout,
        env={**clean_environment(checkout), "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )
    assert done.returncode == status, f"{shlex.join(command)}: {done.stdout}"
    return done.stdout


def repository_files() -> list[str]:
    """Return the names of all files of the checkout that git does not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split("\0") if name]


def load_script(path: Path) -> ModuleType:
    """Return a script outside of the library as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_csv(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def copy_checkout(folder: Path) -> Path:
    """Copy what git knows of the checkout, as it is now, and return `folder`."""
    for name in repository_files():
        if (REPOSITORY / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(REPOSITORY / name, folder / name)
    return folder


def copy_demo(folder: Path) -> Path:
    """Copy the checkout, with the demo's keys in its config.yaml; return `folder`."""
    copy_checkout(folder)
    config = yaml.safe_load((folder / "config.yaml").read_text())
    config = merge(config, yaml.safe_load((folder / "sample" / "config.yaml").read_text()))
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    return folder


def products_of(results: Path) -> dict[str, bytes]:
    """Return the files below an output folder that a user opens, by name.

    report.html is left out, because it has the time of each job.
    """
    patterns = ("tables/**/*.*", "figures/**/*.*", "*.csv", "*.md", "*.html")
    files = (path for pattern in patterns for path in results.glob(pattern))
    products = {str(path.relative_to(results)): path.read_bytes() for path in files}
    return {name: content for name, content in products.items() if name != "report.html"}


def cells_of(jobs: list[tuple[str, str]]) -> set[str]:
    """Return the cells among the jobs that run one, as system/dataset/subset/overrides."""
    return {
        output.removeprefix("results/runs/").rsplit("/", 1)[0]
        for rule, output in jobs
        if rule in ("train_encoder", "score_candidates")
    }


def clean_environment(checkout: Path = REPOSITORY) -> dict[str, str]:
    """Return the environment for runs of a checkout, without a mirror of the real data."""
    kept = {key: value for key, value in os.environ.items() if key != "ANALOGYQA_MIRROR"}
    return {**kept, "PYTHONPATH": str(checkout / "workflow_scripts")}


def _write_wikiqa(path: Path, split: str, count: int) -> None:
    chance = random.Random(split)
    lines = ["QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel"]
    for question_type, answers in ANSWERS.items():
        for number in range(count):
            name = f"{split}-{question_type}-{number}"
            thing, right = chance.choice(THINGS), chance.choice(answers)
            others = [word for words in ANSWERS.values() if words is not answers for word in words]
            candidates = [(right, 1), *((word, 0) for word in chance.sample(others, 3))]
            chance.shuffle(candidates)
            for index, (word, label) in enumerate(candidates):
                sentence = f"the {thing} number {number} has {word} ."
                question = f"{question_type} has the {thing} {number} ?"
                lines.append(f"{name}\t{question}\tD\tT\tD-{index}\t{sentence}\t{label}")
    path.write_text("\n".join(lines) + "\n")


def _write_vectors(path: Path) -> None:
    words = [*PEOPLE, *PLACES, *YEARS, *THINGS, "the", "has", "number", "who", "when", "where", "."]
    generator = np.random.default_rng(0)
    lines = [f"{len(words)} 6"]
    lines += [f"{word} {' '.join(f'{x:.3f}' for x in generator.normal(size=6))}" for word in words]
    path.write_text("\n".join(lines) + "\n")


def _write_inference(path: Path, count: int) -> None:
    """Write premises whose hypothesis repeats them, names another thing, or lacks the person."""
    chance = random.Random("nli")
    lines = []
    for number in range(count):
        person, thing, other = chance.choice(PEOPLE), *chance.sample(THINGS, 2)
        hypotheses = [f"{person} has the {thing}", f"{person} has the {other}", f"the {other}"]
        lines.append(f"{person} has the {thing} .\t{hypotheses[number % 3]}\t{number % 3}")
    path.write_text("\n".join(lines) + "\n")


def _write_weights(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        torch.save(InferSent(6, 4).state_dict(), path)
