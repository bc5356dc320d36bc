"""Defects in what travels: members in another order, extensions, sessions and streams of HTTP."""

import re
from typing import Any

from conditions import asks, lacking
from defects.protocol.http import turns_away
from defects.record import defect
from http_port import HttpPort
from planning import Plan
from running import Call
from speaking import INVALID_PARAMS, Message, RpcError, as_object
from steps import only


def is_request(message: Any) -> bool:
    return as_object(message) is not None and "method" in message


def last_is_id(message: Any) -> bool:
    return is_request(message) and list(message)[-1] == "id"


def spaced(line: bytes) -> bool:
    return b'" :' not in line


def token_alone(port: Any, real: Any, params: Any) -> Any:
    meta = as_object(params.get("_meta")) or {}
    known = [name for name in meta if not name.startswith("io.modelcontextprotocol/")]
    return real(params) if known == ["progressToken"] else None


def refuses_extensions(port: Any, real: Any, params: Any) -> Message:
    known = {"roots", "sampling", "elicitation", "experimental", "tasks"}
    if set(as_object(params.get("capabilities")) or {}) - known:
        raise RpcError(INVALID_PARAMS, "A capability is unknown.")
    return real(params)


def refuses_titles(port: Any, real: Any, params: Any) -> Message:
    if set(as_object(params.get("clientInfo")) or {}) - {"name", "version"}:
        raise RpcError(INVALID_PARAMS, "`clientInfo` holds an unknown member.")
    return real(params)


def ends_at_response(port: Any, message: Any) -> None:
    if as_object(message) is not None and "method" not in message and ("result" in message or "error" in message):
        raise SystemExit


def is_null_id(message: Any) -> bool:
    return is_request(message) and message.get("id", 0) is None


def booleans_are_ids(port: Any, real: Any, value: Any) -> bool:
    return real(value) or isinstance(value, bool)


def any_jsonrpc(port: Any, real: Any, value: Any) -> bool:
    return real({**value, "jsonrpc": "2.0"} if as_object(value) is not None else value)


def params_of_list(port: Any, real: Any, params: Any, stateless: bool) -> Message:
    if set(params) - {"cursor", *(("_meta",) if stateless else ())}:
        raise RpcError(INVALID_PARAMS, "`tools/list` takes a cursor and nothing else.")
    return real(params, stateless)


