"""What a value breaks of a JSON Schema, fault by fault, in the order of the schema. Pure.

The wording of a fault belongs to the module that shows it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators

from gemini_mcp.host.rules.urls import InvalidUrl, parse
from gemini_mcp.spec.values import Json, JsonObject, table

_validators: Any = validators
_formats: Any = FormatChecker(formats=())


@dataclass(frozen=True)
class SchemaFault:
    """A value that breaks a keyword: where it is, what the keyword expects, and the schema that has it."""

    path: tuple[str | int, ...]
    value: Json
    keyword: str
    expected: Json
    schema: JsonObject


def _additional_properties(validator: Any, allowed: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:
    """The keyword in the order of the instance; the library's own goes through a set, whose order changes."""
    extra = [name for name in table(instance) if name not in schema.get("properties", {})]
    if allowed is False and extra:
        yield ValidationError(f"additional properties: {extra}")
    for name in extra if allowed is not False else ():
        yield from validator.descend(instance[name], allowed, path=name)


_Validator: Any = _validators.extend(Draft202012Validator, {"additionalProperties": _additional_properties})


def schema_faults(schema: Json, value: Json) -> Iterator[SchemaFault]:
    """Everything that the value breaks; the format `uri` is that of a server's address."""
    for error in _Validator(schema, format_checker=_formats).iter_errors(value):
        yield SchemaFault(
            tuple(error.absolute_path), error.instance, error.validator, error.validator_value, error.schema
        )


@_formats.checks("uri")
def is_address(text: Json) -> bool:
    """Whether the text is an http or https URL; a value that is no text is no fault of its format."""
    try:
        return not isinstance(text, str) or parse(text).scheme in ("http", "https")
    except InvalidUrl:
        return False
