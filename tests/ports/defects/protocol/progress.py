"""Progress that one era, transport or kind of token goes without: ports that break `progress`."""

import os
import select
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from conditions import REVISION, speaks
from defects.protocol.shared import INHERITED
from defects.record import defect
from http_port import HttpPort
from port import PROGRESS_SECONDS, Port
from running import Call
from speaking import Message, as_object
from steps import after, before, gives

STDOUT = 4
"""Its place among what `begin` takes behind the call."""


def behind_what_waits(port: Any, real: Any, message: Message) -> None:
    """Progress waits for a client that does not read, and goes out with what comes next."""
    waiting = port.memory.setdefault("waiting", [])
    is_progress = message.get("method") == "notifications/progress"
    if is_progress and not select.select([], [1], [], 0)[1]:
        waiting.append(message)
        return
    real(message)
    while waiting:
        real(waiting.pop(0))


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


def told_by_token(port: Any, real: Any, call: Call) -> None:
    """Looks for the stream of a token among those of all clients."""
    alike = [each for each in port.calls if each.token == call.token and not each.is_answered] or [call]
    port.current.post = port.posts[alike[-1]]
    Port.report_progress(port, call)
    port.current.post = port.posts[call]


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


def notes_stdout(port: Any, call: Call, *others: Any) -> None:
    port.memory[call] = others[STDOUT]


def silent_once_heard(port: Any, real: Any, call: Call) -> None:
    # The file is closed when gemini has ended.
    with suppress(KeyError, ValueError):
        if os.fstat(port.memory[call].fileno()).st_size:
            return
    real(call)


def by_one_clock(port: Any, real: Any, call: Call) -> None:
    now = time.monotonic()
    if call.progress and now < port.memory.get("next", now):
        return
    if call.token is not None:
        port.memory["next"] = now + PROGRESS_SECONDS - 0.1
    real(call)


def one_stream(port: Any, real: Any, call: Call) -> None:
    """Has one stream; a call that begins while it is open is answered without."""
    untold = port.memory.setdefault("untold", set[Call]())
    if call.progress == 0 and any(other is not call and other.token is not None for other in port.calls):
        untold.add(call)
    if call not in untold:
        real(call)


def untold(port: Any, real: Any, call: Call) -> None:
    if not speaks(port, "2025-06-18"):
        real(call)


def token_alone(port: Any, real: Any, params: Any) -> Any:
    meta = as_object(params.get("_meta")) or {}
    known = [name for name in meta if not name.startswith("io.modelcontextprotocol/")]
    return real(params) if known == ["progressToken"] else None


def text_of_token(port: Any, real: Any, call: Call) -> Message:
    message = real(call)
    return {**message, "params": {**message["params"], "progressToken": str(call.token)}}


def null_is_token(port: Any, real: Any, params: Mapping[str, Any]) -> Any:
    meta = as_object(params.get("_meta")) or {}
    return "null" if "progressToken" in meta and meta["progressToken"] is None else real(params)


def told_to_latest_of_id(port: Any, real: Any, call: Call) -> Message:
    """Ids of requests are unique in their session only."""
    same = [each for each in list(port.calls) if type(each.id) is type(call.id) and each.id == call.id]
    port.current.post = port.posts[(same or [call])[-1]]
    return real(call)


def looks_for_token(port: Any, real: Any, params: Any) -> Any:
    token = real(params)
    if token is None:
        return real(as_object(params.get("arguments", {})) or {})
    return token


def counted_by_token(port: Any, real: Any, call: Call) -> Any:
    message = real(call)
    number = port.memory[call.token] = port.memory.get(call.token, 0) + 1
    return {**message, "params": {**message["params"], "progress": number}}


def forgets_token(port: Any, call: Call) -> None:
    port.memory.pop(call.token, None)


defect(
    "progress-waits-for-reader",
    "Sends progress that a client has no room for behind the next message, which may be the answer.",
    "progress:end",
)(write=behind_what_waits)
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
    "tokens-of-clients-mixed",
    "Tells progress of a call over HTTP to the latest client whose call has the same token.",
    "progress:increase",
    "progress:interval",
)(HttpPort, report_progress=told_by_token)
defect(
    "http-progress-to-latest-stream",
    "Sends the progress of all sessions that chose the same token to the one that called last.",
    "progress:interval",
    "progress:increase",
)(HttpPort, report_progress=notes_stream, write=to_latest_stream)
defect(
    "quiet-behind-first-byte",
    "Tells no more progress once gemini has printed something.",
    "progress:interval",
)(begin=before(notes_stdout), report_progress=silent_once_heard)
defect(
    "one-clock-for-all-progress",
    "Tells progress of one call at a time: of several that run together, the first alone gets more than one.",
    "progress:interval",
)(report_progress=by_one_clock)
defect(
    "second-stream-untold",
    "Tells no progress over HTTP to a call that begins while another is told of its own.",
    "progress:start",
)(HttpPort, report_progress=one_stream)
defect("progress-untold-in-2025-06-18", "Tells no progress to clients of 2025-06-18.", "progress:start")(
    initialize=REVISION, report_progress=untold
)
defect("token-of-zero-text-lost", "Takes the progress token `0`, a text, for none.", "progress:start")(
    token=gives(lambda token: None if token == "0" else token)
)
defect(
    "inherited-tokens-overlooked",
    "Tells no progress to a token that is a name that every object has in JavaScript.",
    "progress:start",
)(token=gives(lambda token: None if token in INHERITED else token))
defect("token-beside-others-overlooked", "Takes a progress token beside other members for none.", "progress:start")(
    token=token_alone
)
defect("tokens-are-texts-over-http", "Sends the token as a string over HTTP.", "progress:token")(
    HttpPort, progress=text_of_token
)
defect("null-token-told", "Tells progress to a token that is null.", "progress:unasked")(token=null_is_token)
defect(
    "progress-for-the-latest-of-an-id",
    "Tells progress to the latest of the calls that have the same id in several sessions.",
    "progress:increase",
    "progress:interval",
)(HttpPort, progress=told_to_latest_of_id)
defect(
    "token-among-arguments",
    "Takes the `progressToken` of a `_meta` among the arguments for that of the call when the call has none.",
    "progress:unasked",
)(token=looks_for_token)
defect(
    "progress-counted-by-token",
    "Counts the progress of a token, and begins anew when the call of another client with an equal one is over.",
    "progress:increase",
)(HttpPort, progress=counted_by_token, serve_call=after(forgets_token))
