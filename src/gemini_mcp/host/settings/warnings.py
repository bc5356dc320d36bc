"""What a profile that warns says of a settings file, in the words of Gemini CLI's validator. Pure.

It repeats Gemini CLI 0.61; the reference's own wording is in `validation`.
"""

import json

from gemini_mcp.host.rules.javascript import PROTOTYPE, as_parsed, number_of_text
from gemini_mcp.host.rules.json_schema import SchemaFault, schema_faults
from gemini_mcp.host.rules.v8_json import complaint
from gemini_mcp.host.settings.jsonc import without_comments
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, inside, items, object_of, table, type_of

BROKEN_EXIT = 52
"""The exit code of Gemini CLI's FatalConfigError."""

MEND = "Please fix the configuration file(s) and try again.\n"
_SHOWN = 5
"""Faults that Gemini CLI shows of one file."""

_HELP = "Please fix the configuration.\nSee: https://geminicli.com/docs/reference/configuration/\n"


def said_of(text: str, file: str, rules: Rules) -> tuple[int, str]:
    """The exit code with which a file ends every command, or 0, and what is printed of it."""
    bare = without_comments(text)
    fault = complaint(bare)
    if fault is None and object_of(json.loads(bare)) is None:
        fault = "Settings file is not a valid JSON object."
    if fault is not None:
        return BROKEN_EXIT, f"Error in {file}: {fault}\n"
    return 0, warning(as_parsed(json.loads(bare)), rules.settings_schema, file)


def warning(settings: Json, schema: Json, file: str) -> str:
    """The warning printed before the command goes on; empty when there is nothing to say."""
    found = [f"Error in: {_place(fault)}\n    {_worded(fault)}\n\n" for fault in schema_faults(schema, settings)]
    more = f"...and {len(found) - _SHOWN} more errors.\n\n" if len(found) > _SHOWN else ""
    return f"Invalid configuration in {file}:\n\n{''.join(found[:_SHOWN])}{more}{_HELP}" if found else ""


def as_read(settings: JsonObject, schema: Json) -> JsonObject:
    """Settings without a fault, with texts that stand for numbers and booleans turned into these."""
    kinds = inside(schema, "$defs", "server", "properties")
    servers = {
        name: {key: _turned(member, inside(kinds, key, "type")) for key, member in table(config).items()}
        for name, config in table(settings.get("mcpServers")).items()
        if name != PROTOTYPE
    }
    return {**settings, "mcpServers": servers} if "mcpServers" in settings else settings


def _turned(value: Json, types: Json) -> Json:
    if not isinstance(value, str):
        return value
    if "boolean" in items(types):
        return value.lower() == "true"
    return number_of_text(value) if "number" in items(types) else value


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
        # Gemini CLI turns a text into a number or boolean before it judges: those are what it says it expects.
        expected = types if isinstance(types, str) else types[0]
    return f"Expected {expected}, received {received}\nExpected: {expected}, but received: {received}"
