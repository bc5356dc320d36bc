"""Complaints for their readers: text, JSON, GitHub annotations and SARIF. Pure."""

import json
from collections.abc import Callable, Mapping, Sequence

from gemini_mcp_spec.lint.complaint import Located
from gemini_mcp_spec.lint.linter import RULES
from gemini_mcp_spec.report.annotation import annotation


def text(complaints: Sequence[Located]) -> str:
    """One line for each complaint, and how many there are."""
    lines = [
        f"{found.file}:{found.line}:{found.column}: {found.complaint.rule}: {found.sentence}" for found in complaints
    ]
    count = len(complaints)
    return "\n".join([*lines, f"{count or 'no'} mistake{'' if count == 1 else 's'}"])


def as_json(complaints: Sequence[Located]) -> str:
    """Every complaint as an object."""
    entries = [
        {
            "rule": found.complaint.rule,
            "file": found.file,
            "line": found.line,
            "column": found.column,
            "message": found.complaint.message,
            "fix": found.complaint.fix,
        }
        for found in complaints
    ]
    return json.dumps({"findings": entries}, indent=2, ensure_ascii=False)


def github(complaints: Sequence[Located]) -> str:
    """Workflow commands that GitHub shows beside the lines."""
    return "\n".join(
        annotation("error", found.file, found.line, found.column, found.complaint.rule, found.sentence)
        for found in complaints
    )


def sarif(complaints: Sequence[Located]) -> str:
    """A SARIF 2.1.0 log."""
    rules = [{"id": name, "shortDescription": {"text": rule.demand}} for name, rule in RULES.items()]
    run = {
        "tool": {"driver": {"name": "gemini-mcp-spec", "rules": rules}},
        "results": [_result(found) for found in complaints],
    }
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False)


def _result(found: Located) -> Mapping[str, object]:
    place = {"artifactLocation": {"uri": found.file}, "region": {"startLine": found.line, "startColumn": found.column}}
    return {
        "ruleId": found.complaint.rule,
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
