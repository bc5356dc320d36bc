"""Schemas compared with direction: of what callers send, and of what they get. Pure.

A request may get wider and a result narrower. How two schemas differ is decided in `schema`; whom that breaks, here.
"""

from collections.abc import Iterator
from enum import Enum

from gemini_mcp.spec.values import Json, is_array, is_object
from gemini_mcp_spec.diff.change import Change, Witness, is_longer, one_sided
from gemini_mcp_spec.diff.rules import Severity
from gemini_mcp_spec.files.kinds import SCHEMA, kind_of
from gemini_mcp_spec.files.positions import Path
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.version import Bump
from gemini_mcp_spec.schema.candidates import Found, Search
from gemini_mcp_spec.schema.differences import PATTERN, SchemaChange, changes
from gemini_mcp_spec.schema.inline import ANNOTATIONS, bare, canonical, inline
from gemini_mcp_spec.schema.validation import Violation, schema_violation

_ACCEPTED, _REJECTED = "accepted", "rejected"
_UNPROVEN = "; they are not proven equal, but no text was found that only one of them matches"


class Direction(Enum):
    """Which way the values of a schema travel."""

    REQUEST = "request"
    RESULT = "result"
    REPORT = "report"
    """A result that no port gives, so that nobody but its readers is bound."""


def compare(
    old: Json, new: Json, direction: Direction, file: str, path: Path = (), subject: str = ""
) -> Iterator[Change]:
    """Every difference of two schemas with its verdict and, where there is one, its witness."""
    if why := _unknown(old, new):
        sides = (None, None) if why[0].keyword == "size" else (old, new)
        message = _sentence(subject, f"nothing can be proven of this schema: {why[0].message}")
        place = (*path, *why[0].path)
        yield Change(f"{direction.value}-unknown", Severity.CALLERS, Bump.MAJOR, file, place, message, *sides)
        return
    old, new = inline(old), inline(new)
    search = Search(bare(old), bare(new))
    for found in changes(old, new):
        verdict, bump = _judged(found, direction)
        rule = f"{direction.value}-{_ruled(found, direction)}"
        place = " of ".join(part for part in (f"`{_named(found.path)}`" if _named(found.path) else "", subject) if part)
        yield Change(
            rule,
            verdict,
            bump,
            file,
            (*path, *found.path),
            _sentence(place, found.message + _UNPROVEN * rule.endswith("unproven")),
            found.old,
            found.new,
            witness=_witness(search, found, direction, verdict),
        )


def _unknown(old: Json, new: Json) -> list[Violation]:
    """Why nothing can be proven of a change, where that is so; nothing where nothing changes."""
    if canonical(old) == canonical(new):
        return []
    return [violation for schema in (new, old) if (violation := schema_violation(schema))]


def schema_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """The schemas that are files of their own: results, settings and the suite's report."""
    for file in sorted({*old.documents, *new.documents}):
        direction = _direction(file)
        if direction is None:
            continue
        before, after = old.documents.get(file), new.documents.get(file)
        if before is None or after is None:
            yield one_sided("schema", file, (), before, after)
        else:
            yield from compare(before, after, direction, file, (), f"`{file}`")


def _direction(file: str) -> Direction | None:
    if kind_of(file) != SCHEMA or (file.startswith("meta/") and file != "meta/report.schema.json"):
        return None
    if file.startswith("meta/"):
        return Direction.REPORT
    return Direction.REQUEST if file.startswith("host/") else Direction.RESULT


def _judged(change: SchemaChange, direction: Direction) -> tuple[Severity, Bump]:
    if change.keyword in ANNOTATIONS:
        behaves = change.keyword == "default" and direction is Direction.REQUEST
        if behaves and change.old is not None and not is_longer(change.path[:-1], change.old, change.new):
            return Severity.CALLERS, Bump.MAJOR
        return Severity.NOTICE, Bump.MINOR if behaves else Bump.PATCH
    if change.keyword == "property-removed":
        return Severity.CALLERS, Bump.MAJOR
    if change.keyword == "property-added":
        return Severity.NOTICE, Bump.MINOR
    is_request = direction is Direction.REQUEST
    broken, freed = (change.narrower, change.wider) if is_request else (change.wider, change.narrower)
    if broken:
        return Severity.CALLERS, Bump.MAJOR
    if freed:
        # A port may have given what a narrower result allows no more.
        return (Severity.PORTS, Bump.MAJOR) if direction is Direction.RESULT else (Severity.NOTICE, Bump.MINOR)
    return (Severity.NOTICE if change.keyword == PATTERN else Severity.COMPATIBLE), Bump.PATCH


def _ruled(change: SchemaChange, direction: Direction) -> str:
    if change.keyword.startswith("property-") or change.keyword in ANNOTATIONS:
        return change.keyword
    extent = {(True, False): "narrower", (False, True): "wider", (True, True): "other"}.get(
        (change.narrower, change.wider)
    )
    return f"{change.keyword}-{extent or ('unproven' if change.keyword == PATTERN else 'rewritten')}"


def _witness(search: Search, change: SchemaChange, direction: Direction, verdict: Severity) -> Witness | None:
    place = change.path
    if change.keyword.startswith("property-"):
        place = (*change.path[:-2], *([] if change.new is None else ["properties", change.path[-1]]))
    sides: list[tuple[bool, Found, Json, Json]] = [
        (change.narrower, search.lost, _ACCEPTED, _REJECTED),
        (change.wider, search.gained, _REJECTED, _ACCEPTED),
    ]
    is_first = (direction is Direction.REQUEST) is (verdict is not Severity.PORTS)
    breaking = sides if is_first else sides[::-1]
    for differs, found, before, after in breaking[:1] if verdict.breaks else sides:
        if differs and (values := found.nearest(place)):
            return Witness(values[0], before, after)
    if verdict.breaks and change.keyword in ("property-removed", "default"):
        return _without_effect(search, change)
    return None


def _without_effect(search: Search, change: SchemaChange) -> Witness | None:
    """A value that both accept and that no longer means the same: one with what has gone, or without what is preset."""
    gone = change.keyword == "property-removed"
    names = [
        step for step in (change.path if gone else change.path[:-1]) if isinstance(step, str) and step != "properties"
    ]
    for value in search.kept:
        if _holds(value, names) is gone:
            return Witness(value, "accepted and used", "accepted and ignored") if gone else _preset(value, change)
    return None


def _preset(value: Json, change: SchemaChange) -> Witness:
    return Witness(value, f"stands for {change.old!r}", f"stands for {change.new!r}")


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
