"""JSON with comments and trailing commas: reads it, and changes a value without touching the rest. Pure.

Only what the text itself says belongs here; what settings mean is in `loading`.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.spec.values import Json, JsonObject

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\r\n]*|/\*[\s\S]*?\*/)*")
_SCALAR = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null')
_DEEPEST = 200


class BrokenJson(ValueError):
    """The text is not JSON, even with comments and trailing commas."""

    def __init__(self, problem: str, text: str, at: int) -> None:
        self.problem = problem
        self.position = at
        self.line = text.count("\n", 0, at) + 1
        self.column = at - text.rfind("\n", 0, at)
        super().__init__(f"{problem} at line {self.line}, column {self.column}")


@dataclass(frozen=True)
class Member:
    """One name and value of an object, with where it begins."""

    name: str
    start: int
    node: "Node"


@dataclass(frozen=True)
class Node:
    """A value and where it stands in the text; the members are those of an object."""

    start: int
    end: int
    value: Json
    members: tuple[Member, ...] = ()
    is_object: bool = False
    has_trailing_comma: bool = False
    last_comma: int = -1

    def find(self, name: str) -> Member | None:
        """The member of that name that counts, which is the last."""
        return next((member for member in reversed(self.members) if member.name == name), None)


Path: TypeAlias = Sequence[str]


def read(text: str, allow_trailing_commas: bool = True) -> Json:
    """The value of the text; raises BrokenJson."""
    if not allow_trailing_commas:
        comma = _trailing_comma(text)
        if comma is not None:
            raise BrokenJson(f"unexpected {text[comma]!r}", text, comma)
    return _root(text).value


def with_value(text: str, path: Path, value: Json) -> str:
    """The text with the value at the path of names, and everything else as it was."""
    if not text.strip():
        return stringify(_nested(path, value), 2)
    node, rest = _root(text), list(path)
    while len(rest) > 1 and (inner := node.find(rest[0])) is not None and inner.node.is_object:
        node, rest = inner.node, rest[1:]
    if not node.is_object:
        raise BrokenJson("expected an object", text, node.start)
    found = node.find(rest[0])
    value = _nested(rest[1:], value)
    if found is None:
        return _insert(text, node, rest[0], value)
    indent = _indent_at(text, found.start)
    return text[: found.node.start] + _formatted(value, indent, _unit(text)) + text[found.node.end :]


def without_value(text: str, path: Path) -> str:
    """The text without the member at the path; a path that leads nowhere changes nothing."""
    node = _root(text)
    for name in path[:-1]:
        inner = node.find(name)
        if inner is None:
            return text
        node = inner.node
    for member in reversed([member for member in node.members if member.name == path[-1]]):
        text = _cut(text, node, member)
        node = replace(node, members=tuple(other for other in node.members if other is not member))
    return text


def _nested(path: Path, value: Json) -> Json:
    for name in reversed(path):
        value = {name: value}
    return value


def _insert(text: str, node: Node, name: str, value: Json) -> str:
    unit = _unit(text)
    outer = _indent_at(text, node.start)
    inner = _indent_at(text, node.members[-1].start) if node.members else outer + unit
    entry = f"\n{inner}{stringify(name)}: {_formatted(value, inner, unit)}"
    if not node.members:
        kept = text[node.start + 1 : node.end - 1].rstrip()
        return f"{text[: node.start + 1]}{kept}{entry}\n{outer}{text[node.end - 1 :]}"
    at = node.last_comma + 1 if node.has_trailing_comma else node.members[-1].node.end
    comma = "" if node.has_trailing_comma else ","
    after = text[at:]
    same_line = after[: len(after) - len(after.lstrip(" \t"))]
    comment = re.match(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/[ \t]*(?=\r?\n))", after)
    kept = comment.group() if comment else ""
    tail = after[len(kept) :] if kept else after
    closing = "" if tail.lstrip(" \t").startswith(("\n", "\r")) else f"\n{outer}"
    if closing:
        tail = tail[len(same_line) :] if not kept else tail
    return f"{text[:at]}{comma}{kept}{entry}{closing}{tail}"


def _cut(text: str, node: Node, member: Member) -> str:
    position = next(index for index, other in enumerate(node.members) if other is member)
    is_last = position == len(node.members) - 1
    start, end = member.start, member.node.end
    rest = _SPACE.match(text, end)
    after = rest.end() if rest else end
    if text[after : after + 1] == ",":
        end = after + 1
        line_end = re.compile(r"[ \t]*\r?\n").match(text, end)
        line_start = re.compile(r"[ \t]*$").search(text[:start])
        if line_end and line_start and text[: line_start.start()].endswith("\n"):
            return text[: line_start.start()] + text[line_end.end() :]
        return text[:start] + text[end:].lstrip(" \t")
    if is_last and position > 0:
        start = node.members[position - 1].node.end
        kept = text[start : member.start].replace(",", "", 1).rstrip() if "//" in text[start : member.start] else ""
        return text[:start] + kept + text[end:]
    before = text[:start].rstrip()
    return before + text[end:].lstrip() if before.endswith("{") else before + text[end:]


def _formatted(value: Json, indent: str, unit: str) -> str:
    text = stringify(value, 2)
    lines = text.split("\n")
    return "\n".join([lines[0], *(indent + _reindented(line, unit) for line in lines[1:])])


def _reindented(line: str, unit: str) -> str:
    stripped = line.lstrip(" ")
    return unit * ((len(line) - len(stripped)) // 2) + stripped


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    match = re.search(r"\n([ \t]+)\S", text)
    return match.group(1) if match else "  "


def _trailing_comma(text: str) -> int | None:
    """Where the bracket stands that closes after a comma."""
    at, after_comma = 0, False
    while at < len(text):
        space, scalar = _SPACE.match(text, at), _SCALAR.match(text, at)
        if space and space.end() > at:
            at = space.end()
            continue
        if after_comma and text[at] in "]}":
            return at
        after_comma = text[at] == ","
        at = scalar.end() if scalar else at + 1
    return None


def _root(text: str) -> Node:
    node = _value(text, _skip(text, 0), 0)
    end = _skip(text, node.end)
    if end < len(text):
        raise BrokenJson(f"unexpected {text[end]!r}", text, end)
    return node


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _value(text: str, at: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise BrokenJson("too deeply nested", text, at)
    if text[at : at + 1] == "{":
        return _object(text, at, depth)
    if text[at : at + 1] == "[":
        return _array(text, at, depth)
    return _scalar(text, at)


def _scalar(text: str, at: int) -> Node:
    match = _SCALAR.match(text, at)
    if match is None:
        raise BrokenJson(f"unexpected {text[at]!r}" if at < len(text) else "unexpected end", text, at)
    try:
        return Node(at, match.end(), json.loads(match.group()))
    except ValueError as error:
        raise BrokenJson("unreadable string", text, at) from error


def _object(text: str, start: int, depth: int) -> Node:
    members: list[Member] = []
    value: JsonObject = {}
    at, comma, is_open = _skip(text, start + 1), -1, True
    while text[at : at + 1] != "}":
        if not is_open:
            raise BrokenJson("expected ',' or '}'", text, at)
        name = _scalar(text, at)
        if not isinstance(name.value, str):
            raise BrokenJson("expected a name in double quotes", text, at)
        colon = _skip(text, name.end)
        if text[colon : colon + 1] != ":":
            raise BrokenJson("expected ':'", text, colon)
        node = _value(text, _skip(text, colon + 1), depth + 1)
        members.append(Member(name.value, at, node))
        value[name.value] = node.value
        at, comma, is_open = _separator(text, node.end, comma)
    has_comma = bool(members) and comma > members[-1].node.start
    return Node(start, at + 1, value, tuple(members), True, has_comma, comma)


def _array(text: str, start: int, depth: int) -> Node:
    items: list[Json] = []
    at, is_open = _skip(text, start + 1), True
    while text[at : at + 1] != "]":
        if not is_open:
            raise BrokenJson("expected ',' or ']'", text, at)
        node = _value(text, at, depth + 1)
        items.append(node.value)
        at, _, is_open = _separator(text, node.end, -1)
    return Node(start, at + 1, items)


def _separator(text: str, end: int, comma: int) -> tuple[int, int, bool]:
    at = _skip(text, end)
    if text[at : at + 1] != ",":
        return at, comma, False
    return _skip(text, at + 1), at, True
