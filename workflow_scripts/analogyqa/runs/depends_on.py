"""Hashes of what a result depends on: files, JSON values, and code."""

import ast
import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = "analogyqa"
LIBRARY = Path(__file__).parents[1]
# Modules whose decisions reach a job as parameters, and MLflow, which only shows the results.
_LEFT_OUT = {"specs", "settings", "tasks", "plan", "tracking", "job"}


def sha256(path: str | Path) -> str:
    """Return the sha256 of a file as hex digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_hash(value: object) -> str:
    """Return the sha256 of a JSON value; the order of keys does not matter."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def code_hash(*starts: str | Path) -> str:
    """Return the hash of the library modules that `imported` returns, and of their templates."""
    files = {name: _module_file(name) for name in imported(*starts)}
    for folder in {path.parent / "templates" for path in files.values()}:
        files |= {str(path.relative_to(LIBRARY)): path for path in folder.glob("[!.]*")}
    return content_hash({name: sha256(path) for name, path in files.items()})


def imported(*starts: str | Path) -> set[str]:
    """Return the names of all library modules that modules and scripts import, also indirectly.

    Imports within functions count, imports for type checking do not. Modules whose decisions reach
    a job as parameters are left out.

    Args:
        starts: Names of modules, which are included, and paths of scripts, which are not.
    """
    modules: set[str] = set()
    waiting: list[str] = []
    for start in starts:
        waiting += _imports(start) if isinstance(start, Path) else [start]
    while waiting:
        name = waiting.pop()
        if name not in modules and not {*name.split(".")} & _LEFT_OUT:
            modules.add(name)
            waiting += _imports(_module_file(name))
    return modules


@cache
def _imports(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_bytes())
    names = {name for node in run_time_nodes(tree) for name in imported_names(node)}
    return frozenset(name for name in names if "." in name and _module_file(name).exists())


def run_time_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes of a syntax tree except those under `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from run_time_nodes(node)


def imported_names(node: ast.AST) -> Iterator[str]:
    """Yield the library names in an import statement: modules, or what may be in one."""
    if isinstance(node, ast.Import):
        named = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        named = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    else:
        return
    yield from (name for name in named if name.partition(".")[0] == PACKAGE)


def _module_file(module: str) -> Path:
    path = LIBRARY.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
