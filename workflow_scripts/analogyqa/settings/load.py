"""Load the configuration of a run, which is laid over the configurations of its papers."""

import json
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from analogyqa.encoders.specs import ENCODERS
from analogyqa.errors import AnalogyQAError, shown
from analogyqa.files import read_yaml, require_few_values
from analogyqa.rankers.specs import RANKERS
from analogyqa.settings.base import (
    Section,
    explain_error,
    merge,
    nearest_hint,
    require_known,
    with_nulls,
    without_nulls,
)
from analogyqa.settings.run import SHARED, Config
from analogyqa.settings.studies import Studies
from analogyqa.settings.systems import Prototypes, Training

_CHECKOUT = Path(__file__).parents[3]
# An installed library reads the papers of the working folder.
REPOSITORY = _CHECKOUT if (_CHECKOUT / "papers").is_dir() else Path.cwd()
PAPERS = REPOSITORY / "papers"
# A wheel has the papers' configurations below the library.
_PACKAGED = Path(__file__).parents[1] / "papers"


def require_papers(papers: Path = PAPERS) -> None:
    """Raise AnalogyQAError when a folder has no papers, as outside of a checkout."""
    if not any(papers.glob("*/config.yaml")):
        raise AnalogyQAError(
            f"{papers}: there are no papers here. The installed library reads papers and "
            "configurations from the working folder: start in a checkout of its repository"
        )


# The sections of a paper's configuration: definitions, which papers may share; the defaults of its
# systems; and studies, which are about the paper itself.
_SHARED = [name for name, field in Config.model_fields.items() if SHARED in field.metadata]
_SINGLE = [name for name in _SHARED if Config.model_fields[name].default is None]  # not of names
DEFAULTS: dict[str, type[Section]] = {"training": Training, "prototypes": Prototypes}
STUDIES = ("selection", "sensitivity", "cross_validation", "extra_rows")
DERIVED = ("studies", "seeds_of")  # made from other keys, not written by users
_SECTIONS = (*_SHARED, *DEFAULTS, *STUDIES)

Origin = Path | dict  # a file, or the values of `--config`
File = tuple[str, dict]  # the name of a file, and its values
S = TypeVar("S", bound=Section)


@dataclass
class _Faults:
    """Messages about wrong keys, each starting with the first file that has the key."""

    default: str
    """The name to start with if no file has the key."""
    files: list[File]
    lines: list[str] = field(default_factory=list)

    def add(self, text: str, location: tuple[str | int, ...] = ()) -> None:
        """Add a message about the key at a location, by default the key that starts the text."""
        location = location or tuple(text.partition(":")[0].split("."))
        # A missing key is missing from the mapping around it.
        candidates = filter(None, (location, location[:-1]))
        having = (name for keys in candidates for name, values in self.files if _has(values, keys))
        self.lines.append(f"{next(having, self.default)}: {text}")

    def checked(
        self, section: type[S], values: dict, *prefix: str, base: S | None = None
    ) -> S | None:
        """Return the values as a section, or as changes of `base`; None if some are wrong."""
        try:
            return base.changed(values) if base else section.model_validate(values)
        except ValidationError as error:
            for item in error.errors():
                location = (*prefix, *item["loc"]) if item["loc"] else ()
                self.add(explain_error(section, item, prefix, section is Config), location)
            return None

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Add the message of a ValueError, which starts with a key, instead of raising it."""
        try:
            yield
        except ValueError as error:
            self.add(str(error))

    def known(self, values: dict, other_keys: Collection[str]) -> dict:
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

    def error(self) -> AnalogyQAError:
        """Return an error with each message once."""
        return AnalogyQAError("\n".join(dict.fromkeys(self.lines)))


def load_config(
    values: dict, origin: str = "config", given: Sequence[Origin] = (), papers: Path = PAPERS
) -> Config:
    """Lay a run's values over the configurations of its papers, and check the result.

    Null removes an entry. `training` and `prototypes` are laid over those of all papers; a study
    over that of the first paper that has it, or, if it is null, of all papers. Without papers, the
    user's own data sets are run with the definitions of all papers that are not over another.

    Args:
        values: The merged values of all files and the command line.
        origin: The name of these values in messages.
        given: The files and the values of `--config` that were merged, in order of precedence.
            Messages name the first of them that has the wrong key instead of `origin`.
        papers: The folder of the papers.

    Raises AnalogyQAError with one line for each wrong key.
    """
    require_papers(papers)
    require_few_values(values, origin)
    values = values | {key: with_nulls(values[key]) for key in _SECTIONS if key in values}
    files = [
        (from_here(source), read_yaml(source)) if isinstance(source, Path) else ("--config", source)
        for source in given
    ]
    faults = _Faults(origin, [*files, (origin, values)])
    run = faults.known(values, [key for key in Config.model_fields if key not in DERIVED])
    names = values.get("papers")
    names = names.split() if isinstance(names, str) else names
    known = [path.parent.name for path in sorted(papers.glob("*/config.yaml"))]
    if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        faults.add(f"papers: {shown(names)} is not allowed: give names of folders")
        raise faults.error()
    by_paper: dict[str, _Faults] = {}
    resolved: dict[str, dict] = {}
    studies: dict[str, Studies] = {}
    studied: set[str] = set()  # the studies of the papers so far
    # Without papers: those that are laid over no other, whose definitions do not contradict.
    bases = (name for name in known if "over" not in read_yaml(papers / name / "config.yaml"))
    for name in dict.fromkeys(names or bases):
        if name not in known:
            faults.add(f"papers: there is no paper {name!r}{nearest_hint(name, known)}")
            raise faults.error()
        paper, paper_files = _read_paper(name, papers, known)
        if not names:
            paper = _definitions(paper)
        by_paper[name] = _Faults(origin, [*faults.files, *paper_files], faults.lines)
        changes = {key: run[key] for key in run if run[key] is None or key not in studied}
        studied.update(key for key in STUDIES if key in paper)
        resolved[name] = _resolve(paper, changes, by_paper[name])
        # Studies may still list a system that the run removes.
        systems = {*(paper.get("systems") or {}), *(run.get("systems") or {})}
        if study := _load_studies(resolved[name], systems, by_paper[name]):
            kept = [n for n in study.subsets if names or n not in (run.get("subsets") or {})]
            studies[name] = study.model_copy(update={"subsets": kept})
    for key in STUDIES:
        if run.get(key) and key not in studied:
            faults.add(f"{key}: none of the papers {', '.join(by_paper)} has this section", (key,))
    faults.files = [file for paper_faults in by_paper.values() for file in paper_faults.files]
    merged = _merge_papers(resolved, run, faults) | {
        "papers": list(dict.fromkeys(names)),
        "studies": studies,
    }
    if config := faults.checked(Config, merged):
        if not names and not config.outside_papers("datasets"):
            faults.add("papers: none are given, and no data set of your own. Add one to datasets")
        for name, study in studies.items():
            with by_paper[name].noted():
                config.require_study(study)
    if config is None or faults.lines:
        raise faults.error()
    return config


def read_config(path: str | Path) -> Config:
    """Read a configuration file, laid over the repository's config.yaml as in Snakemake."""
    values, files = read_values(path)
    return load_config(values, str(path), files)


