"""Selection: chooses the requirements of a run by profile, version and globs. Reads the specification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from gemini_mcp.spec import Requirement, load_released, load_requirements, load_server
from gemini_mcp.spec.families import kebab
from gemini_mcp_conformance.errors import UsageError

LISTED = "`gemini-mcp-conformance list` shows their ids."
NOTHING_SELECTED = f"No requirement is selected. {LISTED}"
NEAREST = 3
"""How many ids are offered for one that does not exist."""


@dataclass(frozen=True)
class Selection:
    """Which requirements are asked for: those that fit a glob of `only`, if there is one, and none of `skip`.

    `spec` is where the specification lies, if not with this code; `spec_version` is a released state of its list.
    """

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    spec: Path | None = None
    spec_version: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return not self.only and not self.skip

    def includes(self, id: str) -> bool:
        return (not self.only or _fits(id, self.only)) and not _fits(id, self.skip)


def select(selection: Selection, profile: Literal["server", "host"]) -> tuple[Requirement, ...]:
    """The requirements in their order; UsageError when there are none."""
    version = selection.spec_version
    current = load_requirements(selection.spec)
    every = _as_released(version, selection.spec, current) if version else current
    chosen = tuple(each for each in every if each.profile == profile and selection.includes(each.id))
    if not chosen:
        raise UsageError(NOTHING_SELECTED)
    return chosen


def unasked(selection: Selection) -> tuple[Requirement, ...]:
    """The tools and properties that no requirement speaks of. What rests on them is explained by them all the same."""
    if not selection.is_whole:
        return ()
    known = {each.id for each in load_requirements(selection.spec)}
    tools = load_server(selection.spec).tools
    listed = [_listing(tool=tool.name) for tool in tools]
    listed += [_listing(tool=tool.name, argument=name) for tool in tools for name in tool.properties]
    return tuple(each for each in listed if each.id not in known)


def _listing(**subject: str) -> Requirement:
    """A requirement to list something, of which a run tells nothing."""
    id, family = (
        ":".join(("tools", *words)) for words in (map(kebab, subject.values()), map("{{{}}}".format, subject))
    )
    return Requirement(id, "server", "MAY", "", {}, "", None, family, subject)


def check(selection: Selection) -> None:
    """UsageError when a glob fits no requirement, as one that is misspelt does."""
    known = [each.id for each in load_requirements(selection.spec)]
    if selection.spec_version:
        known += [each.id for each in load_released(selection.spec_version, selection.spec)]
    for glob in (*selection.only, *selection.skip):
        if not any(fnmatchcase(id, glob) for id in known):
            raise UsageError(f"No requirement is selected by {glob!r}.{meant(glob, known)} {LISTED}")


def meant(id: str, known: Sequence[str]) -> str:
    """The ids that are spelled nearly like this one, or that hold it, as a question behind a sentence."""
    holding = [each for each in known if id and id in each]
    near = list(dict.fromkeys([*get_close_matches(id, known, NEAREST), *holding]))[:NEAREST]
    return f" Did you mean {' or '.join(near)}?" if near else ""


def _as_released(version: str, spec: Path | None, current: Sequence[Requirement]) -> Sequence[Requirement]:
    """The requirements of a released version, each of the family that it belongs to today."""
    known = {each.id: each for each in current}
    released = load_released(version, spec)
    return [
        replace(each, family=known[each.id].family, subject=known[each.id].subject) if each.id in known else each
        for each in released
    ]


def _fits(id: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(id, glob) for glob in globs)
