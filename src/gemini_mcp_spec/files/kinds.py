"""Kinds of files: which meta schema binds which path below `spec/`. Pure.

A new kind of file is one line in `KINDS`; its schema lies in `spec/meta/` under the kind's name.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase

SCHEMA = "schema"
"""The kind of files that are JSON Schemas themselves."""

KINDS: Mapping[str, str] = {
    "manifest.json": "manifest",
    "sources.json": "sources",
    "requirements.json": "requirements",
    "requirements/*.json": "requirements",
    "approved-breaks.json": "approved-breaks",
    "gate.json": "gate",
    "released/*.json": "released",
    "server/tools/*.json": "tool",
    "server/locales/*.json": "locale",
    "server/invocation.json": "invocation",
    "server/outcome.json": "outcome",
    "server/live.json": "live",
    "server/cases/*.json": "case",
    "server/scripts/*.json": "script",
    "server/scenarios/*.json": "scenario",
    "server/streams/*.json": "stream",
    "host/vectors/*.json": "vector",
    "host/scenarios/*.json": "host-scenario",
    "host/profiles/*.json": "host-profile",
    "meta/*.schema.json": SCHEMA,
    "server/results/*.schema.json": SCHEMA,
    "host/*.schema.json": SCHEMA,
}

NEEDED = (
    "manifest.json",
    "sources.json",
    "server/invocation.json",
    "server/outcome.json",
    "server/results/success.schema.json",
    "server/results/error.schema.json",
)

_KEYS = {
    **dict.fromkeys(("case", "script", "scenario", "host-scenario", "stream"), "id"),
    "tool": "name",
    "locale": "locale",
}


def kind_of(path: str) -> str | None:
    """The kind of the file at `path`, if it has one."""
    # In `fnmatch` a star stands for slashes too.
    depth = path.count("/")
    return next(
        (kind for pattern, kind in KINDS.items() if pattern.count("/") == depth and fnmatchcase(path, pattern)), None
    )


def named_by(path: str) -> tuple[str, str]:
    """The key under which the file at `path` names itself, `""` where it does not, and the name that it should give."""
    kind = kind_of(path) or ""
    if kind == SCHEMA:
        return "$id", f"urn:gemini-mcp:{path.removesuffix('.schema.json').replace('/', ':')}"
    return _KEYS.get(kind, ""), path.rpartition("/")[2].removesuffix(".json")
