"""The configuration of a run, laid over those of its papers."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from analogyqa.errors import AnalogyQAError, shown
from analogyqa.files import read_yaml, require_few_values
from analogyqa.registry import ENCODERS
from analogyqa.settings.base import (
    Section,
    explain_error,
    laid_over,
    nearest_hint,
    require_known,
    with_nulls,
    without_nulls,
)
from analogyqa.settings.run import Config
from analogyqa.settings.studies import Studies
from analogyqa.settings.systems import Prototypes, Training

_CHECKOUT = Path(__file__).parents[3]
# An installed copy of the library reads the checkout that it is started in.
REPOSITORY = _CHECKOUT if (_CHECKOUT / "papers").is_dir() else Path.cwd()
PAPERS = REPOSITORY / "papers"

# The sections of a paper's configuration: definitions by name, which papers may share; values that
# are laid under each of its systems; and what is about the paper.
_NAMED = (
    "datasets",
    "question_types",
    "subsets",
    "vectors",
    "sentence_vectors",
    "categories",
    "systems",
    "substitutes",
)
_SINGLE = ("named_entities", "lemmas", "parser")  # each is a thing of its own
_SHARED = (*_NAMED, *_SINGLE)
_UNDER = {"training": Training, "prototypes": Prototypes}
_STUDIES = ("selection", "sensitivity", "cross_validation", "extra_rows")
_NOT_GIVEN = ("studies", "seeds_of")  # no user writes them: they are made of other keys
_SECTIONS = (*_SHARED, *_UNDER, *_STUDIES)

Place = Path | dict  # a file, or the values of `--config`
S = TypeVar("S", bound=Section)


class _Faults:
    """Lines about wrong keys, each with the first of some places that has the key.

    Args:
        origin: what is named where none has it.
        places: each with its values.
        lines: to which is added.
    """

    def __init__(self, origin: str, places: list[tuple[str, dict]], lines: list[str]) -> None:
        self.origin, self.places, self.lines = origin, places, lines

    def add(self, text: str, location: tuple[str | int, ...] = ()) -> None:
        """Add what is said of a key: of that which the text begins with unless it is given."""
        location = location or tuple(text.partition(":")[0].split("."))
        # What is missing is missing in what has the mapping.
        wanted = filter(None, (location, location[:-1]))
        found = (name for keys in wanted for name, values in self.places if _has(values, keys))
        self.lines.append(f"{next(found, self.origin)}: {text}")

    def checked(self, section: type[S], values: dict, *prefix: str) -> S | None:
        """Return a section of values, None where some are wrong."""
        try:
            return section.model_validate(values)
        except ValidationError as error:
            for item in error.errors():
                location = (*prefix, *item["loc"]) if item["loc"] else ()
                self.add(explain_error(section, item, prefix), location)
            return None

    def known(self, values: dict, more: Sequence[str]) -> dict:
        """Return the values of known keys: of sections, which are mappings, and of `more`."""
        kept = {}
        for key, value in values.items():
            if key not in (*_SECTIONS, *more):
                self.add(f"unknown key {key}{nearest_hint(str(key), (*_SECTIONS, *more))}", (key,))
            elif key in _SECTIONS and not isinstance(value, dict | None):
                self.add(f"{key}: {shown(value)} is not allowed: give a mapping")
            else:
                kept[key] = value
        return kept

    def stop(self) -> None:
        if self.lines:
            raise AnalogyQAError("\n".join(dict.fromkeys(self.lines)))


def load_config(
    values: dict,
    origin: str = "config",
    given: Sequence[Place] = (),
    papers: Path = PAPERS,
) -> Config:
    """Lay a run's values over the configurations of its papers and check them.

    A data set, vectors, system, setting or variation that is null is left out: so one configuration
    file can take away what another, under it, has. Any key of a paper's configuration may be given:
    `training` and `prototypes` are laid over those of every paper; `selection`, `sensitivity`,
    `cross_validation` and `extra_rows` over that of the first paper that has it, and where they are
    null
    over those of all papers.

    Args:
        values: of all files and the command line.
        origin: what a message calls them.
        given: the files, and the values of `--config`, that they are from, what has the last word
            first. A message names the first that has the wrong key instead of `origin`.
        papers: the folder of the papers.

    Raises AnalogyQAError with one line for each wrong key: the key, the value given, what is
    allowed and, for an unknown key, the nearest known one.
    """
    require_few_values(values, origin)
    values = {key: with_nulls(own) if key in _SECTIONS else own for key, own in values.items()}
    places = [
        (from_here(place), read_yaml(place)) if isinstance(place, Path) else ("--config", place)
        for place in given
    ]
    faults = _Faults(origin, [*places, (origin, values)], [])
    own = faults.known(values, [key for key in Config.model_fields if key not in _NOT_GIVEN])
    names, known = values.get("papers"), _names_of(papers)
    names = names.split() if isinstance(names, str) else names
    if not (isinstance(names, list) and names and all(isinstance(each, str) for each in names)):
        faults.add(f"papers: {shown(names)} is not allowed: give names of folders")
        faults.stop()
    by_paper, resolved, studies, read = {}, {}, {}, {}
    for name in dict.fromkeys(names):
        if name not in known:
            faults.add(f"papers: no paper {name!r}{nearest_hint(name, known)}")
            faults.stop()
        read[name] = _read_paper(name, papers)
    for name, (paper, files) in read.items():
        by_paper[name] = _Faults(origin, [*faults.places, *files], faults.lines)
        meant = _meant_in(name, own, {each: values for each, (values, _) in read.items()})
        resolved[name] = _resolve(paper, meant, by_paper[name])
        # A system that the run takes away may stay listed.
        systems = {*(paper.get("systems") or {}), *(own.get("systems") or {})}
        studies[name] = _studies_of(resolved[name], systems, by_paper[name])
    for key in _STUDIES:
        if own.get(key) and not any(key in values for values in resolved.values()):
            faults.add(f"{key}: none of the papers {', '.join(by_paper)} has this section", (key,))
    faults.places = [place for each in by_paper.values() for place in each.places]
    merged = _united(resolved, own, faults)
    merged |= {"papers": list(by_paper), "studies": without_nulls(studies)}
    config = faults.checked(Config, merged)
    for name, study in merged["studies"].items() if config else ():
        try:
            config.require_study(study)
        except ValueError as error:
            by_paper[name].add(str(error))
    faults.stop()
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


def from_here(path: Path) -> str:
    """Return a path as a message shows it: from the working folder where it is below that."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _names_of(papers: Path) -> list[str]:
    return [each.parent.name for each in sorted(papers.glob("*/config.yaml"))]


