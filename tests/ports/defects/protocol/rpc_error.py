"""Errors with the wrong code, and messages that should have been errors: ports that break `rpc:error`."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from conditions import in_any_case
from defects.protocol.shared import is_request
from defects.record import defect
from speaking import JSON, Message, RpcError, as_object
from steps import Step, gives, on, only, refuses, without

MEMBERS = ("jsonrpc", "id", "method", "params")


def with_method(port: Any, real: Any, message: JSON) -> bool:
    """Takes an empty text for a method that is missing."""
    return real(message) and not ("id" in message and message.get("method") == "")


def in_small_letters(port: Any, real: Any, request: Message) -> None:
    real({**request, "method": request["method"].lower()})


def by_beginning(port: Any, real: Any, request: Message) -> None:
    known = [method for method in ("ping", "tools/list", "tools/call") if request["method"].startswith(method)]
    real({**request, "method": known[0]} if known else request)


def by_method_alone(port: Any, real: Any, message: Any) -> None:
    method = (as_object(message) or {}).get("method")
    if isinstance(method, str) and method.startswith("notifications/") and port.is_valid(message):
        port.notified(method, message.get("params"))
    else:
        real(message)


def notified_by_name(port: Any, real: Any, request: Message) -> None:
    if request["method"].startswith("notifications/"):
        port.notified(request["method"], request.get("params"))
    else:
        real(request)


def lacks_parameters(identity: Any, params: Any, stateless: bool) -> bool:
    return "name" not in params or as_object(params.get("arguments", {})) is None


def arguments_from_text(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Any:
    arguments = params.get("arguments")
    if isinstance(arguments, str):
        with suppress(ValueError):
            params = {**params, "arguments": json.loads(arguments)}
    return real(identity, params, stateless)


def with_code(wrong: int, right: int) -> Step:
    """Sends one code of an error in the place of another."""
    return lambda port, real, identity, code, message: real(identity, wrong if code == right else code, message)


def first_of_line(port: Any, error: json.JSONDecodeError) -> Any:
    return json.JSONDecoder().raw_decode(error.doc.lstrip())[0]


def members_in_any_case(message: Any) -> Any:
    return message if as_object(message) is None else in_any_case(MEMBERS)(message)


def is_null_id(message: Any) -> bool:
    return is_request(message) and message.get("id", 0) is None


def booleans_are_ids(port: Any, real: Any, value: Any) -> bool:
    return real(value) or isinstance(value, bool)


def any_jsonrpc(port: Any, real: Any, value: Any) -> bool:
    return real({**value, "jsonrpc": "2.0"} if as_object(value) is not None else value)


defect("unknown-method-is-empty", "Answers an unknown method with an empty result.", "rpc:error:method")(
    result=on(RpcError, lambda port, error: {} if error.error["code"] == -32601 else error)
)
defect(
    "empty-methods-are-invalid",
    "Answers a request whose method is an empty text as none that is valid.",
    "rpc:error:method",
)(is_valid=with_method)
defect("methods-in-any-case", "Serves `PING` as `ping`.", "rpc:error:method")(requested=in_small_letters)
defect("methods-by-beginning", "Serves a method whose name begins like one that it knows.", "rpc:error:method")(
    requested=by_beginning
)
defect(
    "requests-named-like-notifications",
    "Does not answer a request whose unknown method begins like that of a notification.",
    "rpc:error:method",
)(dispatch=by_method_alone)
defect(
    "request-named-as-notification-unanswered",
    "Takes a request for a notification when its method begins with `notifications/`.",
    "rpc:error:method",
)(requested=notified_by_name)
defect("bad-parameters-are-internal", "Answers parameters that are wrong as an internal error.", "rpc:error:params")(
    new_call=refuses(RpcError(-32603, "Internal error."), lacks_parameters)
)
defect("false-arguments-are-none", "Takes arguments that count as false for no arguments.", "rpc:error:params")(
    new_call=lambda port, real, identity, params, stateless: real(
        identity, params if params.get("arguments") else without("arguments")(params), stateless
    )
)
defect("arguments-read-from-text", "Reads arguments that are a text of JSON.", "rpc:error:params")(
    begin_call=arguments_from_text
)
defect("parse-errors-are-invalid-requests", "Calls a line that is no JSON an invalid request.", "rpc:error:parse")(
    send_error=with_code(-32600, right=-32700)
)
defect("rest-of-line-ignored", "Reads the first JSON of a line and ignores the rest.", "rpc:error:parse")(
    parse=on(json.JSONDecodeError, first_of_line)
)
defect(
    "invalid-requests-are-parse-errors",
    "Calls JSON that is no valid request a line that is no JSON.",
    "rpc:error:request",
)(send_error=with_code(-32700, right=-32600))
defect(
    "members-in-any-case",
    "Reads the members of a message in any case.",
    "rpc:error:request",
)(parse=gives(members_in_any_case))
defect("null-ids-unanswered", "Takes a request whose id is null for a notification.", "rpc:error:request")(
    dispatch=only(lambda message: not is_null_id(message))
)
defect("boolean-ids-accepted", "Serves a request whose id is a boolean.", "rpc:error:request")(is_id=booleans_are_ids)
defect("any-jsonrpc-accepted", "Serves a request of JSON-RPC 1.0.", "rpc:error:request")(is_valid=any_jsonrpc)
