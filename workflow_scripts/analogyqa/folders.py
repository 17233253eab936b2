"""The folders that a run writes to: whether their names and places can be used."""

import errno
import os
import shutil
from pathlib import Path

from analogyqa.errors import AnalogyQAError, shown

LEAST_ROOM = 1 << 20  # bytes: what the smallest run needs


def folder_name(name: str) -> str:
    """Return a folder's name in one spelling, relative when it lies below the working folder.

    Snakemake keeps what it knows of a file by its path as it is spelled. Links stay as they are.

    Raises ValueError for a name that cannot be meant.
    """
    if name.strip().lower() in ("", "null", "none"):
        raise ValueError("name a folder")
    if name != name.strip():
        raise ValueError("it begins or ends with a space")
    if "\0" in name:
        raise ValueError("no path holds a NUL character")
    if "{" in name or "}" in name:
        raise ValueError("Snakemake takes {name} in a path for a wildcard; use no braces")
    if name.startswith("~"):
        raise ValueError("only a shell knows ~; write out the path of your home folder")
    # The shell may know the working folder by the name of a link.
    below = [here for here in (Path.cwd(), _shells_folder()) if Path(name).is_relative_to(here)]
    return os.path.normpath(os.path.relpath(name, below[0]) if below else name)


def _shells_folder() -> Path:
    shells = Path(os.environ.get("PWD", "."))
    return shells if shells.is_dir() and shells.samefile(".") else Path.cwd()


def list_files(path: str | Path) -> list[str]:
    """Return a file, or every file below a folder; [] for what is neither, such as a package."""
    paths = [Path(path), *sorted(Path(path).rglob("*"))]
    return [str(each) for each in paths if each.is_file()]


def require_writable(folder: str | Path, what: str = "output_dir") -> None:
    """Raise AnalogyQAError when `folder`, or the place where it would be made, takes no files.

    `what` is for the message: the key that names the folder, or what it is for.
    """
    place = Path(folder).absolute()
    while not os.path.lexists(place):
        place = place.parent
    if problem := _too_long(folder) or _problem_of(place):
        raise AnalogyQAError(f"{what}: {shown(str(folder))} cannot be written: {problem}")


def _too_long(folder: str | Path) -> str | None:
    try:
        os.lstat(folder)
    except OSError as error:
        return "its name is too long. Shorten it." if error.errno == errno.ENAMETOOLONG else None
    return None


def _problem_of(place: Path) -> str | None:
    """Return why nothing can be written into `place`, which exists, and the remedy."""
    if place.is_symlink() and not place.exists():
        return (
            f"{place} is a link to {place.readlink()}, which leads nowhere. Remove the link or "
            "make the folder that it names."
        )
    if not place.is_dir():
        return f"{place} is a file. Remove it or name another folder."
    if not os.access(place, os.W_OK | os.X_OK):
        return f"{place} is read-only. Make it writable or name another folder."
    free = shutil.disk_usage(place).free
    if free < LEAST_ROOM:
        return (
            f"the disk of {place} has {free // 1024} KiB left. Make room on it or name another "
            "folder, then give the same command again; nothing that is done is lost."
        )
    return None
