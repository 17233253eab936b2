"""Overrides: values that replace those of a system, its training or its data set for one cell.

Their names are paths (`training.margin`, `ranker.aggregate`, `p`), or short names without a prefix.
A short name may stand for two keys, because a ranker may have an option that training has, too. A
path stands for one key.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, reduce
from itertools import pairwise
from operator import attrgetter

from pydantic import ValidationError

from analogyqa.objectives.specs import OBJECTIVES
from analogyqa.rankers.specs import RANKERS
from analogyqa.settings.base import AT, Section, error_message, nearest_hint, override_paths
from analogyqa.settings.data import DATASET_OVERRIDES, SOLVER, SOLVING_OVERRIDES, Dataset, Solving
from analogyqa.settings.systems import System

# Sorted pairs of a name and a value as text.
Overrides = tuple[tuple[str, str], ...]

DEFAULT = "default"  # the path component of a cell without overrides
# The override of a cell whose hyperparameters are tuned on dev. This is its only value.
HYPERPARAMETERS, TUNED = "hyperparameters", "tuned"
# Those that competing systems share: which word vectors, which data, and how analogies are solved.
CONDITIONS = ("vectors", "shortest_word", *DATASET_OVERRIDES, *SOLVING_OVERRIDES)

TRAINING, RANKER = "training.", "ranker."
SYSTEM_PATHS = dict.fromkeys(override_paths(System)) | {
    RANKER + path: None for spec in RANKERS.values() for path in override_paths(spec.options)
}
_PATHS = (*SYSTEM_PATHS, *DATASET_OVERRIDES, *SOLVING_OVERRIDES)
# The paths that each name may stand for. A path stands for itself only.
NAMES: dict[str, list[str]] = {}
for _path in _PATHS:
    NAMES.setdefault(_path.removeprefix(TRAINING).removeprefix(RANKER), []).append(_path)
NAMES |= {path: [path] for path in _PATHS}


def override_path(name: str) -> str:
    """Return the path of the key that an override replaces; that of training, if there are two."""
    return NAMES.get(name, [name])[0]


def short_name(path: str) -> str:
    """Return the name of an override in texts: short, where it stands for the same key."""
    short = path.removeprefix(TRAINING).removeprefix(RANKER)
    return short if override_path(short) == path else path


def as_text(value: object) -> str:
    """Return the value of an override as text, for paths and tables."""
    if value is None or value == []:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(value).removesuffix(".0")
    return "+".join(map(as_text, value)) if isinstance(value, list | tuple) else str(value)


def as_overrides(values: Mapping[str, object]) -> Overrides:
    """Return a mapping as overrides; names are short where only one key has it.

    Raises ValueError when two of the names stand for the same key.
    """
    return _sorted(
        (name if len(NAMES.get(short_name(name), ())) > 1 else short_name(name), as_text(value))
        for name, value in values.items()
    )


def _sorted(overrides: Iterable[tuple[str, str]]) -> Overrides:
    ordered = tuple(sorted(overrides))
    for (name, _), (following, _) in pairwise(ordered):
        if name == following:
            raise ValueError(f"{name} is given twice, by a path and a short name: remove one")
    return ordered


def require_overrides(values: Mapping[str, object]) -> Mapping[str, object]:
    """Return the values; raises ValueError for an unknown name or an invalid value."""
    for name in values:
        if name not in NAMES:
            raise ValueError(f"{name!r} is not an override{nearest_hint(name, NAMES)}")
    _require_valid(as_overrides(values))
    return values


@cache  # the same overrides are in many coordinates
def _require_valid(overrides: Overrides) -> None:
    sections = (
        (System, changes(overrides)),
        (Dataset, dict(dataset_overrides(overrides))),
        (Solving, dict(among(overrides, SOLVING_OVERRIDES))),
    )
    for section, changed in sections:
        try:
            section.model_validate(changed)
        except ValidationError as error:  # at least about missing keys
            for item in error.errors():
                if item["type"] != "missing":
                    key = ".".join(map(str, item["loc"])).removeprefix("ranker.")
                    raise ValueError(f"{key}: {error_message(item)}") from None


def require_points(sweeps: dict[str, list]) -> None:
    """Raise ValueError unless each point of each sweep is a value of an override."""
    for name, points in sweeps.items():
        for point in points:
            require_overrides({name: point})


def to_text(overrides: Overrides) -> str:
    """Return overrides as a path component, such as `dropout=0@loss=hinge`."""
    return AT.join(f"{name}={value}" for name, value in overrides) or DEFAULT


def from_text(text: str) -> Overrides:
    """Return the overrides in a string made by `to_text`; raises ValueError for any other."""
    parts = [] if text == DEFAULT else [part.partition("=") for part in text.split(AT)]
    overrides = {name: value for name, equals, value in parts if equals}
    if len(overrides) < len(parts):
        raise ValueError(f"{text!r}: give {DEFAULT}, or name=value pairs separated by {AT}")
    return as_overrides(overrides)


def among(overrides: Overrides, names: Collection[str]) -> Overrides:
    """Return the overrides with certain names."""
    return tuple(override for override in overrides if override[0] in names)


def without(overrides: Overrides, names: Collection[str]) -> Overrides:
    """Return the overrides without certain names."""
    return tuple(override for override in overrides if override[0] not in names)


def dataset_overrides(overrides: Overrides) -> Overrides:
    """Return the overrides that change how a data set is read."""
    return among(overrides, DATASET_OVERRIDES)


def training_overrides(overrides: Overrides) -> Overrides:
    """Return the overrides that change how a system is trained."""
    return tuple(at for at in overrides if override_path(at[0]).startswith(TRAINING))


def solving_overrides(overrides: Overrides, dataset: Dataset) -> dict[str, str]:
    """Return the overrides of solving that change something, and always the solver."""
    changed = dataset.evaluation_at(overrides)
    kept = {SOLVER: Solving().solver} | dict(among(overrides, SOLVING_OVERRIDES))
    for name, value in changed:
        kept.pop(name, None)
        if value != getattr(dataset.evaluation, name):
            kept[name] = as_text(value)
    return kept


def changes(overrides: Iterable[tuple[str, str]]) -> dict:
    """Return overrides as changes of a system's section; dots in names become nested mappings."""
    changed: dict = {}
    for name, value in overrides:
        if (path := override_path(name)) in SYSTEM_PATHS:
            *keys, last = path.split(".")
            mapping = reduce(lambda above, key: above.setdefault(key, {}), keys, changed)
            mapping[last] = None if value == "null" else value
    return changed


