"""The configuration of a run, laid over those of its papers."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_yaml
from analogyqa.registry import ENCODERS
from analogyqa.settings.base import (
    Section,
    explain_error,
    laid_over,
    nearest_hint,
    require_few_values,
    without_nulls,
)
from analogyqa.settings.run import Config
from analogyqa.settings.studies import Studies
from analogyqa.settings.systems import Prototypes, Training

REPOSITORY = Path(__file__).parents[3]
PAPERS = REPOSITORY / "papers"

# The sections of a paper's configuration: definitions by name, which papers may share; values that
# are laid under each of its systems; and what is about the paper.
_NAMED = ("datasets", "question_types", "subsets", "vectors", "sentence_vectors", "systems")
_SHARED = (*_NAMED, "named_entities")
_UNDER = {"training": Training, "prototypes": Prototypes}
_STUDIES = ("selection", "sensitivity", "extra_rows")
_KNOWN = (*_SHARED, *_UNDER, *_STUDIES, "over")
_ABSENT = object()

Place = Path | dict  # a file, or the values of `--config`


class _Invalid(Exception):
    """A wrong value: its location, as the keys of a file, and what is said of it."""

    def __init__(self, lines: list[tuple[tuple[str | int, ...], str]]) -> None:
        super().__init__(lines)
        self.lines = lines


def load_config(
    values: dict,
    origin: str = "config",
    given: Sequence[Place] = (),
    papers: Path = PAPERS,
) -> Config:
    """Lay a run's values over the configurations of its papers and check them.

    A data set, vectors, system, setting or variation that is null is left out: so one configuration
    file can take away what another, under it, has. Any key of a paper's configuration may be given:
    `training` and `prototypes` are laid over those of every paper.

    Args:
        values: of all files and the command line.
        origin: what a message calls them.
        given: the files, and the values of `--config`, that they are from, what has the last word
            first. A message names the first that has the wrong key in place of `origin`.
        papers: the folder of the papers.

    Raises AnalogyQAError with one line for each wrong key: the key, the value given, what is
    allowed and, for an unknown key, the nearest known one.
    """
    require_few_values(values, origin)
    files: list[Path] = []
    try:
        own, names = _split(values), _paper_names(values)
        files = [file for name in names for file in _files_of(name, papers)]
        resolved = {name: _resolve(_read_paper(name, papers), own) for name in names}
        merged = _united(resolved, own)
        studies = {name: _checked_studies(paper) for name, paper in resolved.items()}
        return _validated(Config, {**merged, "papers": names, "studies": studies})
    except _Invalid as error:
        lines = [
            f"{_place_of(location, [*given, *files]) or origin}: {text}"
            for location, text in error.lines
        ]
        raise AnalogyQAError("\n".join(dict.fromkeys(lines))) from None


def read_config(path: str | Path) -> Config:
    """Read a configuration file, laid over the repository's config.yaml as Snakemake lays it.

    Raises AnalogyQAError when the file cannot be read or has a wrong key.
    """
    values: dict = {}
    files = list(dict.fromkeys([REPOSITORY / "config.yaml", Path(path).resolve()]))
    for file in files:
        values = laid_over(values, read_yaml(file))
    return load_config(values, str(path), files[::-1])


def _paper_names(values: dict) -> list[str]:
    names = values.get("papers")
    names = names.split() if isinstance(names, str) else names
    if not (isinstance(names, list) and names and all(isinstance(each, str) for each in names)):
        raise _Invalid([(("papers",), f"papers: {names!r} is not allowed: give names of folders")])
    return list(dict.fromkeys(names))


def _read_paper(name: str, papers: Path) -> dict:
    """Return the configuration of a paper, laid over the one that its key `over` names.

    The studies of that one are not its own.
    """
    path = papers / name / "config.yaml"
    if not path.is_file():
        known = [each.parent.name for each in sorted(papers.glob("*/config.yaml"))]
        raise _Invalid([(("papers",), f"papers: no paper {name!r}{nearest_hint(name, known)}")])
    values = read_yaml(path)
    if unknown := [key for key in values if key not in _KNOWN]:
        raise _Invalid(
            [((key,), f"unknown key {key}{nearest_hint(key, _KNOWN)}") for key in unknown]
        )
    if not (over := values.pop("over", None)):
        return values
    base = _read_paper(over, papers)
    return laid_over({key: base[key] for key in base if key not in _STUDIES}, values)


def _files_of(name: str, papers: Path) -> list[Path]:
    path = papers / name / "config.yaml"
    over = read_yaml(path).get("over") if path.is_file() else None
    return [path, *(_files_of(over, papers) if over else ())]


def _split(values: dict) -> dict:
    """Check the sections that are laid under systems, by themselves; return all sections."""
    for key in (*_NAMED, *_UNDER, *_STUDIES):
        if not isinstance(values.get(key) or {}, dict):
            raise _Invalid([((key,), f"{key}: {values[key]!r} is not allowed: give a mapping")])
    for key, section in _UNDER.items():
        _validated(section, values.get(key) or {}, (key,))
    return values


def _resolve(paper: dict, own: dict) -> dict:
    """Return a paper's configuration with the run's values over what it names."""
    resolved = dict(paper)
    for key in _SHARED:
        base, changes = paper.get(key) or {}, own.get(key, {})
        if key in _NAMED and changes:
            changes = {name: changes[name] for name in base if name in changes}
        resolved[key] = {} if changes is None else without_nulls(laid_over(base, changes))
    for key in (*_UNDER, *_STUDIES):
        if key in paper or key in _UNDER:
            resolved[key] = laid_over(paper.get(key) or {}, own.get(key) or {})
    resolved["systems"] = _on_their_base(resolved["systems"], resolved)
    return resolved


def _on_their_base(systems: dict, base: dict) -> dict:
    """Lay systems over what their paper says of all of them."""
    resolved = {}
    for name, system in systems.items():
        resolved[name] = system
        if isinstance(system, dict):
            resolved[name] = {**base.get("prototypes", {}), **system}
            if ENCODERS.get(system.get("encoder"), ENCODERS["random"]).trained:
                training = laid_over(base.get("training") or {}, system.get("training") or {})
                resolved[name]["training"] = training
    return resolved


def _united(papers: Mapping[str, dict], own: dict) -> dict:
    """Return the definitions of all papers and the run's own, with the run's other values.

    Raises _Invalid for a name that two papers define differently.
    """
    merged = {key: value for key, value in own.items() if key not in (*_UNDER, *_STUDIES)}
    for key in _SHARED:
        defined_by: dict[str, str] = {}
        united: dict = {}
        for paper, values in papers.items():
            for name, value in values[key].items():
                if name in united and united[name] != value:
                    raise _Invalid(
                        [
                            (
                                (),
                                f"{key}.{name}: the papers {defined_by[name]} and {paper} define "
                                "it differently. Give one of the two another name.",
                            )
                        ]
                    )
                united[name] = value
                defined_by.setdefault(name, paper)
        if key in _NAMED:
            new = without_nulls(own.get(key) or {})
            new = {name: new[name] for name in new if name not in united}
            united |= _on_their_base(new, own) if key == "systems" else new
        merged[key] = united or (None if key == "named_entities" else {})
    return merged


def _checked_studies(paper: dict) -> Studies:
    values = {key: paper[key] for key in _STUDIES if key in paper}
    if settings := values.get("selection", {}).get("settings"):
        values["selection"] = {**values["selection"], "settings": without_nulls(settings)}
    if isinstance(choices := without_nulls(values.get("sensitivity", {}).get("axes")), dict):
        choices = {name: without_nulls(each) for name, each in choices.items()}
        values["sensitivity"] = {**values["sensitivity"], "axes": choices}
        if values["sensitivity"].get("datasets") is None:
            values["sensitivity"]["datasets"] = list(paper["datasets"])
    return _validated(Studies, values | {key: list(paper[key]) for key in ("datasets", "systems")})


def _validated(section: type[Section], values: dict, prefix: tuple[str, ...] = ()) -> Section:
    try:
        return section.model_validate(values)
    except ValidationError as error:
        raise _Invalid(
            [
                ((*prefix, *item["loc"]), explain_error(section, item, prefix))
                for item in error.errors()
            ]
        ) from None


def _place_of(location: tuple[str | int, ...], given: Sequence[Place]) -> str | None:
    """Return what has a key, as a user calls it: the path of a file from here, or `--config`."""
    for place in given if location else ():
        value: object = read_yaml(place) if isinstance(place, Path) else place
        for part in location:
            value = value.get(part, _ABSENT) if isinstance(value, dict) else _ABSENT
            if value is _ABSENT or not isinstance(value, dict):
                break
        if value is not _ABSENT:
            return os.path.relpath(place) if isinstance(place, Path) else "--config"
    return None