def read_paper_config(paper: str | None = None, system: str | None = None) -> Config:
    """Read the configuration of a paper, also from an installed library.

    Args:
        paper: The folder of the paper in papers/. None for the first one that defines the system,
            of those that are laid over no other paper, or else of the others.
        system: The key in the section `systems` of a system that it must have; None for any.

    Raises AnalogyQAError when there is no such paper, or no such system.
    """
    papers = _PACKAGED if _PACKAGED.is_dir() else PAPERS
    files = {path.parent.name: read_yaml(path) for path in papers.glob("*/config.yaml")}
    in_order = [paper] if paper else sorted(files, key=lambda name: ("over" in files[name], name))
    systems = {name: list(files.get(name, {}).get("systems") or ()) for name in in_order}
    owners = (name for name in in_order if system in (None, *systems[name]))
    values = {"papers": [next(owners, in_order[0])], "output_dir": "results", "seeds": 1}
    config = load_config(values, papers=papers)
    if system is not None and system not in config.systems:
        known = {*config.systems, *chain.from_iterable(systems.values())}
        where = paper or "the papers"
        raise AnalogyQAError(f"{where}: no system {system!r}{nearest_hint(system, known)}")
    return config


def read_values(path: str | Path) -> tuple[dict, list[Path]]:
    """Return the values of a file laid over those of config.yaml, and both files, it first."""
    require_papers()
    values: dict = {}
    files = list(dict.fromkeys([REPOSITORY / "config.yaml", Path(path).resolve()]))
    for file in files:
        values = merge(values, read_yaml(file))
    return values, files[::-1]


