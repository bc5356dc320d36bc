"""Clients: how what another client says over HTTP is told apart from what we say; pure.

In a conversation the ids and tokens of the other client are marked, so that both clients may choose the same ones. The
marks never reach the port.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from gemini_mcp.spec.values import Json, inside, table

MARK = "another client: "


def of_another(value: Json) -> str:
    """The mark of an id or of a token that the other client has chosen."""
    return f"{MARK}{json.dumps(value)}"


def is_marked(value: Json) -> bool:
    return isinstance(value, str) and value.startswith(MARK)


def is_of_another(message: Json) -> bool:
    """Whether a message is what the other client sends: a request, or a cancellation of one."""
    return is_marked(inside(message, "id")) or is_marked(inside(message, "params", "requestId"))


def marked(message: Json) -> Json:
    """What the port has said to the other client."""
    return _with(message, of_another)


def plain(message: Json) -> Json:
    """What the other client says to the port."""
    return _with(message, _chosen)


def _chosen(value: Json) -> Json:
    return json.loads(value.removeprefix(MARK)) if isinstance(value, str) and is_marked(value) else value


def _with(message: Json, change: Callable[[Json], Json]) -> Json:
    """The message, its ids and its token changed."""
    said, params = table(message), table(inside(message, "params"))
    if meta := table(params.get("_meta")):
        params = {**params, "_meta": _changed(meta, ("progressToken",), change)}
    if params:
        said = {**said, "params": _changed(params, ("requestId", "progressToken"), change)}
    return _changed(said, ("id",), change) if said else message


def _changed(values: Mapping[str, Json], names: tuple[str, ...], change: Callable[[Json], Json]) -> Mapping[str, Json]:
    return {name: change(value) if name in names and value is not None else value for name, value in values.items()}