def refuses_more_in_call(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Call:
    if set(params) - {"name", "arguments", "_meta"}:
        raise RpcError(INVALID_PARAMS, "`tools/call` holds an unknown member.")
    return real(identity, params, stateless)


def list_cut_after_notification(port: Any, real: Any, method: str, params: Any) -> None:
    if method not in ("notifications/initialized", "notifications/cancelled"):
        port.memory["odd"] = True
    real(method, params)


def tools_after_notification(port: Any, real: Any) -> list[Message]:
    return real()[:1] if port.memory.get("odd") else real()


def one_session(port: Any, real: Any, message: Message) -> dict[str, str]:
    headers = real(message)
    if headers:
        port.sessions.intersection_update(headers.values())
    return headers


def ends_all(port: Any, real: Any, session: str | None) -> None:
    port.sessions.clear()


def accepts_otherwise(port: Any, post: Any, body: bytes) -> bool:
    accepted = post.headers.get("Accept", "")
    return "q=" in accepted or not accepted.startswith("application/json")


def by_its_end(port: Any, real: Any, origin: str | None) -> bool:
    return real(origin) or (origin or "").endswith(f"127.0.0.1:{port.server.server_port}")


def any_port(port: Any, real: Any, origin: str | None) -> bool:
    return (
        real(origin) or re.fullmatch(r"https?://(?:[^/]*\.)?localhost(?:\..*)?(?::[0-9]+)?", origin or "") is not None
    )


def streams_uncancelled(port: Any, real: Any, call: Call) -> None:
    if call.token is None:
        real(call)


def disconnects_all(port: Any, real: Any, call: Call) -> None:
    for other in list(port.calls):
        if other.stateless:
            real(other)


def system_of_other_session(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    system = real(tool, texts)
    if system is not None:
        port.memory["system"] = (port.current.post.session, system)
    owner, kept = port.memory.get("system", (None, None))
    return system or (kept if owner != port.current.post.session else None)


def model_lost_in_stream(call: Call, plan: Plan) -> bool:
    return call.token is not None


def get_ends_session(port: Any, real: Any, post: Any, body: bytes) -> None:
    real(post, body)
    port.sessions.discard(post.session or "")


def streams_failures(port: Any, real: Any, message: Message) -> int:
    """Answers a call that failed with a status of its own."""
    return 500 if as_object(message.get("result")) and message["result"].get("isError") else real(message)


defect("id-behind-rest-overlooked", "Takes a request for a notification whose id stands last.", "rpc:alive:chunks")(
    dispatch=only(lambda message: not last_is_id(message))
)
defect("blank-before-colon-dropped", "Passes over a message with a blank before a colon.", "rpc:alive:chunks")(
    receive=only(spaced)
)
defect("token-beside-others-overlooked", "Takes a progress token beside other members for none.", "progress:start")(
    token=token_alone
)
defect(
    "unknown-capabilities-refused", "Refuses a client with a capability that it does not know.", "lifecycle:initialize"
)(initialize=refuses_extensions)
defect("title-of-client-refused", "Refuses a client that says more than its name.", "lifecycle:initialize")(
    initialize=refuses_titles
)
defect("response-ends-server", "Falls over a response to a request that it has not made.", "rpc:alive:malformed")(
    dispatch=lambda port, real, message: (ends_at_response(port, message), real(message))[1]
)
defect("null-ids-unanswered", "Takes a request whose id is null for a notification.", "rpc:error:request")(
    dispatch=only(lambda message: not is_null_id(message))
)
defect("boolean-ids-accepted", "Serves a request whose id is a boolean.", "rpc:error:request")(is_id=booleans_are_ids)
defect("any-jsonrpc-accepted", "Serves a request of JSON-RPC 1.0.", "rpc:error:request")(is_valid=any_jsonrpc)
defect("meta-of-list-refused", "Refuses a list of tools that comes with more than a cursor.", "tools:chat")(
    list_tools=params_of_list
)
defect("more-in-call-refused", "Refuses a call with members beside its name and arguments.", "command:chat-reply")(
    new_call=refuses_more_in_call
)
defect(
    "list-short-after-notification", "Lists one tool once a notification has come that it does not know.", "tools:order"
)(notified=list_cut_after_notification, tools=tools_after_notification)
defect(
    "one-session-at-a-time",
    "Ends all other sessions when one begins.",
    "command:chat-reply:latest",
    "lifecycle:initialize",
)(HttpPort, session=one_session)
defect("delete-ends-all-sessions", "Ends all sessions when one is ended.", "command:chat-reply:latest")(
    HttpPort, end_session=ends_all
)
defect("accept-compared-as-text", "Refuses a client that accepts events before JSON.", "http:content-type")(
    HttpPort, posted=turns_away(406, accepts_otherwise)
)
defect("origin-by-its-end", "Lets in every origin that ends like its own.", "http:origin")(
    HttpPort, is_allowed=by_its_end
)
defect("origin-of-localhost-domains", "Lets in every origin with `localhost` as a part of its name.", "http:origin")(
    HttpPort, is_allowed=any_port
)
defect("streams-uncancellable", "Does not cancel a call over HTTP that asks for progress.", "cancel:child")(
    HttpPort, cancel=streams_uncancelled
)
defect(
    "disconnection-ends-all",
    "Cancels all calls of the era when a client leaves.",
    "result:session-id:changed",
    "http:stateless:disconnect",
)(HttpPort, disconnected=disconnects_all)
defect("system-prompt-crosses-sessions", "Hands the system prompt of one session over in another.", "system:absent")(
    HttpPort, system=system_of_other_session
)
defect(
    "model-lost-in-streams",
    "Loses the model of a call over HTTP that asks for progress.",
    "command:chat:model",
)(HttpPort, ask=asks(model_lost_in_stream, lacking("-m")))
defect("get-ends-session", "Ends the session of a GET that it refuses.", "http:get")(HttpPort, got=get_ends_session)
defect("failures-are-server-errors", "Answers a call that failed with status 500.", "http:equivalence")(
    HttpPort, status=streams_failures
)
