"""Write a results folder as an RO-Crate of the profile Provenance Run Crate 0.5.

The profile: https://w3id.org/ro/wfrun/provenance/0.5. The root of the crate is the results folder;
the code is in its folder `workflow`. Each cell is an action, whose tool is the script of its rule.
Sentences of the data and vectors may not be redistributed, so they are left out.
"""

import json
import re
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatch
from importlib.metadata import version
from itertools import chain
from mimetypes import guess_type
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from rocrate.model.contextentity import ContextEntity
from rocrate.model.entity import Entity
from rocrate.rocrate import ROCrate

from analogyqa.cells import (
    Cell,
    cells_by_hyperparameters,
    claim_sides,
    paper_coordinates,
    view_cells,
    why_no_run,
)
from analogyqa.cells.made import is_made
from analogyqa.errors import AnalogyQAError, explain_damage, printable
from analogyqa.evaluation.summary import find_records, named_files, read_record
from analogyqa.files import atomic_path, read_yaml
from analogyqa.measures import MEASURES, OF_SCORES
from analogyqa.report.stored import METADATA, PACKED, is_archive
from analogyqa.runs.depends_on import sha256
from analogyqa.runs.record import code_commit, run_system
from analogyqa.schemas import CORPUS, INSIDE, METRICS, read_table
from analogyqa.settings.coordinates import SCORE, Coordinates
from analogyqa.settings.data import FOLD, SOLVER
from analogyqa.settings.load import REPOSITORY
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.systems import Training
from analogyqa.sources.registry import Source

# `*` also matches `/`. The first pattern that matches a file decides.
KEPT = (
    *("configuration.json", "summary.csv", "coverage.csv", "comparisons.csv"),
    *("ledger.*", "claims.*"),
    *("costs/*.json", "selection/*.json"),
    *("corpora/*.json", "entities/*.json", "vectors/*.json", "sentence_vectors/*.json"),
    *("runs/*/run.json", "runs/*/history.parquet"),
)
# Of these only some are kept, see `sort_files`.
_SCORES, _METRICS = "runs/*/scores.parquet", "runs/*/metrics.parquet"
_PNG = "figures/*.png"
_FOLDS = f"corpora/*@{FOLD}=*.parquet"
# Tables that are kept without the columns that hold texts or vectors, which `verify` does not need.
EMPTIED = {
    "corpora/*.parquet": (CORPUS, ("question", "candidate")),
    "runs/*/inside.parquet": (INSIDE, ("text", "words", "vector")),
}
_TEMPORARY = ".*"
_RUN = "run the command above"
_SENTENCES = ("sentences of the data, which may not be redistributed", _RUN)
_OTHER_PAPER = ("of a paper that is not configured", "configure it and run the command above")
# Why files are left out, and how to get them again.
LEFT_OUT = {
    **dict.fromkeys(["runs/*/decisions.parquet", "runs/*/examples.json"], _SENTENCES),
    **dict.fromkeys(["questions/*", "review/*", "analogies/*", "rewritten/*"], _SENTENCES),
    **dict.fromkeys(["lemmas/*", "entities/*"], _SENTENCES),
    _FOLDS: ("large; they follow from the corpora", _RUN),
    _SCORES: ("large; the measures of each question follow from them, and are kept", _RUN),
    _METRICS: (
        "large values of sentence pairs that no claim is about; summary.csv has means",
        _RUN,
    ),
    "report.html": (_SENTENCES[0], "run the command above, or `analogyqa report` after it"),
    **dict.fromkeys(["tables/*", "figures/*"], _OTHER_PAPER),
    "vectors/*": ("vectors, which have licences of their own", _RUN),
    "sentence_vectors/*": ("sentences of the data, with their vectors", _RUN),
    _PNG: ("the same pictures as *.svg", _RUN),
    "prototypes/*": ("they follow from the corpora", _RUN),
    "quadruples/*": ("large; they follow from the corpora and the prototypes", _RUN),
    "runs/*/weights.pt": ("weights that were trained on the data", _RUN),
    "checkpoints/*": ("weights that were trained on the data", _RUN),
    "logs/*": ("paths of the machine", _RUN),
    "benchmarks/*": ("the time that each job took on the machine", _RUN),
    "mlflow*": ("a view of the records of the runs, and trained models", "`analogyqa import`"),
    _TEMPORARY: ("temporary", ""),
}
_ORIGINAL = b"sha256 of the whole table"  # in the metadata of a table that is not whole


