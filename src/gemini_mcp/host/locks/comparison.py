"""Compares two locks: every change from the old one to the new one, the gravest first. Pure.

What each profile makes of the server is compared here, and what the server offers in `offers`. A change that several
profiles see is told once.
"""

from collections.abc import Iterator, Mapping

from gemini_mcp.host.locks.change import Change, change, of_schema
from gemini_mcp.host.locks.lock import Lock
from gemini_mcp.host.locks.offers import offer_changes
from gemini_mcp.host.locks.rules import ARGUMENTS, Verdict
from gemini_mcp.host.servers.discovery import Status
from gemini_mcp.report.positions import Path
from gemini_mcp.report.values import shown
from gemini_mcp.schema.inline import canonical
from gemini_mcp.schema.judgement import Direction, judge
from gemini_mcp.spec.values import Json, inside, table

_ORDER = list(Verdict)


def compare(old: Lock, new: Lock) -> tuple[Change, ...]:
    """Every change from one lock to another."""
    told: dict[str, Change] = {}
    for found in _changes(old, new):
        told.setdefault(canonical([found.rule, found.message, [str(step) for step in found.path[2:]]]), found)
    return tuple(sorted(told.values(), key=lambda one: (_ORDER.index(one.verdict), list(map(str, one.path)), one.rule)))


def _changes(old: Lock, new: Lock) -> Iterator[Change]:
    for profile in dict.fromkeys((*new.profiles, *old.profiles)):
        path = ("profiles", profile)
        if profile not in old.profiles or profile not in new.profiles:
            kind = "added" if profile in new.profiles else "removed"
            yield change(f"profile-{kind}", path, {"profile": profile})
            continue
        before, after = old.profiles[profile], new.profiles[profile]
        yield from _status_changes(profile, before, after)
        if "failure" not in before and "failure" not in after:
            (_, offered), (home, offers) = old.offered(profile), new.offered(profile)
            yield from offer_changes(offered, offers, ("profiles", home, "offered"))
            yield from _declared_changes(profile, (before, offered), (after, offers))


def _status_changes(profile: str, old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[Change]:
    was, becomes = _ending(old), _ending(new)
    if was != becomes:
        kind = "server-found" if becomes == Status.CONNECTED.name else "server-lost"
        yield change(kind, ("profiles", profile, "status"), {"profile": profile}, was, becomes)


def _ending(seen: Mapping[str, Json]) -> str:
    """How the server ended in a profile, with the cause where it failed."""
    return str(seen.get("failure") or seen.get("status"))


_Side = tuple[Mapping[str, Json], Mapping[str, Json]]
"""What a profile saw, and what it was offered."""


def _declared_changes(profile: str, old: _Side, new: _Side) -> Iterator[Change]:
    """What the model is told otherwise of tools that are still there."""
    tools = [table(offered.get("tools")) for _, offered in (old, new)]
    declared = [table(seen.get("declared")) for seen, _ in (old, new)]
    for name in sorted(tools[0].keys() & tools[1].keys()):
        before, after = (side.get(name) for side in declared)
        path: Path = ("profiles", profile, "declared", name)
        words = {"profile": profile, "name": shown(name)}
        if before is None or after is None:
            if before is not after:
                yield change("tool-lost" if after is None else "tool-registered", path, words)
            continue
        names = table(before).get("name"), table(after).get("name")
        if names[0] != names[1]:
            yield change("tool-renamed", (*path, "name"), words, *names)
        offers = [canonical(inside(side[name], "inputSchema")) for side in tools]
        # A changed `inputSchema` has been told already; here only what a profile makes of the same one can be new.
        if offers[0] == offers[1]:
            subject = f"{shown(name)} as the {profile} profile declares it"
            schemas = table(before).get("parameters", True), table(after).get("parameters", True)
            for found in judge(*schemas, Direction.REQUEST, subject):
                yield of_schema("declared", (*path, "parameters"), found, ARGUMENTS)
