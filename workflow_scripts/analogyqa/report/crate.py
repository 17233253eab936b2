"""Write a results folder as an RO-Crate of the profile Provenance Run Crate 0.5.

The profile: https://w3id.org/ro/wfrun/provenance/0.5. The root of the crate is the results folder;
the code is in its folder `workflow`. Each cell is an action, whose tool is the script of its rule.
"""

import re
import tempfile
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from mimetypes import guess_type
from pathlib import Path

from rocrate.model.contextentity import ContextEntity
from rocrate.model.entity import Entity
from rocrate.rocrate import ROCrate

from analogyqa.cells import Cell
from analogyqa.errors import AnalogyQAError, printable
from analogyqa.evaluation.summary import named_files, read_record
from analogyqa.files import atomic_path, read_yaml
from analogyqa.report.archived import EMPTIED, Contents, why_left_out, write_without_texts
from analogyqa.runs.depends_on import sha256
from analogyqa.runs.record import code_commit, run_system
from analogyqa.settings.load import REPOSITORY
from analogyqa.sources.registry import Source

_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
# A term that the context of RO-Crate 1.1 lacks, as the profiles define it.
_TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
_LICENCE = "https://spdx.org/licenses/{}"
# The code, the configuration and the environment, as far as a run needs them.
_WORKFLOW = (
    *("Snakefile", "config.yaml", "sources.yaml", "pyproject.toml", "requirements.lock"),
    *("README.md", "LICENSE", "CITATION.cff", "rules/*.smk"),
    *("workflow_scripts/**/*.py", "workflow_scripts/**/templates/*.*"),
    *("papers/*/paper.yaml", "papers/*/config.yaml", "papers/*/README.md"),
    *("sample/README.md", "sample/config.yaml", "sample/*.py", "sample/expected.csv"),
    *("sample/entities.jsonl", "sample/text.txt", "sample/facts/*.tsv"),
    *("sample/trecqa/*.xml", "sample/wikiqa/WikiQA-*.tsv"),
    *("envs/*.yaml", "envs/*.sh", "profiles/*/*.yaml", "slurm/*.yaml"),
)
# Editors, Jupyter and file managers leave other names.
_NAME = re.compile(r"\w[\w.-]*(?<!\.bak)(?<!\.orig)")
_REPORTS = ("summary.csv", "ledger.csv", "claims.csv", "tables/", "figures/")
_README = """\
# Results of analogyqa: {name}

This folder is an RO-Crate: `ro-crate-metadata.json` describes each file and how it was made. The
code, the configuration and the versions of all packages are in `workflow`.

To compute the measures, the ledger, the claims and the tables again from the scores, and to compare
them with the files:

    cd workflow && pip install -e .
    analogyqa verify ..

To run everything again, with the data from their sources:

    {command}

## What is here

| folder | files |
|---|---|
{archived}

## What is left out

The columns with texts and vectors are empty in {emptied}. These files are not here:

| files | number | why | to get them again |
|---|---|---|---|
{rows}

The records of the runs name these downloads, which are not here either. `workflow/sources.yaml` has
their addresses.

| download | licence | citation |
|---|---|---|
{downloads}
"""


def write_crate(
    results: str | Path,
    contents: Contents,
    command: str,
    registry: Mapping[str, Source],
    target: str | Path,
) -> None:
    """Write the archive of a results folder, a zip file.

    `contents` are its files, sorted by `sort_files`; `command` made it. `registry` has the sources.

    Raises AnalogyQAError when a record or a table is damaged, the code is not a checkout, or the
    file cannot be written.
    """
    results = Path(results)
    if not (REPOSITORY / "Snakefile").is_file():
        raise AnalogyQAError(
            f"{REPOSITORY} has no Snakefile, so the code cannot be archived with the results. "
            "Start in a checkout of the repository"
        )
    with tempfile.TemporaryDirectory() as temporary:
        crate = _started(results)
        files = {name: _add_file(crate, results / name, name) for name in contents.kept}
        for name in contents.emptied:
            emptied = Path(temporary, name)
            write_without_texts(results / name, name, emptied)
            files[name] = _add_file(crate, emptied, name)
        names = [name for name in files if name.endswith("/run.json")]
        records = {name: read_record(results / name) for name in names}
        cells = {name: Cell.from_record(record["cell"]) for name, record in records.items()}
        for name, cell in cells.items():
            if name != f"runs/{cell.path}/run.json":
                raise AnalogyQAError(
                    f"{results / name}: is the record of another cell, {cell.path}. Move its "
                    f"folder out of {results}"
                )
        tools = {name: _tool(record, files, name) for name, record in records.items()}
        workflow = _add_workflow(crate, {*tools.values()})
        sources = _add_sources(crate, records.values(), registry)
        readme = Path(temporary, "README.md")
        text = printable(_readme(results, contents, command, sources))
        readme.write_text(text, encoding="utf-8")
        _add_file(crate, readme, readme.name)["about"] = crate.root_dataset
        configuration = files["configuration.json"]
        run = {"name": f"Run of the workflow into {results.name}", "description": command}
        if (results / "ledger.csv").exists():  # a run that goes on has none
            run["endTime"] = _written(results / "ledger.csv")
        reports = [entity for name, entity in files.items() if name.startswith(_REPORTS)]
        inputs = [configuration, *sources.values()]
        actions = [crate.add_action(workflow, "#run", inputs, reports, run)]
        for name, cell in cells.items():
            record, corpus = records[name], files.get(f"corpora/{cell.corpus}.parquet")
            inputs = [configuration, *([corpus] if corpus else [])]
            folder = name.removesuffix("run.json")
            outputs = [entity for file, entity in files.items() if file.startswith(folder)]
            run = {
                "name": cell.label,
                "description": f"Seeds {', '.join(map(str, record['seeds']))}; commit "
                f"{record['git_commit']}; device {record['device']}. {name} has the hash of each "
                "input and all settings.",
                "endTime": _written(results / name),
            }
            tool = crate.get(tools[name])
            actions.append(crate.add_action(tool, f"#{cell.path}", inputs, outputs, run))
        crate.root_dataset["mentions"] = actions
        with atomic_path(target) as path:
            crate.write_zip(path)


