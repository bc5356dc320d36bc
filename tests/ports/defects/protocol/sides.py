"""Defects on one side only: of one era, of one revision, of HTTP, of a client that does not read."""

import select
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer
from conditions import REVISION, refused, speaks
from defects.record import defect
from http_port import HttpPort
from planning import PROPERTIES, Plan
from port import META
from posting import Post
from running import Call
from speaking import UNKNOWN_METHOD, Message, RpcError
from steps import without

PIPE = 64 * 1024


def unmarked(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    return without("isError")(result) if call.stateless and refused(call, result) else result


def unknown_method(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Call:
    if stateless and isinstance(params.get("name"), str) and params["name"] not in PROPERTIES:
        raise RpcError(UNKNOWN_METHOD, f"The tool {params['name']!r} is unknown.")
    return real(identity, params, stateless)


def elsewhere(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    is_meant = call.stateless and call.tool == "chat-reply"
    return real(call, replace(plan, cwd=None) if is_meant else plan)


def untyped_notice(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    finished = real(result, stateless)
    return without("resultType")(finished) if "notice" in result.get("_meta", {}) else finished


def unnamed_beside_session(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    finished = real(result, stateless)
    if "sessionId" not in result.get("_meta", {}):
        return finished
    return {**finished, "_meta": without(f"{META}serverInfo")(finished["_meta"])}


def unasked(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    return answer if call.stateless and plan.session is None else real(call, plan, answer)


def unheard_in_oldest(port: Any, real: Any, call: Call) -> None:
    if not speaks(port, "2024-11-05"):
        real(call)


def lists_for_ended(port: Any, real: Any, post: Post, body: bytes) -> None:
    port.current.post = post
    is_over = post.session is not None and post.session not in port.sessions
    if is_over and b'"tools/list"' in body:
        port.receive(body)
    else:
        real(post, body)


def in_data_lines(port: Any, real: Any, message: Message) -> None:
    """Each `data:` of an event holds 64 KiB at most; a client joins them by newlines."""
    post, data = port.current.post, port.encoded(message).strip()
    if ("method" in message or post.is_stream) and len(data) > PIPE:
        pieces = [data[at : at + PIPE] for at in range(0, len(data), PIPE)]
        post.event(b"\ndata: ".join(pieces))
    else:
        real(message)


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


defect(
    "stateless-refusal-unmarked",
    "Answers a refused argument without isError in this era.",
    "arguments:prompt:type",
    "arguments:refused:is-error",
)(execute=unmarked)
defect(
    "stateless-unknown-tool-is-unknown-method",
    "Answers a call of an unknown tool as an unknown method in this era.",
    "tools:unknown:code",
)(new_call=unknown_method)
defect("stateless-reply-directory-lost", "Runs a reply in its own directory in this era.", "cwd:chat-reply")(
    ask=elsewhere
)
defect("type-lost-beside-notice", "Leaves the type out of an empty answer.", "stateless:result-type")(
    finished=untyped_notice
)
defect("server-unnamed-beside-session", "Leaves its name out of an answer with a session.", "stateless:server-info")(
    finished=unnamed_beside_session
)
defect("stateless-list-unasked", "Asks for no list in this era.", "fallback:list-sessions")(with_session=unasked)
defect("cancel-unheard-in-2024-11-05", "Ignores the cancellations of clients of 2024-11-05.", "cancel:child")(
    initialize=REVISION, cancel=unheard_in_oldest
)
defect("lists-outlive-session", "Lists its tools in a session that has been ended.", "http:session:ended")(
    HttpPort, posted=lists_for_ended
)
defect(
    "long-events-divided",
    "Divides an event of more than 64 KiB into several lines of data.",
    "http:equivalence",
)(HttpPort, write=in_data_lines)
defect(
    "progress-waits-for-reader",
    "Sends progress that a client has no room for behind the next message, which may be the answer.",
    "progress:end",
)(write=behind_what_waits)
