"""Logs in SARIF 2.1.0, as GitHub's code scanning reads them. Pure."""

import json
from collections.abc import Mapping, Sequence

from gemini_mcp.spec.values import Json


def log(program: str, rules: Mapping[str, str], results: Sequence[Json]) -> str:
    """A log of one run of a program; `rules` are what each rule demands or tells, by its name."""
    listed = [{"id": name, "shortDescription": {"text": text}} for name, text in rules.items()]
    run = {"tool": {"driver": {"name": program, "rules": listed}}, "results": list(results)}
    whole = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(whole, indent=2, ensure_ascii=False)


def result(rule: str, level: str, message: str, place: tuple[str, int, int], fingerprint: str = "") -> Json:
    """One result beside a line of a file."""
    file, line, column = place
    where = {"artifactLocation": {"uri": file}, "region": {"startLine": line, "startColumn": column}}
    # Code scanning knows a result again by these, wherever its line has moved.
    named = {"partialFingerprints": {"change/v1": fingerprint}} if fingerprint else {}
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": message},
        "locations": [{"physicalLocation": where}],
        **named,
    }
