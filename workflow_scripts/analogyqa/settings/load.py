"""Load the configuration of a run, which is laid over the configurations of its papers."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from analogyqa.encoders.specs import ENCODERS
from analogyqa.errors import AnalogyQAError, shown
from analogyqa.files import read_yaml, require_few_values
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
# An installed library reads the papers of the working folder.
REPOSITORY = _CHECKOUT if (_CHECKOUT / "papers").is_dir() else Path.cwd()
PAPERS = REPOSITORY / "papers"

# The sections of a paper's configuration: definitions, which papers may share; the defaults of its
# systems; and studies, which are about the paper itself.
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
_SINGLE = ("named_entities", "lemmas", "parser")  # not mappings of names
_SHARED = (*_NAMED, *_SINGLE)
_DEFAULTS = {"training": Training, "prototypes": Prototypes}
_STUDIES = ("selection", "sensitivity", "cross_validation", "extra_rows")
_DERIVED = ("studies", "seeds_of")  # made from other keys, not written by users
_SECTIONS = (*_SHARED, *_DEFAULTS, *_STUDIES)

Origin = Path | dict  # a file, or the values of `--config`
S = TypeVar("S", bound=Section)


class _Faults:
    """Messages about wrong keys, each starting with the first file that has the key.

    Args:
        default: The name to start with if no file has the key.
        files: The names and values of the files.
        lines: The list of messages, to which new ones are appended.
    """

    def __init__(self, default: str, files: list[tuple[str, dict]], lines: list[str]) -> None:
        self.default, self.files, self.lines = default, files, lines

    def add(self, text: str, location: tuple[str | int, ...] = ()) -> None:
        """Add a message about the key at a location, by default the key that starts the text."""
        location = location or tuple(text.partition(":")[0].split("."))
        # A missing key is missing from the mapping around it.
        candidates = filter(None, (location, location[:-1]))
        having = (name for keys in candidates for name, values in self.files if _has(values, keys))
        self.lines.append(f"{next(having, self.default)}: {text}")

    def checked(self, section: type[S], values: dict, *prefix: str) -> S | None:
        """Return the values as a section, None if some are wrong."""
        try:
            return section.model_validate(values)
        except ValidationError as error:
            for item in error.errors():
                location = (*prefix, *item["loc"]) if item["loc"] else ()
                self.add(explain_error(section, item, prefix), location)
            return None

    def known(self, values: dict, other_keys: Sequence[str]) -> dict:
        """Return the values of known keys: of sections, which must be mappings, and other keys."""
        kept, known = {}, (*_SECTIONS, *other_keys)
        for key, value in values.items():
            if key not in known:
                self.add(f"unknown key {key}{nearest_hint(str(key), known)}", (key,))
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
    given: Sequence[Origin] = (),
    papers: Path = PAPERS,
) -> Config:
    """Lay a run's values over the configurations of its papers, and check the result.

    Entries that are null, such as a system or a variation, are removed, so a configuration file can
    remove entries of the files under it. Every key of a paper's configuration may be given:
    `training` and `prototypes` are laid over those of all papers. `selection`, `sensitivity`,
    `cross_validation` and `extra_rows` are laid over those of the first paper that has the section,
    or over those of all papers if they are null.

    Args:
        values: The merged values of all files and the command line.
        origin: The name of these values in messages.
        given: The files and the values of `--config` that were merged, in order of precedence.
            Messages name the first of them that has the wrong key instead of `origin`.
        papers: The folder of the papers.

    Raises AnalogyQAError with one line for each wrong key: the key, the given value, what is
    allowed, and the nearest known name for an unknown one.
    """
    require_few_values(values, origin)
    values = {
        key: with_nulls(value) if key in _SECTIONS else value for key, value in values.items()
    }
    files = [
        (from_here(source), read_yaml(source)) if isinstance(source, Path) else ("--config", source)
        for source in given
    ]
    faults = _Faults(origin, [*files, (origin, values)], [])
    own = faults.known(values, [key for key in Config.model_fields if key not in _DERIVED])
    names, known = values.get("papers"), _paper_names(papers)
    names = names.split() if isinstance(names, str) else names
    if not (isinstance(names, list) and names and all(isinstance(name, str) for name in names)):
        faults.add(f"papers: {shown(names)} is not allowed: give names of folders")
        faults.stop()
    by_paper, resolved, studies, read = {}, {}, {}, {}
    for name in dict.fromkeys(names):
        if name not in known:
            faults.add(f"papers: there is no paper {name!r}{nearest_hint(name, known)}")
            faults.stop()
        read[name] = _read_paper(name, papers)
    sections = {name: paper for name, (paper, _) in read.items()}
    for name, (paper, paper_files) in read.items():
        by_paper[name] = _Faults(origin, [*faults.files, *paper_files], faults.lines)
        resolved[name] = _resolve(paper, _values_for(name, own, sections), by_paper[name])
        # Studies may still list a system that the run removes.
        systems = {*(paper.get("systems") or {}), *(own.get("systems") or {})}
        studies[name] = _load_studies(resolved[name], systems, by_paper[name])
    for key in _STUDIES:
        if own.get(key) and not any(key in values for values in resolved.values()):
            faults.add(f"{key}: none of the papers {', '.join(by_paper)} has this section", (key,))
    faults.files = [file for paper_faults in by_paper.values() for file in paper_faults.files]
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
    """Read a configuration file, laid over the repository's config.yaml as in Snakemake.

    Raises AnalogyQAError when the file cannot be read or has a wrong key.
    """
    values: dict = {}
    files = list(dict.fromkeys([REPOSITORY / "config.yaml", Path(path).resolve()]))
    for file in files:
        values = laid_over(values, read_yaml(file))
    return load_config(values, str(path), files[::-1])


def from_here(path: Path) -> str:
    """Return a path for messages: relative to the working folder if it is below that."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _paper_names(papers: Path) -> list[str]:
    return [path.parent.name for path in sorted(papers.glob("*/config.yaml"))]


