"""Finds calls of which two specifications make something else. Pure.

Only the choice of calls and the comparison belong here; what becomes of a call, the reference says. A difference is
one of three: gemini understands something else, what it understands travels another way, or it is only spelled so.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

from gemini_mcp.report.positions import Path
from gemini_mcp.report.witness import Witness
from gemini_mcp.schema.patterns import Unreadable, examples
from gemini_mcp.spec.values import Json, differing, is_array, is_object, table
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import INVOCATION, is_length, tools
from gemini_mcp_spec.reference.answers import planner, understood

_UNREADABLE = (AttributeError, IndexError, KeyError, TypeError, ValueError, re.error)
_TEXTS = ("", " ", "-x", "--help", "help", "mcp", "12", "0x1f", "a\nb", "a\u0000b", "\x1b", "@file", "/help")
"""Texts that gemini takes for something else than a prompt, or that no process can be given."""

_VALUES: Mapping[str, Sequence[Json]] = {
    "boolean": (True, False),
    "integer": (1, 0),
    "number": (1.5, 0),
    "array": (["a", "b"], []),
}
_PATTERNS = ("pattern", "absent")
_LENGTHS = ("longerThan", "maxBytes")


@dataclass(frozen=True)
class Calls:
    """The calls that both sides know, and what each side makes of them."""

    before: Mapping[str, Json]
    after: Mapping[str, Json]
    schemas: Mapping[str, tuple[Json, Json]]

    @classmethod
    def of(cls, old: SpecFiles, new: SpecFiles) -> "Calls":
        """What two specifications make of the calls that both know."""
        was, becomes = (table(spec.documents.get(INVOCATION)) for spec in (old, new))
        before, after = tools(old), tools(new)
        return cls(was, becomes, {name: (before[name][1], after[name][1]) for name in before if name in after})

    def gone(self, tool: str) -> Set[str]:
        """The arguments that a tool has no longer."""
        old, new = (table(schema.get("properties")).keys() for schema in self.schemas.get(tool, ({}, {})))
        return old - new

    def only(self, path: Path) -> "Calls":
        """The same with nothing changed but what lies at `path`."""
        alone = _changed(self.before, self.after, path)
        # One change alone may leave a file that cannot be read, such as a form that only another change defines.
        return replace(self, after=alone) if _is_readable(alone) else self

    @property
    def is_readable(self) -> bool:
        """Whether both sides could be asked."""
        return self._planned is not None

    def different(self, tool: str | None = None) -> Witness | None:
        """A call of which gemini understands something else now."""
        return self._found(tool, _is_other)

    def moved(self, tool: str | None = None) -> Witness | None:
        """A call whose prompt reaches gemini another way now."""
        return self._found(tool, _is_moved)

    def refused_now(self, argument: str | None = None) -> Witness | None:
        """A call that is refused now, and was not."""
        for name, arguments, old, new in self._planned or ():
            if "refused" in new and "refused" not in old and (argument is None or argument in arguments):
                return Witness({"name": name, "arguments": arguments}, "started", f"refused: {new['refused']}")
        return None

    def _found(self, tool: str | None, differs: Callable[[Json, Json], bool]) -> Witness | None:
        for name, arguments, old, new in self._planned or ():
            if tool in (None, name) and "refused" not in {**old, **new} and differs(old, new):
                return Witness({"name": name, "arguments": arguments}, old, new)
        return None

    @cached_property
    def _planned(self) -> Sequence[tuple[str, Mapping[str, Json], Json, Json]] | None:
        """Every valid call of which the two sides make something else, with what that is."""
        try:
            return [call for call in self._all() if call[2] and call[3] and call[2] != call[3]]
        except _UNREADABLE:
            return None

    def _all(self) -> Iterator[tuple[str, Mapping[str, Json], Json, Json]]:
        old, new = planner(self.before), planner(self.after)
        # What is the same on both sides tells no call apart, and texts cost time.
        pairs = [(self.before[key], self.after[key]) for key in ("forms", "refusals", "arguments")]
        texts = [text for sides in pairs for _, *rules in differing(*sides) for side in rules for text in _edges(side)]
        for name, schemas in self.schemas.items():
            for arguments in _samples(*schemas, list(dict.fromkeys([*_TEXTS, *texts]))):
                yield name, arguments, old(name, schemas[0], arguments), new(name, schemas[1], arguments)


def _is_other(old: Json, new: Json) -> bool:
    return understood(old) != understood(new)


def _is_moved(old: Json, new: Json) -> bool:
    return ("stdin" in old) is not ("stdin" in new)


def _is_readable(document: Mapping[str, Json]) -> bool:
    try:
        planner(document)
    except _UNREADABLE:
        return False
    return True


def _changed(old: Json, new: Json, path: Path) -> Json:
    """`old` with the value of `new` at `path`; a key that `new` lacks goes."""
    if not path or not (is_object(old) and is_object(new)):
        return new
    name = str(path[0])
    if name not in new:
        return {key: value for key, value in old.items() if key != name}
    return {**old, name: _changed(old.get(name), new[name], path[1:])}


def _edges(rules: Json) -> Iterator[str]:
    """Texts that decide between the forms and refusals of a part of `invocation.json`."""
    for key, value in table(rules).items():
        if key in _PATTERNS and isinstance(value, str):
            yield from _examples(value)
        elif key in _LENGTHS and is_length(value):
            yield from ("a" * (value + 1), "-" + "a" * value)
        else:
            yield from _edges(value)
    for value in rules if is_array(rules) else ():
        yield from _edges(value)


def _examples(pattern: str) -> Sequence[str]:
    try:
        return examples(pattern)
    except Unreadable:
        return ()


def _samples(old: Json, new: Json, texts: Sequence[str]) -> Iterator[Mapping[str, Json]]:
    """Calls that tell templates apart: each shared argument there and not there, and values that need care."""
    shared = [name for name in table(old.get("properties")) if name in table(new.get("properties"))]
    values = {name: _values(name, old["properties"][name], texts) for name in shared}
    full = {name: held[0] for name, held in values.items()}
    least = {name: value for name, value in full.items() if name in old.get("required", ())}
    yield full
    for name, held in values.items():
        yield {other: value for other, value in full.items() if other != name}
        yield {**least, name: full[name]}
        yield from ({**full, name: value} for value in held[1:])


def _values(name: str, schema: Json, texts: Sequence[str]) -> Sequence[Json]:
    kinds = schema.get("type", "string")
    known = _VALUES.get(kinds[0] if is_array(kinds) else kinds, (f"some {name}", *texts))
    return schema.get("enum") or known
