"""Notifications that are answered, and messages without a version: ports that break `rpc`."""

from typing import Any

from defects.record import defect
from defects.shared import where
from speaking import INVALID_PARAMS, INVALID_REQUEST, JSON, UNKNOWN_METHOD, RpcError, as_object
from steps import after, before, gives, takes, without


def answers_unknown(port: Any, method: str, params: Any) -> None:
    if method not in ("notifications/initialized", "notifications/cancelled"):
        port.send_error(None, -32601, f"The notification {method!r} is unknown.")


def complains_of_cancellation(port: Any, real: Any, method: str, params: JSON) -> None:
    real(method, params)
    if method == "notifications/cancelled" and "requestId" not in (as_object(params) or {}):
        port.send_error(None, INVALID_REQUEST, "`requestId` is missing.")


def looks_for_tool(port: Any, real: Any, method: str, params: Any) -> None:
    real(method, params)
    if method == "tools/call":
        try:
            port.new_call(None, as_object(params) or {}, False)
        except RpcError as error:
            port.send({"jsonrpc": "2.0", "id": None, "error": error.error})


def answers_calls_without_id(port: Any, real: Any, method: str, params: Any) -> None:
    if method == "tools/call":
        port.send_error(None, INVALID_PARAMS, "A call needs an id.")
    real(method, params)


def roots_answered(port: Any, real: Any, method: str, params: Any) -> None:
    if method == "notifications/roots/list_changed":
        port.send({"jsonrpc": "2.0", "id": None, "result": {}})
    real(method, params)


def answers_progress(port: Any, real: Any, method: str, params: Any) -> None:
    if method == "notifications/progress":
        port.send_error(None, UNKNOWN_METHOD, f"The method {method!r} is unknown.")
    real(method, params)


defect("errors-without-jsonrpc", "Leaves `jsonrpc` out of its errors.", "rpc:jsonrpc")(
    write=takes(where("error", without("jsonrpc")))
)
defect("progress-without-jsonrpc", "Leaves `jsonrpc` out of its notifications.", "rpc:jsonrpc")(
    progress=gives(without("jsonrpc"))
)
defect("answers-notifications", "Answers notifications with an empty result.", "rpc:notification:unanswered")(
    notified=after(lambda port, method, params: port.send_result(None, {}))
)
defect(
    "answers-unknown-notifications",
    "Answers a notification that it does not know with an error.",
    "rpc:notification:unanswered",
)(notified=after(answers_unknown))
defect("request-without-id-answered", "Answers a request for the tools that has no id.", "rpc:notification:unanswered")(
    notified=before(
        lambda port, method, params: method == "tools/list" and port.send_result(None, {"tools": port.tools()})
    )
)
defect(
    "cancellation-without-id-answered",
    "Answers a cancellation without `requestId` with an error.",
    "rpc:notification:unanswered",
)(notified=complains_of_cancellation)
defect(
    "call-as-notification-refused",
    "Answers a `tools/call` that is a notification with an error when its tool is unknown.",
    "rpc:notification:unanswered",
)(notified=looks_for_tool)
defect("call-without-id-answered", "Answers a call that has no id.", "rpc:notification:unanswered")(
    notified=answers_calls_without_id
)
defect("changed-roots-answered", "Answers the notification that roots have changed.", "rpc:notification:unanswered")(
    notified=roots_answered
)
defect(
    "progress-of-client-answered",
    "Answers a progress notification of its client with an error.",
    "rpc:notification:unanswered",
)(notified=answers_progress)
