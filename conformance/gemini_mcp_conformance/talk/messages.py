"""Messages: what every client of MCP says, with the metadata of both eras, and the bytes of a message; pure.

A name or a number of the protocol that two modules need belongs here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from gemini_mcp.spec.values import Json, inside, table

CLIENT: Mapping[str, Json] = {"name": "gemini-mcp-conformance", "version": "1.0.0"}

META = "io.modelcontextprotocol/"
"""How the names of the protocol's own metadata begin."""
VERSION, CAPABILITIES, CLIENT_INFO, SERVER_INFO = (
    f"{META}{name}" for name in ("protocolVersion", "clientCapabilities", "clientInfo", "serverInfo")
)

UNKNOWN_METHOD, INVALID_PARAMS = -32601, -32602
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022
"""Error codes."""

SESSION = "mcp-session-id"
"""The header that names a session."""

NO_CURSORS = ("no-such-page", "999999", "OTk5OTk5")
"""Cursors that no port has given. An empty one may count as none."""


def request(id: Json, method: str, params: Json = None) -> Mapping[str, Json]:
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    return message if params is None else {**message, "params": params}


def notification(method: str, params: Json = None) -> Mapping[str, Json]:
    message = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def handshake(revision: str) -> Json:
    """The parameters of `initialize`."""
    return {"protocolVersion": revision, "capabilities": {}, "clientInfo": dict(CLIENT)}


def is_request(message: Json) -> bool:
    """Whether it is a valid request, which a port must answer."""
    named = inside(message, "jsonrpc") == "2.0" and isinstance(inside(message, "method"), str)
    # MCP allows no null as the id of a request. `bool` is a kind of `int` in Python.
    return named and isinstance(inside(message, "id"), str | int) and not isinstance(inside(message, "id"), bool)


def stateless_params(params: Json, revision: str) -> Json:
    """`params` with the metadata of a request of the stateless era; what they hold already stays."""
    own, meta = table(params), inside(params, "_meta")
    if own != (params or {}) or table(meta) != (meta or {}):
        # Parameters that are no object are what such a conversation is about: they are sent as they are.
        return own or params
    return {**own, "_meta": {VERSION: revision, CLIENT_INFO: CLIENT, CAPABILITIES: {}, **table(meta)}}


def encode(message: Json, escaped: bool = False) -> bytes:
    """A message as one line of UTF-8; one with a lone surrogate is written in ASCII escapes.

    `escaped` writes what is not ASCII in escapes, and slashes as PHP does.
    """
    text = json.dumps(message, ensure_ascii=escaped, separators=(",", ":"))
    text = text.replace("/", "\\/") if escaped else text
    try:
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"
