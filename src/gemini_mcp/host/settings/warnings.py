"""What a profile that warns says of a settings file, in the words of Gemini CLI's validator. Pure.

It repeats Gemini CLI 0.61; the reference's own wording is in `validation`.
"""

from gemini_mcp.host.rules.json_schema import SchemaFault, schema_faults
from gemini_mcp.host.settings.jsonc import BrokenJson
from gemini_mcp.spec.values import Json, type_of

_SHOWN = 5
_HELP = "Please fix the configuration.\nSee: https://geminicli.com/docs/reference/configuration/\n"


def parse_error(error: BrokenJson) -> str:
    """The complaint of the JSON parser of Node."""
    if error.problem == "unexpected end":
        return "Unexpected end of JSON input"
    at = f"in JSON at position {error.position}"
    if error.problem == "unexpected '}'":
        return f"Expected double-quoted property name {at}"
    return f"{error.problem[0].upper()}{error.problem[1:]} {at}"


def warning(settings: Json, schema: Json, file: str) -> str:
    """The warning printed before the command goes on; empty when there is nothing to say."""
    found = [f"Error in: {_place(fault)}\n    {_worded(fault)}\n\n" for fault in schema_faults(schema, settings)]
    more = f"...and {len(found) - _SHOWN} more errors.\n\n" if len(found) > _SHOWN else ""
    return f"Invalid configuration in {file}:\n\n{''.join(found[:_SHOWN])}{more}{_HELP}" if found else ""


def _place(fault: SchemaFault) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in fault.path).removeprefix(".")


def _worded(fault: SchemaFault) -> str:
    received = type_of(fault.value)
    if fault.keyword == "additionalProperties":
        unknown = [repr(key) for key in fault.value if key not in fault.schema["properties"]]
        return f"Unrecognized key(s) in object: {', '.join(unknown)}"
    if fault.keyword == "enum":
        expected = " | ".join(f"'{choice}'" for choice in fault.expected)
        if received == "string":
            return f"Invalid enum value. Expected {expected}, received '{fault.value}'"
    else:
        types = fault.schema["type"]
        expected = types if isinstance(types, str) else types[0]
    return f"Expected {expected}, received {received}\nExpected: {expected}, but received: {received}"
