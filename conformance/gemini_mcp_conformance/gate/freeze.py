"""Freezing: a specification in, the list of its requirements as a released version keeps it out. Pure."""

import json

from gemini_mcp_conformance.gate.spec_files import SpecFiles


def frozen(spec: SpecFiles) -> tuple[str, str]:
    """The path below `spec/` and the text of the list for the version of the manifest."""
    entries = spec.documents["requirements.json"]["requirements"]
    document = {"version": spec.version, "requirements": entries}
    return f"released/{spec.version}.json", json.dumps(document, indent=2, ensure_ascii=False) + "\n"
