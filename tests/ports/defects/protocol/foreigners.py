"""Defects in messages that hardly anybody sends, and in what one client over HTTP does to the next."""

import json
from typing import Any

from defects.record import defect
from http_port import HttpPort
from running import Call
from speaking import INVALID_REQUEST, PARSE_ERROR, Message, RpcError, as_object

BUFFER = 64 * 1024


def greeted_once(port: Any, real: Any, params: Any) -> Message:
    if "greeted" in port.memory:
        raise RpcError(INVALID_REQUEST, "The session has been initialized.")
    try:
        return real(params)
    except RpcError:
        port.memory["greeted"] = True
        raise


def id_of_c(port: Any, real: Any, call: Call, result: Message) -> None:
    if isinstance(call.id, str):
        call.id = call.id.partition("\0")[0]
    real(call, result)


def looks_for_tool(port: Any, real: Any, method: str, params: Any) -> None:
    real(method, params)
    if method == "tools/call":
        try:
            port.new_call(None, as_object(params) or {}, False)
        except RpcError as error:
            port.send({"jsonrpc": "2.0", "id": None, "error": error.error})


def measures(port: Any, real: Any, line: bytes) -> None:
    port.memory["length"] = len(line)
    real(line)


def begins_afresh(port: Any, real: Any, identity: Any, code: int, message: str) -> None:
    """What stands in the buffer cannot be trusted any more, nor can the requests that came by it."""
    real(identity, code, message)
    if code == PARSE_ERROR and port.memory["length"] > BUFFER:
        for call in list(port.calls):
            port.cancel(call)


def by_client(port: Any, real: Any, params: Any) -> Message:
    result = real(params)
    client = json.dumps(params.get("clientInfo"), sort_keys=True)
    return {**result, "protocolVersion": port.memory.setdefault(client, result["protocolVersion"])}


def notes_stream(port: Any, real: Any, call: Call) -> None:
    if call.progress == 0:
        port.memory[repr(call.token)] = call
    real(call)


def to_latest_stream(port: Any, real: Any, message: Message) -> None:
    if message.get("method") != "notifications/progress":
        real(message)
        return
    latest, own = port.memory[repr(message["params"]["progressToken"])], port.current.post
    if latest in port.calls and not latest.is_answered and not latest.is_cancelled:
        port.current.post = port.posts[latest]
        real(message)
        port.current.post = own


defect(
    "greeting-spent-by-refusal",
    "Refuses an `initialize` that follows one that it has refused.",
    "lifecycle:version:supported",
    "lifecycle:initialize",
)(initialize=greeted_once)
defect(
    "id-of-call-ends-at-nul",
    "Answers a call with its id cut at the first NUL.",
    "rpc:response:id",
)(answer=id_of_c)
defect(
    "call-as-notification-refused",
    "Answers a `tools/call` that is a notification with an error when its tool is unknown.",
    "rpc:notification:unanswered",
)(notified=looks_for_tool)
defect(
    "calls-dropped-by-long-garbage",
    "Cancels all calls that run when a line of more than 64 KiB is no JSON.",
    "result:session-id",
    "rpc:alive:malformed",
)(receive=measures, send_error=begins_afresh)
defect(
    "http-revision-by-client",
    "Answers every `initialize` of a client with the revision that the first client of that name and version got.",
    "lifecycle:version:supported",
)(HttpPort, initialize=by_client)
defect(
    "http-progress-to-latest-stream",
    "Sends the progress of all sessions that chose the same token to the one that called last.",
    "progress:interval",
    "progress:increase",
)(HttpPort, report_progress=notes_stream, write=to_latest_stream)
