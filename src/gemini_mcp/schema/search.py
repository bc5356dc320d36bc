"""Witnesses: values that one of two schemas accepts and the other rejects. Pure, and the same every time.

What is handed out has been checked against both schemas. Values to try are made in `candidates` and `around`.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gemini_mcp.report.positions import Path
from gemini_mcp.schema.around import around
from gemini_mcp.schema.candidates import candidates
from gemini_mcp.schema.effort import Effort, cost
from gemini_mcp.schema.inline import size
from gemini_mcp.schema.validation import accepts, validator, violations
from gemini_mcp.spec.values import Json


@dataclass(frozen=True)
class Search:
    """The candidates of two schemas, each judged once."""

    old: Json
    new: Json
    places: Sequence[Path] = ()
    effort: Effort = field(default_factory=Effort)

    @cached_property
    def lost(self) -> "Found":
        """What the old schema accepts and the new one rejects, with the places of the new one that reject it."""
        return Found(_between(self.old, self.new, self._values, self.effort))

    @cached_property
    def gained(self) -> "Found":
        """What the new schema accepts and the old one rejects, with the places of the old one that reject it."""
        return Found(_between(self.new, self.old, self._values, self.effort))

    @cached_property
    def kept(self) -> list[Json]:
        """What both accept."""
        sides = validator(self.old), validator(self.new)
        price = cost(size(self.old) + size(self.new))
        tried = itertools.takewhile(lambda _: self.effort.spend(price), self._values)
        return [value for value in tried if all(accepts(side, value) for side in sides)]

    @cached_property
    def _general(self) -> list[Json]:
        return candidates((self.old,), (self.new,), self.effort)

    @cached_property
    def _aimed(self) -> list[Json]:
        return [value for place in self.places for value in around((self.old,), (self.new,), place, self.effort)]

    @property
    def _values(self) -> Iterator[Json]:
        """Values around all that the schemas mention; after these, values made for the places that differ."""
        yield from self._general
        yield from self._aimed


class Found:
    """Rejected values with the places that reject them, each sought when it is first asked for."""

    def __init__(self, values: Iterator[tuple[Json, list[Path]]]) -> None:
        self._values = values
        self._known: list[tuple[Json, list[Path]]] = []

    def __iter__(self) -> Iterator[tuple[Json, list[Path]]]:
        yield from self._known
        for value in self._values:
            self._known.append(value)
            yield value

    def nearest(self, place: Path, shows: Callable[[Json], bool]) -> list[Json]:
        """Of the values that show the change, the first that is rejected at `place`, or else the first."""
        there = (value for value, places in self if any(where[: len(place)] == place for where in places))
        return list(itertools.islice(filter(shows, itertools.chain(there, (value for value, _ in self))), 1))


def _between(
    accepting: Json, rejecting: Json, values: Iterable[Json], effort: Effort
) -> Iterator[tuple[Json, list[Path]]]:
    inside, outside = validator(accepting), validator(rejecting)
    price = cost(size(accepting) + size(rejecting))
    for value in values:
        if not effort.spend(price):
            return
        if not accepts(outside, value) and accepts(inside, value):
            yield value, [violation.schema_path for violation in violations(outside, value)]
