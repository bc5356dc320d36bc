"""Handshakes and pings that are answered wrongly: ports that break `lifecycle`."""

import json
import os
import select
import time
from collections.abc import Iterator, Mapping
from re import fullmatch
from typing import Any

from defects.protocol.shared import PIPE
from defects.record import defect
from http_port import HttpPort
from port import HANDSHAKE
from speaking import INVALID_PARAMS, INVALID_REQUEST, JSON, Message, RpcError, as_object
from steps import adding, always, before, gives, raises, refuses

MOMENT = 0.02


def refuses_extensions(port: Any, real: Any, params: Any) -> Message:
    known = {"roots", "sampling", "elicitation", "experimental", "tasks"}
    if set(as_object(params.get("capabilities")) or {}) - known:
        raise RpcError(INVALID_PARAMS, "A capability is unknown.")
    return real(params)


def refuses_titles(port: Any, real: Any, params: Any) -> Message:
    if set(as_object(params.get("clientInfo")) or {}) - {"name", "version"}:
        raise RpcError(INVALID_PARAMS, "`clientInfo` holds an unknown member.")
    return real(params)


def needs_greeting(port: Any, real: Any) -> Message:
    if "greeted" not in port.memory:
        raise RpcError(-32002, "The server is not initialized.")
    return real()


def greets(port: Any, params: Any) -> None:
    port.memory["greeted"] = True


def bare_ping(port: Any, real: Any, request: Message, params: Mapping[str, Any], stateless: bool) -> Any:
    if request["method"] == "ping" and params:
        raise RpcError(INVALID_PARAMS, "`ping` has no params.")
    return real(request, params, stateless)


def one_line_each_read(port: Any, real: Any) -> Iterator[bytes]:
    """Leaves the second of two lines that came at once where it is until something more comes."""
    begun = b""
    while select.select([0], [], []):
        # So that lines which are written one after another come at once.
        time.sleep(MOMENT)
        if not (piece := os.read(0, PIPE)):
            return
        line, newline, rest = (begun + piece).partition(b"\n")
        begun = rest if newline else line
        if newline:
            yield line


def needs_header(port: Any, request: Message) -> None:
    if port.current.post.version is None and request["method"] != "initialize":
        raise RpcError(INVALID_REQUEST, "The header `MCP-Protocol-Version` is missing.")


def newer_for_elicitation(port: Any, real: Any, params: Mapping[str, JSON]) -> Message:
    result = real(params)
    has = "elicitation" in (as_object(params.get("capabilities")) or {})
    return {**result, "protocolVersion": max(result["protocolVersion"], "2025-06-18")} if has else result


def version_of_first(port: Any, real: Any, params: Mapping[str, Any]) -> Message:
    result = real(params)
    return {**result, "protocolVersion": port.memory.setdefault("version", result["protocolVersion"])}


def greeted_once(port: Any, real: Any, params: Any) -> Message:
    if "greeted" in port.memory:
        raise RpcError(INVALID_REQUEST, "The session has been initialized.")
    try:
        return real(params)
    except RpcError:
        port.memory["greeted"] = True
        raise


def by_client(port: Any, real: Any, params: Any) -> Message:
    result = real(params)
    client = json.dumps(params.get("clientInfo"), sort_keys=True)
    return {**result, "protocolVersion": port.memory.setdefault(client, result["protocolVersion"])}


def writes_down_client(port: Any, real: Any, params: Mapping[str, JSON]) -> Message | None:
    name = (as_object(params.get("clientInfo")) or {}).get("name")
    try:
        port.memory["client"] = name.encode() if isinstance(name, str) else None
    except UnicodeEncodeError:
        return None
    return real(params)


def lies_between(version: str) -> bool:
    return HANDSHAKE[0] < version < HANDSHAKE[-1]


def needs_date(port: Any, params: Mapping[str, Any]) -> None:
    version = params.get("protocolVersion")
    if isinstance(version, str) and not fullmatch(r"\d{4}-\d{2}-\d{2}", version):
        raise RpcError(INVALID_PARAMS, "`protocolVersion` should be a date.")


def sends_in_time(port: Any, real: Any, message: Any) -> None:
    if port.output.acquire(timeout=2):
        try:
            port.write(message)
        finally:
            port.output.release()


