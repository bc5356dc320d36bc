"""The conversation as JSON: writes it without what has its default, and reads it back; pure."""

from __future__ import annotations

import base64
from dataclasses import MISSING, Field, fields
from typing import cast

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.steps import STEPS, Step


def to_json(conversation: Conversation) -> Json:
    """The conversation as JSON; fields that have their default are left out."""
    steps = [{"kind": step.kind, **_fields(step)} for step in conversation.steps]
    return {**_fields(conversation), "steps": steps}


def from_json(document: Json) -> Conversation:
    """The conversation that `to_json` wrote; ValueError when the JSON is not one."""
    try:
        own: dict[str, Json] = {**document, "requirements": tuple(document.get("requirements", ()))}
        own["steps"] = tuple(_step(dict(step)) for step in document["steps"])
        return Conversation(**own)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"it is no conversation: {error}") from None


def _step(own: dict[str, Json]) -> Step:
    kind = STEPS[own.pop("kind")]
    own |= {name: base64.b64decode(own[name]) for name in ("data", "body") if name in own}
    own |= {name: tuple(own[name]) for name in ("cuts", "gone") if name in own}
    if "scripts" in own:
        own["scripts"] = tuple(Script.from_json(script) for script in own["scripts"])
    return kind(**own)


def _fields(record: Conversation | Step) -> dict[str, Json]:
    values = ((entry, getattr(record, entry.name)) for entry in fields(record))
    return {entry.name: _value(value) for entry, value in values if not _is_default(entry, value)}


def _is_default(entry: Field[Json], value: Json) -> bool:
    return value == (entry.default if entry.default_factory is MISSING else entry.default_factory())


def _value(value: Json) -> Json:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, tuple):
        return [_script(item) if isinstance(item, Script) else item for item in cast("tuple[Json, ...]", value)]
    return value


def _script(script: Script) -> Json:
    listing = {} if script.list_sessions is None else {"listSessions": list(script.list_sessions)}
    return {"id": script.id, "play": list(script.play), **listing}
