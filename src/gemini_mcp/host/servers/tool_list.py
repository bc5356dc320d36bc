"""Whether a server's answer to `tools/list` is accepted: one bad tool loses them all. Pure.

The rules are those of the MCP SDK that a version of Gemini CLI was built with; none of our own belongs here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, list_of, object_of, table, type_of


@dataclass(frozen=True)
class Fault:
    """Where a tool list breaks the schema of the protocol, and how."""

    path: tuple[str | int, ...]
    expected: str
    received: str
    is_literal: bool = False

    def message(self, rules: Rules) -> str:
        """The complaint as the validator of the profile's SDK prints it."""
        return stringify([self._zod_4() if rules.list_validator == "zod4" else self._zod_3()], 2)

    def _zod_4(self) -> JsonObject:
        path = list(self.path)
        if self.expected == "record":
            return {"code": "custom", "path": path, "message": "Invalid input"}
        if self.is_literal:
            text = f'Invalid input: expected "{self.expected}"'
            return {"code": "invalid_value", "values": [self.expected], "path": path, "message": text}
        text = f"Invalid input: expected {self.expected}, received {self.received}"
        return {"expected": self.expected, "code": "invalid_type", "path": path, "message": text}

    def _zod_3(self) -> JsonObject:
        path = list(self.path)
        if self.is_literal:
            text = f'Invalid literal value, expected "{self.expected}"'
            issue = {"code": "invalid_literal", "expected": self.expected, "path": path, "message": text}
            return issue if self.received == "undefined" else {"received": self.received, **issue}
        text = "Required" if self.received == "undefined" else f"Expected {self.expected}, received {self.received}"
        found = {"expected": self.expected, "received": self.received}
        return {"code": "invalid_type", **found, "path": path, "message": text}


def first_fault(tools: Sequence[Json], rules: Rules) -> Fault | None:
    """The first thing for which the whole list is refused."""
    return next((fault for index, tool in enumerate(tools) for fault in _tool_faults(index, tool, rules)), None)


def duplicate(names: Sequence[str]) -> str | None:
    """The first name that one server gives to two tools."""
    return next((name for index, name in enumerate(names) if name in names[:index]), None)


def _tool_faults(index: int, tool: Json, rules: Rules) -> Iterator[Fault]:
    place = ("tools", index)
    members = object_of(tool)
    if members is None:
        yield Fault(place, "object", type_of(tool))
        return
    if "name" not in members:
        yield Fault((*place, "name"), "string", "undefined")
    yield from _of_type(place, members, "name", "string")
    yield from _of_type(place, members, "description", "string")
    yield from _schema_faults((*place, "inputSchema"), members, rules)


def _schema_faults(place: tuple[str | int, ...], tool: JsonObject, rules: Rules) -> Iterator[Fault]:
    schema = object_of(tool.get("inputSchema"))
    if schema is None:
        yield Fault(place, "object", type_of(tool["inputSchema"]) if "inputSchema" in tool else "undefined")
        return
    if schema.get("type") != "object":
        received = schema.get("type", "undefined")
        yield Fault((*place, "type"), "object", received if isinstance(received, str) else type_of(received), True)
    yield from _of_type(place, schema, "properties", "object")
    yield from _of_type(place, schema, "required", "array")
    for position, name in enumerate(list_of(schema.get("required")) or ()):
        if not isinstance(name, str):
            yield Fault((*place, "required", position), "string", type_of(name))
    if rules.list_validator == "zod4":
        for name, member in table(schema.get("properties")).items():
            if not isinstance(member, dict | list):
                yield Fault((*place, "properties", name), "record", type_of(member))


def _of_type(place: tuple[str | int, ...], holder: JsonObject, key: str, expected: str) -> Iterator[Fault]:
    """A member that is there has to be of its type."""
    if key in holder and type_of(holder[key]) != expected:
        yield Fault((*place, key), expected, type_of(holder[key]))
