"""sources.yaml: every download, and where its file may be."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_yaml
from analogyqa.settings.base import Section, explain_error, nearest_hint, without_credentials

MIRROR_VARIABLE = "ANALOGYQA_MIRROR"
UNKNOWN = "unknown"


def plain_relative(path: str) -> str:
    parts = path.split("/")
    if "\\" in path or "\0" in path or path[1:2] == ":" or {"", ".", ".."} & set(parts):
        raise ValueError("must be a relative path without '.', '..', a drive or backslashes")
    if max(len(os.fsencode(part)) for part in parts) > 200:  # of 255, so that a suffix has room
        raise ValueError("must have no part of more than 200 bytes")
    return path


def _text_as(made: Callable[[str], object]) -> BeforeValidator:
    """Let a text stand for what is made of it."""
    return BeforeValidator(lambda value: made(value) if isinstance(value, str) else value)


RelativePath = Annotated[str, AfterValidator(plain_relative)]
Sha256OrUnknown = Annotated[str, Field(pattern=rf"^([0-9a-f]{{64}}|{UNKNOWN})$")]
Text = Annotated[str, Field(min_length=1)]


class Download(Section):
    """One place to get a file from, and what to do with what comes."""

    url: Annotated[str, Field(pattern=r"^https?://\S+$"), AfterValidator(without_credentials)]
    member: RelativePath | None = None
    format: Literal["wikiqa-parquet"] | None = None

    @model_validator(mode="after")
    def _one_conversion(self) -> "Download":
        if self.member and self.format:
            raise ValueError("give member or format, not both")
        return self

    def __str__(self) -> str:
        return f"{self.url}#{self.member}" if self.member else self.url


class Entry(Section):
    """The keys of one entry in sources.yaml; they are explained at the head of that file."""

    title: Text
    file: RelativePath
    sha256: Annotated[tuple[Sha256OrUnknown, ...], _text_as(lambda text: [text])] = ()
    git_blob: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = None
    rows_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    bytes: Annotated[int, Field(ge=1)] | None = None
    urls: tuple[Annotated[Download, _text_as(lambda url: {"url": url})], ...] = ()
    licence: Text
    citation: Text

    @model_validator(mode="after")
    def _verifiable(self) -> "Entry":
        if not self.sha256 and not self.git_blob:
            raise ValueError("give sha256 (what `sha256sum` prints) or git_blob")
        if UNKNOWN in self.sha256 and (not self.unverified or self.git_blob):
            raise ValueError(f"sha256: {UNKNOWN} leaves no room for another hash")
        return self

    @property
    def unverified(self) -> bool:
        """Whether no hash of the file is known."""
        return self.sha256 == (UNKNOWN,)


class HubModel(Section):
    """An entry that stands for the files of a model on the Hugging Face hub, at one revision."""

    title: Text
    folder: RelativePath
    hub: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
    files: dict[RelativePath, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]]
    licence: Text
    citation: Text

    def entries(self, name: str) -> dict[str, dict]:
        """Return an entry for each file, called `name/file`."""
        address = f"https://huggingface.co/{self.hub}/resolve/{self.revision}"
        return {
            f"{name}/{file}": {
                "title": f"{self.title}, {file}",
                "file": f"{self.folder}/{file}",
                "sha256": sha256,
                "urls": [f"{address}/{file}"],
                "licence": self.licence,
                "citation": self.citation,
            }
            for file, sha256 in self.files.items()
        }


class Source(Entry):
    """An entry of the registry together with its name."""

    name: str


class UnavailableError(AnalogyQAError):
    """A registered source that is neither here nor on the web."""


def load_registry(path: str | Path) -> dict[str, Source]:
    """Read and check a registry; the sources come in the order of the file.

    Raises AnalogyQAError, with one line for each fault naming file, source and key (and the
    nearest known key), for a file that is not such a registry.
    """
    entries = read_yaml(path)
    if not entries:
        raise AnalogyQAError(f"{path}: expected a mapping from the name of a source to its entry")
    registry, faults, file_of = {}, [], {}
    waiting = list(entries.items())
    while waiting:
        name, values = waiting.pop(0)
        kind = HubModel if isinstance(values, dict) and "hub" in values else Entry
        try:
            entry = kind.model_validate(values)
        except ValidationError as error:
            faults += [f"{path}: {name}: {explain_error(kind, fault)}" for fault in error.errors()]
            continue
        if isinstance(entry, HubModel):
            waiting = [*entry.entries(str(name)).items(), *waiting]
            continue
        owner = file_of.setdefault(entry.file, name)
        if owner != name:
            faults.append(f"{path}: {name}: file: {entry.file} is the file of {owner} already")
        registry[str(name)] = Source(name=str(name), **entry.model_dump())
    if faults:
        raise AnalogyQAError("\n".join(faults))
    return registry


def mirrors_from(config_mirrors: Sequence[str], environ: Mapping[str, str]) -> list[Path]:
    """Return the mirror folders, those of ANALOGYQA_MIRROR first (separated as in PATH)."""
    from_environment = environ.get(MIRROR_VARIABLE, "").split(os.pathsep)
    return [Path(mirror).expanduser() for mirror in [*from_environment, *config_mirrors] if mirror]


def listed(mirrors: Sequence[Path]) -> str:
    return ", ".join(map(str, mirrors)) or "none given"


def local_copy(source: Source, resources_dir: str | Path, mirrors: Sequence[Path]) -> Path | None:
    """Return the file in `resources_dir`, else in a mirror, else None; nothing is verified."""
    paths = (Path(folder, source.file) for folder in (resources_dir, *mirrors))
    return next((path for path in paths if path.is_file()), None)


def first_available(
    names: Sequence[str],
    registry: Mapping[str, Source],
    resources_dir: str | Path,
    mirrors: Sequence[Path],
) -> str:
    """Return the first of `names` with a local copy, else the first with a URL.

    Raises AnalogyQAError for a name that the registry lacks, UnavailableError when none of them can
    be had.
    """
    for name in names:
        if name not in registry:
            raise AnalogyQAError(
                f"no source {name!r} in the registry{nearest_hint(name, registry)}. If it is a "
                f"file, write its path with a slash: ./{name}"
            )
    here = [name for name in names if local_copy(registry[name], resources_dir, mirrors)]
    found = here or [name for name in names if registry[name].urls]
    if found:
        return found[0]
    folder = Path(resources_dir).absolute()
    places = " or ".join(str(folder / registry[name].file) for name in names)
    raise UnavailableError(
        f"{' / '.join(names)}: neither in {folder} nor in a mirror "
        f"({listed(mirrors)}), and not on the web; put the file at {places}, "
        f"or name a folder that has it in {MIRROR_VARIABLE} or under mirrors: in the config"
    )
