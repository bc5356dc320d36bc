"""JSON with comments and trailing commas: reads it, and changes a value without touching the rest. Pure.

Only what the text itself says belongs here; what settings mean is in `loading`.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.spec.values import Json

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\r\n]*|/\*[\s\S]*?(?:\*/|\Z))*")
_SCALAR = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null')
_END_OF_LINE_COMMENT = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/[ \t]*(?=\r?\n))")
_DEEPEST = 200
"""A settings file is not nested so deep; without a limit a hostile one would exhaust Python's stack."""


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
    """One name and value of an object, with where it begins; the items of an array have no names."""

    name: str
    start: int
    node: "Node"


@dataclass(frozen=True)
class Node:
    """A value and where it stands in the text; the members are those of an object, or the items of an array."""

    start: int
    end: int
    value: Json
    members: tuple[Member, ...] = ()
    trailing_comma: int | None = None

    def find(self, name: str) -> Member | None:
        """The member of that name that counts, which is the last."""
        return next((member for member in reversed(self.members) if member.name == name), None)


Path: TypeAlias = Sequence[str]


def read(text: str, allow_trailing_commas: bool = True) -> Json:
    """The value of the text; raises BrokenJson."""
    return _Reader(text, allow_trailing_commas).document().value


def with_value(text: str, path: Path, value: Json) -> str:
    """The text with the value at the path of names, and everything else as it was."""
    if not text.strip():
        return stringify(_nested(path, value), 2)
    node, rest = _Reader(text).document(), list(path)
    while len(rest) > 1 and (inner := node.find(rest[0])) is not None and isinstance(inner.node.value, dict):
        node, rest = inner.node, rest[1:]
    if not isinstance(node.value, dict):
        raise BrokenJson("expected an object", text, node.start)
    found = node.find(rest[0])
    value = _nested(rest[1:], value)
    if found is None:
        return _insert(text, node, rest[0], value)
    return text[: found.node.start] + _formatted(text, value, _indent_at(text, found.start)) + text[found.node.end :]


def without_value(text: str, path: Path) -> str:
    """The text without the member at the path; a path that leads nowhere changes nothing."""
    node = _Reader(text).document()
    for name in path[:-1]:
        inner = node.find(name)
        if inner is None:
            return text
        node = inner.node
    # All members of the name go, from the last: else the one before would count, and the places would move.
    for member in reversed([member for member in node.members if member.name == path[-1]]):
        text = _cut(text, node, member)
        node = replace(node, members=tuple(other for other in node.members if other is not member))
    return text


def _nested(path: Path, value: Json) -> Json:
    for name in reversed(path):
        value = {name: value}
    return value


def _insert(text: str, node: Node, name: str, value: Json) -> str:
    outer = _indent_at(text, node.start)
    inner = _indent_at(text, node.members[-1].start) if node.members else outer + _unit(text)
    entry = f"\n{inner}{stringify(name)}: {_formatted(text, value, inner)}"
    if not node.members:
        kept = text[node.start + 1 : node.end - 1].rstrip()
        return f"{text[: node.start + 1]}{kept}{entry}\n{outer}{text[node.end - 1 :]}"
    at, comma = node.members[-1].node.end, ","
    if node.trailing_comma is not None:
        at, comma = node.trailing_comma + 1, ""
    # A comment behind the last member on its line stays with that member.
    comment = _END_OF_LINE_COMMENT.match(text, at)
    tail = text[comment.end() if comment else at :]
    if not tail.lstrip(" \t").startswith(("\n", "\r")):
        tail = f"\n{outer}" + (tail if comment else tail.lstrip(" \t"))
    return f"{text[:at]}{comma}{comment.group() if comment else ''}{entry}{tail}"


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
        # The comma before the last member goes with it, because 0.61.0 refuses a trailing one; a comment stays.
        kept = text[start : member.start].replace(",", "", 1).rstrip() if "//" in text[start : member.start] else ""
        return text[:start] + kept + text[end:]
    before = text[:start].rstrip()
    return before + text[end:].lstrip() if before.endswith("{") else before + text[end:]


def _formatted(text: str, value: Json, indent: str) -> str:
    return stringify(value, _unit(text)).replace("\n", f"\n{indent}")


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    match = re.search(r"\n([ \t]+)\S", text)
    return match.group(1) if match else "  "


@dataclass(frozen=True)
class _Reader:
    text: str
    allows_trailing_commas: bool = True

    def document(self) -> Node:
        node = self._value(self._skip(0), 0)
        end = self._skip(node.end)
        if end < len(self.text):
            raise self._unexpected(end)
        return node

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def _unexpected(self, at: int) -> BrokenJson:
        problem = f"unexpected {self.text[at]!r}" if at < len(self.text) else "unexpected end"
        return BrokenJson(problem, self.text, at)

    def _value(self, at: int, depth: int) -> Node:
        if depth > _DEEPEST:
            raise BrokenJson("too deeply nested", self.text, at)
        return self._container(at, depth) if self.text[at : at + 1] in ("{", "[") else self._scalar(at)

    def _scalar(self, at: int) -> Node:
        match = _SCALAR.match(self.text, at)
        if match is None:
            raise self._unexpected(at)
        try:
            return Node(at, match.end(), json.loads(match.group()))
        except ValueError as error:
            raise BrokenJson("unreadable string", self.text, at) from error

    def _container(self, start: int, depth: int) -> Node:
        is_object = self.text[start] == "{"
        close = "}" if is_object else "]"
        members: list[Member] = []
        at, comma, is_open = self._skip(start + 1), None, True
        while self.text[at : at + 1] != close:
            if not is_open:
                raise BrokenJson(f"expected ',' or {close!r}", self.text, at)
            name, value_at = self._name(at) if is_object else ("", at)
            node = self._value(value_at, depth + 1)
            members.append(Member(name, at, node))
            at = self._skip(node.end)
            is_open = self.text[at : at + 1] == ","
            comma, at = (at, self._skip(at + 1)) if is_open else (None, at)
        if comma is not None and not self.allows_trailing_commas:
            raise self._unexpected(at)
        pairs = {member.name: member.node.value for member in members}
        value: Json = pairs if is_object else [member.node.value for member in members]
        return Node(start, at + 1, value, tuple(members), comma)

    def _name(self, at: int) -> tuple[str, int]:
        """The name of a member, and where its value begins."""
        name = self._scalar(at)
        if not isinstance(name.value, str):
            raise BrokenJson("expected a name in double quotes", self.text, at)
        colon = self._skip(name.end)
        if self.text[colon : colon + 1] != ":":
            raise BrokenJson("expected ':'", self.text, colon)
        return name.value, self._skip(colon + 1)


def without_comments(text: str) -> str:
    """The text with a space for every character of a comment, so that places stay as they are."""
    return _COMMENT.sub(lambda match: match[0] if match[0][0] == '"' else re.sub(r"\S", " ", match[0]), text)


_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"?|//[^\n\r]*|/\*[\s\S]*?(?:\*/|\Z)', re.DOTALL)
