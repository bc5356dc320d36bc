"""Defects in what one method or one tool checks and another does not."""

from collections.abc import Mapping
from typing import Any

from defects.record import defect
from port import META
from running import Call
from speaking import INVALID_PARAMS, UNKNOWN_METHOD, RpcError

UNSUPPORTED_VERSION = -32022


def invalid_in_calls(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    try:
        real(params)
    except RpcError as error:
        if "name" in params and error.error["code"] == UNSUPPORTED_VERSION:
            raise RpcError(INVALID_PARAMS, error.error["message"]) from None
        raise


def unchecked_in_replies(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    if params.get("name") == "chat-reply":
        params = {**params, "_meta": {f"{META}clientCapabilities": {}, **params["_meta"]}}
    real(params)


def empty_is_no_method(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Call:
    if params.get("name") == "":
        raise RpcError(UNKNOWN_METHOD, "The tool '' is unknown.")
    return real(identity, params, stateless)


defect(
    "unsupported-version-of-calls-is-invalid",
    "Answers a call of a version that it does not support as parameters that are invalid.",
    "stateless:version",
)(check_stateless=invalid_in_calls)
defect(
    "meta-of-replies-unchecked",
    "Serves a reply whose `_meta` lacks the client's capabilities.",
    "stateless:meta",
)(check_stateless=unchecked_in_replies)
defect(
    "empty-tool-is-unknown-method",
    "Answers a call of a tool with an empty name as an unknown method.",
    "tools:unknown:code",
)(new_call=empty_is_no_method)