def _started(results: Path) -> ROCrate:
    """Return a crate with the description of its root."""
    citation = read_yaml(REPOSITORY / "CITATION.cff")
    crate = ROCrate(version="1.1")
    crate.metadata.extra_contexts.append(_TERMS)
    crate.name = f"Results of analogyqa: {results.name}"
    crate.description = (
        f"{citation['title']}. Scores, measures, tables and records of a run, with the code and "
        "without third-party data; README.md says how to check and to complete them."
    )
    licence = _LICENCE.format(citation["license"])
    crate.license = _add(crate, licence, name=f"{citation['license']} licence")
    author = citation["authors"][0]["name"]
    crate.creator = _add(crate, "#authors", "Organization", name=author)
    crate.root_dataset["author"] = crate.creator
    for url, name in _PROFILES.items():
        profile = _add(crate, url, name=name, version=url.rpartition("/")[2])
        crate.root_dataset.append_to("conformsTo", profile)
    return crate


def _add(
    crate: ROCrate, identifier: str, kind: str = "CreativeWork", **properties: object
) -> ContextEntity:
    return crate.add(ContextEntity(crate, identifier, properties={"@type": kind, **properties}))


def _add_file(crate: ROCrate, source: Path, name: str, types: str | list[str] = "File") -> Entity:
    media_type = guess_type(name)[0]
    if source.suffix == ".parquet":
        media_type = "application/vnd.apache.parquet"
    properties = {"@type": types, "name": name, "sha256": sha256(source)}
    properties |= {"encodingFormat": media_type} if media_type else {}
    return crate.add_file(source, name, record_size=True, properties=properties)


def _add_workflow(crate: ROCrate, tools: set[str]) -> Entity:
    """Add the code, whose scripts that made the runs are its tools; return its Snakefile."""
    main = "workflow/Snakefile"
    for path in sorted({path for pattern in _WORKFLOW for path in REPOSITORY.glob(pattern)}):
        name = f"workflow/{path.relative_to(REPOSITORY).as_posix()}"
        is_ours = all(map(_NAME.fullmatch, path.relative_to(REPOSITORY).parts))
        if name != main and is_ours and path.is_file():
            types = ["File", "SoftwareSourceCode"] if name in tools else "File"
            _add_file(crate, path, name, types)
    path = REPOSITORY / "Snakefile"
    properties = {"name": "analogyqa", "version": code_commit(), "sha256": sha256(path)}
    workflow = crate.add_workflow(
        path, main, main=True, lang="snakemake", lang_version=version("snakemake"),
        properties=properties,
    )  # fmt: skip
    workflow["hasPart"] = [crate.get(tool) for tool in sorted(tools)]
    return workflow


def _add_sources(
    crate: ROCrate, records: Iterable[dict], registry: Mapping[str, Source]
) -> dict[str, Entity]:
    """Add the downloads that the runs read, which are not in the archive; return them by name."""
    names = {name for record in records for name in named_files(record)}
    added = {}
    for name, source in registry.items():
        if name in names:
            facts: dict = {"name": source.title, "license": source.licence}
            facts |= {"citation": source.citation, "url": [file.url for file in source.urls]}
            facts |= {"sha256": list(source.sha256)}
            given = {key: value for key, value in facts.items() if value != []}
            added[name] = _add(crate, f"#source-{name}", **given)
    return added


def _tool(record: dict, files: Collection[str], name: str) -> str:
    """Return the script of the rule that made the run of a record."""
    system = run_system(record)
    rule = "train_encoder" if "training" in system else "score_candidates"
    if system["ranker"].get("parts"):
        rule = "fuse_scores"
    if name.replace("run.json", "scores.parquet") not in files:
        rule = "solve_analogies"
    return f"workflow/workflow_scripts/{rule}.py"


def _written(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")


def _readme(results: Path, contents: Contents, command: str, sources: Mapping[str, Entity]) -> str:
    rows = []
    for pattern, names in contents.left_out.items():
        files = f"`{pattern}`" if pattern else ", ".join(f"`{name}`" for name in names)
        rows.append(f"| {files} | {len(names)} | {' | '.join(why_left_out(pattern))} |")
    downloads = [
        f"| {source['name']} | {source['license']} | {source['citation']} |"
        for source in sources.values()
    ]
    archived = [
        f"| {folder or 'this folder'} | {len(names)} |"
        for folder, names in contents.archived().items()
    ]
    return _README.format(
        name=results.name,
        command=command,
        emptied=", ".join(f"`{pattern}`" for pattern in EMPTIED),
        archived="\n".join(archived),
        rows="\n".join(rows),
        downloads="\n".join(downloads) or "| none | | |",
    )
