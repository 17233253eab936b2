"""The configuration of a run, laid over those of its papers."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from analogyqa.errors import AnalogyQAError, shown
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
_SECTIONS = (*_SHARED, *_UNDER, *_STUDIES)

Place = Path | dict  # a file, or the values of `--config`
Faults = list[tuple[tuple[str | int, ...], str]]  # the keys of a wrong value, what is said of it
S = TypeVar("S", bound=Section)


def load_config(
    values: dict,
    origin: str = "config",
    given: Sequence[Place] = (),
    papers: Path = PAPERS,
) -> Config:
    """Lay a run's values over the configurations of its papers and check them.

    A data set, vectors, system, setting or variation that is null is left out: so one configuration
    file can take away what another, under it, has. Any key of a paper's configuration may be given:
    `training` and `prototypes` are laid over those of every paper, `selection`, `sensitivity` and
    `extra_rows` over those of each paper that has them.

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
    names, faults = values.get("papers"), _misshapen(values)
    faults += [((key,), f"unknown key {key}") for key in ("studies",) if key in values]
    names = names.split() if isinstance(names, str) else names
    if not (isinstance(names, list) and names and all(isinstance(each, str) for each in names)):
        text = f"papers: {shown(names)} is not allowed: give names of folders"
        names, faults = [], [*faults, (("papers",), text)]
    known = _names_of(papers)
    faults += [
        (("papers",), f"papers: no paper {name!r}{nearest_hint(name, known)}")
        for name in names
        if name not in known
    ]
    _raise(faults, given, origin)
    names, files = list(dict.fromkeys(names)), []
    resolved = {name: _resolve(_read_paper(name, papers, files), values, faults) for name in names}
    merged = _united(resolved, values, faults)
    studies = {name: _studies_of(paper, faults) for name, paper in resolved.items()}
    merged |= {"papers": names, "studies": without_nulls(studies)}
    config = _checked(Config, merged, (), faults)
    _raise(faults, [*given, *files], origin)
    return config


def read_config(path: str | Path) -> Config:
    """Read a configuration file, laid over the repository's config.yaml as Snakemake lays it.

    Raises AnalogyQAError when the file cannot be read or has a wrong key.
    """
    values: dict = {}
    files = list(dict.fromkeys([REPOSITORY / "config.yaml", Path(path).resolve()]))
    for file in files:
        values = laid_over(values, read_yaml(file))
    return load_config(values, str(path), files[::-1])


def _names_of(papers: Path) -> list[str]:
    return [each.parent.name for each in sorted(papers.glob("*/config.yaml"))]


def _misshapen(values: dict) -> Faults:
    text = "{}: {} is not allowed: give a mapping"
    sections = {key: values[key] for key in _SECTIONS if values.get(key) is not None}
    faults = {key: each for key, each in sections.items() if not isinstance(each, dict)}
    return [((key,), text.format(key, shown(each))) for key, each in faults.items()]


def _read_paper(name: str, papers: Path, files: list[Path], above: tuple[str, ...] = ()) -> dict:
    """Return the configuration of a paper, laid over the one that its key `over` names.

    The studies of that one are not its own. The files that were read are added to `files`.
    """
    path = papers / name / "config.yaml"
    values = read_yaml(path)
    require_few_values(values, os.path.relpath(path))
    files.append(path)
    known = [each for each in _names_of(papers) if each not in (*above, name)]
    allowed = (*_SECTIONS, "over")
    faults = _misshapen(values) + [
        ((key,), f"unknown key {key}{nearest_hint(str(key), allowed)}")
        for key in values
        if key not in allowed
    ]
    over = values.pop("over", None)
    if over is not None and over not in known:
        hint = nearest_hint(str(over), known)
        faults.append((("over",), f"over: {shown(over)} is no other paper{hint}"))
    _raise(faults, [path], "")
    if over is None:
        return values
    base = _read_paper(over, papers, files, (*above, name))
    return laid_over({key: base[key] for key in base if key not in _STUDIES}, values)