def _read_paper(
    name: str, papers: Path, above: tuple[str, ...] = ()
) -> tuple[dict, list[tuple[str, dict]]]:
    """Return the configuration of a paper, laid over the one that its key `over` names.

    The studies of that one are not its own. With it come the files that were read.
    """
    path = papers / name / "config.yaml"
    shown_path, values = from_here(path), read_yaml(path)
    files = [(shown_path, values)]
    faults = _Faults(shown_path, files, [])
    values = faults.known(values, ["over"])
    known = [each for each in _names_of(papers) if each not in (*above, name)]
    over = values.pop("over", None)
    if over is not None and over not in known:
        faults.add(f"over: {shown(over)} is no other paper{nearest_hint(str(over), known)}")
    faults.stop()
    if over is None:
        return values, files
    base, others = _read_paper(over, papers, (*above, name))
    return laid_over(_definitions(base), values), files + [(n, _definitions(v)) for n, v in others]


def _definitions(values: dict) -> dict:
    return {key: value for key, value in values.items() if key not in _STUDIES}


def _resolve(paper: dict, own: dict, faults: _Faults) -> dict:
    """Return a paper's configuration with the run's values over what it names."""
    resolved: dict = {}
    for key in _SHARED:
        base, changes = paper.get(key) or {}, own.get(key, {})
        if key in _NAMED and changes:
            changes = {name: changes[name] for name in base if name in changes}
        resolved[key] = {} if changes is None else without_nulls(laid_over(base, changes))
    for key, section in _UNDER.items():
        laid = laid_over(paper.get(key) or {}, own.get(key) or {})
        resolved[key] = laid if faults.checked(section, laid, key) else {}
    for key in _STUDIES:
        if key in paper and own.get(key, {}) is not None:
            resolved[key] = laid_over(paper[key] or {}, own.get(key, {}))
    resolved["systems"] = _on_their_base(resolved["systems"], resolved)
    return resolved


def _meant_in(paper: str, own: dict, papers: Mapping[str, dict]) -> dict:
    """Return a run's values without the studies that are meant in another paper."""
    first = {key: next((each for each in papers if key in papers[each]), "") for key in _STUDIES}
    return {
        key: value
        for key, value in own.items()
        if key not in first or value is None or paper == first[key]
    }


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


def _united(papers: Mapping[str, dict], own: dict, faults: _Faults) -> dict:
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
                    faults.add(f"{text}Give one of the two another name.", (key, name))
        if key in _NAMED:
            new = without_nulls(own.get(key) or {})
            new = {name: new[name] for name in new if name not in united}
            united |= _on_their_base(new, _resolve({}, own, faults)) if key == "systems" else new
        merged[key] = united or (None if key in _SINGLE else {})
    merged["systems"] = _with_starts(merged["systems"], faults)
    return merged


def _with_starts(systems: dict, faults: _Faults) -> dict:
    """Put the sections of the systems that others start from in the place of their names."""
    filled = {}
    for name, system in systems.items():
        first = system.get("starts_from") if isinstance(system, dict) else None
        if isinstance(first, str) and first not in systems:
            key = f"systems.{name}.starts_from"
            faults.add(f"{key}: {first!r} is not configured{nearest_hint(first, systems)}")
        filled[name] = system | {"starts_from": systems.get(first)} if first else system
    return filled


def _studies_of(paper: dict, systems: Collection[str], faults: _Faults) -> Studies | None:
    values = {key: paper[key] for key in _STUDIES if key in paper}
    values |= {key: list(paper[key]) for key in ("datasets", "systems", "subsets")}
    for key in {"sensitivity", "cross_validation"} & set(values):
        if values[key].get("datasets") is None:
            values[key] = values[key] | {"datasets": values["datasets"]}
    studies = faults.checked(Studies, values)
    for table, listed in studies.extra_rows.items() if studies else ():
        for name in listed:
            try:
                require_known(f"extra_rows.{table}", name, systems)
            except ValueError as error:
                faults.add(str(error))
    return studies


def _has(value: object, keys: tuple[str | int, ...]) -> bool:
    for key in keys:
        if not isinstance(value, dict):  # what is within a value goes with it
            return True
        if key not in value:
            return False
        value = value[key]
    return True
