"""Calls that tell two specifications apart: the files of both in, a call with what each side makes of it out. Pure.

Only the choice of calls belongs here; what becomes of one, the reference says.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gemini_mcp.spec.values import Json, is_array, table
from gemini_mcp_spec.diff.change import Witness
from gemini_mcp_spec.diff.reference import planner
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import INVOCATION, tools

_UNREADABLE = (AttributeError, KeyError, TypeError, ValueError, re.error)
_TEXTS = ("", " ", "-x", "--help", "help", "mcp", "12", "0x1f", "a\nb", "a\u0000b", "\x1b", "@file", "/help")
_VALUES: Mapping[str, Sequence[Json]] = {
    "boolean": (True, False),
    "integer": (1, 0),
    "number": (1.5, 0),
    "array": (["a", "b"], []),
}


@dataclass(frozen=True)
class Calls:
    """The calls that both sides know, and what each side makes of them."""

    old: SpecFiles
    new: SpecFiles

    def different(self, tool: str | None = None) -> Witness | None:
        """A call that runs something else now."""
        for name, arguments, old, new in self._told_apart:
            if tool in (None, name) and "refused" not in {**old, **new}:
                return Witness({"name": name, "arguments": arguments}, old, new)
        return None

    def refused_now(self, argument: str | None = None) -> Witness | None:
        """A call that is refused now, and was not."""
        for name, arguments, old, new in self._told_apart:
            if "refused" in new and "refused" not in old and (argument is None or argument in arguments):
                return Witness({"name": name, "arguments": arguments}, "started", f"refused: {new['refused']}")
        return None

    @cached_property
    def _told_apart(self) -> Sequence[tuple[str, Mapping[str, Json], Json, Json]]:
        """Every valid call of which the two sides make something else, with what that is."""
        try:
            return [call for call in self._all() if call[2] and call[3] and call[2] != call[3]]
        except _UNREADABLE:
            return []

    def _all(self) -> Iterator[tuple[str, Mapping[str, Json], Json, Json]]:
        sides = [spec.documents[INVOCATION] for spec in (self.old, self.new)]
        (old, new), before, after = map(planner, sides), tools(self.old), tools(self.new)
        differ = any(sides[0][key] != sides[1][key] for key in ("forms", "refusals", "arguments"))
        lengths = sorted({limit for side in sides for limit in _limits(side)}) if differ else []
        for name in [name for name in before if name in after]:
            schemas = before[name][1], after[name][1]
            for arguments in _samples(*schemas, lengths):
                yield name, arguments, old(name, schemas[0], arguments), new(name, schemas[1], arguments)


def _limits(invocation: Json) -> Iterator[int]:
    """Every length from which on a text is handed over otherwise or refused."""
    entries = [case for cases in invocation["forms"].values() for case in cases] + [*invocation["refusals"].values()]
    yield from (entry[key] for entry in entries for key in ("longerThan", "maxBytes") if key in entry)


def _samples(old: Json, new: Json, lengths: Sequence[int]) -> Iterator[Mapping[str, Json]]:
    """Calls that tell templates apart: each shared argument there and not there, and values that need care."""
    shared = [name for name in table(old.get("properties")) if name in table(new.get("properties"))]
    values = {name: _values(name, old["properties"][name], lengths) for name in shared}
    full = {name: held[0] for name, held in values.items()}
    least = {name: value for name, value in full.items() if name in old.get("required", ())}
    yield full
    for name, held in values.items():
        yield {other: value for other, value in full.items() if other != name}
        yield {**least, name: full[name]}
        yield from ({**full, name: value} for value in held[1:])


def _values(name: str, schema: Json, lengths: Sequence[int]) -> Sequence[Json]:
    kinds = schema.get("type", "string")
    texts = (f"some {name}", *_TEXTS, *("a" * (length + 1) for length in lengths))
    return schema.get("enum") or _VALUES.get(kinds[0] if is_array(kinds) else kinds, texts)