class Contents(NamedTuple):
    """The names of the files of a results folder, below it."""

    kept: list[str]  # archived as they are
    emptied: list[str]  # tables that are archived without their texts
    reduced: dict[str, set[str]]  # tables of measures, and the measures that are left out
    left_out: dict[str, list[str]]  # by the pattern they match; "" for files that no rule makes

    def archived(self) -> dict[str, list[str]]:
        """Return the files that are archived, by the folder they are in; "" for the results'."""
        by_folder: dict[str, list[str]] = {}
        for name in sorted([*self.kept, *self.emptied, *self.reduced]):
            by_folder.setdefault(name.partition("/")[0] if "/" in name else "", []).append(name)
        return by_folder


def sort_files(results: str | Path, config: Config, papers: Collection[Paper]) -> Contents:
    """Sort the files of a results folder into archived, emptied, reduced and left out.

    The tables and figures of its papers are archived unless they show sentences. Scores are kept if
    a fused system or a view reads them, except in the folds of a cross-validation. The measures of
    scores themselves, as numbers, are kept if a table shows them or a claim is about them; those of
    sentence pairs if a claim is about them.
    """
    scored = _with_scores(results, config, papers)
    claimed = _measures_of(chain.from_iterable(map(_claimed_by, papers)), config)
    values = chain.from_iterable(paper_coordinates(config, paper) for paper in papers)
    shown_measures = _measures_of(values, config)
    shown = [f"{kind}/{paper.paper}/*" for paper in papers for kind in ("tables", "figures")]
    with_sentences = [
        f"tables/{paper.paper}/{name}.*" for paper in papers for name in views_with_sentences(paper)
    ]
    kept = [f"runs/{cell.path}/scores.parquet" for cell in scored] + [*KEPT, *shown]
    patterns = (*with_sentences, _FOLDS, _PNG, *EMPTIED, *kept, *LEFT_OUT)
    contents = Contents([], [], {}, {})
    for path in sorted(path for path in Path(results).rglob("*") if path.is_file()):
        name = path.relative_to(results).as_posix()
        pattern = _first_match(name, patterns)
        if not (is_made(name) or pattern in (*with_sentences, _TEMPORARY)):
            pattern = ""
        if pattern in EMPTIED:
            contents.emptied.append(name)
        elif pattern in kept:
            contents.kept.append(name)
        elif pattern == _METRICS and SOLVER not in name:
            contents.reduced[name] = OF_SCORES.keys() - shown_measures[_cell_of(name)]
        elif pattern == _METRICS and _cell_of(name) in claimed:
            contents.reduced[name] = MEASURES.keys() - claimed[_cell_of(name)]
        else:
            contents.left_out.setdefault(pattern, []).append(name)
    return contents


def _with_scores(results: str | Path, config: Config, papers: Iterable[Paper]) -> set[Cell]:
    """Return the cells whose scores a fused system or a view reads, except folds."""
    cells = view_cells(config, chain.from_iterable(paper.views.values() for paper in papers))
    for cell in map(Cell.from_path, map(Path, find_records(results))):
        if cell.system in config.systems and FOLD not in dict(cell.overrides):
            cells += cell.parts(config).values()
    return {*cells}


def _measures_of(coordinates: Iterable[Coordinates], config: Config) -> dict[Cell, set[str]]:
    """Return the measures that some values are of, by the cell of each run."""
    measures = defaultdict(set)
    for at in coordinates:
        if at.kind == SCORE and at.system and not why_no_run(at, config):
            for cell in cells_by_hyperparameters(at, config).values():
                measures[cell.with_run(config)].add(str(at.measure))
    return measures


