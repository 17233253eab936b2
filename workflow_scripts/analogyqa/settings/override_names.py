"""The names of overrides: paths (`training.margin`, `ranker.aggregate`, `p`) and short names.

A short name has no prefix. It may stand for two keys, because a ranker may have an option that
training has, too. A path stands for one key.
"""

from analogyqa.rankers.specs import RANKER_OVERRIDES
from analogyqa.settings.analogies import SOLVING_OVERRIDES
from analogyqa.settings.data import DATASET_OVERRIDES
from analogyqa.settings.systems import SYSTEM_OVERRIDES, TRAINING_OVERRIDES

TRAINING, RANKER = "training.", "ranker."
SYSTEM_PATHS = (
    *SYSTEM_OVERRIDES,
    *(f"{TRAINING}{name}" for name in TRAINING_OVERRIDES),
    *(f"{RANKER}{name}" for name in RANKER_OVERRIDES),
)
_OTHER_PATHS = (*DATASET_OVERRIDES, *SOLVING_OVERRIDES)


def paths_of(name: str) -> list[str]:
    """Return the paths of the keys that the name of an override may stand for; none if unknown."""
    if name in SYSTEM_PATHS or name in _OTHER_PATHS:
        return [name]
    return [path for path in (f"{TRAINING}{name}", f"{RANKER}{name}") if path in SYSTEM_PATHS]


def path_of(name: str) -> str:
    """Return the path of the key that an override replaces; that of training, if there are two."""
    return next(iter(paths_of(name)), name)


def short_name(path: str) -> str:
    """Return the name of an override in texts: short, where it stands for the same key."""
    short = path.removeprefix(TRAINING).removeprefix(RANKER)
    return short if path_of(short) == path else path
