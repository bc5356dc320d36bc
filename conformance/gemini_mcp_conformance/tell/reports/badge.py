"""The badge: a shields.io endpoint with the scores of the port and of the suite. Pure."""

import json

from gemini_mcp_conformance.tell.report import Report
from gemini_mcp_conformance.tell.reports.context import Context

COLORS = ("brightgreen", "red", "lightgrey", "yellow", "red", "lightgrey")
"""By exit code."""


def render(report: Report, context: Context) -> str:
    must = report.score("MUST")
    parts = [f"MUST {must.passed}/{must.applicable}"]
    if report.mutants is not None:
        parts.append(f"mutants {report.mutants.killed}/{report.mutants.total}")
    badge = {
        "schemaVersion": 1,
        "label": f"Gemini MCP {report.profile} {report.spec_version}",
        "message": ", ".join(parts),
        "color": COLORS[report.exit],
    }
    return json.dumps(badge, indent=2) + "\n"