def _claimed_by(paper: Paper) -> Iterator[Coordinates]:
    yield from claim_sides(paper.claims.values(), SCORE)
    for claim in paper.claims.values():
        yield from paper.beside(claim)


def _cell_of(name: str) -> Cell:
    return Cell.from_path(Path(name).parent)


def views_with_sentences(paper: Paper) -> list[str]:
    """Return the views of a paper that show sentences of the data."""
    return [name for name, view in paper.views.items() if view.spec.shows_sentences]


def why_left_out(pattern: str) -> tuple[str, str]:
    """Return why files that match a pattern are left out, and how to recreate them."""
    return LEFT_OUT.get(pattern, _SENTENCES) if pattern else ("made by no rule", "")


def _first_match(name: str, patterns: Iterable[str]) -> str:
    return next((pattern for pattern in patterns if fnmatch(name, pattern)), "")


def write_without_texts(source: str | Path, name: str, target: str | Path) -> None:
    """Copy a table, whose name below the results is given, with text and vector columns emptied.

    The metadata of the file hold the sha256 of the whole table, for `original_sha256`.

    Raises AnalogyQAError when the table is damaged or has another schema.
    """
    schema, columns = EMPTIED[_first_match(name, EMPTIED)]
    with explain_damage(source, "damaged Parquet file"):
        table = pq.read_table(source, columns=[c for c in schema.names if c not in columns])
        for field in filter(lambda field: field.name in columns, schema):
            empty = "" if field.type == pa.string() else []
            table = table.append_column(field, pa.array([empty] * len(table), field.type))
        table = table.select(schema.names).cast(schema)
        table = table.replace_schema_metadata({_ORIGINAL: original_sha256(source)})
    with atomic_path(target) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def write_reduced(source: str | Path, dropped: Collection[str], target: str | Path) -> None:
    """Copy the measures of a run without some `dropped` ones, and of dev only the one that selects.

    MLflow chooses the best model by that one. The metadata of the file hold the sha256 of the whole
    table, for `original_sha256`.

    Raises AnalogyQAError when the table is damaged or has another schema.
    """
    metrics = read_table(source, METRICS)
    selects = (metrics["split"] == "dev") & (metrics["measure"] == Training().select_by)
    is_kept = (metrics["split"] == "test") & ~metrics["measure"].isin(dropped)
    metrics = metrics[is_kept | selects]
    ids = [field.name for field in METRICS if pa.types.is_dictionary(field.type)]
    metrics = metrics.astype(dict.fromkeys(ids, str))  # without the names of other items
    table = pa.Table.from_pandas(metrics, schema=METRICS, preserve_index=False)
    table = table.replace_schema_metadata({_ORIGINAL: original_sha256(source)})
    with atomic_path(target) as temporary:
        # The same items recur for every measure and seed, which zstd sees in plain pages only.
        plain = [name for name in METRICS.names if name != "item"]
        options = {"use_dictionary": plain, "data_page_size": 1 << 24, "compression_level": 19}
        pq.write_table(table, temporary, compression="zstd", **options)


def original_sha256(path: str | Path) -> str:
    """Return the sha256 of the whole table, even if the file is without its texts or some rows."""
    metadata = pq.read_schema(path).metadata or {}
    return metadata[_ORIGINAL].decode() if _ORIGINAL in metadata else sha256(path)


