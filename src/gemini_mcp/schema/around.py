"""Makes values that hold something at one place of two schemas. Pure.

The general candidates vary one property at a time. A property that is only allowed beside others needs these.
"""

import itertools
from collections.abc import Iterator, Mapping

from gemini_mcp.report.positions import Path
from gemini_mcp.schema.candidates import EXTRA, Schemas, candidates, demanded, of_elements, of_property, ranked
from gemini_mcp.schema.effort import Effort
from gemini_mcp.spec.values import Json

_DEPTH = 2
_MOST = 40
_MOST_DEMANDED = 10
_MOST_BESIDE = 3
"""Ten properties give 176 sets of at most three; each more would multiply them."""


def around(olds: Schemas, news: Schemas, place: Path, effort: Effort) -> list[Json]:
    """Values with something at `place`, a few for each way in which the rest can be filled, the most useful first."""
    return ranked(_made(olds, news, place, effort), olds, news, effort)[:_MOST]


def _made(olds: Schemas, news: Schemas, place: Path, effort: Effort) -> Iterator[Json]:
    match place:
        case ("properties", str(name), *rest):
            inner = around(of_property(olds, name), of_property(news, name), tuple(rest), effort)
            beside = list(_beside(olds, news, name, effort))
            yield from ({**others, name: value} for others in beside for value in inner)
        case ("items", *rest):
            inner = around(of_elements(olds), of_elements(news), tuple(rest), effort)
            yield from ([value] for value in inner)
        case ("additionalProperties", *rest):
            inner = around(of_property(olds, EXTRA), of_property(news, EXTRA), tuple(rest), effort)
            yield from ({EXTRA: value} for value in inner)
        case (_, _, *_):
            # A keyword such as `allOf` or `then`, whose schemas speak of the same value.
            yield from _made(olds, news, place[1:], effort)
        case _:
            yield from candidates(olds, news, effort, _DEPTH)


def _beside(olds: Schemas, news: Schemas, name: str, effort: Effort) -> Iterator[Mapping[str, Json]]:
    """What may stand beside a property: up to a few of the properties that the schemas demand on some condition."""
    held: dict[str, Json] = {}
    for other in [one for one in demanded((*olds, *news)) if one != name][:_MOST_DEMANDED]:
        values = around(of_property(olds, other), of_property(news, other), (), effort)
        held |= {other: values[0]} if values else {}
    for count in range(_MOST_BESIDE + 1):
        yield from ({one: held[one] for one in names} for names in itertools.combinations(held, count))
