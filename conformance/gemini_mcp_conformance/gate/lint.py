"""Lint: the files of one specification in, findings out. Pure.

A rule joins by being in the table of its module; `meta-schema` is silent where a rule of its own says more.
"""

from collections.abc import Mapping

from gemini_mcp_conformance.gate.findings import Finding, Rule
from gemini_mcp_conformance.gate.rules import calls, files, host, requirements, server
from gemini_mcp_conformance.gate.spec_files import SpecFiles

RULES: Mapping[str, Rule] = {**files.RULES, **requirements.RULES, **server.RULES, **calls.RULES, **host.RULES}

DESCRIPTIONS: Mapping[str, str] = {name: (rule.__doc__ or "").strip() for name, rule in RULES.items()}
"""What each rule demands, in a sentence."""

_GENERAL = {"meta-schema"}
_STRUCTURAL = (AttributeError, IndexError, KeyError, TypeError)
"""What a rule may raise on a file so malformed that only `meta-schema` can name it."""


def lint(spec: SpecFiles) -> list[Finding]:
    """Every mistake of `spec`, in the order of its files."""
    findings: list[Finding] = []
    stopped: list[Exception] = []
    for rule in RULES.values():
        try:
            findings.extend(rule(spec))
        except _STRUCTURAL as error:
            stopped.append(error)
    if stopped and not findings:
        raise stopped[0]
    special = {(finding.file, finding.path) for finding in findings if finding.rule not in _GENERAL}
    kept = {
        finding: None
        for finding in findings
        if finding.rule not in _GENERAL or (finding.file, finding.path) not in special
    }
    return sorted(kept, key=lambda finding: (finding.file, [str(step).zfill(6) for step in finding.path], finding.rule))