def changed_files(crate: str | Path) -> Iterator[tuple[Path, str]]:
    """Yield the missing or changed files of an unpacked archive, each with what is wrong.

    Nothing is yielded for a folder that is no archive.
    """
    metadata = Path(crate, METADATA)
    if not is_archive(crate):
        return
    with explain_damage(metadata, remedy="Unpack it again"):
        entities = json.loads(metadata.read_text(encoding="utf-8"))["@graph"]
        hashes = {
            unquote(entity["@id"]): entity["sha256"]
            for entity in entities
            if "File" in entity["@type"] and "sha256" in entity
        }
    for name, expected in hashes.items():
        path = Path(crate, name)
        if not path.exists():
            yield path, "is missing"
        elif sha256(path) != expected:
            yield path, "differs from its hash in ro-crate-metadata.json"


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
    *("papers/*.yaml", "papers/*/paper.yaml", "papers/*/config.yaml"),
    *("sample/README.md", "sample/config.yaml", "sample/*.py", "sample/expected.csv"),
    *("sample/entities.jsonl", "sample/text.txt", "sample/facts/*.tsv"),
    *("sample/trecqa/*.xml", "sample/wikiqa/WikiQA-*.tsv"),
    *("envs/*.yaml", "envs/*.sh", "profiles/*/*.yaml", "slurm/*.yaml"),
)
# Editors, Jupyter and file managers leave other names.
_FILE_NAME = re.compile(r"\w[\w.-]*(?<!\.bak)(?<!\.orig)")
_REPORTS = ("summary.csv", "ledger.csv", "claims.csv", "tables/", "figures/")
_README = """\
# Results of analogyqa: {name}

This folder is an RO-Crate: `ro-crate-metadata.json` describes each file and how it was made. The
code, the configuration and the versions of all packages are in `workflow`, as of commit {commit}.
The runs were made by {commits}; the record of each names its own.

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

The columns with texts and vectors are empty in {emptied}. `runs/*/metrics.parquet` has only one
measure on dev, which selects the epoch. These files are not here:

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
    """Write the archive of a results folder, a zip file, or one that ends in .tar.xz.

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
        for name, dropped in contents.reduced.items():
            reduced = Path(temporary, name)
            write_reduced(results / name, dropped, reduced)
            files[name] = _add_file(crate, reduced, name)
        names = [name for name in files if name.endswith("/run.json")]
        records = {name: read_record(results / name) for name in names}
        cells = {name: Cell.from_record(record["cell"]) for name, record in records.items()}
        for name, cell in cells.items():
            if name != f"runs/{cell.path}/run.json":
                raise AnalogyQAError(
                    f"{results / name}: is the record of another cell, {cell.path}. Move its "
                    f"folder out of {results}"
                )
        tools = {name: _tool(record) for name, record in records.items()}
        workflow = _add_workflow(crate, {*tools.values()})
        sources = _add_sources(crate, records.values(), registry)
        readme = Path(temporary, "README.md")
        commits = sorted({record["git_commit"] for record in records.values()})
        text = printable(_readme(results, contents, command, sources, commits))
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
            record = records[name]
            tables = dict.fromkeys(cell.corpora(record["settings"]).values())
            read = [f"corpora/{table}.parquet" for table in tables]
            inputs = [configuration, *(files[table] for table in read if table in files)]
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
            _pack(crate, path, str(target).endswith(PACKED))


def _pack(crate: ROCrate, path: Path, as_whole: bool) -> None:
    if not as_whole:
        crate.write_zip(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        crate.write(folder)
        with tarfile.open(path, "w:xz") as packed:
            for child in sorted(Path(folder).iterdir()):
                packed.add(child, child.name, filter=_without_owner)


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


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
        is_ours = all(map(_FILE_NAME.fullmatch, path.relative_to(REPOSITORY).parts))
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


def _tool(record: dict) -> str:
    """Return the script of the rule that made the run of a record."""
    system = run_system(record)
    rule = "train_encoder" if "training" in system else "score_candidates"
    if system["ranker"].get("parts"):
        rule = "fuse_scores"
    if SOLVER in record["cell"]["overrides"]:
        rule = "solve_analogies"
    return f"workflow/workflow_scripts/{rule}.py"


def _written(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")


def _readme(
    results: Path,
    contents: Contents,
    command: str,
    sources: Mapping[str, Entity],
    commits: Sequence[str],
) -> str:
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
        commit=code_commit(),
        commits=", ".join(commits),
        command=command,
        emptied=", ".join(f"`{pattern}`" for pattern in EMPTIED),
        archived="\n".join(archived),
        rows="\n".join(rows),
        downloads="\n".join(downloads) or "| none | | |",
    )
