"""Rules about the host profile: ids and profiles of vectors and scenarios. Pure.

A rule that only files of `host/` have belongs here.
"""

from collections.abc import Iterator, Mapping

from gemini_mcp_conformance.gate.findings import Finding, Rule
from gemini_mcp_conformance.gate.positions import is_object
from gemini_mcp_conformance.gate.rules.requirements import vectors
from gemini_mcp_conformance.gate.spec_files import SpecFiles

PROFILES = ("documented", "current", "both")


def vector_id(spec: SpecFiles) -> Iterator[Finding]:
    """The ids of one file of vectors are unique."""
    seen: set[tuple[str, str]] = set()
    for file, path, entry in vectors(spec):
        name = str(entry.get("id"))
        if (file, name) in seen:
            message = f"The id {name!r} is in this file twice."
            yield Finding("vector-id", file, (*path, "id"), message, "Give this vector another id.")
        seen.add((file, name))


def profile_known(spec: SpecFiles) -> Iterator[Finding]:
    """The profile of a vector or a scenario is one that exists."""
    scenarios = ((file, (), entry) for file, entry in spec.folder("host/scenarios").items() if is_object(entry))
    for file, path, entry in [*vectors(spec), *scenarios]:
        if entry.get("profile") not in PROFILES:
            message = f"There is no profile {entry.get('profile')!r}."
            yield Finding("profile-known", file, (*path, "profile"), message, f"Write one of {', '.join(PROFILES)}.")


RULES: Mapping[str, Rule] = {"vector-id": vector_id, "profile-known": profile_known}
