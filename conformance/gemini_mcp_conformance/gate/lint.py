"""Lint: the files of one specification in, findings out. Pure.

A rule joins by being in the table of its module; `meta-schema` is silent where a rule of its own says more.
"""

from collections.abc import Mapping

from gemini_mcp_conformance.gate.findings import Finding, Rule
from gemini_mcp_conformance.gate.rules import calls, files, host, requirements, server
from gemini_mcp_conformance.gate.sources import SpecFiles

RULES: Mapping[str, Rule] = {**files.RULES, **requirements.RULES, **server.RULES, **calls.RULES, **host.RULES}

_GENERAL = {"meta-schema"}
_STRUCTURAL = (AttributeError, IndexError, KeyError, TypeError)


def lint(spec: SpecFiles) -> list[Finding]:
    """Every mistake of `spec`, in the order of its files."""
    findings = [finding for rule in RULES.values() for finding in _applied(rule, spec)]
    special = {(finding.file, finding.path) for finding in findings if finding.rule not in _GENERAL}
    kept = {finding: None for finding in findings if finding.rule not in _GENERAL or (finding.file, finding.path) not in special}
    return sorted(kept, key=lambda finding: (finding.file, [str(step).zfill(6) for step in finding.path], finding.rule))


def _applied(rule: Rule, spec: SpecFiles) -> list[Finding]:
    """What `rule` finds; nothing where a file is so malformed that only `meta-schema` can name it."""
    found: list[Finding] = []
    try:
        found.extend(rule(spec))
    except _STRUCTURAL:
        return found
    return found
