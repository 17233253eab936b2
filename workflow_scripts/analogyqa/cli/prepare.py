"""`analogyqa doctor`, `sources`, `schema` and `plan`: what to know before a run."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from rich import box
from rich.console import Console
from rich.filesize import decimal
from rich.table import Column, Table

from analogyqa.cells import artefact_coordinates, load_papers, why_no_run
from analogyqa.cells.plan import Plan, load_plan
from analogyqa.cli.options import CONFIG, ConfigOption
from analogyqa.planning import Timings, print_plan, read_listing
from analogyqa.runs.checks import left_out_here
from analogyqa.settings.load import read_config, read_values
from analogyqa.settings.schema import config_schema, paper_schema
from analogyqa.sources.registry import join_mirrors, load_registry, mirrors_from, source_state
from analogyqa.surroundings import require_cache


def doctor(config: ConfigOption = CONFIG) -> None:
    """Say what works here, and what is missing for which tables and figures.

    Exits with 1 if the environment is not as the package needs it; missing data are no fault.
    Example: `analogyqa doctor --config sample/config.yaml`
    """
    faults = list(_faults())
    print(f"Python {sys.version.split()[0]} in {sys.prefix}")
    print(*(f"  WRONG: {fault}\n" for fault in faults), sep="", end="")
    print(describe_gpu(), describe_slurm(), sep="\n")
    values, files = read_values(config)
    plan = load_plan(values, files)
    folder = Path(plan.config.output_dir)
    disk = shutil.disk_usage(next(path for path in (folder, *folder.parents) if path.exists()))
    print(f"Disk: {decimal(disk.free)} free for {folder}; `make plan` says what a run needs")
    print(f"Papers: {', '.join(plan.papers)}")
    missing = _missing(plan, config)
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
    remedy = "Start on a machine of a cluster, or set SLURM_CONF to its configuration"
    remedy = "Wait until the controller is up" if "DOWN" in reason else remedy
    return f"Slurm: sbatch is here, but cannot be used: `scontrol ping` says '{reason}'. {remedy}"


def _missing(plan: Plan, config: Path) -> dict[str, dict[str, list[str]]]:
    """Return the tables and figures that lack something, by the reason and by their paper."""
    full, left_out = read_config(config), left_out_here(plan.config).values()
    missing: dict[str, dict[str, list[str]]] = {}
    for name, paper in load_papers(full).items():
        by_artefact = {key: artefact_coordinates(full, paper, key) for key in paper.artefacts}
        by_artefact |= {key: list(view.coordinates().values()) for key, view in paper.views.items()}
        for artefact, all_coordinates in by_artefact.items():
            for coordinates in all_coordinates:
                if (reason := why_no_run(coordinates, plan.config)) in left_out:
                    missing.setdefault(reason, {}).setdefault(name, []).append(artefact)
    return missing


# Explanations of a state or hash in the table, printed above the paths that have it.
NOTES = {
    "WRONG": "not the registered file; remove or replace it:",
    "unverified": "no hash is published, so the file cannot be verified:",
    "add by hand": "no URL is known; if you have the file, put it here:",
}


def sources(
    config: ConfigOption = CONFIG,
    registry: Annotated[Path, typer.Option(help="The registry of sources.")] = Path("sources.yaml"),
    verify: Annotated[bool, typer.Option("--verify", help="Hash every local copy.")] = False,
) -> None:
    """Print which downloads are here, which will be fetched, their sizes and licences.

    Exits with 1 when `--verify` finds a wrong file. Example: `analogyqa sources --verify`
    """
    settings = read_config(config)
    mirrors = mirrors_from(settings.mirrors, os.environ)
    known = load_registry(registry).values()
    states = [source_state(source, settings.resources_dir, mirrors, verify) for source in known]
    columns = [Column("source", overflow="fold"), Column("state", no_wrap=True)]
    columns += [Column("size", no_wrap=True, justify="right"), Column("hash", no_wrap=True)]
    table = Table(*columns, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for source, (state, hash_state, path) in zip(known, states, strict=True):
        size = path.stat().st_size if path.is_file() else source.bytes
        table.add_row(source.name, state, decimal(size) if size else "?", hash_state)
    Console().print(table)
    print("licences:")
    lines = textwrap.TextWrapper(80, subsequent_indent="    ", break_on_hyphens=False)
    for licence in dict.fromkeys(source.licence for source in known):
        names = ", ".join(source.name for source in known if source.licence == licence)
        print(lines.fill(f"  {licence}: {names}"))
    print(f"present: in {settings.resources_dir}; mirrors: {join_mirrors(mirrors)}")
    for word, note in NOTES.items():
        if paths := [f"  {path}" for *state, path in states if word in state]:
            print(f"{word}: {note}", *paths, sep="\n")
    if any(hash_state == "WRONG" for _, hash_state, _ in states):
        raise typer.Exit(1)


File = StrEnum("File", {"CONFIG": "config", "PAPER": "paper"})  # those with a schema


def schema(
    file: Annotated[File, typer.Argument(help="config.yaml and files over it, or paper.yaml.")],
) -> None:
    """Print the JSON schema of a configuration file, by which editors complete and check it.

    Example: `analogyqa schema config`
    """
    made = config_schema() if file == File.CONFIG else paper_schema()
    print(json.dumps(made, indent=2, ensure_ascii=False))


def plan(config: ConfigOption = CONFIG) -> None:
    """Print the jobs that a run on Slurm would submit, and what they will probably cost.

    Nothing is submitted. Example: `analogyqa plan --config sample/config.yaml`
    """
    settings = read_config(config)
    require_cache()
    command = [sys.executable, "-m", "snakemake", "--cores", "8", "--profile", "slurm", "--dry-run"]
    command += ["--configfile", str(config)]
    listing = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if listing.returncode:
        raise typer.Exit(2)  # Snakemake has said why
    timings = Timings(settings.output_dir, lambda cell: len(cell.seeds(settings)))
    print_plan(read_listing(listing.stdout), timings)
