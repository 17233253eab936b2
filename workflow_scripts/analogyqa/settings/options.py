"""Options of rankers: `ranker: cosine`, or `ranker: {name: hyperbolic, gradient: riemannian}`."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Union

from pydantic import BeforeValidator, create_model
from pydantic_core import PydanticCustomError

from analogyqa.settings.base import NO_INPUT, Section, nearest_hint

if TYPE_CHECKING:
    from analogyqa.rankers.specs import RankerSpec


class Options(Section):
    """The options of one plug-in; a plug-in with options has a subclass.

    Args:
        name: The name of the plug-in.
    """

    name: str

    @classmethod
    def make(cls, **fields: Any) -> type["Options"]:
        """Return a class with options, each given as a pair of its type and default value."""
        return create_model("MadeOptions", __base__=cls, **fields)

    @classmethod
    def names(cls) -> list[str]:
        return [name for name in cls.model_fields if name != "name"]

    @classmethod
    def overrides(cls) -> Iterator[str]:
        """Yield the names of the options that one value can override; dots join nested keys."""
        for name in cls.names():
            default = cls.model_fields[name].default
            if isinstance(default, Section):
                yield from (f"{name}.{key}" for key in type(default).model_fields)
            elif not isinstance(default, dict):
                yield name


def ranker_among(specs: Mapping[str, "RankerSpec"]) -> BeforeValidator:
    """Return a validator of a key that names a ranker, alone or with its options."""

    @cache
    def any_options() -> type[Options]:
        classes = dict.fromkeys(spec.options for spec in specs.values() if spec.options != Options)
        return create_model("AnyOptions", __base__=tuple(classes) or Options)

    def validated(value: object) -> Options:
        if isinstance(value, Options):
            return value
        values = {"name": value} if isinstance(value, str) else value
        if not isinstance(values, dict):
            raise ValueError("give the name of a ranker, or a mapping of its name and its options")
        if "name" not in values:  # an error, and so is a wrong value of any option
            return any_options().model_validate(values)
        name = str(values["name"])
        if name not in specs:
            raise ValueError(f"no ranker {name!r}{nearest_hint(name, specs)}")
        for key in values:
            if key not in specs[name].options.model_fields:
                raise PydanticCustomError(NO_INPUT, _unknown(name, str(key), specs))
        return specs[name].options.model_validate(values)

    classes = dict.fromkeys(spec.options for spec in specs.values())
    written: Any = Union[Literal[tuple(specs)], *classes]
    return BeforeValidator(validated, json_schema_input_type=written)


def _unknown(name: str, option: str, specs: Mapping[str, "RankerSpec"]) -> str:
    owners = [other for other, spec in specs.items() if option in spec.options.names()]
    if owners:
        hint = f"; it is an option of {', '.join(owners)}"
    elif known := specs[name].options.names():
        hint = nearest_hint(option, known)
    else:
        hint = "; this ranker has no options"
    return f"the ranker {name} has no option {option!r}{hint}"
