"""Cases, scripts, scenarios and vectors compared. Pure.

What they expect is binding, what they say of themselves is not. A new kind of example is one line in `_FREE`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gemini_mcp_conformance.gate.change import Change, Verdict, breaking, harmless, notice
from gemini_mcp_conformance.gate.positions import Json, Path, is_object
from gemini_mcp_conformance.gate.rules.requirements import vectors
from gemini_mcp_conformance.gate.spec_files import SpecFiles
from gemini_mcp_conformance.gate.versions import Bump

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
        before, after = _examples(old, folder), _examples(new, folder)
        kind = folder.rpartition("/")[2].removesuffix("s")
        for key in sorted({*before, *after}):
            yield from _compared(kind, free, before.get(key), after.get(key))


def _examples(spec: SpecFiles, folder: str) -> Mapping[tuple[str, str], tuple[str, Path, Json]]:
    if folder == "host/vectors":
        return {(file, str(entry.get("id"))): (file, path, entry) for file, path, entry in vectors(spec)}
    return {(file, ""): (file, (), document) for file, document in spec.folder(folder).items()}


def _compared(
    kind: str, free: frozenset[str], old: tuple[str, Path, Json] | None, new: tuple[str, Path, Json] | None
) -> Iterator[Change]:
    if new is None:
        file, path, entry = old or ("", (), {})
        yield _tied(
            notice(Bump.PATCH, f"{kind}-removed", file, path, f"The {kind} {_name(entry)} is gone.", entry), entry
        )
        return
    file, path, entry = new
    if old is None:
        message = f"The {kind} {_name(entry)} is new."
        yield _tied(harmless(Bump.PATCH, f"{kind}-added", file, path, message, None, entry), entry)
        return
    before = old[2]
    for key in sorted({*before, *entry}):
        if before.get(key) == entry.get(key):
            continue
        values = before.get(key), entry.get(key)
        if key in free:
            message = f"`{key}` of the {kind} {_name(entry)} is another."
            yield _tied(notice(Bump.PATCH, f"{kind}-described", file, (*path, key), message, *values), entry)
        else:
            message = f"The {kind} {_name(entry)} has another `{key}`."
            yield _tied(breaking(Verdict.PORTS, f"{kind}-changed", file, (*path, key), message, *values), entry)


def _name(entry: Json) -> str:
    return repr(entry.get("id")) if is_object(entry) else "without an id"


def _tied(change: Change, entry: Json) -> Change:
    names = entry.get("requirements", ()) if is_object(entry) else ()
    return replace(change, requirements=tuple(names))
