"""What every section of the configuration shares: strict keys, and messages for wrong ones."""

import difflib
from collections.abc import Collection, Iterable
from datetime import date
from functools import cache
from typing import Annotated, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from analogyqa.errors import shown
from analogyqa.folders import folder_name

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Folder = Annotated[str, AfterValidator(folder_name)]

# Stands before each override in the names of files, and between overrides. No comma: of a
# wildcard with one Snakemake 9.27 loses a part when it submits the job to a cluster.
AT = "@"


def number_of(value: object) -> object:
    """Return the number that a text stands for: inside braces `--config` knows texts only."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def with_nulls(values: object) -> object:
    """Return values with null for each text `null`: on the command line null comes as a text."""
    if isinstance(values, dict):
        return {key: with_nulls(value) for key, value in values.items()}
    return None if values == "null" else values


# Strict: the YAML values true and false are not the numbers 1 and 0.
WholeNumber = Annotated[int, BeforeValidator(number_of), Field(strict=True)]
Count = Annotated[WholeNumber, Field(ge=1, le=1_000_000_000)]

Alternatives = Annotated[
    list[str],
    Field(min_length=1),
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
]


def _split(value: object) -> object:
    parts = value.split("+") if isinstance(value, str) else value
    return [] if parts == ["null"] else parts


Joined = BeforeValidator(_split)  # a list that may be given as an override has it, as text
# Such a list that may be empty: an override has null then.
JoinedOrEmpty = BeforeValidator(lambda value: _split("null" if value is None else value))


def without_nulls(section: object) -> object:
    if not isinstance(section, dict):
        return section
    return {name: value for name, value in section.items() if value is not None}


T = TypeVar("T")
Entries = Annotated[dict[Name, T], BeforeValidator(without_nulls)]  # null takes one away


class Section(BaseModel):
    """A mapping of the configuration in which an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def laid_over(values: dict, changes: dict) -> dict:
    merged = dict(values)
    for key, value in changes.items():
        nested = isinstance(merged.get(key), dict) and isinstance(value, dict)
        merged[key] = laid_over(merged[key], value) if nested else value
    return merged


def require_known(
    key: str, name: str, known: Collection[str], otherwise: str = "not configured"
) -> None:
    if name not in known:
        raise ValueError(f"{key}: {name!r} is {otherwise}{nearest_hint(name, known)}")


SECRET = "secret"  # the type of an error whose input is not shown


def without_credentials(url: str) -> str:
    """Return a URL; raises an error, which does not show it, when it names a user or a password.

    URLs are written into records and logs, and these are shared.
    """
    if "@" in urlsplit(url).netloc:
        raise PydanticCustomError(
            SECRET,
            "a user or password in the address would be written into logs and records. Remove it; "
            "for an MLflow server set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD "
            "in the environment",
        )
    return url


def explain_error(section: type[Section], error: dict, prefix: tuple[str, ...] = ()) -> str:
    """Return one line about an error of Pydantic: the key, the value, what is allowed."""
    location = [str(part) for part in error["loc"]]
    key = ".".join([*prefix, *location])
    if error["type"] == "extra_forbidden":
        known = _keys_at(_schema_of(section), location[:-1])
        return f"unknown key {key}{nearest_hint(location[-1], known)}"
    message = error["msg"].removeprefix("Value error, ")
    if not key:
        return message
    if error["type"] == "missing":
        return f"key {key} is missing"
    if error["type"] == SECRET:
        return f"{key}: {message}"
    if error["type"] == "string_type" and isinstance(error["input"], int | float | date):
        message = (
            "it is read as a number or a date. Give a text in quotes; on the command line "
            f"'{key}=\"2024_01\"'"
        )
    return f"{key}: {shown(error['input'])} is not allowed: {message}"


@cache
def _schema_of(section: type[Section]) -> dict:
    return section.model_json_schema()


def _keys_at(schema: dict, location: list[str]) -> list[str]:
    """Return the known keys of the mapping at `location` of a JSON schema."""

    def resolve(node: dict) -> dict:
        for option in node.get("anyOf", []):
            if "$ref" in option:
                node = option
        while "$ref" in node:
            node = schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
        return node

    node = schema
    for part in location:
        properties, others = node.get("properties", {}), node.get("additionalProperties")
        others = others or next(iter(node.get("patternProperties", {}).values()), None)
        node = resolve(properties.get(part, others or node.get("items", {})))
    return list(node.get("properties", {}))


def nearest_hint(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest known one, and all of them."""
    known = [str(each) for each in known]  # a key of YAML may be a number
    match = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"; did you mean {match[0]}?" if match else ""
    return f"{hint} Known: {', '.join(known)}" if hint else f"; known: {', '.join(known)}"
