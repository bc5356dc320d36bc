"""Schemas compared: what a difference of two means for the specification and its version. Pure.

How two schemas differ, and what a difference does to those who send and give values, is decided in `gemini_mcp.schema`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gemini_mcp.report.positions import Path
from gemini_mcp.schema.judgement import Direction, Effect, Judgement, judge
from gemini_mcp.spec.values import ABSENT, Json
from gemini_mcp_spec.diff.change import Change, is_longer, one_sided
from gemini_mcp_spec.diff.rules import Severity
from gemini_mcp_spec.files.kinds import SCHEMA, kind_of
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.version import Bump

_VERDICTS: Mapping[Effect, tuple[Severity, Bump]] = {
    Effect.BREAKS_SENDERS: (Severity.CALLERS, Bump.MAJOR),
    Effect.BREAKS_GIVERS: (Severity.PORTS, Bump.MAJOR),
    Effect.ALLOWS: (Severity.NOTICE, Bump.MINOR),
    Effect.REWORDS: (Severity.NOTICE, Bump.PATCH),
    Effect.NOTHING: (Severity.COMPATIBLE, Bump.PATCH),
}


def compare(
    old: Json, new: Json, direction: Direction, file: str, path: Path = (), subject: str = ""
) -> Iterator[Change]:
    """Every difference of two schemas as a change of a file."""
    for found in map(_patient, judge(old, new, direction, subject)):
        rule, place = f"{direction.value}-{found.kind}", (*path, *found.path)
        severity, bump = _VERDICTS[found.effect]
        yield Change(rule, severity, bump, file, place, found.message, found.old, found.new, found.witness)


def _patient(found: Judgement) -> Judgement:
    """The difference; a default that only gives more time breaks nobody."""
    is_time = found.kind == "default" and found.effect.breaks and is_longer(found.path[:-1], found.old, found.new)
    return replace(found, effect=Effect.ALLOWS, witness=None) if is_time else found


def schema_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """The schemas that are files of their own: results, settings and the suite's report."""
    for file in sorted({*old.documents, *new.documents}):
        direction = _direction(file)
        if direction is None:
            continue
        before, after = old.documents.get(file, ABSENT), new.documents.get(file, ABSENT)
        if ABSENT in (before, after):
            yield one_sided("schema", file, (), before, after)
        else:
            yield from compare(before, after, direction, file, (), f"`{file}`")


def _direction(file: str) -> Direction | None:
    if kind_of(file) != SCHEMA or (file.startswith("meta/") and file != "meta/report.schema.json"):
        return None
    if file.startswith("meta/"):
        return Direction.REPORT
    # Settings are written by users; results are read by callers. Reports are read, but no port has to write one.
    return Direction.REQUEST if file.startswith("host/") else Direction.RESULT
