"""Rules about the host profile: its vectors and scenarios. Pure.

A rule that only files of `host/` have belongs here.
"""

from collections.abc import Iterator

from gemini_mcp.report.values import shown
from gemini_mcp.spec.values import inside, table
from gemini_mcp_spec.files.examples import vectors
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.lint.complaint import Complaint, unknown

PROFILES = ("documented", "current", "both")


def vector_id(spec: SpecFiles) -> Iterator[Complaint]:
    """The ids of one file of vectors are unique."""
    seen: set[tuple[str, str]] = set()
    for file, path, entry in vectors(spec):
        name = str(entry.get("id"))
        if (file, name) in seen:
            yield Complaint(file, (*path, "id"), f"The id {shown(name)} is in this file twice.")
        seen.add((file, name))


def vector_exception(spec: SpecFiles) -> Iterator[Complaint]:
    """A vector with an exception expects something else than was observed."""
    for file, path, entry in vectors(spec):
        if "exception" in entry and inside(entry, "observed", "output") == entry.get("expected"):
            message = f"{shown(entry.get('id'))} is an exception, but it expects what was observed."
            yield Complaint(file, (*path, "exception"), message)


def profile_known(spec: SpecFiles) -> Iterator[Complaint]:
    """The profile of a vector or a scenario is one that exists."""
    scenarios = [(file, (), table(entry)) for file, entry in spec.folder("host/scenarios").items()]
    named = ((file, (*path, "profile"), entry.get("profile")) for file, path, entry in (*vectors(spec), *scenarios))
    return unknown(named, PROFILES, "There is no profile `{}`.", f"Write one of {', '.join(PROFILES)}.")
