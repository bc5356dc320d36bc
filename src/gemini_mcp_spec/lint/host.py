"""Rules about the host profile: its vectors and scenarios. Pure.

A rule that only files of `host/` have belongs here.
"""

from collections.abc import Iterator, Mapping

from gemini_mcp.spec.values import inside, is_object
from gemini_mcp_spec.files.examples import vectors
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.lint.complaint import Complaint, Rule

PROFILES = ("documented", "current", "both")


def vector_id(spec: SpecFiles) -> Iterator[Complaint]:
    """The ids of one file of vectors are unique."""
    seen: set[tuple[str, str]] = set()
    for file, path, entry in vectors(spec):
        name = str(entry.get("id"))
        if (file, name) in seen:
            message = f"The id {name!r} is in this file twice."
            yield Complaint(file, (*path, "id"), message, "Give this vector another id.")
        seen.add((file, name))


def vector_exception(spec: SpecFiles) -> Iterator[Complaint]:
    """A vector with an exception expects something else than was observed."""
    for file, path, entry in vectors(spec):
        if "exception" in entry and inside(entry, "observed", "output") == entry.get("expected"):
            message = f"{entry.get('id')!r} is an exception, but it expects what was observed."
            yield Complaint(file, (*path, "exception"), message, "Remove `exception` and `observed`, or correct them.")


def profile_known(spec: SpecFiles) -> Iterator[Complaint]:
    """The profile of a vector or a scenario is one that exists."""
    scenarios = ((file, (), entry) for file, entry in spec.folder("host/scenarios").items() if is_object(entry))
    for file, path, entry in [*vectors(spec), *scenarios]:
        if entry.get("profile") not in PROFILES:
            message = f"There is no profile {entry.get('profile')!r}."
            yield Complaint(file, (*path, "profile"), message, f"Write one of {', '.join(PROFILES)}.")


RULES: Mapping[str, Rule] = {
    "vector-id": vector_id,
    "vector-exception": vector_exception,
    "profile-known": profile_known,
}
