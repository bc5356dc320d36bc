"""Stateless requests that are misread, or fare differently beside others: ports that break `stateless`."""

import json
import time
from collections.abc import Mapping
from typing import Any

from conditions import notes_method
from defects.record import defect
from planning import Plan
from port import META, PROGRESS_SECONDS, UNSUPPORTED_VERSION
from running import Call, Cancelled
from speaking import Message, RpcError
from steps import after, before

CANCELLED = -32800


def told_of_cancellation(port: Any, call: Call) -> None:
    with port.output:
        if call.token is not None and not call.is_answered:
            call.progress += 1
            port.write(port.progress(call))


def tells_of_waiting(port: Any, real: Any, call: Call) -> None:
    """A call that has not begun is answered with an error when it is cancelled."""
    is_waiting = call.stateless and call.process is None and not call.is_answered
    real(call)
    if is_waiting:
        port.send({"jsonrpc": "2.0", "id": call.id, "error": {"code": -32800, "message": "It was cancelled."}})


def stays_in_line(port: Any, real: Any, call: Call, turn: str) -> None:
    line = port.turns[turn]
    port.memory[call] = "waiting"
    port.turn_changed.wait_for(lambda: line[0] is call or port.is_ending)
    del port.memory[call]


def beats_in_line(port: Any, real: Any, call: Call) -> None:
    real(call)
    if call.is_cancelled and call.token is not None and call in port.memory:
        call.progress += 1
        port.send(port.progress(call))


def answers_cancelled_in_line(port: Any, real: Any, call: Call, turn: str | None) -> None:
    real(call, turn)
    if not (call.stateless and call.is_cancelled and turn):
        return
    line = port.turns[turn]
    with port.turn_changed:
        port.turn_changed.wait_for(lambda: line[0] is call or port.is_ending)
    if not port.is_ending:
        port.send_error(call.id, CANCELLED, "The request was cancelled.")


def notes_call(port: Any, *arguments: Any) -> None:
    port.memory["has called"] = True


def discovered_before_calls(port: Any, real: Any) -> Any:
    return port.ping() if port.memory.get("has called") else real()


def notes_refused(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    try:
        real(params)
    except RpcError:
        port.memory["refused"] = True
        raise
    port.memory["refused"] = False


def finished_for_latest(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    return real(result, stateless and not port.memory.get("refused"))


def server_untold(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    finished = real(result, stateless)
    meta = finished.get("_meta", {})
    if stateless and "warnings" in meta and "sessionId" not in meta:
        del meta[f"{META}serverInfo"]
    return finished


def trusts_client(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    client = json.dumps(params["_meta"].get(f"{META}clientInfo"), sort_keys=True)
    if client not in port.memory:
        real(params)
        if client != "null":
            port.memory[client] = "checked"


def looks_in_discover(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    try:
        real(params)
    except RpcError as error:
        if error.error["code"] != UNSUPPORTED_VERSION or port.memory["method"] == "server/discover":
            raise


def waits_though_cancelled(port: Any, real: Any, call: Call, turn: str) -> None:
    if not call.stateless:
        real(call, turn)
        return
    line = port.turns[turn]
    port.memory[call] = "waits"
    port.turn_changed.wait_for(lambda: line[0] is call)
    del port.memory[call]


def tells_though_cancelled(port: Any, real: Any, call: Call) -> None:
    if call.token is None or not call.is_cancelled or call not in port.memory:
        real(call)
        return
    with port.output:
        call.next_progress = time.monotonic() + PROGRESS_SECONDS
        call.progress += 1
        port.write(port.progress(call))


def list_not_cancelled(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    """Takes a cancellation for one more way in which a list may fail."""
    try:
        return real(call, plan)
    except Cancelled:
        call.is_cancelled = False
        return None


defect(
    "cancelled-told-of-it", "Tells progress once more when a call is cancelled.", "stateless:cancelled", "progress:end"
)(cancel=after(told_of_cancellation))
defect(
    "waiting-call-answered-when-cancelled",
    "Answers a call of the stateless era that is cancelled while it waits for another.",
    "stateless:cancelled",
)(cancel=tells_of_waiting)
defect(
    "cancelled-waiter-beats-on",
    "Leaves a cancelled reply in its line and goes on to send its progress until its turn has come.",
    "stateless:cancelled",
)(await_turn=stays_in_line, report_progress=beats_in_line)
defect(
    "cancelled-in-line-answered-stateless",
    "Answers a stateless reply that was cancelled in its line with an error when its turn comes.",
    "stateless:cancelled",
    "cancel:unanswered",
)(take_turn=answers_cancelled_in_line)
defect(
    "progress-of-cancelled-in-line",
    "Tells progress of a stateless reply that was cancelled while it waits in line.",
    "stateless:cancelled",
)(await_turn=waits_though_cancelled, report_progress=tells_though_cancelled)
defect("discovered-before-calls", "Forgets what it can do when it has served a call.", "stateless:discover")(
    begin_call=before(notes_call), discover=discovered_before_calls
)
defect(
    "refused-version-changes-running-call",
    "Finishes a running stateless call like one of the older era when the latest stateless request was refused.",
    "stateless:result-type",
    "stateless:server-info",
)(check_stateless=notes_refused, finished=finished_for_latest)
defect(
    "server-untold-beside-warnings",
    "Names no server in a stateless result with warnings and without a session.",
    "stateless:server-info",
)(finished=server_untold)
defect(
    "known-client-unchecked",
    "Checks the version and capabilities in the requests of 2026-07-28 only until one of the same client was right.",
    "stateless:version",
    "stateless:meta",
)(check_stateless=trusts_client)
defect(
    "version-read-in-discover-only",
    "Looks at the version of a request in `server/discover` alone.",
    "stateless:version",
)(requested=before(notes_method), check_stateless=looks_in_discover)
defect(
    "stateless-list-cancelled-answered",
    "Answers a call that is cancelled during its list of sessions, without a session.",
    "stateless:cancelled",
    "cancel:unanswered",
)(list_sessions=list_not_cancelled)
