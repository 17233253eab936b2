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
    not resolved. Raises ValueError for a name that is surely a mistake.
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
    shell_folder = Path(os.environ.get("PWD", "."))  # the working folder, perhaps by a link
    is_here = shell_folder.is_dir() and shell_folder.samefile(".")
    for folder in (Path.cwd(), shell_folder if is_here else Path.cwd()):
        if Path(name).is_relative_to(folder):
            name = os.path.relpath(name, folder)
    return os.path.normpath(name)


def list_files(path: str | Path) -> list[str]:
    """Return a file, or all files below a folder; [] when the path does not exist."""
    paths = [Path(path), *sorted(Path(path).rglob("*"))]
    return [str(path) for path in paths if path.is_file()]


def require_writable(folder: str | Path, what: str = "output_dir") -> None:
    """Raise AnalogyQAError unless files can be written to a folder, which need not exist yet.

    `what` is the key that names the folder, or its purpose, for the message.
    """
    if problem := why_not_writable(folder):
        raise AnalogyQAError(f"{what}: {shown(str(folder))} cannot be written: {problem}")


def why_not_writable(folder: str | Path) -> str | None:
    """Return why no files can be written to a folder, with the remedy, or None if they can.

    The folder need not exist yet.
    """
    try:
        os.lstat(folder)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return "its name is too long. Shorten it."
    path = Path(folder).absolute()
    while not os.path.lexists(path):
        path = path.parent
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
