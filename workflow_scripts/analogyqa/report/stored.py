"""A results folder that is read again: its configuration and its papers."""

import atexit
import io
import json
import shutil
import tarfile
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import IO, cast

from pydantic import ValidationError

from analogyqa.cells import load_papers
from analogyqa.errors import AnalogyQAError, explain_damage
from analogyqa.files import write_text
from analogyqa.settings.base import Section, explain_error
from analogyqa.settings.load import load_config, require_papers
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config, leave_out

CONFIGURATION = "configuration.json"
METADATA = "ro-crate-metadata.json"  # which only an archive has
# The ending of archives that are compressed as a whole, which halves their size.
PACKED = ".tar.xz"
_REMAKE = "run the workflow of this folder again, which rebuilds it"


class Stored(Section, extra="ignore"):
    """The content of configuration.json: what was configured and left out, and the command."""

    values: dict
    left_out: dict[str, str]
    command: str


def configured(
    values: dict, left_out: dict[str, str], origin: str = "config"
) -> tuple[Config, dict[str, Paper]]:
    """Return the configuration without what is left out, and its papers.

    `left_out` gives the reason for each name; error messages name `origin` as the file.
    """
    config = leave_out(load_config(values, origin), left_out)
    return config, load_papers(config)


def store_configuration(
    results: str | Path, values: dict, left_out: dict[str, str], command: str
) -> None:
    """Write configuration.json when a run starts, so that every command can read its results."""
    # These two depend on the machine.
    kept = {key: value for key, value in values.items() if key not in ("tracking_uri", "mirrors")}
    content = {"values": kept, "left_out": left_out, "command": command}
    write_text(Path(results, CONFIGURATION), json.dumps(content, indent=1) + "\n")


def read_configuration(results: str | Path) -> tuple[Config, dict[str, Paper], str]:
    """Return the configuration and the papers of a results folder, and the command that made it.

    Raises AnalogyQAError as `read_stored`, or when this version does not know the settings.
    """
    stored = read_stored(results)
    require_papers()
    path = Path(results, CONFIGURATION)
    try:
        return *configured(stored.values, stored.left_out, str(path)), stored.command
    except AnalogyQAError as error:
        raise AnalogyQAError(
            f"{error}\n{path} was written by another version of this repository, or edited. Use "
            f"that version, or delete the file and {_REMAKE}"
        ) from error


def read_stored(results: str | Path) -> Stored:
    """Return the content of configuration.json; AnalogyQAError if it is missing or damaged."""
    path = Path(results, CONFIGURATION)
    try:
        return Stored.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        problem = (
            "there is no such folder. Name the output folder of a run, such as results/demo, which "
            "`analogyqa demo` makes"
        )
        if path.parent.is_dir():
            problem = (
                f"it has no {CONFIGURATION}. Start its run again, which writes it, or name another "
                "output folder"
            )
        raise AnalogyQAError(f"{results}: {problem}") from None
    except ValidationError as error:
        reason = explain_error(Stored, error.errors()[0])
        raise AnalogyQAError(f"{path}: {reason}. Delete the file and {_REMAKE}") from error
    except OSError as error:
        raise AnalogyQAError(f"{path}: cannot be read ({error}). Make it readable") from error


def is_archive(folder: str | Path) -> bool:
    """Return whether a folder is an unpacked archive."""
    return Path(folder, METADATA).exists()


def is_packed(path: Path) -> bool:
    """Return whether a file is an archive, by its content."""
    return zipfile.is_zipfile(path) or tarfile.is_tarfile(path)


def find_archives(folder: Path) -> dict[str, Path]:
    """Return the archives of a folder that are compressed as a whole, by name, in order."""
    return {path.name.removesuffix(PACKED): path for path in sorted(folder.glob(f"*{PACKED}"))}


@cache
def unpacked(results: Path) -> Path:
    """Return an output folder as it is; unpack an archive for as long as this process lives.

    Raises AnalogyQAError when the file is not an archive, or is damaged.
    """
    if not results.is_file():
        return results
    folder = Path(tempfile.mkdtemp(prefix="analogyqa-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # So messages about a file in it name the archive.
    return unpack(results, folder / results.name)


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive into a new folder and return it.

    Raises AnalogyQAError when the file is not an archive, or is damaged, or when the folder is
    there already: a run may have gone on in it.
    """
    if folder.exists():
        raise AnalogyQAError(
            f"{folder} is there already, so {archive} is not unpacked into it. Name the folder "
            "instead of the archive, or move it"
        )
    with explain_damage(archive, "not an archive of results", "Name a folder, or fetch it again"):
        try:
            _extract(archive, folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    return folder


def _extract(archive: Path, folder: Path) -> None:
    """Write the files of an archive into a folder; its last error may come after some of them."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            zipped.extractall(folder)
    elif tarfile.is_tarfile(archive):
        with tarfile.open(archive) as packed:
            for member in filter(tarfile.TarInfo.isfile, packed):
                _write_member(packed, member, folder)
            # A damaged header ends the members early; the checksum is behind the last of them.
            shutil.copyfileobj(cast(IO[bytes], packed.fileobj), io.BytesIO())
    else:
        raise ValueError("neither a zip file nor a tar file")


def _write_member(packed: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Write a file into a folder, and refuse to write it elsewhere, as some Pythons would."""
    path = folder / member.name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{member.name} would be written outside of {folder}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with cast(IO[bytes], packed.extractfile(member)) as source, open(path, "wb") as target:
        shutil.copyfileobj(source, target)
