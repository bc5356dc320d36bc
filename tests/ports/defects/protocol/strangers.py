"""Defects that a client meets when it does what few do: pauses, shares, spells otherwise, or leaves early."""

import json
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from defects.record import defect
from http_port import HttpPort
from port import META, PROGRESS_SECONDS, STATELESS
from running import Call
from speaking import JSON, Message, as_object

PIECE = 65536
BODY_LIMIT = 16 * 1024 * 1024
STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"')
VERSION = f"{META}protocolVersion"


def asked_before_lock(port: Any, real: Any, call: Call) -> None:
    """Looks whether the call is answered, and then waits until it may write."""
    call.next_progress = time.monotonic() + PROGRESS_SECONDS
    if call.token is not None and not call.is_answered and not call.is_cancelled:
        with port.output:
            call.progress += 1
            port.write(port.progress(call))


def token_by_text(port: Any, real: Any, call: Call) -> Message:
    """Keeps tokens by their text, which 1 and "1" share."""
    message = real(call)
    tokens = port.memory
    if call.progress == 1:
        tokens[str(call.token)] = call.token
    return {**message, "params": {**message["params"], "progressToken": tokens[str(call.token)]}}


def by_one_clock(port: Any, real: Any, call: Call) -> None:
    now = time.monotonic()
    if call.progress and now < port.memory.get("next", now):
        return
    if call.token is not None:
        port.memory["next"] = now + PROGRESS_SECONDS - 0.1
    real(call)


def tells_cancelled(port: Any, real: Any, call: Call) -> None:
    waits = call.process is None
    real(call)
    if waits and call.stateless and call.token is not None and not call.is_answered:
        call.progress += 1
        port.send(port.progress(call))


def notified_by_name(port: Any, real: Any, request: Message) -> None:
    if request["method"].startswith("notifications/"):
        port.notified(request["method"], request.get("params"))
    else:
        real(request)


