"""Findings for their readers: text, JSON, GitHub annotations and SARIF. Pure."""

import json
from collections.abc import Callable, Mapping, Sequence

from gemini_mcp_conformance.gate.annotation import annotation
from gemini_mcp_conformance.gate.findings import Located
from gemini_mcp_conformance.gate.lint import DESCRIPTIONS


def text(findings: Sequence[Located]) -> str:
    """One line for each finding, and how many there are."""
    lines = [f"{found.file}:{found.line}:{found.column}: {found.finding.rule}: {found.sentence}" for found in findings]
    count = len(findings)
    return "\n".join([*lines, f"{count or 'no'} mistake{'' if count == 1 else 's'}"])


def as_json(findings: Sequence[Located]) -> str:
    """Every finding as an object."""
    entries = [
        {
            "rule": found.finding.rule,
            "file": found.file,
            "line": found.line,
            "column": found.column,
            "message": found.finding.message,
            "fix": found.finding.fix,
        }
        for found in findings
    ]
    return json.dumps({"findings": entries}, indent=2, ensure_ascii=False)


def github(findings: Sequence[Located]) -> str:
    """Workflow commands that GitHub shows beside the lines."""
    return "\n".join(
        annotation("error", found.file, found.line, found.column, found.finding.rule, found.sentence)
        for found in findings
    )


def sarif(findings: Sequence[Located]) -> str:
    """A SARIF 2.1.0 log."""
    rules = [{"id": name, "shortDescription": {"text": sentence}} for name, sentence in DESCRIPTIONS.items()]
    run = {
        "tool": {"driver": {"name": "gemini-mcp-spec", "rules": rules}},
        "results": [_result(found) for found in findings],
    }
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False)


def _result(found: Located) -> Mapping[str, object]:
    place = {
        "artifactLocation": {"uri": found.file},
        "region": {"startLine": found.line, "startColumn": found.column},
    }
    return {
        "ruleId": found.finding.rule,
        "level": "error",
        "message": {"text": found.sentence},
        "locations": [{"physicalLocation": place}],
    }


FORMATS: Mapping[str, Callable[[Sequence[Located]], str]] = {
    "text": text,
    "json": as_json,
    "github": github,
    "sarif": sarif,
}
