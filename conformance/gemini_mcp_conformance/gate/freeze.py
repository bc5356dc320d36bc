"""Freezing: a specification in, the list of its requirements as a released version keeps it out. Pure."""

import json

from gemini_mcp_conformance.gate.rules.requirements import requirements
from gemini_mcp_conformance.gate.spec_files import SpecFiles


def frozen(spec: SpecFiles) -> tuple[str, str]:
    """The path below `spec/` and the text of the list for the version of the manifest."""
    members = ("id", "profile", "level", "sentence", "source", "since", "excluded")
    entries = [{key: entry[key] for key in members if key in entry} for _, entry in requirements(spec)]
    document = {"version": spec.version, "requirements": entries}
    return f"released/{spec.version}.json", json.dumps(document, indent=2, ensure_ascii=False) + "\n"