def _resolve(paper: dict, own: dict, faults: Faults) -> dict:
    """Return a paper's configuration with the run's values over what it names."""
    resolved: dict = {}
    for key in _SHARED:
        base, changes = paper.get(key) or {}, own.get(key, {})
        if key in _NAMED and changes:
            changes = {name: changes[name] for name in base if name in changes}
        resolved[key] = {} if changes is None else without_nulls(laid_over(base, changes))
    for key, section in _UNDER.items():
        laid = laid_over(paper.get(key) or {}, own.get(key) or {})
        resolved[key] = laid if _checked(section, laid, (key,), faults) else {}
    for key in _STUDIES:
        if key in paper and own.get(key, {}) is not None:
            resolved[key] = laid_over(paper[key] or {}, own.get(key, {}))
    resolved["systems"] = _on_their_base(resolved["systems"], resolved)
    return resolved


def _on_their_base(systems: dict, base: dict) -> dict:
    """Lay systems over what their paper says of all of them."""
    resolved = {}
    for name, system in systems.items():
        resolved[name] = system
        if isinstance(system, dict):
            resolved[name] = base["prototypes"] | system
            encoder, own = system.get("encoder"), system.get("training")
            trained = isinstance(encoder, str) and encoder in ENCODERS and ENCODERS[encoder].trained
            if trained and isinstance(own, dict | None):
                resolved[name]["training"] = laid_over(base["training"], own or {})
    return resolved


def _united(papers: Mapping[str, dict], own: dict, faults: Faults) -> dict:
    """Return the definitions of all papers and the run's own, with the run's other values.

    A name that two papers define differently is a fault.
    """
    merged = {key: value for key, value in own.items() if key not in (*_UNDER, *_STUDIES)}
    for key in _SHARED:
        united: dict = {}
        defined_by: dict[str, str] = {}
        for paper, values in papers.items():
            for name, value in values[key].items():
                other = defined_by.setdefault(name, paper)
                if united.setdefault(name, value) != value:
                    text = f"{key}.{name}: the papers {other} and {paper} define it differently. "
                    faults.append(((key, name), f"{text}Give one of the two another name."))
        if key in _NAMED:
            new = without_nulls(own.get(key) or {})
            new = {name: new[name] for name in new if name not in united}
            united |= _on_their_base(new, _resolve({}, own, faults)) if key == "systems" else new
        merged[key] = united or (None if key == "named_entities" else {})
    return merged


def _studies_of(paper: dict, faults: Faults) -> Studies | None:
    values = {key: paper[key] for key in _STUDIES if key in paper}
    values |= {key: list(paper[key]) for key in ("datasets", "systems")}
    if "sensitivity" in values and values["sensitivity"].get("datasets") is None:
        values["sensitivity"] = values["sensitivity"] | {"datasets": values["datasets"]}
    return _checked(Studies, values, (), faults)


def _checked(section: type[S], values: dict, prefix: tuple[str, ...], faults: Faults) -> S | None:
    """Return a section of values, None where some are wrong; these are added to `faults`."""
    try:
        return section.model_validate(values)
    except ValidationError as error:
        for item in error.errors():
            text = explain_error(section, item, prefix)
            # What does not fit together is said of a key, too, which the message begins with.
            location = item["loc"] or tuple(text.partition(":")[0].split("."))
            faults.append(((*prefix, *location), text))
        return None


def _raise(faults: Faults, given: Sequence[Place], origin: str) -> None:
    """Raise AnalogyQAError where there are faults, each with what has its key."""
    if faults:
        places = [(read_yaml(each) if isinstance(each, Path) else each, each) for each in given]
        lines = [f"{_place_of(location, places) or origin}: {text}" for location, text in faults]
        raise AnalogyQAError("\n".join(dict.fromkeys(lines)))


def _place_of(location: tuple[str | int, ...], places: Iterable[tuple[dict, Place]]) -> str | None:
    """Return what has a key, or where it is missing, as a user calls it: a path, or `--config`."""
    for keys in filter(None, (location, location[:-1])):
        for values, place in places:
            if _has(values, keys):
                return os.path.relpath(place) if isinstance(place, Path) else "--config"
    return None


def _has(value: object, keys: tuple[str | int, ...]) -> bool:
    for key in keys:
        if not isinstance(value, dict):  # what is within a value goes with it
            return True
        if key not in value:
            return False
        value = value[key]
    return True
