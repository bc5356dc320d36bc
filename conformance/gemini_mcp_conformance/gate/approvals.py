"""Approvals: breaks that somebody answers for, by fingerprint and with a reason. Pure."""

from collections.abc import Mapping

from gemini_mcp_conformance.gate.sources import SpecFiles

FILE = "approved-breaks.json"


def approvals(spec: SpecFiles) -> Mapping[str, str]:
    """The reason of every approved break, by its fingerprint."""
    document = spec.documents.get(FILE)
    entries = document.get("approved", []) if isinstance(document, dict) else []
    return {
        entry["fingerprint"]: entry["reason"]
        for entry in entries
        if isinstance(entry, dict) and str(entry.get("reason", "")).strip() and isinstance(entry.get("fingerprint"), str)
    }
