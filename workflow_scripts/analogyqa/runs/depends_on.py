"""What a result depends on, as hashes: the bytes of files, JSON values, and the code."""

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

PACKAGE = "analogyqa"
LIBRARY = Path(__file__).parents[1]
# The values that a stage is given contain what these decide; MLflow is a view of the results.
_LEFT_OUT = ("specs", "settings", "tasks", "plan", "tracking", "job")


def sha256(path: str | Path) -> str:
    """Return the sha256 of a file as hex digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_hash(value: object) -> str:
    """Return the sha256 of a JSON value, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def code_hash(*starts: str | Path) -> str:
    """Return the hash of the modules of this library that `imported` finds, with templates."""
    files = {name: _file_of(name) for name in imported(*starts)}
    for folder in {path.parent / "templates" for path in files.values()}:
        files |= {str(path.relative_to(LIBRARY)): path for path in folder.glob("[!.]*")}
    return content_hash({name: sha256(path) for name, path in files.items()})


def imported(*starts: str | Path) -> set[str]:
    """Return modules of this library and all its modules that they import, at whatever place.

    Left out are imports for type checking, and the modules whose decisions are values.

    Args:
        starts: names of modules, which are among the found ones, and paths of scripts.
    """
    found: set[str] = set()
    waiting = [name for start in starts for name in _modules_of(start)]
    while waiting:
        name = waiting.pop()
        if name not in found and not {*name.split(".")} & {*_LEFT_OUT}:
            found.add(name)
            waiting += _imports_of(_file_of(name))
    return found


def _modules_of(start: str | Path) -> Iterable[str]:
    return _imports_of(start) if isinstance(start, Path) else [start]


@cache
def _imports_of(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_bytes())
    names = {name for node in nodes_of(tree) for name in names_in(node)}
    return frozenset(name for name in names if "." in name and _file_of(name).exists())


def nodes_of(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from nodes_of(node)


def names_in(node: ast.AST) -> Iterator[str]:
    """Yield what an import statement may name of this library, a module or what is in one."""
    if isinstance(node, ast.Import):
        named = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        named = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    else:
        return
    yield from (name for name in named if name.partition(".")[0] == PACKAGE)


def _file_of(module: str) -> Path:
    path = LIBRARY.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
