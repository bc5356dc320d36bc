"""The badge: a shields.io endpoint with the name of the port and its score. Pure."""

import json

from gemini_mcp_conformance.tell.report import INCOMPLETE, Report
from gemini_mcp_conformance.tell.reports.context import Context, title

COLORS = ("brightgreen", "red", "lightgrey", "yellow", "red", "lightgrey")
"""By exit code."""


def render(report: Report, context: Context) -> str:
    must = report.score("MUST")
    scored = f"MUST {must.passed}/{must.applicable}" + (", incomplete" if report.exit == INCOMPLETE else "")
    badge = {
        "schemaVersion": 1,
        "label": title(report),
        "message": f"Gemini MCP {report.profile} {report.spec_version}: {scored}",
        "color": COLORS[report.exit],
    }
    return json.dumps(badge, indent=2) + "\n"
