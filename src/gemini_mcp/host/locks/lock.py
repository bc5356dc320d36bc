"""A lock: what a server declares and what every profile makes of it, as a file to keep. Pure.

Its text is the same for the same declarations: keys are sorted, and what is listed stands under its name. Characters
that nobody sees are written as escapes, so that a review shows them.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gemini_mcp.host.command.inspection import Inspection, Subject
from gemini_mcp.host.tools import hidden
from gemini_mcp.spec.values import Json, JsonObject, is_object, items, object_of, table, without_none

VERSION = 1
LISTED = {"tools": "name", "prompts": "name", "resources": "uri"}
"""What a server lists, and the member that names each entry."""

DEEPEST = 100
"""Whoever compares schemas goes into them by recursion, which a hostile file could exhaust."""


class InvalidLock(Exception):
    """A file that is no lock, and why."""


@dataclass(frozen=True)
class Lock:
    """One server: its name, and for each profile how it ended, what was offered and what the model is told."""

    server: str
    profiles: Mapping[str, JsonObject]

    def to_json(self) -> JsonObject:
        return {"lockVersion": VERSION, "server": self.server, "profiles": dict(self.profiles)}

    def offered(self, profile: str) -> tuple[str, Mapping[str, Json]]:
        """What was offered to a profile, and under which profile the file says it."""
        held = table(self.profiles.get(profile)).get("offered")
        if isinstance(held, str) and held != profile:
            return held, table(table(self.profiles.get(held)).get("offered"))
        return profile, table(held)


def lock(server: str, seen: Sequence[tuple[Subject | None, Inspection]]) -> Lock:
    """The lock of a server as the profiles have seen it; there is no subject where it could not be used."""
    profiles: dict[str, JsonObject] = {}
    for subject, inspection in seen:
        offered = _offered(subject) if subject is not None else None
        # Most servers offer every profile the same, which is then written once.
        alike = next((name for name, other in profiles.items() if offered and other.get("offered") == offered), None)
        profiles[inspection.profile] = {
            "status": inspection.status,
            "declared": _declared(inspection),
            **without_none(offered=alike or offered),
            **({} if subject else {"failure": inspection.remarks[0].kind}),
        }
    return Lock(server, profiles)


def text(made: Lock) -> str:
    """The file."""
    whole = json.dumps(made.to_json(), indent=2, sort_keys=True, ensure_ascii=False)
    return hidden.visible(whole) + "\n"


def read(content: str, name: str) -> Lock:
    """The lock that a file holds; raises InvalidLock."""
    try:
        held = json.loads(content)
    except (ValueError, RecursionError):
        raise InvalidLock(f"{name!r} is no JSON. Name a file that `gemini-mcp-host lock` wrote.") from None
    if not (is_object(held) and isinstance(held.get("server"), str) and is_object(held.get("profiles"))):
        raise InvalidLock(f"{name!r} is no lock. Name a file that `gemini-mcp-host lock` wrote.")
    if held.get("lockVersion") != VERSION:
        version = held.get("lockVersion")
        raise InvalidLock(f"{name!r} is a lock of version {version!r}, it should be {VERSION}. Lock the server anew.")
    if _depth(held) > DEEPEST:
        raise InvalidLock(f"{name!r} nests more than {DEEPEST} values.")
    return Lock(held["server"], {profile: dict(table(one)) for profile, one in held["profiles"].items()})


def _offered(subject: Subject) -> JsonObject:
    met = subject.greeting
    listed = {
        kind: _named((item for page in subject.pages.get(kind, ()) for item in items(table(page).get(kind))), key)
        for kind, key in LISTED.items()
    }
    said = without_none(instructions=met.instructions)
    return {
        "protocolVersion": met.protocol_version,
        "serverInfo": met.server,
        "capabilities": met.capabilities,
        **said,
        **listed,
    }


def _named(entries: Iterable[Json], key: str) -> JsonObject:
    """The entries by their names; one without a name, or with a taken one, by its place."""
    found: JsonObject = {}
    for index, entry in enumerate(entries):
        members = object_of(entry) or {}
        name = members.get(key)
        if isinstance(name, str) and name not in found:
            found[name] = {member: value for member, value in members.items() if member != key}
        else:
            found[f"#{index}"] = entry
    return found


def _declared(inspection: Inspection) -> JsonObject:
    """What the model is told of each tool, by the server's own name for it."""
    return {
        tool.original: {"name": tool.registered, "parameters": tool.after}
        for tool in inspection.tools
        if tool.registered is not None
    }


def _depth(value: Json) -> int:
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        current, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting += [(inner, depth + 1) for inner in (*table(current).values(), *items(current))]
    return deepest
