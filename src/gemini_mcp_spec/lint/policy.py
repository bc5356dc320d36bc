"""Rules about `gate.json`: what it names is there. Pure.

A rule about how changes are judged belongs here.
"""

import re
from collections.abc import Iterator
from difflib import get_close_matches

from gemini_mcp.report.positions import Path
from gemini_mcp.report.values import shown
from gemini_mcp_spec.diff.rules import RULES
from gemini_mcp_spec.files.policy import FILE, deprecated, exempt, severities
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.tools import tools
from gemini_mcp_spec.lint.complaint import Complaint, unknown

SCHEMA_RULE = re.compile(
    r"(?:request|result|report)-(?:unknown|schema|property-(?:added|removed|limited)|\$?[a-z][A-Za-z]*"
    r"(?:-(?:narrower|wider|other|rewritten))?)"
)
"""The rules of schemas: which way the values go, the keyword, and whether it lets in more."""


def gate_rule(spec: SpecFiles) -> Iterator[Complaint]:
    """A rule that `gate.json` names is one of `diff`."""
    named: list[tuple[Path, str]] = [(("severities", rule), rule) for rule in severities(spec)]
    named += [(("exceptions", index, "rule"), one.rule) for index, one in enumerate(exempt(spec))]
    for path, name in named:
        exact = [rule for rule in RULES if "*" not in rule]
        if name in exact or SCHEMA_RULE.fullmatch(name):
            continue
        near = get_close_matches(name, exact, 1, 0.8)
        if near or "*" in name or not _stands_for(name):
            fix = f"Did you mean {shown(near[0])}?" if near else ""
            yield Complaint(FILE, path, f"`diff` has no rule {shown(name)}.", fix)


def _stands_for(name: str) -> bool:
    return f"{name.partition('-')[0]}-*" in RULES and name.count("-") == 1


def gate_deprecated(spec: SpecFiles) -> Iterator[Complaint]:
    """A tool or an argument that `gate.json` marks as deprecated is there."""
    known = tools(spec)
    marks = list(enumerate(deprecated(spec)))
    named = ((FILE, ("deprecated", index, "tool"), mark.tool) for index, mark in marks)
    yield from unknown(named, known, "There is no tool `{}`.")
    for index, mark in marks:
        if mark.tool in known and mark.argument is not None:
            place = (FILE, ("deprecated", index, "argument"), mark.argument)
            yield from unknown(
                [place], known[mark.tool][1].get("properties", {}), f"`{mark.tool}` has no argument `{{}}`."
            )
