"""What is wrong with the arguments of a call, in the words of Gemini CLI's validator. Pure."""

from typing import Any

from jsonschema import exceptions, validators

from gemini_mcp.spec.values import Json, JsonObject, items, list_of, object_of

_validators: Any = validators
_exceptions: Any = exceptions


def argument_fault(schema: Json, arguments: JsonObject) -> str | None:
    """The first thing wrong with the arguments; a schema that is none forbids nothing."""
    try:
        validator = _validators.validator_for(schema, default=_validators.Draft202012Validator)(schema)
        fault = _exceptions.best_match(validator.iter_errors(arguments))
    except Exception:
        return None
    return None if fault is None else _worded(fault.validator, fault.validator_value, fault)


def _worded(keyword: str, expected: Json, fault: Any) -> str:
    place = "params" + "".join(f"/{step}" for step in fault.absolute_path)
    if keyword == "required":
        given = object_of(fault.instance) or {}
        missing = next((name for name in items(expected) if name not in given), "")
        return f"{place} must have required property '{missing}'"
    if keyword == "type":
        types = list_of(expected)
        return f"{place} must be {expected if types is None else ','.join(types)}"
    if keyword == "enum":
        return f"{place} must be equal to one of the allowed values"
    return f"{place} {fault.message}"
