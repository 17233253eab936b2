"""`analogyqa doctor`."""

import importlib.metadata
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import typer
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from rich.filesize import decimal

from analogyqa.cells import artefact_coordinates, load_papers, why_no_run
from analogyqa.cli.options import CONFIG, ConfigOption
from analogyqa.experiments.checks import left_out_here
from analogyqa.experiments.experiment import Experiment, load_experiment
from analogyqa.settings.load import read_config, read_values


def doctor(config: ConfigOption = CONFIG) -> None:
    """Say what works here, and what is missing for which tables and figures.

    Exits with 1 if the environment is not as the package needs it; missing data are no fault.
    Example: `analogyqa doctor --config sample/config.yaml`
    """
    faults = list(_faults())
    print(f"Python {sys.version.split()[0]} in {sys.prefix}")
    for fault in faults:
        print(f"  WRONG: {fault}")
    print(describe_gpu())
    print(describe_slurm())
    values, files = read_values(config)
    experiment = load_experiment(values, files)
    folder = Path(experiment.config.output_dir)
    disk = shutil.disk_usage(next(path for path in (folder, *folder.parents) if path.exists()))
    print(f"Disk: {decimal(disk.free)} free for {folder}; `make plan` says what a run needs")
    print(f"Papers: {', '.join(experiment.papers)}")
    missing = _missing(experiment, config)
    print("Left out:" if missing else "Nothing is left out.")
    for reason, papers in missing.items():
        print(f"  {reason}")
        for paper, names in papers.items():
            print(f"    {paper}: {', '.join(dict.fromkeys(names))}")
    if faults:
        raise typer.Exit(1)


def _faults() -> Iterator[str]:
    """Yield what is wrong with Python and its packages."""
    needed = importlib.metadata.metadata("analogyqa")["Requires-Python"]
    version = sys.version.split()[0]
    if not SpecifierSet(needed).contains(version):
        yield f"Python {version}; needed: {needed}"
    for text in importlib.metadata.requires("analogyqa") or ():
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            installed = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            yield f"{requirement.name} is not installed: make environment"
            continue
        if not requirement.specifier.contains(installed, prereleases=True):
            yield f"{requirement.name} {installed}; needed: {requirement.specifier}"


def describe_gpu() -> str:
    """Return the GPU that training would use, or why it would use none."""
    import torch

    if torch.cuda.is_available():
        try:
            torch.zeros(1, device="cuda")
        except RuntimeError as error:  # such as one that another process has to itself
            return f"GPU: PyTorch sees one, but cannot use it ({str(error).splitlines()[0]})"
        return f"GPU: {torch.cuda.get_device_name()}"
    return f"GPU: none that PyTorch {torch.__version__} sees; training runs on the CPU"


def describe_slurm(seconds: float = 10) -> str:
    """Return whether jobs can be submitted to Slurm, which has some seconds to answer."""
    if not shutil.which("sbatch"):
        return "Slurm: no sbatch; jobs run here"
    command = ["scontrol", "ping"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds
        )
        if done.returncode == 0:
            return "Slurm: sbatch is here, and the controller answers"
        reason = (done.stderr.splitlines()[-1:] or done.stdout.splitlines()[:1] or ["no reason"])[0]
    except OSError as error:
        reason = str(error)
    except subprocess.TimeoutExpired:  # as for a missing file in SLURM_CONF
        reason = f"no answer in {seconds} seconds"
    remedy = (
        "Wait until the controller is up"
        if "DOWN" in reason
        else "Start on a machine of a cluster, or set SLURM_CONF to its configuration"
    )
    return f"Slurm: sbatch is here, but cannot be used: `scontrol ping` says '{reason}'. {remedy}"


def _missing(experiment: Experiment, config: Path) -> dict[str, dict[str, list[str]]]:
    """Return the tables and figures that lack something, by the reason and by their paper."""
    full, left_out = read_config(config), left_out_here(experiment.config).values()
    missing: dict[str, dict[str, list[str]]] = {}
    for name, paper in load_papers(full).items():
        by_artefact = {key: artefact_coordinates(full, paper, key) for key in paper.artefacts}
        by_artefact |= {key: list(view.coordinates().values()) for key, view in paper.views.items()}
        for artefact, all_coordinates in by_artefact.items():
            for coordinates in all_coordinates:
                if (reason := why_no_run(coordinates, experiment.config)) in left_out:
                    missing.setdefault(reason, {}).setdefault(name, []).append(artefact)
    return missing
