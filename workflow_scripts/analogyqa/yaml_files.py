"""YAML files: mappings of plain values only, and of no more values than are written there."""

import math
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import yaml

from analogyqa.errors import AnalogyQAError, shown

MOST_VALUES = 100_000
_UNFIT_TAG = (ValueError, LookupError, AttributeError)  # what `!!bool 7` and the like raise


def read_yaml(path: str | Path) -> dict:
    """Return the mapping in a YAML file.

    Raises AnalogyQAError when the file cannot be read, is empty or no mapping, asks for anything
    but plain values, as the tags of Python do, or has aliases as `require_few_values` refuses them.
    """
    try:
        loader = yaml.SafeLoader(Path(path).read_bytes())
        node = loader.get_single_node()
        require_few_values(node, str(path))
        content = loader.construct_document(node) if node else None
    except (OSError, yaml.YAMLError, RecursionError, *_UNFIT_TAG) as error:
        raise AnalogyQAError(f"{path}: cannot be read as a YAML mapping ({error})") from error
    if content is None:
        raise AnalogyQAError(f"{path}: holds no value. Give at least one key, or leave it out.")
    if not isinstance(content, dict):
        raise AnalogyQAError(f"{path}: cannot be read as a YAML mapping (it is {shown(content)})")
    return content


def require_few_values(content: object, origin: str) -> None:
    """Raise AnalogyQAError when YAML nodes or values hold themselves, or more than MOST_VALUES.

    What is behind an alias counts at each use, so that a few lines cannot stand for millions.
    """
    if _count(content, {}) > MOST_VALUES:
        raise AnalogyQAError(
            f"{origin}: its aliases (*name) stand for more than {MOST_VALUES:,} values, or for "
            "themselves. Write out what is meant."
        )


def _count(content: object, counts: dict[int, float]) -> float:
    if id(content) not in counts:
        counts[id(content)] = math.inf  # what stays for a value within itself
        counts[id(content)] = 1 + sum(_count(part, counts) for part in _parts(content))
    return counts[id(content)]


def _parts(content: object) -> Iterable:
    if isinstance(content, yaml.MappingNode):
        return chain.from_iterable(content.value)
    if isinstance(content, yaml.SequenceNode):
        return content.value
    if isinstance(content, dict):
        return content.values()
    return content if isinstance(content, list) else ()
