"""Decides what a request on stdio asks for, in either era of MCP. Pure.

A client opens a connection with `initialize`, or with a request whose `_meta` names a revision; this first request
decides the era of all others. A call of a tool is handed back, for somebody else to carry out. Only what MCP says of
methods, parameters and results belongs here. On HTTP the SDK does the same; a test keeps the two in step.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from gemini_mcp.errors import Code, ProtocolError
from gemini_mcp.spec import ServerSpec
from gemini_mcp.spec.values import Json, inside, is_object, table
from gemini_mcp.transport.messages import Id, Params, Request

CANCELLED = "notifications/cancelled"

PREFIX = "io.modelcontextprotocol/"
REVISION = PREFIX + "protocolVersion"
CAPABILITIES = PREFIX + "clientCapabilities"
CLIENT = PREFIX + "clientInfo"
SERVER = PREFIX + "serverInfo"

OFFERED = {"tools": {"listChanged": False}}
"""The capabilities of the server."""

ONE_PAGE = "There is one page of tools, so no cursor leads to another."

COMPLETE = {"resultType": "complete"}
"""What the stateless era demands of every result."""

LIST_FRESH_FOR = 3_600_000
"""Milliseconds that a client may cache the list of tools, which changes only when the server is restarted."""


@dataclass(frozen=True)
class ToolCall:
    """A tool that the client wants to be called. Without a token nobody asks for its progress."""

    name: str
    arguments: Mapping[str, Json]
    progress_token: Id | float | None


Answer: TypeAlias = Mapping[str, Json] | ToolCall
"""The result of a request, or the call that gives it."""


class Handshake:
    """The era of `initialize`, which agrees on a revision once."""

    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec
        self._is_initialized = False

    def answer(self, request: Request) -> Answer:
        """What the request asks for; ProtocolError if it may not."""
        params = request.params
        if request.method == "initialize":
            return self._initialize(params)
        if _names_revision(params):
            sentence = f"This connection did not begin with `{REVISION}`, so no later request may carry it."
            raise ProtocolError(Code.INVALID_REQUEST, sentence)
        if request.method == "ping":
            _progress_token(params)
            return {}
        answer = _tools(request, self._spec)
        if not self._is_initialized:
            raise _invalid("Nothing but `ping` can be asked before `initialize`.")
        return answer

    def complete(self, result: Mapping[str, Json]) -> Mapping[str, Json]:
        """The result of a call, as this era shapes it."""
        return result

    def _initialize(self, params: Params) -> Mapping[str, Json]:
        asked = _text(params, "protocolVersion")
        _object(params, "capabilities")
        _implementation(_object(params, "clientInfo"))
        _progress_token(params)
        self._is_initialized = True
        known = self._spec.manifest.handshake_revisions
        return {
            "protocolVersion": asked if asked in known else known[-1],
            "capabilities": OFFERED,
            "serverInfo": _server(self._spec),
            **_instructions(self._spec),
        }


class Stateless:
    """The era without a handshake, in which each request names its revision."""

    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec

    def answer(self, request: Request) -> Answer:
        """What the request asks for; ProtocolError if it may not."""
        if request.method == "initialize":
            raise self._unsupported(table(request.params).get("protocolVersion"))
        meta = _object(request.params, "_meta")
        self._check(meta)
        answer = self._discover() if request.method == "server/discover" else self._tools(request)
        _object(meta, CAPABILITIES)
        if meta.get(CLIENT) is not None:
            _implementation(_object(meta, CLIENT))
        return answer

    def complete(self, result: Mapping[str, Json]) -> Mapping[str, Json]:
        """The result of a request, as this era shapes it."""
        meta = {**table(result.get("_meta")), SERVER: _server(self._spec)}
        return {**result, **COMPLETE, "_meta": meta}

    def _check(self, meta: Mapping[str, Json]) -> None:
        revision = _text(meta, REVISION)
        if CAPABILITIES not in meta:
            raise _invalid(f"`{CAPABILITIES}` is missing.")
        if revision not in self._spec.manifest.stateless_revisions:
            raise self._unsupported(revision)

    def _tools(self, request: Request) -> Answer:
        answer = _tools(request, self._spec)
        if isinstance(answer, ToolCall):
            return answer
        return self.complete({**answer, "ttlMs": LIST_FRESH_FOR, "cacheScope": "public"})

    def _discover(self) -> Mapping[str, Json]:
        offered = {
            "supportedVersions": self._spec.manifest.stateless_revisions,
            "capabilities": OFFERED,
            "ttlMs": 0,
            "cacheScope": "private",
        }
        return self.complete({**offered, **_instructions(self._spec)})

    def _unsupported(self, requested: Json) -> ProtocolError:
        supported = self._spec.manifest.stateless_revisions
        data = {"supported": supported, **({"requested": requested} if isinstance(requested, str) else {})}
        sentence = f"A request on this connection names one of the revisions {', '.join(supported)}."
        return ProtocolError(Code.UNSUPPORTED_REVISION, sentence, data)


Era: TypeAlias = Handshake | Stateless


def opened(request: Request, spec: ServerSpec) -> Era:
    """The era that the first request of a connection decides for."""
    is_stateless = request.method != "initialize" and _names_revision(request.params)
    return Stateless(spec) if is_stateless else Handshake(spec)


def _names_revision(params: Params) -> bool:
    return REVISION in table(inside(params, "_meta"))


def _tools(request: Request, spec: ServerSpec) -> Answer:
    """What both eras offer."""
    match request.method:
        case "tools/list":
            return _list(request.params, spec)
        case "tools/call":
            return _call(request.params)
        case method:
            raise ProtocolError(Code.METHOD_NOT_FOUND, f"There is no method {method!r}.")


def _list(params: Params, spec: ServerSpec) -> Mapping[str, Json]:
    _progress_token(params)
    if table(params).get("cursor") is not None:
        raise _invalid(ONE_PAGE)
    return {"tools": [tool.definition for tool in spec.tools]}


def _call(params: Params) -> ToolCall:
    return ToolCall(_text(params, "name"), _optional_object(params, "arguments"), _progress_token(params))


def _progress_token(params: Params) -> Id | float | None:
    token = _optional_object(params, "_meta").get("progressToken")
    if isinstance(token, str | int | float | None) and not isinstance(token, bool):
        return token
    raise _invalid("`progressToken` should be a text or a number.")


def _text(params: Params, name: str) -> str:
    value = table(params).get(name)
    if isinstance(value, str):
        return value
    raise _invalid(f"`{name}` should be a text.")


def _object(params: Params, name: str) -> Mapping[str, Json]:
    value = table(params).get(name)
    if is_object(value):
        return value
    raise _invalid(f"`{name}` should be an object.")


def _optional_object(params: Params, name: str) -> Mapping[str, Json]:
    return table(None) if table(params).get(name) is None else _object(params, name)


def _implementation(info: Mapping[str, Json]) -> None:
    for name in ("name", "version"):
        _text(info, name)


def _invalid(sentence: str) -> ProtocolError:
    return ProtocolError(Code.INVALID_PARAMS, sentence)


def _server(spec: ServerSpec) -> Mapping[str, Json]:
    return {"name": spec.manifest.server_name, "version": spec.manifest.server_version}


def _instructions(spec: ServerSpec) -> Mapping[str, Json]:
    return {} if spec.manifest.instructions is None else {"instructions": spec.manifest.instructions}
