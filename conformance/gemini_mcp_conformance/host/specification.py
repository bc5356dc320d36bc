"""The host part of the specification, for the checks: a directory in, one record out. Reads through `gemini_mcp.spec`.

What the parts mean is known to the checks; nothing is added here but another folder of the host.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gemini_mcp.spec import Requirement, load_documents, load_requirements
from gemini_mcp_conformance.host.values import Json


@dataclass(frozen=True)
class HostSpec:
    """The requirements of hosts, the vectors by behaviour, and the scenarios."""

    requirements: tuple[Requirement, ...]
    vectors: Mapping[str, Sequence[Json]]
    scenarios: Sequence[Json]


def load(root: Path | None = None) -> HostSpec:
    """Read the specification at `root`, or the one that belongs to this code."""
    return HostSpec(
        tuple(entry for entry in load_requirements(root) if entry.profile == "host"),
        load_documents("host/vectors", root),
        tuple(load_documents("host/scenarios", root).values()),
    )
