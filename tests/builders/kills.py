"""Kill a run at random moments, again and again; its tables must not show it.

    PYTHONPATH=tests python tests/builders/kills.py --kills 100        # the demo
    PYTHONPATH=tests python tests/builders/kills.py --kills 10 --tiny  # the project of the tests

Each time Snakemake or one of its jobs gets SIGKILL and the same command is given again, until the
run ends. It is then compared with the undisturbed run, and the next starts from nothing, until all
kills are spent. Jobs of a killed Snakemake keep running beside its successor.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import psutil

from builders import projects
from builders.projects import REPOSITORY, SMALL_RUN, Project, products_of

LOCKED = "Directory cannot be locked"
SCRIPTS = "/.snakemake/scripts/"


class Run:
    """Snakemake in a folder: `command` makes the products below `results`, in the background."""

    def __init__(
        self,
        folder: Path,
        command: list[str],
        results: Path,
        checkout=REPOSITORY,
        **environment: str,
    ) -> None:
        self.folder, self.command, self.results = folder, command, results
        self.environment = projects.clean_environment(checkout) | environment
        self.process: subprocess.Popen | None = None

    def start(self, *arguments: str) -> subprocess.Popen:
        where = {"cwd": self.folder, "env": self.environment, "stderr": subprocess.STDOUT}
        with open(self.folder / "snakemake.out", "ab") as output:
            command = [*self.command, *arguments]
            self.process = subprocess.Popen(command, stdout=output, **where)
        return self.process

    def finish(self) -> dict[str, bytes]:
        """Run to the end undisturbed and return the products."""
        assert self.start().wait() == 0, self.output()
        return products_of(self.results)

    def output(self) -> str:
        return (self.folder / "snakemake.out").read_text(errors="replace")

    def training_log(self, cell: str = "analogy/wikiqa-comb-default") -> str:
        """Return what a training job has written to its log so far."""
        path = self.results / "logs" / "train_encoder" / f"{cell}.log"
        return path.read_text() if path.exists() else ""

    def wait_for(self, reached: Callable[[], bool]) -> None:
        """Return once `reached()` is true, which must be before the run ends."""
        while not reached():
            try:
                self.process.wait(timeout=0.05)
            except subprocess.TimeoutExpired:
                continue
            assert reached(), f"the run has ended: {self.output()}"

    def jobs(self, script: str = "") -> list[psutil.Process]:
        """Return the running processes of a script, by default of any."""
        return [
            child
            for child in psutil.Process(self.process.pid).children(recursive=True)
            if any(SCRIPTS in part and script in part for part in child.cmdline())
        ]

    def unlock(self) -> None:
        """Do what the message of a second Snakemake, or of the one after a killed one, says."""
        assert self.start("--unlock").wait() == 0, self.output()


def project_run(project: Project, *arguments: str) -> Run:
    return Run(project.folder, project.command(*arguments), project.results)


def tiny_run(folder: Path) -> Run:
    return project_run(Project(folder).create(**SMALL_RUN))


def demo_run(folder: Path, *arguments: str, **environment: str) -> Run:
    command = [sys.executable, "-m", "snakemake", *(arguments or ("--cores", "2"))]
    projects.copy_demo(folder)
    return Run(folder, command, folder / "results" / "demo", folder, **environment)


def assert_identical(run: Run, expected: dict[str, bytes], label: str = "") -> None:
    products = products_of(run.results)
    assert products.keys() == expected.keys(), label
    assert [name for name in expected if products[name] != expected[name]] == [], label


def kill_and_restart(run: Run, chance: random.Random, kills: int, longest: float) -> Counter[str]:
    """Finish a run through at most `kills` kills; return how often each kind of process was hit.

    The time to each kill is uniform between 0 and `longest` seconds.
    """
    hit: Counter[str] = Counter()
    while True:
        process = run.start()
        if hit.total() == kills:
            assert process.wait() == 0, run.output()
            return hit
        try:
            assert process.wait(timeout=chance.uniform(0, longest)) == 0, run.output()
            return hit
        except subprocess.TimeoutExpired:
            victim = _kill_one(run, chance)
            hit[victim] += 1
            process.wait()  # a killed job ends Snakemake too, once the jobs beside it have ended
            if victim == "Snakemake":
                run.unlock()


def _kill_one(run: Run, chance: random.Random) -> str:
    """SIGKILL Snakemake or, as likely, one of the scripts that it runs; return which."""
    try:
        jobs = run.jobs()
        if jobs and chance.random() < 0.5:
            chance.choice(jobs).kill()
            return "job"
    except psutil.NoSuchProcess:
        pass  # a job has just ended, so Snakemake is hit instead
    run.process.kill()
    return "Snakemake"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tiny", action="store_true", help="the project of the tests")
    parser.add_argument("--longest", type=float, default=30.0, help="seconds between two kills")
    parser.add_argument("--undisturbed", type=Path, help="the results of a run, else one is made")
    options = parser.parse_args()
    make = tiny_run if options.tiny else demo_run
    chance, hit, runs = random.Random(options.seed), Counter(), 0
    with tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as folder:
        undisturbed = options.undisturbed
        expected = products_of(undisturbed) if undisturbed else make(Path(folder, "run0")).finish()
        while (left := options.kills - hit.total()) > 0:
            runs += 1
            run = make(Path(folder, f"run{runs}"))
            hit += kill_and_restart(run, chance, left, options.longest)
            assert_identical(run, expected, f"seed {options.seed}, run {runs}")
            print(f"run {runs}: {len(expected)} products identical, {dict(hit)} kills", flush=True)
            shutil.rmtree(run.folder, ignore_errors=True)
    print(f"{hit.total()} kills in {runs} runs: {dict(hit)}")


if __name__ == "__main__":
    main()
