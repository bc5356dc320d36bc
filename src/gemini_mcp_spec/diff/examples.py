"""Cases, scripts, scenarios and vectors compared. Pure.

What they expect is binding, what they say of themselves is not. A new kind of example is one line in `_FREE`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gemini_mcp.spec.values import table
from gemini_mcp_spec.diff.change import Change, change, differing, one_sided
from gemini_mcp_spec.files.examples import vectors
from gemini_mcp_spec.files.requirements import Placed
from gemini_mcp_spec.files.spec_files import SpecFiles

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
            named = tuple((after or before)[2].get("requirements", ()))
            yield from (replace(one, requirements=named) for one in _changes(kind, free, before, after))


def _examples(spec: SpecFiles, folder: str) -> Mapping[str, Placed]:
    """Every example of a folder with its file and path, by a name that it keeps when others come or go."""
    if folder == "host/vectors":
        return {f"{file} {entry.get('id')}": (file, path, entry) for file, path, entry in vectors(spec)}
    return {file: (file, (), table(document)) for file, document in spec.folder(folder).items()}


def _changes(kind: str, free: frozenset[str], old: Placed | None, new: Placed | None) -> Iterator[Change]:
    file, path, entry = new or old or ("", (), {})
    name = entry.get("id")
    if old is None or new is None:
        yield one_sided(kind, file, path, old and entry, new and entry, name=name)
        return
    for key, *values in differing(old[2], entry):
        rule = "described" if key in free else "changed"
        yield change(f"{kind}-{rule}", file, (*path, key), *values, name=name)
