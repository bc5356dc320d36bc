"""Reads answers of servers by the shapes of the profile's MCP SDK: what the SDK hands on, or what is wrong. Pure.

The shapes are `spec/host/messages-*.schema.json`; the wording of an issue is in `zod`.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gemini_mcp.host.rules.javascript import UNDEFINED, as_parsed
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, inside, is_array, list_of, object_of, table

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Issue:
    """One thing wrong: where, by which keyword, what that keyword expects, and the value."""

    path: Path
    keyword: str
    expected: Json
    value: Json
    branches: tuple[tuple["Issue", ...], ...] = ()

    @property
    def is_soft(self) -> bool:
        """Whether the value has the right type all the same: Zod 3 lets such a branch of a union decide."""
        return self.keyword == "contentEncoding"


@dataclass(frozen=True)
class Reading:
    """A value as it is handed on, and what is wrong with it."""

    value: Json
    issues: tuple[Issue, ...] = ()


def read(method: str, answer: Json, rules: Rules) -> Reading:
    """Read the answer to a request."""
    reader = _Reader(rules.messages, rules.list_validator == "zod3")
    return reader.read(rules.messages["properties"][method], as_parsed(answer), ())


@dataclass(frozen=True)
class _Reader:
    root: JsonObject
    is_lenient: bool
    """Whether the only soft branch of a union is taken for the meant one."""

    def read(self, shape: JsonObject, value: Json, at: Path) -> Reading:
        if "$ref" in shape:
            return self.read(inside(self.root, *shape["$ref"].removeprefix("#/").split("/")), value, at)
        if "anyOf" in shape:
            return self._read_any(shape["anyOf"], value, at)
        for keyword, is_right in (("const", _is_const), ("enum", _is_in), ("type", _is_type)):
            if keyword in shape and not is_right(value, shape[keyword]):
                return Reading(value, (Issue(at, _kind(keyword, shape), shape[keyword], value),))
        if _is_record(shape) and not self.is_lenient and not _is_plain(value):
            return Reading(value, (Issue(at, _kind("type", shape), shape["type"], value),))
        if shape.get("contentEncoding") and not _IS_BASE64[self.is_lenient](value):
            return Reading(value, (Issue(at, "contentEncoding", "base64", value),))
        if shape.get("type") == "object":
            return self._read_members(shape, value, at)
        return self._read_items(shape["items"], value, at) if "items" in shape else Reading(value)

    def _read_any(self, choices: list[JsonObject], value: Json, at: Path) -> Reading:
        readings = [self.read(choice, value, at) for choice in choices]
        taken = next((one for one in readings if not one.issues), None)
        if taken is None and self.is_lenient:
            # Zod 3 calls such a value dirty, and takes a union's dirty branch instead of refusing all branches.
            taken = next((one for one in readings if all(issue.is_soft for issue in one.issues)), None)
        branches = tuple(one.issues for one in readings)
        return taken or Reading(value, (Issue(at, "anyOf", None, value, branches),))

    def _read_members(self, shape: JsonObject, value: JsonObject, at: Path) -> Reading:
        named, rest = table(shape.get("properties")), shape.get("additionalProperties", False)
        kept: JsonObject = {}
        issues: list[Issue] = []
        others = (name for name in value if name not in named and name != "__proto__")
        # Zod hands on the members that it knows first, in the order of the schema, and then the others.
        for name, inner in (*named.items(), *((name, rest) for name in others)):
            if name not in value and "default" in inner:
                kept[name] = inner["default"]
            elif name in value or name in shape.get("required", ()):
                reading = self._member(inner, value.get(name, UNDEFINED), (*at, name))
                kept |= {} if reading is None else {name: reading.value}
                issues += () if reading is None else reading.issues
        return Reading(kept, tuple(issues))

    def _member(self, shape: JsonObject | bool, value: Json, at: Path) -> Reading | None:
        """The reading of a member; None when it is dropped."""
        if isinstance(shape, bool):
            return Reading(value) if shape else None
        return self.read(shape, value, at)

    def _read_items(self, shape: JsonObject, value: list[Json], at: Path) -> Reading:
        readings = [self.read(shape, item, (*at, index)) for index, item in enumerate(value)]
        return Reading([one.value for one in readings], tuple(issue for one in readings for issue in one.issues))


def leaves(issues: tuple[Issue, ...]) -> Iterator[Issue]:
    """The issues without unions: of each, the branch that fits the value best."""
    for issue in issues:
        if issue.keyword == "anyOf":
            yield from leaves(min(issue.branches, key=lambda branch: (_misses_constant(branch), len(branch))))
        else:
            yield issue


def _misses_constant(branch: tuple[Issue, ...]) -> bool:
    return any(issue.keyword == "const" for issue in branch)


def _kind(keyword: str, shape: JsonObject) -> str:
    """The keyword, or for a type what kind of object is meant."""
    if keyword != "type" or shape["type"] != "object":
        return "custom" if keyword == "type" and is_array(shape["type"]) else keyword
    return "record" if _is_record(shape) else "type"


def _is_record(shape: JsonObject) -> bool:
    return shape.get("type") == "object" and "properties" not in shape


def _is_plain(value: JsonObject) -> bool:
    """Whether Zod 4 takes the value for a record: what it has as `constructor` is asked for its prototype."""
    return "constructor" not in value or "isPrototypeOf" in table(inside(value, "constructor", "prototype"))


def _is_const(value: Json, expected: Json) -> bool:
    # In Python 1 equals True.
    return type(value) is type(expected) and value == expected


def _is_in(value: Json, expected: Json) -> bool:
    return any(_is_const(value, one) for one in expected)


def _is_type(value: Json, expected: Json) -> bool:
    if is_array(expected):
        return object_of(value) is not None or list_of(value) is not None
    kinds: dict[str, tuple[type, ...]] = {
        "object": (dict,),
        "array": (list,),
        "string": (str,),
        "boolean": (bool,),
        "number": (int, float),
    }
    return isinstance(value, kinds[expected]) and not (expected == "number" and isinstance(value, bool))


def _is_forgiving_base64(text: str) -> bool:
    """Whether `atob` reads it: white space does not count, nor does missing padding."""
    bare = re.sub(r"[\t\n\f\r ]", "", text)
    bare = re.sub(r"={1,2}\Z", "", bare) if len(bare) % 4 == 0 else bare
    return len(bare) % 4 != 1 and re.fullmatch(r"[A-Za-z0-9+/]*", bare) is not None


def _is_strict_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return len(text) % 4 == 0


_IS_BASE64 = {False: _is_forgiving_base64, True: _is_strict_base64}
