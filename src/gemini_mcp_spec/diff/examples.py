"""Cases, scripts, scenarios and vectors compared. Pure.

What they expect is binding, what they say of themselves is not. A new kind of example is one line in `_FREE`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gemini_mcp.spec.values import Json, table
from gemini_mcp_spec.diff.change import Change, Severity, breaking, differing, harmless, notice
from gemini_mcp_spec.files.examples import vectors
from gemini_mcp_spec.files.positions import Path
from gemini_mcp_spec.files.requirements import Entry
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.files.version import Bump

_FREE: Mapping[str, frozenset[str]] = {
    "server/cases": frozenset({"title", "requirements"}),
    "server/scripts": frozenset({"description", "observed"}),
    "server/scenarios": frozenset({"title", "requirements"}),
    "host/scenarios": frozenset({"title", "requirements", "source", "executed", "note"}),
    "host/vectors": frozenset({"title", "requirements", "source", "executed", "note"}),
}
"""What each kind of example may change without binding anybody otherwise."""


def example_changes(old: SpecFiles, new: SpecFiles) -> Iterator[Change]:
    """Examples that came, went, expect something else or say something else."""
    for folder, free in _FREE.items():
        kind = folder.rpartition("/")[2].removesuffix("s")
        for _, before, after in differing(_examples(old, folder), _examples(new, folder)):
            entry = table((after or before)[2])
            named = tuple(entry.get("requirements", ()))
            yield from (replace(one, requirements=named) for one in _changes(kind, free, before, after))


def _examples(spec: SpecFiles, folder: str) -> Mapping[str, tuple[str, Path, Entry]]:
    """Every example of a folder with its file and path, by a name that it keeps when others come or go."""
    if folder == "host/vectors":
        return {f"{file} {entry.get('id')}": (file, path, entry) for file, path, entry in vectors(spec)}
    return {file: (file, (), table(document)) for file, document in spec.folder(folder).items()}


def _changes(kind: str, free: frozenset[str], old: Json, new: Json) -> Iterator[Change]:
    file, path, entry = new or old
    name = f"The {kind} {entry.get('id')!r}"
    if new is None:
        yield notice(Bump.PATCH, f"{kind}-removed", file, path, f"{name} is gone.", entry)
        return
    if old is None:
        yield harmless(Bump.PATCH, f"{kind}-added", file, path, f"{name} is new.", None, entry)
        return
    for key, *values in differing(old[2], entry):
        if key in free:
            message = f"`{key}` of the {kind} {entry.get('id')!r} is another."
            yield notice(Bump.PATCH, f"{kind}-described", file, (*path, key), message, *values)
        else:
            message = f"{name} has another `{key}`."
            yield breaking(Severity.PORTS, f"{kind}-changed", file, (*path, key), message, *values)
