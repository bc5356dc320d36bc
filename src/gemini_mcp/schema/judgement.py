"""What each difference of two schemas breaks, and a value that shows it. Pure.

A request may get wider and a result narrower. How two schemas differ is decided in `differences`. What the gate or the
host makes of an effect is not decided here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from gemini_mcp.report.positions import Path
from gemini_mcp.report.values import shown_beside
from gemini_mcp.report.witness import Witness
from gemini_mcp.schema.differences import PATTERN, SchemaChange, changes
from gemini_mcp.schema.inline import ANNOTATIONS, bare, canonical, inline
from gemini_mcp.schema.search import Found, Search
from gemini_mcp.schema.validation import Violation, schema_violation
from gemini_mcp.spec.values import Json, is_array, is_object

_ACCEPTED, _REJECTED = "accepted", "rejected"
_UNPROVEN = "; they are not proven equal, but no text was found that only one of them matches"


class Direction(Enum):
    """Which way the values of a schema travel."""

    REQUEST = "request"
    RESULT = "result"
    REPORT = "report"
    """A result that nobody is bound to give, so that only its readers are concerned."""


class Effect(Enum):
    """What a difference does."""

    BREAKS_SENDERS = "a value that was sent rightly is refused, or a result is not what its readers expect"
    BREAKS_GIVERS = "a result that was given rightly is not allowed any more"
    ALLOWS = "more is accepted, or less is given"
    REWORDS = "nothing is proven to change but words"
    NOTHING = "the same is accepted"

    @property
    def breaks(self) -> bool:
        return self in (Effect.BREAKS_SENDERS, Effect.BREAKS_GIVERS)


@dataclass(frozen=True)
class Judgement:
    """One difference of two schemas: its kind, what it does, where it is, and the value that shows it."""

    kind: str
    effect: Effect
    path: Path
    message: str
    old: Json
    new: Json
    witness: Witness | None = None


def judge(old: Json, new: Json, direction: Direction, subject: str = "") -> Iterator[Judgement]:
    """Every difference of two schemas with its effect and, where there is one, its witness."""
    if why := _unknown(old, new):
        sides = (None, None) if why[0].keyword == "size" else (old, new)
        message = _sentence(subject, f"nothing can be proven of this schema: {why[0].message}")
        yield Judgement("unknown", Effect.BREAKS_SENDERS, why[0].path, message, *sides)
        return
    old, new = inline(old), inline(new)
    found = changes(old, new)
    search = Search(bare(old), bare(new), [_searched(change) for change in found])
    for change in found:
        effect, kind = _effect(change, direction), _kind(change, direction)
        place = " of ".join(
            part for part in (f"`{_named(change.path)}`" if _named(change.path) else "", subject) if part
        )
        message = _sentence(place, change.message + _UNPROVEN * kind.endswith("unproven"))
        witness = _witness(search, change, direction, effect)
        yield Judgement(kind, effect, change.path, message, change.old, change.new, witness)


def _unknown(old: Json, new: Json) -> list[Violation]:
    """Why nothing can be proven of a change, where that is so; nothing where nothing changes."""
    if canonical(old) == canonical(new):
        return []
    return [violation for schema in (new, old) if (violation := schema_violation(schema))]


def _effect(change: SchemaChange, direction: Direction) -> Effect:
    if change.keyword in ANNOTATIONS:
        # A default is an annotation that acts: a call that leaves the argument out means something else now.
        behaves = change.keyword == "default" and direction is Direction.REQUEST
        if behaves:
            return Effect.ALLOWS if change.old is None else Effect.BREAKS_SENDERS
        return Effect.REWORDS
    # A sender who uses the property is ignored or refused; a reader misses it.
    if change.keyword == "property-removed":
        return Effect.BREAKS_SENDERS
    if change.keyword == "property-added":
        return Effect.ALLOWS
    is_request = direction is Direction.REQUEST
    broken, freed = (change.narrower, change.wider) if is_request else (change.wider, change.narrower)
    if broken:
        return Effect.BREAKS_SENDERS
    if freed:
        return Effect.BREAKS_GIVERS if direction is Direction.RESULT else Effect.ALLOWS
    return Effect.REWORDS if _is_searched(change) else Effect.NOTHING


def _kind(change: SchemaChange, direction: Direction) -> str:
    if change.keyword.startswith("property-") or change.keyword in ANNOTATIONS:
        return change.keyword
    extent = {(True, False): "narrower", (False, True): "wider", (True, True): "other"}.get(
        (change.narrower, change.wider)
    )
    return f"{change.keyword}-{extent or ('unproven' if _is_searched(change) else 'rewritten')}"


def _is_searched(change: SchemaChange) -> bool:
    """Whether no proof, but a search compares both sides."""
    return change.keyword == PATTERN and change.old is not None and change.new is not None


def _searched(change: SchemaChange) -> Path:
    """The place that a value has to hold something at."""
    is_property = change.keyword.startswith("property-") or change.keyword == "schema"
    return change.path if is_property else change.path[:-1]


def _witness(search: Search, change: SchemaChange, direction: Direction, effect: Effect) -> Witness | None:
    gone = change.keyword == "property-removed" and effect.breaks
    if gone and (witness := _without_effect(search, change)):
        return witness
    place = change.path
    if change.keyword.startswith("property-"):
        place = (*change.path[:-2], *([] if change.new is None else ["properties", change.path[-1]]))
    sides: list[tuple[bool, Found, Json, Json]] = [
        (change.narrower, search.lost, _ACCEPTED, _REJECTED),
        (change.wider, search.gained, _REJECTED, _ACCEPTED),
    ]
    is_first = (direction is Direction.REQUEST) is (effect is not Effect.BREAKS_GIVERS)
    breaking = sides if is_first else sides[::-1]
    shows = _shows(change)
    for differs, found, before, after in breaking[:1] if effect.breaks else sides:
        if differs and (values := found.nearest(place, shows)):
            return Witness(values[0], before, after)
    return _without_effect(search, change) if effect.breaks and change.keyword == "default" else None


def _shows(change: SchemaChange) -> Callable[[Json], bool]:
    """Whether a value can show the change: what has gone is shown by a value that holds it."""
    if change.keyword != "property-removed":
        return lambda value: True
    names = _names(change.path)
    return lambda value: _holds(value, names)


def _names(path: Path) -> list[str]:
    return [step for step in path if isinstance(step, str) and step != "properties"]


def _without_effect(search: Search, change: SchemaChange) -> Witness | None:
    """A value that both accept and that no longer means the same: one with what has gone, or without what is preset."""
    gone = change.keyword == "property-removed"
    names = _names(change.path if gone else change.path[:-1])
    found = [value for value in search.kept if _holds(value, names) is gone]
    around = [value for value in found if _holds(value, names[:-1])]
    for value in [*around, *found][:1]:
        return Witness(value, "accepted and used", "accepted and ignored") if gone else _preset(value, change)
    return None


def _preset(value: Json, change: SchemaChange) -> Witness:
    before, after = (shown_beside(*sides) for sides in ((change.old, change.new), (change.new, change.old)))
    return Witness(value, f"stands for {before}", f"stands for {after}")


def _holds(value: Json, names: list[str]) -> bool:
    for name in names:
        value = value[:1] if name == "items" and is_array(value) else value
        value = value[0] if is_array(value) and value else value
        if name == "items":
            continue
        if name == "additionalProperties" and is_object(value) and value:
            value = next(iter(value.values()))
            continue
        if not is_object(value) or name not in value:
            return False
        value = value[name]
    return True


def _named(path: Path) -> str:
    """The property that a path in a schema is about, as `a.b[]`."""
    text, steps = "", list(path)
    while steps:
        step = steps.pop(0)
        if step == "properties" and steps:
            text += f".{steps.pop(0)}"
        elif step == "items" and steps:
            text += "[]"
        elif step == "additionalProperties" and steps:
            text += ".*"
    return text.removeprefix(".")


def _sentence(place: str, message: str) -> str:
    return f"{place}: {message}." if place else f"{message[0].upper()}{message[1:]}."