def _read_paper(
    name: str, papers: Path, above: tuple[str, ...] = ()
) -> tuple[dict, list[tuple[str, dict]]]:
    """Return a paper's configuration, laid over that of the paper in its key `over`, and all files.

    Studies are not inherited. The files are pairs of a name and its values.
    """
    path = papers / name / "config.yaml"
    shown_path, values = from_here(path), read_yaml(path)
    files = [(shown_path, values)]
    faults = _Faults(shown_path, files, [])
    values = faults.known(values, ["over"])
    known = [other for other in _paper_names(papers) if other not in (*above, name)]
    over = values.pop("over", None)
    if over is not None and over not in known:
        faults.add(f"over: {shown(over)} is not another paper{nearest_hint(str(over), known)}")
    faults.stop()
    if over is None:
        return values, files
    base, others = _read_paper(over, papers, (*above, name))
    return laid_over(_definitions(base), values), files + [(n, _definitions(v)) for n, v in others]


def _definitions(values: dict) -> dict:
    return {key: value for key, value in values.items() if key not in _STUDIES}


def _resolve(paper: dict, own: dict, faults: _Faults) -> dict:
    """Return a paper's configuration with the run's values laid over it."""
    resolved: dict = {}
    for key in _SHARED:
        base, changes = paper.get(key) or {}, own.get(key, {})
        if key in _NAMED and changes:
            changes = {name: changes[name] for name in base if name in changes}
        resolved[key] = {} if changes is None else without_nulls(laid_over(base, changes))
    for key, section in _DEFAULTS.items():
        laid = laid_over(paper.get(key) or {}, own.get(key) or {})
        resolved[key] = laid if faults.checked(section, laid, key) else {}
    for key in _STUDIES:
        if key in paper and own.get(key, {}) is not None:
            resolved[key] = laid_over(paper[key] or {}, own.get(key, {}))
    resolved["systems"] = _with_defaults(resolved["systems"], resolved)
    return resolved


def _values_for(paper: str, own: dict, papers: Mapping[str, dict]) -> dict:
    """Return a run's values for a paper: without the studies that belong to another paper."""
    first = {key: next((name for name in papers if key in papers[name]), "") for key in _STUDIES}
    return {
        key: value
        for key, value in own.items()
        if key not in first or value is None or paper == first[key]
    }


def _with_defaults(systems: dict, defaults: dict) -> dict:
    """Lay systems over the sections `prototypes` and `training` of their paper."""
    resolved = {}
    for name, system in systems.items():
        resolved[name] = system
        if isinstance(system, dict):
            resolved[name] = defaults["prototypes"] | system
            encoder, own = system.get("encoder"), system.get("training")
            trained = isinstance(encoder, str) and encoder in ENCODERS and ENCODERS[encoder].trained
            if trained and isinstance(own, dict | None):
                resolved[name]["training"] = laid_over(defaults["training"], own or {})
    return resolved


def _united(papers: Mapping[str, dict], own: dict, faults: _Faults) -> dict:
    """Return the definitions of all papers and of the run, with the run's other values.

    Report names that two papers define differently.
    """
    merged = {key: value for key, value in own.items() if key not in (*_DEFAULTS, *_STUDIES)}
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
            united |= _with_defaults(new, _resolve({}, own, faults)) if key == "systems" else new
        merged[key] = united or (None if key in _SINGLE else {})
    merged["systems"] = _with_starts(merged["systems"], faults)
    return merged


def _with_starts(systems: dict, faults: _Faults) -> dict:
    """Replace the names of the systems that others start from by their sections."""
    filled = {}
    for name, system in systems.items():
        first = system.get("starts_from") if isinstance(system, dict) else None
        if isinstance(first, str) and first not in systems:
            key = f"systems.{name}.starts_from"
            faults.add(f"{key}: {first!r} is not configured{nearest_hint(first, systems)}")
        filled[name] = system | {"starts_from": systems.get(first)} if first else system
    return filled


def _load_studies(paper: dict, systems: Collection[str], faults: _Faults) -> Studies | None:
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
        if not isinstance(value, dict):  # the key is within a value, such as a list
            return True
        if key not in value:
            return False
        value = value[key]
    return True