def by_path(overrides: Overrides, systems: Sequence[System]) -> Overrides:
    """Return overrides of systems, such as a system and its parts, with paths instead of names.

    Raises ValueError for a short name of two keys that the systems read.
    """

    def path_read(name: str) -> str:
        paths = _paths_read(name, systems) or [override_path(name)]
        if len(paths) > 1:
            raise ValueError(f"{name} may be {' or '.join(paths)}: give one of these names")
        return paths[0]

    return _sorted((path_read(name), value) for name, value in overrides)


def by_name(overrides: Overrides, systems: Sequence[System]) -> Overrides:
    """Return overrides by path with names that are as short as the systems allow."""
    names = {path: short_name(path) for path, _ in overrides}
    ambiguous = {path for path, name in names.items() if len(_paths_read(name, systems)) > 1}
    return _sorted((path if path in ambiguous else names[path], value) for path, value in overrides)


def _paths_read(name: str, systems: Sequence[System]) -> list[str]:
    """Return the paths that a name may stand for and that a system reads."""
    paths = NAMES.get(name, ())
    return [path for path in paths if any(system.reads(path) for system in systems)]


def value_at(section: Section, path: str) -> str:
    """Return the value at a path below a section as text."""
    return as_text(attrgetter(path)(section))


def effective_value(system: System, path: str) -> str:
    """Return the value at a path of a system that it really uses."""
    value = value_at(system, path)
    # Without prototypes, a loss over both sides of the parallelogram equals its one-sided form.
    one_sided = OBJECTIVES[value].one_sided if path == "training.loss" else None
    return one_sided if one_sided and not system.compares else value
