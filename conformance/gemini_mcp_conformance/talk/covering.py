"""Covering: few rows of values in which every pair of values, or every triple, meets. Pure.

A dimension has a name and values; a row has one value of each dimension. A demand names dimensions and how many of
them must meet in every way. What dimensions there are is for `forms`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import TypeAlias

Dimensions: TypeAlias = Mapping[str, Sequence[str]]
Row: TypeAlias = dict[str, str]
Names: TypeAlias = tuple[str, ...]
Values: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Demand:
    """Every way in which values of `strength` of these dimensions can meet."""

    names: Names
    strength: int


@dataclass(frozen=True)
class Share:
    """How many of the possible ways in which values can meet some call shows."""

    met: int
    possible: int

    def __str__(self) -> str:
        return f"{self.met:,} of {self.possible:,}"


@dataclass(frozen=True)
class Coverage:
    """What the combined calls of a tool cover: how many values each dimension has, and what meets.

    `core` are the triples of the arguments and the outcome. `never` says what cannot meet, and why.
    """

    tool: str
    calls: int
    dimensions: Mapping[str, int]
    pairs: Share
    core: Share
    triples: Share
    never: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {size}" for name, size in self.dimensions.items())
        return f"{self.tool}: {self.calls} calls. {self.met} meet of {parts}."

    @property
    def met(self) -> str:
        """What meets, in words."""
        return f"{self.pairs} pairs, {self.core} triples of arguments and outcome, and {self.triples} triples of all"


def cover(dimensions: Dimensions, demands: Sequence[Demand], cheap: Collection[str] = ()) -> list[Row]:
    """The rows; always the same for the same question.

    Of the dimensions in `cheap` the first value is the cheapest, and is taken wherever no other is needed.
    """
    search = _Search(dimensions, _demanded(dimensions, demands), frozenset(cheap))
    return list(search.rows())


def share(dimensions: Dimensions, strength: int, rows: Sequence[Row]) -> Share:
    """In how many ways so many values meet in some row, and in how many they can."""
    possible = _demanded(dimensions, [Demand(tuple(dimensions), strength)])
    met = sum(len({tuple(row[name] for name in names) for row in rows}) for names in possible)
    return Share(met, sum(map(len, possible.values())))


def _demanded(dimensions: Dimensions, demands: Sequence[Demand]) -> dict[Names, dict[Values, None]]:
    """The ways of meeting that are demanded, by the dimensions that meet."""
    # Dictionaries instead of sets: they keep their order, so the rows are the same in every run.
    meetings = _meetings(dimensions, demands)
    return {names: dict.fromkeys(product(*(dimensions[name] for name in names))) for names in meetings}


def _meetings(dimensions: Dimensions, demands: Sequence[Demand]) -> dict[Names, None]:
    order = list(dimensions)
    return {
        tuple(sorted(names, key=order.index)): None
        for demand in demands
        for names in combinations(demand.names, min(demand.strength, len(demand.names)))
    }


@dataclass
class _Search:
    """Makes one row after the other, each with as much as possible of what is missing."""

    dimensions: Dimensions
    missing: dict[Names, dict[Values, None]]
    cheap: frozenset[str]
    used: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])

    def rows(self) -> Iterator[Row]:
        while any(self.missing.values()):
            row = self._row()
            self._strike(row)
            yield row

    def _row(self) -> Row:
        """Begins with something that is missing, then takes the best value of each other dimension."""
        names, ways = max(self.missing.items(), key=lambda item: len(item[1]))
        row: Row = dict(zip(names, next(iter(ways)), strict=True))
        # The dimensions with most values decide how many rows there are, so they choose first.
        for name in sorted(self.dimensions, key=lambda name: -len(self.dimensions[name])):
            if name not in row:
                row[name] = self._best(row, name)
        return {name: row[name] for name in self.dimensions}

    def _best(self, row: Row, name: str) -> str:
        """The value that meets most of what is missing; of equals the one that was used least."""
        values, missing = self.dimensions[name], self._about(name, {*row, name})
        used = {value: 0 if name in self.cheap else self.used.get((name, value), 0) for value in values}
        # Of equals `max` takes the first: a cheap dimension stays at its cheapest value.
        return max(values, key=lambda value: (_gain({**row, name: value}, missing), -used[value]))

    def _about(self, name: str, known: set[str]) -> list[tuple[Names, dict[Values, None]]]:
        """What is missing of the meetings of a dimension with others that are known."""
        return [
            (names, ways) for names, ways in self.missing.items() if name in names and ways and known.issuperset(names)
        ]

    def _strike(self, row: Row) -> None:
        for names, ways in self.missing.items():
            ways.pop(tuple(row[name] for name in names), None)
        for meeting in row.items():
            self.used[meeting] = self.used.get(meeting, 0) + 1


def _gain(tried: Row, missing: Sequence[tuple[Names, Mapping[Values, None]]]) -> int:
    """How many of the missing meetings a row would have."""
    return sum(tuple([tried[each] for each in names]) in ways for names, ways in missing)
