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

    Args:
        results: The output folder.
        contents: Its files, sorted by `sort_files`.
        command: The command that made it.
        registry: The sources, by name.
        target: The file to write.

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
        records = {
            name: read_record(results / name) for name in files if name.endswith("/run.json")
        }
        for name, record in records.items():
            recorded = Cell.from_record(record["cell"]).path
            if name != f"runs/{recorded}/run.json":
                raise AnalogyQAError(
                    f"{results / name}: is the record of another cell, {recorded}. Move its folder "
                    f"out of {results}"
                )
        rules = {name: _rule(record, files, name) for name, record in records.items()}
        workflow = _add_workflow(crate, set(rules.values()))
        sources = _add_sources(crate, records.values(), registry)
        readme = Path(temporary, "README.md")
        text = printable(_readme(results, contents, command, sources))
        readme.write_text(text, encoding="utf-8")
        _add_file(crate, readme, readme.name)["about"] = crate.root_dataset
        _add_run(crate, workflow, command, results, files, sources)
        for name, record in records.items():
            tool = crate.get(_script(rules[name]))
            _add_cell(crate, tool, results, name, record, files)
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
    crate.license = crate.add(_entity(crate, _LICENCE.format(citation["license"]), "CreativeWork"))
    crate.license["name"] = f"{citation['license']} licence"
    author = _entity(crate, "#authors", "Organization", name=citation["authors"][0]["name"])
    crate.creator = crate.add(author)
    crate.root_dataset["author"] = author
    for url, name in _PROFILES.items():
        profile = _entity(crate, url, "CreativeWork", name=name, version=url.rpartition("/")[2])
        crate.root_dataset.append_to("conformsTo", crate.add(profile))
    return crate


def _entity(crate: ROCrate, identifier: str, type_: str, **properties: object) -> ContextEntity:
    return ContextEntity(crate, identifier, properties={"@type": type_, **properties})


def _add_file(crate: ROCrate, source: Path, name: str, types: str | list[str] = "File") -> Entity:
    media_type = guess_type(name)[0]
    if source.suffix == ".parquet":
        media_type = "application/vnd.apache.parquet"
    properties = {"@type": types, "name": name, "sha256": sha256(source)}
    properties |= {"encodingFormat": media_type} if media_type else {}
    return crate.add_file(source, name, record_size=True, properties=properties)


def _add_workflow(crate: ROCrate, rules: set[str]) -> Entity:
    """Add the code; return its Snakefile, the main entity.

    The scripts of the rules that made the runs are its tools.
    """
    tools, main = {_script(rule) for rule in rules}, "workflow/Snakefile"
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


def _script(rule: str) -> str:
    return f"workflow/workflow_scripts/{rule}.py"


def _add_sources(
    crate: ROCrate, records: Iterable[dict], registry: Mapping[str, Source]
) -> dict[str, Entity]:
    """Add the downloads that the runs read, which are not in the archive; return them by name."""
    names = {name for record in records for name in named_files(record)}
    added = {}
    for name in filter(names.__contains__, registry):
        source = registry[name]
        facts = {"url": [download.url for download in source.urls], "sha256": list(source.sha256)}
        added[name] = crate.add(
            _entity(
                crate,
                f"#source-{name}",
                "CreativeWork",
                name=source.title,
                license=source.licence,
                citation=source.citation,
                **{key: value for key, value in facts.items() if value},
            )
        )
    return added


def _add_run(
    crate: ROCrate,
    workflow: Entity,
    command: str,
    results: Path,
    files: Mapping[str, Entity],
    sources: Mapping[str, Entity],
) -> None:
    """Add the run of the workflow as a whole."""
    inputs = [files["configuration.json"], *sources.values()]
    reports = [entity for name, entity in files.items() if name.startswith(_REPORTS)]
    properties = {"name": f"Run of the workflow into {results.name}", "description": command}
    if (results / "ledger.csv").exists():  # a run that goes on has none
        properties["endTime"] = _written(results / "ledger.csv")
    crate.root_dataset.append_to(
        "mentions", crate.add_action(workflow, "#run", inputs, reports, properties)
    )


def _add_cell(
    crate: ROCrate,
    tool: Entity,
    results: Path,
    name: str,
    record: dict,
    files: Mapping[str, Entity],
) -> None:
    """Add the run of a cell, whose record has the given name."""
    cell, folder = Cell.from_record(record["cell"]), name.removesuffix("run.json")
    corpus = files.get(f"corpora/{cell.corpus}.parquet")
    inputs = [files["configuration.json"], *([corpus] if corpus else [])]
    outputs = [entity for file, entity in files.items() if file.startswith(folder)]
    seeds = ", ".join(map(str, record["seeds"]))
    properties = {
        "name": cell.label,
        "description": f"Seeds {seeds}; commit {record['git_commit']}; device "
        f"{record['device']}. {name} has the hash of each input and all settings.",
        "endTime": _written(results / name),
    }
    crate.root_dataset.append_to(
        "mentions", crate.add_action(tool, f"#{cell.path}", inputs, outputs, properties)
    )


def _rule(record: dict, files: Collection[str], name: str) -> str:
    """Return the name of the rule that made the run of a record."""
    system = run_system(record)
    if name.replace("run.json", "scores.parquet") not in files:
        return "solve_analogies"
    if system["ranker"].get("parts"):
        return "fuse_scores"
    return "train_encoder" if "training" in system else "score_candidates"


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
    return _README.format(
        name=results.name,
        command=command,
        emptied=", ".join(f"`{pattern}`" for pattern in EMPTIED),
        archived="\n".join(
            f"| {folder or 'this folder'} | {len(names)} |"
            for folder, names in contents.archived().items()
        ),
        rows="\n".join(rows),
        downloads="\n".join(downloads) or "| none | | |",
    )
