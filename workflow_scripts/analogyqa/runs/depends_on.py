"""Hashes of what a result depends on: files, JSON values, and code.

The hash of code covers the functions, classes and constants that are reached by name from where a
job starts. It is read from syntax trees: layout, comments, docstrings, log lines and what errors
say do not count, nor does the module in which something is defined.
"""

import ast
import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = "analogyqa"
LIBRARY = Path(__file__).parents[1]
# Modules and lists whose decisions reach a job as parameters, and MLflow, which only shows the
# results.
_LEFT_OUT = {"specs", "settings", "tasks", "cells", "tracking", "job", "RANKED"}
_TEMPLATES = {".html", ".css", ".js", ".svg"}  # not a backup, such as report.html~
# What reads and writes tables, which changes no weights.
STORAGE = ("analogyqa.errors", "analogyqa.files", "analogyqa.schemas")


def sha256(path: str | Path) -> str:
    """Return the sha256 of a file as hex digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_hash(value: object) -> str:
    """Return the sha256 of a JSON value; the order of keys does not matter."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class Definition(NamedTuple):
    """A name that a module of the library defines; "" stands for its other statements."""

    module: str
    name: str


@cache
def code_hash(*starts: str | Path, without: tuple[str, ...] = ()) -> str:
    """Return the hash of all definitions that `reached` returns, and of templates beside them."""
    definitions = reached(*starts, without=without)
    # Several modules may define the same name, so the hash covers what the names stand for.
    code = {content_hash([_own_hash(at), _meanings(at, without)]) for at in definitions}
    folders = {_module_file(at.module).parent / "templates" for at in definitions}
    paths = (path for folder in folders for path in folder.glob("[!.]*"))
    templates = {path.name: sha256(path) for path in paths if path.suffix in _TEMPLATES}
    return content_hash([sorted(code), templates])


@cache
def reached(*starts: str | Path, without: tuple[str, ...] = ()) -> frozenset[Definition]:
    """Return the definitions that a job reaches by name, directly or through other definitions.

    A job starts at a module, all of whose definitions it reaches, or at the path of a script, with
    all that the script imports. Names within functions count, imports for type checking do not.
    Modules and lists whose decisions reach a job as parameters are left out, and those `without`.
    """
    waiting: set[Definition] = set()
    for start in starts:
        imports = _imports(ast.parse(start.read_bytes())) if isinstance(start, Path) else {}
        for target in set().union(*imports.values()) if imports else {str(start)}:
            waiting |= _resolve(target, without)
    definitions: set[Definition] = set()
    while waiting:
        definitions.add(at := waiting.pop())
        for targets in _names(at).values():
            for target in targets:
                waiting |= _resolve(target, without) - definitions
    return frozenset(definitions)


def _resolve(target: str, without: Collection[str]) -> set[Definition]:
    """Return the definitions that a dotted name stands for: all those of a module, or one."""
    if not target.startswith(f"{PACKAGE}.") or _LEFT_OUT & {*target.split(".")}:
        return set()
    if any(f"{target}.".startswith(f"{module}.") for module in without):
        return set()
    if _module_file(target).exists():
        return {Definition(target, name) for name in _module(target)[0]}
    module, _, name = target.rpartition(".")
    if not _module_file(module).exists():
        return set()
    statements, imports = _module(module)
    if name not in statements:
        return {at for source in imports.get(name, ()) for at in _resolve(source, without)}
    return {Definition(module, at) for at in (name, "") if at in statements}


@cache
def _names(at: Definition) -> dict[str, set[str]]:
    """Return what the names in a definition stand for: dotted names, also of other packages."""
    statements, imports = _module(at.module)
    nodes = (node for statement in statements[at.name] for node in ast.walk(statement))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    defined = {name: {f"{at.module}.{name}"} for name in names & statements.keys()}
    return defined | {name: imports[name] for name in names & imports.keys()}


def _meanings(at: Definition, without: Collection[str]) -> dict[str, list[str]]:
    """Return what the names in a definition stand for, without the modules of the library."""

    def meanings(target: str) -> Iterable[str]:
        is_ours = target.startswith(PACKAGE)
        return map(_own_hash, _resolve(target, without)) if is_ours else [target]

    names = _names(at).items()
    return {name: sorted(chain.from_iterable(map(meanings, targets))) for name, targets in names}


@cache
def _own_hash(at: Definition) -> str:
    return content_hash(_as_json(_module(at.module)[0][at.name]))


def _as_json(node: object) -> Any:
    """Return a syntax tree as a JSON value that is the same in every version of Python."""
    if isinstance(node, list):
        return [_as_json(item) for item in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = {name: value for name, value in ast.iter_fields(node) if value not in (None, [])}
    return [type(node).__name__, {name: _as_json(value) for name, value in fields.items()}]


@cache
def _module(name: str) -> tuple[dict[str, list[ast.stmt]], dict[str, set[str]]]:
    """Return the statements that define each name, and what each imported name stands for."""
    tree = ast.parse(_module_file(name).read_bytes())
    imports = _imports(tree)
    statements: dict[str, list[ast.stmt]] = defaultdict(list)
    for statement in _Cleaner().visit(tree).body:
        for defined in _defined(statement) or [""]:
            statements[defined].append(statement)
    return dict(statements), imports


def _defined(statement: ast.stmt) -> list[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    nodes = (node for target in targets for node in ast.walk(target))
    return [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


class _Cleaner(ast.NodeTransformer):
    """Remove what changes no result: imports, docstrings, log lines, and what errors say."""

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        return None

    visit_ImportFrom = visit_Import

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if _is_type_checking(node) else self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        call = ast.unparse(node.value.func) if isinstance(node.value, ast.Call) else ""
        is_text = isinstance(node.value, ast.Constant)
        return None if is_text or call.startswith("log.") else self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return ast.Raise(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)


def _imports(tree: ast.AST) -> dict[str, set[str]]:
    """Return the dotted names that each imported name stands for, wherever it is imported."""
    imports = defaultdict(set)
    for node in run_time_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                imports[alias.asname or alias.name.partition(".")[0]].add(module + alias.name)
    return dict(imports)


def run_time_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes of a syntax tree except those under `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if not _is_type_checking(node):
            yield node
            yield from run_time_nodes(node)


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


@cache
def _module_file(module: str) -> Path:
    path = LIBRARY.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def script_hash(script: str, *modules: str) -> str:
    """Return the hash of the library code that a script runs; `modules` are loaded by name."""
    return code_hash(LIBRARY.with_name(f"{script}.py"), *modules)


@cache
def package_hash(*names: str) -> str:
    """Return the hash of the modules and packages of the library with these names."""
    # Editors leave locks and backups, whose names are no identifiers.
    paths = [path for path in LIBRARY.rglob("*.py") if path.stem.isidentifier()]
    parts = {path: path.relative_to(LIBRARY).with_suffix("") for path in paths}
    return content_hash(
        {str(part): sha256(path) for path, part in parts.items() if part.parts[0] in names}
    )
