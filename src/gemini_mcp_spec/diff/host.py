"""Profiles of hosts compared: what a host of that version has to do differently. Pure.

Everything in a profile binds hosts. A key that binds nobody is one branch of `_rule`.
"""

from collections.abc import Iterator

from gemini_mcp.report.positions import Path
from gemini_mcp.schema.judgement import Direction
from gemini_mcp.schema.patterns import same_texts
from gemini_mcp.spec.values import ABSENT, Json, differing, table
from gemini_mcp_spec.diff.change import Change, change, leaves, one_sided, pinpointed
from gemini_mcp_spec.diff.schemas import compare
from gemini_mcp_spec.files.spec_files import SpecFiles

_SCHEMA = "settingsSchema"


def profile_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Profiles that came, went or say something else."""
    for file, before, after in differing(old.folder("host/profiles"), new.folder("host/profiles")):
        if ABSENT in (before, after):
            yield one_sided("rules", file, (), before, after)
            continue
        was, becomes = (table(side).get(_SCHEMA) for side in (before, after))
        if None not in (was, becomes):
            yield from compare(was, becomes, Direction.REQUEST, file, (_SCHEMA,), f"`{_SCHEMA}`")
        for path, old_value, new_value in leaves(before, after, ()):
            if path[:1] != (_SCHEMA,) or None in (was, becomes):
                yield change(_rule(path, old_value, new_value), file, path, old_value, new_value)


def _rule(path: Path, old: Json, new: Json) -> str:
    if path == ("version",):
        return "rules-version"
    _, before, after = pinpointed(path, old, new)
    return "rules-unproven" if same_texts(before, after) else "rules-changed"
