"""What the current profile says of a settings file: warnings in the validator's words, and the list of servers; pure.

It reproduces Gemini CLI 0.61; our own wording is in `validation`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from gemini_mcp.host.settings.jsonc import BrokenJson
from gemini_mcp.host.settings.validation import SERVER_TYPES
from gemini_mcp.spec.values import Json, JsonObject, list_of, object_of, table, type_of

TYPES = {
    **SERVER_TYPES,
    "tcp": "string",
    "type": "string",
    "extension": "object",
    "targetAudience": "string",
    "targetServiceAccount": "string",
}
_ORDER = [
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "httpUrl",
    "headers",
    "tcp",
    "type",
    "timeout",
    "trust",
    "description",
    "includeTools",
    "excludeTools",
    "extension",
    "oauth",
    "authProviderType",
    "targetAudience",
    "targetServiceAccount",
]
_CHOICES = {
    "type": ("stdio", "sse", "http"),
    "authProviderType": ("dynamic_discovery", "google_credentials", "service_account_impersonation"),
}
_SHOWN = 5
_HELP = "Please fix the configuration.\nSee: https://geminicli.com/docs/reference/configuration/\n"


@dataclass(frozen=True)
class Complaint:
    """One issue of the validator."""

    path: str
    message: str
    expected: str = ""
    received: str = ""

    def lines(self) -> str:
        types = f"Expected: {self.expected}, but received: {self.received}\n" if self.expected else ""
        return f"Error in: {self.path}\n    {self.message}\n{types}\n"


def parse_error(error: BrokenJson) -> str:
    """The complaint of the JSON parser of Node."""
    if error.problem == "unexpected end":
        return "Unexpected end of JSON input"
    at = f"in JSON at position {error.position}"
    if error.problem == "unexpected '}'":
        return f"Expected double-quoted property name {at}"
    return f"{error.problem[0].upper()}{error.problem[1:]} {at}"


def warning(settings: JsonObject, file: str) -> str:
    """The warning printed before the command goes on; empty when there is nothing to say."""
    found = list(_complaints(settings))
    if not found:
        return ""
    more = f"...and {len(found) - _SHOWN} more errors.\n\n" if len(found) > _SHOWN else ""
    shown = "".join(complaint.lines() for complaint in found[:_SHOWN])
    return f"Invalid configuration in {file}:\n\n{shown}{more}{_HELP}"


def _complaints(settings: JsonObject) -> Iterator[Complaint]:
    if "mcp" in settings:
        yield from _mcp_complaints(settings["mcp"])
    if "mcpServers" not in settings:
        return
    servers = object_of(settings["mcpServers"])
    if servers is None:
        yield _mismatch("mcpServers", "object", settings["mcpServers"])
        return
    for name, config in servers.items():
        yield from _server_complaints(f"mcpServers.{name}", config)


def _mcp_complaints(mcp: Json) -> Iterator[Complaint]:
    members = object_of(mcp)
    if members is None:
        yield _mismatch("mcp", "object", mcp)
        return
    for key, expected in (("serverCommand", "string"), ("allowed", "array"), ("excluded", "array")):
        if key in members and type_of(members[key]) != expected:
            yield _mismatch(f"mcp.{key}", expected, members[key])


def _server_complaints(place: str, config: Json) -> Iterator[Complaint]:
    members = object_of(config)
    if members is None:
        yield _mismatch(place, "object", config)
        return
    for key in _ORDER:
        if key in members:
            yield from _value_complaints(f"{place}.{key}", key, members[key])
    unknown = [key for key in members if key not in TYPES]
    if unknown:
        yield Complaint(place, f"Unrecognized key(s) in object: {', '.join(repr(key) for key in unknown)}")


def _value_complaints(place: str, key: str, value: Json) -> Iterator[Complaint]:
    expected = TYPES[key]
    if key in _CHOICES and type_of(value) == "string":
        if value not in _CHOICES[key]:
            choices = " | ".join(f"'{choice}'" for choice in _CHOICES[key])
            yield Complaint(place, f"Invalid enum value. Expected {choices}, received '{value}'")
    elif key in _CHOICES:
        choices = " | ".join(f"'{choice}'" for choice in _CHOICES[key])
        yield Complaint(place, f"Expected {choices}, received {type_of(value)}", choices, type_of(value))
    elif expected == "strings":
        yield from _container_complaints(place, "array", value)
    elif expected == "string map":
        yield from _container_complaints(place, "object", value)
    elif not _is_coerced(expected, value) and type_of(value) != expected:
        yield _mismatch(place, expected, value)


def _container_complaints(place: str, expected: str, value: Json) -> Iterator[Complaint]:
    if type_of(value) != expected:
        yield _mismatch(place, expected, value)
    for index, item in enumerate(list_of(value) or ()):
        if type_of(item) != "string":
            yield _mismatch(f"{place}[{index}]", "string", item)
    for name, member in table(value).items():
        if type_of(member) != "string":
            yield _mismatch(f"{place}.{name}", "string", member)


def _is_coerced(expected: str, value: Json) -> bool:
    if not isinstance(value, str):
        return False
    if expected == "boolean":
        return value.lower() in ("true", "false")
    return expected == "number" and _is_numeric(value)


def _is_numeric(text: str) -> bool:
    try:
        return bool(text.strip()) and float(text) == float(text)
    except ValueError:
        return False


def _mismatch(place: str, expected: str, value: Json) -> Complaint:
    return Complaint(place, f"Expected {expected}, received {type_of(value)}", expected, type_of(value))
