"""The requirements of a specification, with their places. Pure.

The one module of the gate that knows where requirements lie and how they are written.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from gemini_mcp.report.positions import Path
from gemini_mcp.spec import ServerSpec, expanded_requirements, members_of, server_spec
from gemini_mcp.spec.families import PLACEHOLDER, Subject
from gemini_mcp.spec.values import Json, is_object, items, table
from gemini_mcp_spec.files.spec_files import MALFORMED, SpecFiles

FILE, FOLDER = "requirements.json", "requirements"
"""They lie in one file, or in one file for each area."""

Entry: TypeAlias = Mapping[str, Json]
Placed: TypeAlias = tuple[str, Path, Entry]
"""An entry behind its file and its path there."""

_MEMBERS = ("id", "profile", "level", "sentence", "source", "since", "excluded")
"""What a released list keeps of a requirement."""


def documents(spec: SpecFiles) -> Mapping[str, Json]:
    """The files that hold requirements."""
    alone = {FILE: spec.documents[FILE]} if FILE in spec.documents else {}
    return {**alone, **spec.folder(FOLDER)}


def written(spec: SpecFiles) -> list[Placed]:
    """Every entry as it is written, families unexpanded; entries without an id are left out."""
    return [
        (file, ("requirements", index), entry)
        for file, document in documents(spec).items()
        for index, entry in enumerate(items(table(document).get("requirements")))
        if is_object(entry) and isinstance(entry.get("id"), str)
    ]


@lru_cache(maxsize=4)
def requirements(spec: SpecFiles) -> list[Placed]:
    """Every requirement with the place of its entry, families expanded as far as they can be."""
    return _expanded(spec) or written(spec)


def is_expandable(spec: SpecFiles) -> bool:
    """Whether the other files can be read so far that they fill in families."""
    return _expanded(spec) is not None


def _expanded(spec: SpecFiles) -> list[Placed] | None:
    entries = written(spec)
    try:
        server = server_spec(spec.documents)
    except MALFORMED:
        return None
    if (whole := _filled(entries, server)) is not None:
        return whole
    # An entry that cannot be filled in stays as it is written, and makes no other one unreadable.
    fit = [entry for entry in entries if _filled([entry], server)]
    return [*(_filled(fit, server) or ()), *(entry for entry in entries if entry not in fit)] if fit else None


def _filled(entries: Sequence[Placed], server: ServerSpec) -> list[Placed] | None:
    try:
        expanded = expanded_requirements([entry for _, _, entry in entries], server)
        return [(*entries[number][:2], entry) for number, entry, _ in expanded]
    except MALFORMED:
        return None


def members(spec: SpecFiles) -> list[tuple[Placed, tuple[str, ...]]]:
    """What every entry becomes, with its id as it is written and the names that were filled in there."""
    entries = written(spec)
    try:
        found = [*members_of([entry for _, _, entry in entries], server_spec(spec.documents))]
    except MALFORMED:
        return []
    own = [(entries[number], entry, subject) for number, entry, subject in found]
    return [((file, path, entry), _meaning(str(one["id"]), subject)) for (file, path, one), entry, subject in own]


def _meaning(written: str, subject: Subject) -> tuple[str, ...]:
    return (written, *(subject[name] for name in PLACEHOLDER.findall(written)))


def removed(spec: SpecFiles) -> Mapping[str, str]:
    """The ids that have gone, with the version that removed them."""
    entries = [table(entry) for document in documents(spec).values() for entry in items(table(document).get("removed"))]
    return {entry["id"]: entry["version"] for entry in entries if {"id", "version"} <= entry.keys()}


def frozen(spec: SpecFiles) -> tuple[str, str]:
    """The path below `spec/` and the text of the list that keeps this version's requirements."""
    entries = [{key: entry[key] for key in _MEMBERS if key in entry} for _, _, entry in requirements(spec)]
    document = {"version": spec.version, "requirements": entries}
    return f"released/{spec.version}.json", json.dumps(document, indent=2, ensure_ascii=False) + "\n"