defect("no-tools-capability", "Offers tools without declaring the capability.", "lifecycle:capabilities:tools")(
    capabilities=always({"logging": {}})
)
defect("server-info-without-version", "Leaves the version out of serverInfo.", "lifecycle:initialize")(
    initialize=gives(adding(serverInfo={"name": "gemini-mcp-server"}))
)
defect(
    "unknown-capabilities-refused", "Refuses a client with a capability that it does not know.", "lifecycle:initialize"
)(initialize=refuses_extensions)
defect("title-of-client-refused", "Refuses a client that says more than its name.", "lifecycle:initialize")(
    initialize=refuses_titles
)
defect("ping-before-handshake-refused", "Answers no ping before `initialize`.", "lifecycle:ping")(
    ping=needs_greeting, initialize=before(greets)
)
defect("ping-unknown", "Does not know ping.", "lifecycle:ping")(
    ping=raises(RpcError(-32601, "The method 'ping' is unknown."))
)
defect("ping-answers-pong", "Answers ping with something.", "lifecycle:ping")(ping=always({"pong": True}))
defect("empty-objects-as-arrays", "Writes an empty object as an empty array.", "lifecycle:ping")(
    ping=always([]), capabilities=always({"tools": []})
)
defect("ping-with-params-refused", "Refuses a ping with params, such as `_meta`.", "lifecycle:ping")(result=bare_ping)
defect(
    "second-of-two-lines-waits",
    "Reads the second of two messages that come at once when a third one comes.",
    "lifecycle:ping",
    "concurrency:lost",
    "rpc:alive:chunks",
)(lines=one_line_each_read)
defect(
    "version-header-needed",
    "Refuses the requests of clients that send no header of the version.",
    "lifecycle:ping",
    "http:equivalence",
)(HttpPort, params=before(needs_header))
defect(
    "answer-lost-behind-slow-reader",
    "Drops what answers a request when another message has filled the pipe for two seconds.",
    "concurrency:ping",
    "lifecycle:ping",
)(send=sends_in_time)
defect(
    "elicitation-means-newer",
    "Answers an `initialize` for a revision before 2025-06-18 with that one when the client declares `elicitation`.",
    "lifecycle:version:supported",
)(initialize=newer_for_elicitation)
defect(
    "version-of-first-client-kept",
    "Answers `initialize` of all later clients with the version of the first.",
    "lifecycle:version:supported",
)(HttpPort, initialize=version_of_first)
defect(
    "greeting-spent-by-refusal",
    "Refuses an `initialize` that follows one that it has refused.",
    "lifecycle:version:supported",
    "lifecycle:initialize",
)(initialize=greeted_once)
defect(
    "http-revision-by-client",
    "Answers every `initialize` of a client with the revision that the first client of that name and version got.",
    "lifecycle:version:supported",
)(HttpPort, initialize=by_client)
defect(
    "revision-of-its-own",
    "Answers every initialize with a revision that does not exist.",
    "lifecycle:version:supported",
)(initialize=gives(adding(protocolVersion="2025-12-31")))
defect(
    "client-with-surrogate-unanswered",
    "Does not answer an `initialize` whose client has a lone surrogate in its name.",
    "lifecycle:version:unsupported",
)(initialize=writes_down_client)
defect(
    "echoes-any-revision", "Agrees to whatever protocol version the client asks for.", "lifecycle:version:unsupported"
)(initialize=lambda port, real, params: {**real(params), "protocolVersion": params.get("protocolVersion")})
defect(
    "refuses-unknown-revisions",
    "Answers an initialize for an unknown version with an error instead of a version it speaks.",
    "lifecycle:version:unsupported",
)(
    initialize=refuses(
        RpcError(-32602, "Unsupported protocol version."), lambda params: params.get("protocolVersion") not in HANDSHAKE
    )
)
defect(
    "echoes-revisions-between",
    "Agrees to every protocol version that lies between two that it knows.",
    "lifecycle:version:unsupported",
)(
    initialize=lambda port, real, params: (
        real(params)
        | ({"protocolVersion": params["protocolVersion"]} if lies_between(params["protocolVersion"]) else {})
    )
)
defect(
    "version-without-date-refused",
    "Answers an `initialize` whose version is no date with an error.",
    "lifecycle:version:unsupported",
)(initialize=before(needs_date))
