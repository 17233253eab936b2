"""Which files of a results folder may be redistributed: no sentences of the data, no vectors."""

import json
from collections.abc import Collection, Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from analogyqa.cells.made import is_made
from analogyqa.errors import explain_damage
from analogyqa.files import atomic_path
from analogyqa.runs.depends_on import sha256
from analogyqa.schemas import CORPUS, INSIDE
from analogyqa.settings.paper import Paper

# `*` also matches `/`. The first pattern that matches a file decides.
KEPT = (
    *("configuration.json", "summary.csv", "ledger.*", "claims.*", "comparisons.csv"),
    *("costs/*.json", "selection/*.json", "prototypes/*.parquet"),
    *("corpora/*.json", "entities/*.json", "vectors/*.json", "sentence_vectors/*.json"),
    *("runs/*/run.json", "runs/*/scores.parquet", "runs/*/metrics.parquet"),
    "runs/*/history.parquet",
)
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
    "report.html": (_SENTENCES[0], "run the command above, or `analogyqa report` after it"),
    **dict.fromkeys(["tables/*", "figures/*"], _OTHER_PAPER),
    "vectors/*": ("vectors, which have licences of their own", _RUN),
    "sentence_vectors/*": ("sentences of the data, with their vectors", _RUN),
    "quadruples/*": ("large; they follow from the corpora and the prototypes", _RUN),
    "checkpoints/*": ("weights that were trained on the data", _RUN),
    "logs/*": ("paths of the machine", _RUN),
    "benchmarks/*": ("the time that each job took on the machine", _RUN),
    "mlflow*": ("a view of the records of the runs, and trained models", "`analogyqa import`"),
    _TEMPORARY: ("temporary", ""),
}
_ORIGINAL = b"sha256 with texts"  # in the metadata of a table without texts


class Contents(NamedTuple):
    """The names of the files of a results folder, below it."""

    kept: list[str]  # archived as they are
    emptied: list[str]  # tables that are archived without their texts
    left_out: dict[str, list[str]]  # by the pattern they match; "" for files that no rule makes

    def archived(self) -> dict[str, list[str]]:
        """Return the files that are archived, by the folder they are in; "" for the results'."""
        by_folder: dict[str, list[str]] = {}
        for name in sorted([*self.kept, *self.emptied]):
            by_folder.setdefault(name.partition("/")[0] if "/" in name else "", []).append(name)
        return by_folder


def sort_files(results: str | Path, papers: Collection[Paper]) -> Contents:
    """Sort the files of a results folder into archived, emptied and left out.

    The tables and figures of its papers are archived unless they show sentences.
    """
    shown = [f"{kind}/{paper.paper}/*" for paper in papers for kind in ("tables", "figures")]
    with_sentences = [
        f"tables/{paper.paper}/{name}.*" for paper in papers for name in views_with_sentences(paper)
    ]
    patterns = (*with_sentences, *EMPTIED, *KEPT, *shown, *LEFT_OUT)
    contents = Contents([], [], {})
    for path in sorted(path for path in Path(results).rglob("*") if path.is_file()):
        name = path.relative_to(results).as_posix()
        pattern = _first_match(name, patterns)
        if not (is_made(name) or pattern in (*with_sentences, _TEMPORARY)):
            pattern = ""
        if pattern in EMPTIED:
            contents.emptied.append(name)
        elif pattern in (*KEPT, *shown):
            contents.kept.append(name)
        else:
            contents.left_out.setdefault(pattern, []).append(name)
    return contents


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
        table = table.replace_schema_metadata({_ORIGINAL: sha256(source)})
    with atomic_path(target) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def original_sha256(path: str | Path) -> str:
    """Return the sha256 of a table as the run read it, even if the file is without its texts."""
    metadata = pq.read_schema(path).metadata or {}
    return metadata[_ORIGINAL].decode() if _ORIGINAL in metadata else sha256(path)


def changed_files(crate: str | Path) -> Iterator[tuple[Path, str]]:
    """Yield the missing or changed files of an unpacked archive, each with what is wrong.

    Without a file ro-crate-metadata.json, the folder is no archive, and nothing is yielded.
    """
    metadata = Path(crate, "ro-crate-metadata.json")
    if not metadata.exists():
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
