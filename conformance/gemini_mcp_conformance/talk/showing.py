"""Showing: the ids of the requirements that calls of a tool can show; pure."""

from __future__ import annotations

from gemini_mcp.spec.families import kebab
from gemini_mcp_conformance.spec.specification import Specification

HALF = ("arguments:nul", "arguments:surrogate")
"""What a text shows of which no half may go on."""


def everything_shows(spec: Specification, tool: str) -> tuple[str, ...]:
    """The requirements that a call with every argument shows."""
    id = kebab(tool)
    return (
        *(f"command:{id}", "command:once", "cwd:used", f"cwd:{id}"),
        *("process:stdin", "process:stdin:ended", "process:environment", "system:content", f"system:{id}"),
    )


def shown_by(spec: Specification, tool: str, *names: str) -> tuple[str, ...]:
    """The requirements that odd texts of arguments show."""
    return tuple(id for name in names for id in _shown_by(spec, tool, name))


def _shown_by(spec: Specification, tool: str, name: str) -> tuple[str, ...]:
    id, key = kebab(tool), kebab(name)
    if name == spec.prompt(tool):
        kinds = ("newline", "unicode", "blanks", "quotes", "dash", "command-word", "number", "at-sign", "slash")
        return (
            *(f"prompt:verbatim:{kind}" for kind in (*kinds, spec.limit)),
            *("prompt:long", "prompt:long:whole", "prompt:empty", "prompt:empty:kept", f"command:{id}"),
            *(f"injection:shell:{key}", f"injection:option:{key}", *HALF),
        )
    if name in spec.files(tool):
        names = ("content", id, "file-name", "directory", "mode", "removed:success")
        return (*(f"system:{each}" for each in names), f"arguments:empty:{key}", *HALF)
    own = (f"command:{id}:{key}", f"injection:shell:{key}", f"injection:option:{key}")
    return (*own, "arguments:control", f"arguments:empty:{key}", *HALF)
