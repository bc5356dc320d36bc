"""Cancellations that meet what an earlier one, or another call, has left: ports that break `cancel`."""

import json
from dataclasses import replace
from typing import Any

from answering import Failure, Outcome
from conditions import failed, has_listed, notes_listing, refused, wanted
from defects.past.shared import turn_kept_by
from defects.record import defect
from defects.shared import is_unknown, only_asks, unless_noted
from http_port import HttpPort
from planning import Plan
from port import Port
from running import Call, Cancelled
from speaking import PARSE_ERROR, Message, RpcError, as_object
from steps import Step, before

CANCELLED = "notifications/cancelled"
SLOTS = 32


def deaf_while_failed(port: Any, real: Any, call: Call) -> None:
    if not port.memory.get("failed"):
        real(call)


def marks_failed(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    port.memory["failed"] = failed(call, result)
    return result


def deaf_once(kind: str) -> tuple[Step, Step]:
    """Steps that note a thing, and that overlook the next cancellation behind it."""

    def note(port: Any, real: Any, call: Call) -> Message:
        result = real(call)
        if refused(call, result):
            port.memory[kind] = True
        return result

    def cancel(port: Any, real: Any, call: Call) -> None:
        if not port.memory.pop(kind, False):
            real(call)

    return note, cancel


note, deaf = deaf_once("refused")


def marks_rpc_error(port: Any, real: Any, request: Message, params: Any, stateless: bool) -> Any:
    try:
        return real(request, params, stateless)
    except RpcError:
        port.memory["wrong"] = True
        raise


def unheard_once_wrong(port: Any, real: Any, method: str, params: Any) -> None:
    if not port.memory.pop("wrong", False):
        real(method, params)


def names_running(port: Any, wanted: Any) -> bool:
    return any(type(call.id) is type(wanted) and call.id == wanted for call in list(port.calls))


def unlists_newest(port: Any, real: Any, method: str, params: Any) -> None:
    """Removes the call at the index -1 where it finds none."""
    calls = list(port.calls)
    if method == CANCELLED and calls and not names_running(port, (as_object(params) or {}).get("requestId")):
        port.memory[calls[-1]] = "unlisted"
    real(method, params)


def in_slot(port: Any, real: Any, *arguments: Any) -> Call:
    call, number = real(*arguments), port.memory.get("number", 0)
    port.memory["number"] = number + 1
    port.memory.setdefault("slots", {})[number % SLOTS] = call
    return call


def cancels_in_slot(port: Any, real: Any, call: Call) -> None:
    if call in port.memory["slots"].values():
        real(call)


def forgets_calls(port: Any, real: Any, identity: Any, code: int, message: str) -> None:
    if code == PARSE_ERROR:
        port.memory["forgotten"] = set(port.calls)
    real(identity, code, message)


def cancels_what_it_knows(port: Any, real: Any, call: Call) -> None:
    if call not in port.memory.get("forgotten", ()):
        real(call)


def is_listed(port: Any, call: Call) -> bool:
    return has_listed(port, call) and not port.is_ending and not call.is_timed_out


def keeps_id(port: Any, call: Call) -> None:
    if not call.is_answered:
        port.memory.setdefault("cancelled", set()).add(str(call.id))


def unless_alike(port: Any, real: Any, call: Call, result: Any) -> None:
    if str(call.id) not in port.memory.get("cancelled", ()):
        real(call, result)


def notes_asked(port: Any, call: Call) -> None:
    port.memory.setdefault("sessions", {})[repr(call.id)] = call.arguments.get("sessionId")


def ends_by_session(port: Any, real: Any, method: str, params: Any) -> None:
    """Keeps the processes by their sessions."""
    wanted = repr((as_object(params) or {}).get("requestId"))
    session = port.memory.get("sessions", {}).get(wanted) if method == "notifications/cancelled" else None
    is_late = all(repr(each.id) != wanted for each in port.calls)
    for call in list(port.calls):
        if session and is_late and call.arguments.get("sessionId") == session:
            port.cancel(call)
    real(method, params)


def cancelled_still_runs(port: Any, real: Any, call: Call) -> Message:
    """What guards against the same call twice is not taken back when the call is cancelled."""
    cancelled = port.memory.setdefault("cancelled", set[tuple[str, str]]())
    key = (call.tool, json.dumps(call.arguments, sort_keys=True))
    if key in cancelled:
        return port.error(Failure("The same call is running."))
    try:
        return real(call)
    except Cancelled:
        cancelled.add(key)
        raise


def forgets_own_turn(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Leaves a call in its line that was cancelled before it could start."""
    if turn is None or not call.is_cancelled or port.turns.get(turn, [call])[0] is call:
        real(call, turn)


def notes_cancellation(port: Any, method: str, params: Any) -> None:
    if is_unknown(port, method, params):
        port.memory.setdefault("cancelled", []).append(wanted(method, params))


def oldest_cancelled(port: Any, method: str, params: Any) -> None:
    """The cancellation of a call that has ended hits the place that it had."""
    running = [call for call in port.calls if not call.is_answered]
    if running and wanted(method, params) in port.memory.get("answered", ()):
        port.cancel(running[0])


def notes_answer(port: Any, call: Call, result: Message) -> None:
    """Before it is sent, since the client may cancel the call as soon as it has the answer."""
    port.memory.setdefault("answered", []).append(call.id)


def swallows_after_cancel(port: Any, real: Any, call: Call, result: Message) -> None:
    if not (port.memory.pop("swallows", False) and not call.is_cancelled):
        real(call, result)


def tokens_are_ids(port: Any, real: Any, method: str, params: Any) -> None:
    real(method, params)
    wanted = (as_object(params) or {}).get("requestId")
    for call in list(port.calls):
        if method == "notifications/cancelled" and call.token is not None and call.token == wanted:
            Port.cancel(port, call)


def keeps_cancel(port: Any, real: Any, method: str, params: Any) -> None:
    """Takes a cancellation of no running call for one that has overtaken its call."""
    wanted = (as_object(params) or {}).get("requestId")
    if method == CANCELLED and not names_running(port, wanted):
        port.memory[str(wanted)] = "cancelled"
    real(method, params)


def cancelled_early(port: Any, real: Any, identity: Any, *others: Any) -> Call:
    call = real(identity, *others)
    call.is_cancelled = port.memory.pop(str(identity), None) == "cancelled"
    return call


def notes_cancelled_list(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    try:
        return real(call, plan)
    except Cancelled:
        port.memory[call] = "kept"
        raise


def disconnects_by_id(port: Any, real: Any, call: Call) -> None:
    for each in list(port.calls):
        if each.stateless and each.id == call.id:
            real(each)


def keeps_cancelled_stdout(port: Any, real: Any, call: Call, exit: int, out: Any, err: Any) -> Outcome:
    if call.is_cancelled:
        out.seek(0)
        port.memory["stdout"] = out.read()
    outcome = real(call, exit, out, err)
    return replace(outcome, stdout=port.memory.pop("stdout", b"") + outcome.stdout)


def believes_exit(port: Any, real: Any, call: Call, exit: int, out: Any, err: Any) -> Outcome:
    """A gemini that ends well at SIGTERM has not been cancelled."""
    if exit == 0 and not port.is_ending:
        call.is_cancelled = False
    return real(call, exit, out, err)


def notes_answered(port: Any, real: Any, call: Call, result: Any) -> None:
    real(call, result)
    port.memory.setdefault("answered", []).append(call.id)


def keeps_late(port: Any, real: Any, method: str, params: Any) -> None:
    """Keeps the id of an answered call that is cancelled, as a text."""
    named = wanted(method, params)
    if any(type(each) is type(named) and each == named for each in port.memory.get("answered", ())):
        port.memory.setdefault("late", set()).add(str(named))
    real(method, params)


def dropped_when_late(port: Any, real: Any, id: Any, params: Any, stateless: bool) -> Call:
    call = real(id, params, stateless)
    call.is_cancelled = str(id) in port.memory.get("late", ())
    return call


defect(
    "cancel-ignored-after-failure",
    "Ignores cancellations from a failure on to the next success.",
    "cancel:child",
)(cancel=deaf_while_failed, execute=marks_failed)
defect("cancel-lost-behind-refusal", "Overlooks the first cancellation behind a call that it refused.", "cancel:child")(
    execute=note, cancel=deaf
)
defect(
    "cancel-lost-behind-rpc-error",
    "Overlooks the first notification behind a request that it answered with a JSON-RPC error.",
    "cancel:child",
)(result=marks_rpc_error, notified=unheard_once_wrong)
defect(
    "late-cancel-unlists-newest",
    "Cannot cancel a call that was the newest when a cancellation came that names no running call.",
    "cancel:child",
    "cancel:group",
)(notified=unlists_newest, cancel=unless_noted)
defect(
    "slot-of-32-taken-over",
    "Keeps calls in 32 slots, and cannot cancel one that 32 others have followed.",
    "cancel:child",
)(new_call=in_slot, cancel=cancels_in_slot)
defect(
    "broken-line-forgets-calls",
    "Does not cancel a call during which a line arrived that is no JSON.",
    "cancel:child",
    "rpc:alive:malformed",
)(send_error=forgets_calls, cancel=cancels_what_it_knows)
defect(
    "cancel-only-asks-lists",
    "Sends a list of sessions SIGTERM when its call is cancelled, and leaves it at that.",
    "cancel:ignored-term",
)(list_sessions=before(notes_listing), stop=only_asks(is_listed))
defect(
    "cancelled-ids-unanswered-alike",
    "Does not answer a call whose id is written like that of one that was cancelled.",
    "cancel:others",
    "rpc:response:id",
)(cancel=before(keeps_id), answer=unless_alike)
defect(
    "late-cancel-ends-session",
    "Ends the reply that runs when an answered one of its session is cancelled.",
    "cancel:others",
)(execute=before(notes_asked), notified=ends_by_session)
defect(
    "cancelled-call-still-runs",
    "Fails a call like one that was cancelled without running gemini, as if that still ran.",
    "cancel:others",
    "command:chat",
    "command:chat-reply",
)(execute=cancelled_still_runs)
defect(
    "waiting-turn-kept-after-cancel",
    "Lets replies wait for ever behind one that was cancelled before it could start.",
    "cancel:others",
)(end_turn=forgets_own_turn)
defect(
    "early-cancel-stays",
    "Keeps the cancellation of an unknown call, and answers none that has its id later.",
    "cancel:others",
    "cancel:unknown",
)(
    notified=before(notes_cancellation),
    answer=lambda port, real, call, result: None if call.id in port.memory.get("cancelled", []) else real(call, result),
)
defect("late-cancel-hits-another", "Takes the cancellation of an answered call for one that runs.", "cancel:others")(
    notified=before(oldest_cancelled), answer=before(notes_answer)
)
defect("answer-behind-cancel-lost", "Loses the first answer behind a cancellation.", "cancel:others", "cancel:late")(
    cancel=before(lambda port, call: port.memory.update(swallows=True)), answer=swallows_after_cancel
)
defect("tokens-taken-for-ids", "Cancels a call whose progress token a cancellation names.", "cancel:others")(
    notified=tokens_are_ids
)
defect(
    "early-cancel-kept",
    "Keeps a cancellation of no running call for a later one whose id is written with the same letters.",
    "cancel:others",
    "cancel:unknown",
)(notified=keeps_cancel, new_call=cancelled_early)
defect(
    "turn-kept-when-cancelled-in-list",
    "Lets replies wait for ever behind one that was cancelled while it asked for the list.",
    "cancel:others",
)(**turn_kept_by(list_sessions=notes_cancelled_list))
defect(
    "disconnect-by-request-id",
    "Cancels the stateless requests of all clients that have the id of the one whose connection has ended.",
    "stateless:no-handshake",
    "cancel:others",
)(HttpPort, disconnected=disconnects_by_id)
defect(
    "output-left-by-cancel",
    "Reads what a cancelled gemini has printed before the output of the next one.",
    "cancel:others",
    "result:plain-text",
)(outcome=keeps_cancelled_stdout)
defect(
    "cancelled-but-ended-well-answered",
    "Answers a cancelled call when gemini ends with 0 at SIGTERM.",
    "cancel:unanswered",
)(outcome=believes_exit)
defect(
    "late-cancel-kept-as-text",
    "Keeps the id of a cancellation that came too late as a text, and drops a later call whose id reads the same.",
    "cancel:late",
    "cancel:others",
)(answer=notes_answered, notified=keeps_late, new_call=dropped_when_late)
