"""Check the folders that a run writes to."""

import errno
import os
import shutil
from pathlib import Path

from analogyqa.errors import AnalogyQAError, shown

MIN_FREE_SPACE = 1 << 20  # bytes, which the smallest run needs


def folder_name(name: str) -> str:
    """Normalise the name of a folder; a folder below the working folder becomes relative.

    Snakemake stores metadata by path, so a folder must always be spelled the same way. Links are
    not resolved.

    Raises:
        ValueError: for a name that is surely a mistake.
    """
    if name.strip().lower() in ("", "null", "none"):
        raise ValueError("name a folder")
    if name != name.strip():
        raise ValueError("it begins or ends with a space")
    if "\0" in name:
        raise ValueError("a path cannot contain NUL")
    if "{" in name or "}" in name:
        raise ValueError("Snakemake reads {name} in a path as a wildcard; use no braces")
    if name.startswith("~"):
        raise ValueError("~ only works in a shell; write out the path of your home folder")
    # The shell may name the working folder by a link.
    parents = [here for here in (Path.cwd(), _shell_folder()) if Path(name).is_relative_to(here)]
    return os.path.normpath(os.path.relpath(name, parents[0]) if parents else name)


def _shell_folder() -> Path:
    folder = Path(os.environ.get("PWD", "."))
    return folder if folder.is_dir() and folder.samefile(".") else Path.cwd()


def list_files(path: str | Path) -> list[str]:
    """Return a file, or all files below a folder; [] when the path does not exist."""
    paths = [Path(path), *sorted(Path(path).rglob("*"))]
    return [str(path) for path in paths if path.is_file()]


def require_writable(folder: str | Path, what: str = "output_dir") -> None:
    """Raise AnalogyQAError unless files can be written to a folder, which need not exist yet.

    Args:
        folder: The folder to write to.
        what: The key that names the folder, or its purpose, for the message.
    """
    if problem := why_not_writable(folder):
        raise AnalogyQAError(f"{what}: {shown(str(folder))} cannot be written: {problem}")


def why_not_writable(folder: str | Path) -> str | None:
    """Return why no files can be written to a folder, with the remedy, or None if they can.

    The folder need not exist yet.
    """
    existing = Path(folder).absolute()
    while not os.path.lexists(existing):
        existing = existing.parent
    return _find_length_problem(folder) or _find_problem(existing)


def _find_length_problem(folder: str | Path) -> str | None:
    try:
        os.lstat(folder)
    except OSError as error:
        return "its name is too long. Shorten it." if error.errno == errno.ENAMETOOLONG else None
    return None


def _find_problem(path: Path) -> str | None:
    """Return why nothing can be written into an existing path, with the remedy, or None."""
    if path.is_symlink() and not path.exists():
        return (
            f"{path} is a broken link to {path.readlink()}. Remove the link, or create the folder "
            "that it points to."
        )
    if not path.is_dir():
        return f"{path} is a file. Remove it, or name another folder."
    if not os.access(path, os.W_OK | os.X_OK):
        return f"{path} is read-only. Make it writable, or name another folder."
    free = shutil.disk_usage(path).free
    if free < MIN_FREE_SPACE:
        return (
            f"the disk of {path} has {free // 1024} KiB left. Free some space, or name another "
            "folder, and run the same command again. Finished work is kept."
        )
    return None
