"""Base class and types of all sections of the configuration, and the options of plug-ins."""

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationError,
    create_model,
)
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError, core_schema

from analogyqa.errors import shown
from analogyqa.folders import folder_name

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Folder = Annotated[str, AfterValidator(folder_name)]
Split = Literal["train", "dev", "test"]

# Separates overrides in file names. Not a comma: Snakemake 9.27 loses the part of a wildcard after
# one when it submits a job to a cluster.
AT = "@"


def parse_number(value: object) -> object:
    """Convert a string of digits to an int; inside braces `--config` gives only strings."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def with_nulls(values: object) -> object:
    """Return values with each string `null` replaced, since the command line has no null."""
    if isinstance(values, dict):
        return {key: with_nulls(value) for key, value in values.items()}
    return None if values == "null" else values


# Strict, because the YAML values true and false are not the numbers 1 and 0.
WholeNumber = Annotated[int, BeforeValidator(parse_number), Field(strict=True)]
Count = Annotated[WholeNumber, Field(ge=1, le=1_000_000_000)]


@dataclass(frozen=True)
class Lenient(BeforeValidator):
    """A validator that also accepts other JSON types, and lists them in the JSON schema."""

    types: tuple[str, ...] = ()

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [*({"type": name} for name in self.types), handler(schema)]}


# One value may be given instead of a list with that value.
OneOrMore = Lenient(lambda value: [value] if isinstance(value, str) else value, types=("string",))
Alternatives = Annotated[list[str], Field(min_length=1), OneOrMore]


@dataclass(frozen=True, eq=False)
class OneOf:
    """Annotates a string that is one of some names, such as the keys of a plug-in dictionary."""

    names: Collection[str]

    def __get_pydantic_core_schema__(self, *_: object) -> CoreSchema:
        return core_schema.literal_schema(list(self.names))


def checked_by(check: Callable[[Any], object]) -> AfterValidator:
    """Return a validator of values for which `check` raises no ValueError."""

    def validate(value: Any) -> Any:
        check(value)
        return value

    return AfterValidator(validate)


def _split(value: object) -> object:
    parts = value.split("+") if isinstance(value, str) else value
    return [] if parts == ["null"] else parts


# A list, or a string in an override, such as a+b.
Joined = Lenient(_split, types=("string",))
# A list that may be empty, which is null in an override.
JoinedOrEmpty = Lenient(
    lambda value: _split("null" if value is None else value), types=("string", "null")
)


def without_nulls(section: dict) -> dict:
    return {name: value for name, value in section.items() if value is not None}


T = TypeVar("T")
NULL_REMOVES = BeforeValidator(
    lambda value: without_nulls(value) if isinstance(value, dict) else value
)
Entries = Annotated[dict[Name, T], NULL_REMOVES]


# Marks a key that the overrides of a cell can replace.
OVERRIDABLE = "overridable"
Overridable = Annotated[T, OVERRIDABLE]


class Section(BaseModel):
    """A mapping in the configuration; unknown keys are errors."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """Return the section with changes, of which mappings change sections below it."""
        return self.model_validate(self._with(changes))

    def _with(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in self.model_fields_set}
        for name, change in changes.items():
            below = values.get(name)
            if isinstance(below, Section) and isinstance(change, Mapping):
                change = below._with(change)
            values[name] = change
        return values

    def refuse(self, keys: Collection[str], owner: str) -> None:
        """Raise ValueError if some keys are given, which `owner` does not read."""
        if given := sorted(self.model_fields_set & {*keys}):
            raise ValueError(f"{owner} has no {' and no '.join(given)}")


def override_paths(section: type[Section]) -> Iterator[str]:
    """Yield the paths of the keys that overrides can replace: the marked ones, or all if none is.

    Keys without a default, and those of mappings, cannot be replaced.
    """
    fields = section.model_fields
    marked = {name: field for name, field in fields.items() if OVERRIDABLE in field.metadata}
    for name, field in (marked or fields).items():
        if isinstance(field.default, Section):
            yield from (f"{name}.{path}" for path in override_paths(type(field.default)))
        elif not field.is_required() and not isinstance(field.default, dict):
            yield name


def merge(values: dict, changes: dict) -> dict:
    """Return values with changes applied; nested mappings are merged.

    A string, such as `ranker: cosine`, counts as the `name` of a mapping. A mapping with another
    name replaces the old one.
    """
    merged = dict(values)
    for key, value in changes.items():
        below = merged.get(key)
        if isinstance(value, dict):
            below = {"name": below} if isinstance(below, str) else below
            name = value.get("name")
            if isinstance(below, dict) and not (
                isinstance(name, str) and below.get("name") != name
            ):
                value = merge(below, value)
        merged[key] = value
    return merged


def require_known(
    key: str,
    names: str | Iterable[str] | None,
    known: Collection[str],
    problem: str = "not configured",
) -> None:
    """Raise ValueError, with the nearest known name, when a name is not known."""
    for name in [names] if isinstance(names, str) else names or ():
        if name not in known:
            raise ValueError(f"{key}: {name!r} is {problem}{nearest_hint(name, known)}")


NO_INPUT = "no_input"  # the type of errors whose input must not be shown


def without_credentials(url: str) -> str:
    """Return a URL; raise an error that does not show it when it has a user name or password."""
    if "@" in urlsplit(url).netloc:
        raise PydanticCustomError(
            NO_INPUT,
            "a user or password in the address would be written to logs and records. Remove it; "
            "for an MLflow server, set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD "
            "in the environment",
        )
    return url


def error_message(error: ErrorDetails) -> str:
    return error["msg"].removeprefix("Value error, ")


def first_message(error: ValidationError) -> str:
    return error_message(error.errors()[0])


def explain_error(
    section: type[Section],
    error: ErrorDetails,
    prefix: tuple[str, ...] = (),
    has_options: bool = False,
) -> str:
    """Return one line about an error in a section: the key, the value, and what is allowed.

    `prefix` are the keys above the section, which `--config` can give if `has_options`.
    """
    location = [str(part) for part in error["loc"]]
    key = ".".join([*prefix, *location])
    if error["type"] == "extra_forbidden":
        known = _keys_at(section.model_json_schema(), location[:-1])
        return f"unknown key {key}{nearest_hint(location[-1], known)}"
    message = error_message(error)
    if not key:
        return message
    if error["type"] == "missing":
        return f"key {key} is missing"
    if error["type"] == NO_INPUT:
        return f"{key}: {message}"
    if error["type"] == "string_type" and isinstance(error["input"], int | float | date):
        message = "it is read as a number, a date or true/false. Put it in quotes"
        if has_options and key.endswith("_dir"):
            message += f"; on the command line: --config {key}=./2024_01"
    return f"{key}: {shown(error['input'])} is not allowed: {message}"


def _keys_at(schema: dict, location: list[str]) -> list[str]:
    """Return the known keys of the mapping at a location in a JSON schema."""
    node = schema
    for part in location:
        patterns = [*node.get("patternProperties", {}).values()]
        others = node.get("additionalProperties") or (patterns or [node.get("items", {})])[0]
        node = node.get("properties", {}).get(part, others)
        node = [node, *(option for option in node.get("anyOf", []) if "$ref" in option)][-1]
        while "$ref" in node:
            node = schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
    return list(node.get("properties", {}))


MANY = 50


def nearest_hint(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest known one, all up to MANY."""
    # YAML keys may be numbers, and strings of JSON invalid text, which no message can contain.
    known = [str(key).encode("utf-8", "backslashreplace").decode() for key in known]
    match = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"; did you mean {match[0]}?" if match else ""
    if len(known) > MANY:
        return hint
    return f"{hint} Known: {', '.join(known)}" if hint else f"; known: {', '.join(known)}"


class Options(Section):
    """The options of one plug-in; a plug-in with options has a subclass."""

    name: str
    """The name of the plug-in."""

    @classmethod
    def make(cls, **fields: Any) -> type["Options"]:
        """Return a class with options, each given as a pair of its type and default value."""
        return create_model("MadeOptions", __base__=cls, **fields)

    @classmethod
    def names(cls) -> list[str]:
        return [name for name in cls.model_fields if name != "name"]