def version_by_beginning(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    named = params["_meta"][VERSION]
    if isinstance(named, str) and named.startswith(STATELESS):
        params = {**params, "_meta": {**params["_meta"], VERSION: STATELESS[-1]}}
    real(params)


def checks_session_of_chat(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    if "sessionId" in arguments:
        port.text(tool, "sessionId", arguments["sessionId"])
    return real(tool, arguments)


def spelling(line: bytes, value: JSON) -> bytes:
    """How the line spells a short text."""
    for spelt in STRINGS.findall(line) if isinstance(value, str) else ():
        with suppress(ValueError):
            if len(spelt) < 1000 and json.loads(spelt) == value:
                return spelt
    return b""


def keeps_line(port: Any, real: Any, line: bytes) -> JSON:
    port.memory["line"] = line
    return real(line)


def keeps_spelling(port: Any, real: Any, identity: JSON, *others: Any) -> Call:
    call = real(identity, *others)
    port.memory[call] = spelling(port.memory["line"], identity)
    return call


def cancels_by_spelling(port: Any, real: Any, method: str, params: JSON) -> None:
    wanted = (as_object(params) or {}).get("requestId")
    spelt = spelling(port.memory["line"], wanted)
    if all(port.memory[call] == spelt for call in list(port.calls) if call.id == wanted):
        real(method, params)


def origin_by_end(port: Any, real: Any, origin: str | None) -> bool:
    return real(origin) or (origin or "").endswith(f"localhost:{port.server.server_port}")


def ended_when_idle(port: Any, real: Any, session: str | None) -> None:
    if all(port.posts[call].session != session for call in list(port.calls)):
        real(session)


def in_data_lines(port: Any, real: Any, message: Message) -> bytes:
    """A client joins the lines of an event with newlines."""
    data = real(message)
    if not port.current.post.is_stream:
        return data
    return b"\ndata: ".join(data[start : start + PIECE] for start in range(0, len(data), PIECE))


def gone_while_waiting(port: Any, real: Any, call: Call) -> None:
    """A connection's end is told once."""
    if call.process is None or call in port.memory:
        port.memory[call] = "gone"
    else:
        real(call)


def error_of_counted_letters(port: Any, real: Any, message: Message) -> bytes:
    """Counts the letters of a text that is sent as bytes."""
    if "error" not in message:
        return real(message)
    text = json.dumps(message, ensure_ascii=False)
    return text.encode("utf-8", "replace")[: len(text)]


def told_to_latest_of_id(port: Any, real: Any, call: Call) -> Message:
    """Ids of requests are unique in their session only."""
    same = [each for each in list(port.calls) if type(each.id) is type(call.id) and each.id == call.id]
    port.current.post = port.posts[(same or [call])[-1]]
    return real(call)


def name_by_beginning(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    named, name = port.current.post.header("Mcp-Name"), params.get("name")
    if named and isinstance(name, str) and name.startswith(named):
        params = {**params, "name": named}
    real(method, params)


def bodies_limited(port: Any, real: Any, post: Any, body: bytes) -> None:
    if len(body) > BODY_LIMIT:
        post.reply(413)
    else:
        real(post, body)


defect(
    "progress-overtaken-while-reader-pauses",
    "Tells progress behind an answer when both had to wait for a client that reads another answer slowly.",
    "progress:end",
)(report_progress=asked_before_lock)
defect(
    "tokens-known-by-their-text",
    "Takes the token 1 of a running call for the token `1` of a later one that is a text, and the other way round.",
    "progress:increase",
    "progress:token",
)(progress=token_by_text)
defect(
    "one-clock-for-all-progress",
    "Tells progress of one call at a time: of several that run together, the first alone gets more than one.",
    "progress:interval",
)(report_progress=by_one_clock)
defect(
    "waiting-call-told-of-cancellation",
    "Tells progress once more of a call of 2026-07-28 that is cancelled before its gemini has started.",
    "stateless:cancelled",
    "progress:end",
)(cancel=tells_cancelled)
defect(
    "request-named-as-notification-unanswered",
    "Takes a request for a notification when its method begins with `notifications/`.",
    "rpc:error:method",
)(requested=notified_by_name)
defect(
    "version-known-by-its-beginning",
    "Serves every protocol version that begins with one it knows, such as `2026-07-28-draft`.",
    "stateless:version",
)(check_stateless=version_by_beginning)
defect(
    "session-checked-where-undeclared",
    "Refuses a `chat` whose `sessionId`, which it does not declare, would be refused of a reply.",
    "arguments:unknown",
)(texts=checks_session_of_chat)
defect(
    "ids-compared-as-written",
    "Cancels nothing when the notification spells the id with other escapes than the call did.",
    "cancel:child",
)(parse=keeps_line, new_call=keeps_spelling, notified=cancels_by_spelling)
defect(
    "origin-known-by-its-end",
    "Allows an origin whose host ends with `localhost`.",
    "http:origin",
)(HttpPort, is_allowed=origin_by_end)
defect(
    "busy-session-never-ended",
    "Does not end a session in which a call runs.",
    "http:session:ended",
)(HttpPort, end_session=ended_when_idle)
defect(
    "large-events-in-lines",
    "Parts an event of more than 64 KiB into several lines of data.",
    "result:text:unicode",
    "result:large-stdout",
)(HttpPort, encoded=in_data_lines)
defect(
    "departure-while-waiting-forgotten",
    "Runs a reply of 2026-07-28 whose client has left while it waited for its turn.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=gone_while_waiting)
defect(
    "errors-cut-by-letters",
    "Cuts a JSON-RPC error over HTTP short by a byte for each that its letters beyond ASCII have more than one.",
    "rpc:response:id",
    "rpc:error:method",
)(HttpPort, encoded=error_of_counted_letters)
defect(
    "progress-for-the-latest-of-an-id",
    "Tells progress to the latest of the calls that have the same id in several sessions.",
    "progress:unasked",
    "progress:interval",
)(HttpPort, progress=told_to_latest_of_id)
defect(
    "names-compared-by-their-beginning",
    "Accepts `chat` as the `Mcp-Name` of `chat-reply`, since it begins so, and runs what the body says.",
    "http:stateless:header",
)(HttpPort, check_headers=name_by_beginning)
defect(
    "large-bodies-rejected",
    "Rejects a body of more than 16 MiB, as that of a prompt of 6 MiB in escapes may be.",
    "http:equivalence",
    "prompt:long",
)(HttpPort, posted=bodies_limited)
