"""Defects in forms that are rarely used: reasons, ids that are alike, sessions over HTTP, optional fields."""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from conditions import cancels_alike
from defects.record import defect
from http_port import HttpPort
from port import HANDSHAKE, META, STATELESS
from posting import Post
from speaking import INVALID_PARAMS, Message, RpcError, as_object
from steps import Step


def deaf_to(test: Callable[[str], bool]) -> Step:
    """Of `notified`: overlooks a cancellation whose reason is like this."""

    def notified(port: Any, real: Any, method: str, params: Any) -> None:
        reason = (as_object(params) or {}).get("reason")
        if not (isinstance(reason, str) and test(reason)):
            real(method, params)

    return notified


def answers_calls_without_id(port: Any, real: Any, method: str, params: Any) -> None:
    if method == "tools/call":
        port.send_error(None, INVALID_PARAMS, "A call needs an id.")
    real(method, params)


def null_is_token(port: Any, real: Any, params: Mapping[str, Any]) -> Any:
    meta = as_object(params.get("_meta")) or {}
    return "null" if "progressToken" in meta and meta["progressToken"] is None else real(params)


def needs_client_info(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    real(params)
    if f"{META}clientInfo" not in params["_meta"]:
        raise RpcError(INVALID_PARAMS, f"`_meta` lacks `{META}clientInfo`.")


def supports_handshakes(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    try:
        real(params)
    except RpcError as error:
        if "data" in error.error:
            error.error["data"] = {**error.error["data"], "supported": list(HANDSHAKE)}
        raise


def ended_once_more(port: Any, real: Any, post: Post, body: bytes) -> None:
    if post.session is not None and port.is_allowed(post.headers.get("Origin")):
        port.end_session(post.session)
        post.reply(200)
    else:
        real(post, body)


def trusts_sessions(port: Any, real: Any, post: Post) -> bool:
    if post.session in port.sessions:
        return False
    return real(post)


def stateless_trusted(port: Any, real: Any, post: Post) -> bool:
    if post.version in STATELESS:
        return False
    return real(post)


def notification_200(port: Any, real: Any, method: str, params: Any) -> None:
    real(method, params)
    if method == "notifications/cancelled":
        port.current.post.reply(200)


def numeric_cursor_is_page(port: Any, real: Any, params: Mapping[str, Any], stateless: bool) -> Message:
    cursor = params.get("cursor")
    if isinstance(cursor, str) and cursor.isdigit():
        return {**real({}, stateless), "tools": port.tools()[int(cursor) :]}
    return real(params, stateless)


def name_without_namespace(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Any:
    name = params.get("name")
    if isinstance(name, str):
        params = {**params, "name": re.sub(r"^.*(?:__|[./:])", "", name)}
    return real(identity, params, stateless)


def arguments_from_text(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Any:
    arguments = params.get("arguments")
    if isinstance(arguments, str):
        with suppress(ValueError):
            params = {**params, "arguments": json.loads(arguments)}
    return real(identity, params, stateless)


defect("ids-cancelled-without-case", "Cancels the calls whose ids differ in case alone.", "cancel:others")(
    notified=cancels_alike(lambda one, other: one.lower() == other.lower())
)
defect("ids-cancelled-by-beginning", "Cancels the calls whose ids begin with the one that is named.", "cancel:others")(
    notified=cancels_alike(lambda one, other: bool(other) and one.startswith(other))
)
defect("ids-cancelled-without-blanks", "Cancels the calls whose ids differ in blanks alone.", "cancel:others")(
    notified=cancels_alike(lambda one, other: one.strip() == other.strip())
)
defect(
    "ids-cancelled-by-hash",
    "Cancels the calls whose ids have the same characters in another order.",
    "cancel:others",
)(notified=cancels_alike(lambda one, other: sorted(one) == sorted(other)))
defect(
    "cancellation-of-two-lines-overlooked",
    "Overlooks a cancellation whose reason has several lines.",
    "cancel:child",
)(notified=deaf_to(lambda reason: "\n" in reason))
defect(
    "cancellation-beyond-ascii-overlooked",
    "Overlooks a cancellation whose reason is not ASCII.",
    "cancel:child",
)(notified=deaf_to(lambda reason: not reason.isascii()))
defect("cancellation-of-no-words-overlooked", "Overlooks a cancellation whose reason is empty.", "cancel:child")(
    notified=deaf_to(lambda reason: not reason)
)
defect("call-without-id-answered", "Answers a call that has no id.", "rpc:notification:unanswered")(
    notified=answers_calls_without_id
)
defect("null-token-told", "Tells progress to a token that is null.", "progress:unasked")(token=null_is_token)
defect("client-info-needed", "Refuses a request that does not name its client.", "stateless:no-handshake")(
    check_stateless=needs_client_info
)
defect(
    "handshakes-supported",
    "Lists the revisions with a handshake alone when it is asked for one that it does not support.",
    "stateless:version",
)(check_stateless=supports_handshakes)
defect("session-ended-twice", "Ends a session once more that has been ended.", "http:session:ended")(
    HttpPort, deleted=ended_once_more
)
defect("origin-unread-in-session", "Looks at the origin of requests without a session alone.", "http:origin")(
    HttpPort, is_refused=trusts_sessions
)
defect("origin-unread-of-stateless", "Looks at no origin of requests of 2026-07-28.", "http:origin")(
    HttpPort, is_refused=stateless_trusted
)
defect("cancellation-answered-with-200", "Answers a cancellation with status 200.", "http:notification")(
    HttpPort, notified=notification_200
)
defect("digits-are-cursor", "Takes a cursor of digits for the number of a tool.", "tools:cursor")(
    list_tools=numeric_cursor_is_page
)
defect("namespace-of-tool-dropped", "Serves a tool whose name stands behind a namespace.", "tools:unknown")(
    begin_call=name_without_namespace
)
defect("arguments-read-from-text", "Reads arguments that are a text of JSON.", "rpc:error:params")(
    begin_call=arguments_from_text
)
