"""What the Gemini API refuses besides what a profile says, as far as it is known: each limit with its source. Pure.

Where the API names no limit, the value is what somebody measured, and passing it is a remark and no loss.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gemini_mcp.spec.values import Json, items, table

NEAR = 0.9
"""The part of a limit from which on a value is near it."""


@dataclass(frozen=True)
class Limit:
    """A number that should not be passed, and who says so."""

    most: int
    source: str

    def is_near(self, value: int) -> bool:
        return value >= NEAR * self.most


DECLARATIONS = Limit(512, "github.com/google-gemini/gemini-cli/issues/19083 of 2026-02-14, an error of the API")
ENUM_VALUES = Limit(
    100, "github.com/googleapis/python-genai/issues/950 of 2025-06-10, measured, in a schema of a response"
)
ALL_ENUM_VALUES = Limit(
    240, "github.com/googleapis/python-genai/issues/2133 of 2026-03-10, measured, where a call is forced"
)
ARRAY_ITEMS = Limit(
    959, "github.com/googleapis/python-genai/issues/2170 of 2026-03-16, measured, for one tool in every mode"
)


def enum_sizes(schema: Json) -> list[int]:
    """How many values each enumeration in a schema has."""
    return [len(items(one["enum"])) for one in _inside(schema) if "enum" in one]


def array_items(schema: Json) -> int:
    """The sum of `maxItems` in a schema."""
    limits = (one.get("maxItems") for one in _inside(schema))
    return sum(int(limit) for limit in limits if isinstance(limit, int | float) and not isinstance(limit, bool))


def _inside(value: Json) -> Iterator[Mapping[str, Json]]:
    """Every object in a value, itself included; one that is there twice is counted once."""
    waiting, seen = [value], set[int]()
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        if table(current):
            yield table(current)
        waiting += [*table(current).values(), *items(current)]
