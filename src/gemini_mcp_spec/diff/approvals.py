"""Approvals: breaks that somebody answers for, by fingerprint and with a reason. Pure.

Nothing else is read from `approved-breaks.json`.
"""

from collections.abc import Mapping

from gemini_mcp.spec.values import table
from gemini_mcp_spec.files.spec_files import SpecFiles

FILE = "approved-breaks.json"


def approvals(spec: SpecFiles) -> Mapping[str, str]:
    """The reason of every approved break, by its fingerprint."""
    entries = [table(entry) for entry in spec.entries(FILE, "approved")]
    return {
        entry["fingerprint"]: entry["reason"]
        for entry in entries
        if str(entry.get("reason", "")).strip() and isinstance(entry.get("fingerprint"), str)
    }
