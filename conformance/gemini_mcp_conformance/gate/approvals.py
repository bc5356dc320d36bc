"""Approvals: breaks that somebody answers for, by fingerprint and with a reason. Pure."""

from collections.abc import Mapping

from gemini_mcp_conformance.gate.positions import is_object
from gemini_mcp_conformance.gate.spec_files import SpecFiles

FILE = "approved-breaks.json"


def approvals(spec: SpecFiles) -> Mapping[str, str]:
    """The reason of every approved break, by its fingerprint."""
    return {
        entry["fingerprint"]: entry["reason"]
        for entry in spec.entries(FILE, "approved")
        if is_object(entry) and str(entry.get("reason", "")).strip() and isinstance(entry.get("fingerprint"), str)
    }