def from_here(path: Path) -> str:
    """Return a path for messages: relative to the working folder if it is below that."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def snakemake_command(files: Sequence[Path], changes: Mapping[str, object]) -> str:
    """Return the command of a run with these configuration files and values of `--config`.

    The address of a tracking server, which may contain a password, is left out.
    """
    command = ["snakemake", "--cores", "all", "--configfile", *map(from_here, files)]
    given = [(key, value) for key, value in changes.items() if key != "tracking_uri"]
    texts = [f"{key}={at if isinstance(at, str) else json.dumps(at)}" for key, at in given]
    return shlex.join([*command, *(["--config", *texts] if texts else [])])


def _read_paper(name: str, papers: Path, known: list[str]) -> tuple[dict, list[File]]:
    """Return a paper's configuration, laid over that of the paper in its key `over`, and all files.

    `known` are the papers that may be named there. Studies are not inherited.
    """
    path = papers / name / "config.yaml"
    shown_path, values = from_here(path), read_yaml(path)
    files = [(shown_path, values)]
    faults = _Faults(shown_path, files)
    values = faults.known(values, ["over"])
    known = [other for other in known if other != name]
    over = values.pop("over", None)
    if over is not None and over not in known:
        faults.add(f"over: {shown(over)} is not another paper{nearest_hint(str(over), known)}")
    if faults.lines:
        raise faults.error()
    if over is None:
        return values, files
    base, base_files = _read_paper(over, papers, known)
    files += [(other, _definitions(others)) for other, others in base_files]
    return merge(_definitions(base), values), files


def _definitions(values: dict) -> dict:
    return {key: value for key, value in values.items() if key not in STUDIES}


def _resolve(paper: dict, run: dict, faults: _Faults) -> dict:
    """Return a paper's configuration with the run's values laid over it."""
    resolved: dict = {}
    for key in _SHARED:
        base, changes = paper.get(key) or {}, run.get(key, {})
        if key not in _SINGLE and changes:
            changes = {name: changes[name] for name in base if name in changes}
        resolved[key] = {} if changes is None else without_nulls(merge(base, changes))
    for key in STUDIES:
        if key in paper and run.get(key, {}) is not None:
            resolved[key] = merge(paper[key] or {}, run.get(key, {}))
    resolved["systems"] = _with_defaults(resolved["systems"], paper, run, faults)
    return resolved


def _with_defaults(systems: dict, paper: dict, run: dict, faults: _Faults) -> dict:
    """Lay systems over the sections `prototypes` and `training` of their paper and of the run.

    The section `training` is checked here, and of each system only what it changes of it.
    """
    defaults = {}
    for key, section in DEFAULTS.items():
        values = merge(paper.get(key) or {}, run.get(key) or {})
        defaults[key] = faults.checked(section, values, key) or section()
    prototypes = defaults["prototypes"].model_dump(exclude_unset=True)
    training = defaults["training"]
    resolved = {}
    for name, system in systems.items():
        if isinstance(system, dict):
            system = prototypes | system
            changes = system.get("training") or {}
            if isinstance(changes, dict) and _is_trained(system):
                keys = ("systems", name, "training")
                checked = changes and faults.checked(Training, changes, *keys, base=training)
                system["training"] = checked or changes or training
        resolved[name] = system
    return resolved


def _is_trained(system: dict) -> bool:
    """Return whether the encoder or the ranker of a system, not yet checked, is trained."""
    encoder, ranker = system.get("encoder"), system.get("ranker")
    ranker = ranker.get("name") if isinstance(ranker, dict) else ranker
    specs = (ENCODERS.get(str(encoder)), RANKERS.get(str(ranker)))
    return encoder is not None and any(spec is not None and spec.trained for spec in specs)


def _merge_papers(papers: Mapping[str, dict], run: dict, faults: _Faults) -> dict:
    """Return the definitions of all papers and of the run, with the run's other values.

    Report names that two papers define differently.
    """
    merged = {key: value for key, value in run.items() if key not in (*DEFAULTS, *STUDIES)}
    for key in _SHARED:
        definitions: dict = {}
        for paper, values in papers.items():
            for name, value in values[key].items():
                if definitions.setdefault(name, value) != value:
                    other = next(other for other in papers if name in papers[other][key])
                    text = f"{key}.{name}: the papers {other} and {paper} define it differently. "
                    faults.add(f"{text}Give one of the two another name.", (key, name))
        if key not in _SINGLE:
            new = without_nulls(run.get(key) or {})
            new = {name: new[name] for name in new if name not in definitions}
            definitions |= _with_defaults(new, {}, run, faults) if key == "systems" else new
        merged[key] = definitions or (None if key in _SINGLE else {})
    # A system that starts from another one has its section instead of its name.
    systems = dict(merged["systems"])
    for name, system in systems.items():
        first = system.get("starts_from") if isinstance(system, dict) else None
        if isinstance(first, str):
            with faults.noted():
                require_known(f"systems.{name}.starts_from", first, systems)
            merged["systems"][name] = system | {"starts_from": systems.get(first)}
    return merged


def _load_studies(paper: dict, systems: Collection[str], faults: _Faults) -> Studies | None:
    values: dict = {key: paper[key] for key in STUDIES if key in paper}
    values |= {key: list(paper[key]) for key in ("datasets", "systems", "subsets")}
    for key in {"sensitivity", "cross_validation"} & set(values):
        if values[key].get("datasets") is None:
            values[key] = values[key] | {"datasets": values["datasets"]}
    if studies := faults.checked(Studies, values):
        for table, names in studies.extra_rows.items():
            with faults.noted():
                require_known(f"extra_rows.{table}", names, systems)
    return studies


def _has(value: object, keys: tuple[str | int, ...]) -> bool:
    """Return whether a file has a key, of which a name with dots may be several parts."""
    if not keys or not isinstance(value, dict):  # the key is within a value, such as a list
        return True
    names = ((".".join(map(str, keys[:count])), count) for count in range(1, len(keys) + 1))
    return any(name in value and _has(value[name], keys[count:]) for name, count in names)
