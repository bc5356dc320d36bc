"""Defects in cancelling calls."""

import signal
import threading
from collections.abc import Callable
from typing import Any

from answering import Failure
from conditions import signals_one, wanted
from defects.record import defect
from port import Port
from running import GRACE, Call
from speaking import as_object
from steps import Step, after, always, before, for_tool, only

CANCELLABLE = 8
PLACES = threading.Semaphore(17)


def leader_only(when: Callable[[Port], bool]) -> Step:
    """Signals gemini but not what gemini started, in this state of the port."""

    def signal_group(port: Any, real: Any, leader: int, number: signal.Signals) -> None:
        (signals_one if when(port) else real)(leader, number)

    return signal_group


def never_kills(when: Callable[[Port], bool]) -> Step:
    """Sends SIGTERM and leaves it at that, in this state of the port."""

    def signal_group(port: Any, real: Any, leader: int, number: signal.Signals) -> None:
        if number == signal.SIGTERM or not when(port):
            real(leader, number)

    return signal_group


def only_asks(test: Callable[[Port, Call], bool]) -> Step:
    """Of `stop`: sends SIGTERM and leaves it at that, for the calls of which `test` holds."""

    def stop(port: Any, real: Any, call: Call) -> None:
        process = call.process
        if process is not None and test(port, call):
            port.signal_group(process.pid, signal.SIGTERM)
        else:
            real(call)

    return stop


def stops_leader(test: Callable[[Port, Call], bool]) -> Step:
    """Of `stop`: ends gemini but not what it has started, for the calls of which `test` holds."""

    def stop(port: Any, real: Any, call: Call) -> None:
        process = call.process
        if process is None or not test(port, call):
            real(call)
            return
        port.memory.setdefault("spared", set[int]()).add(process.pid)
        process.terminate()
        if not call.ended.wait(GRACE):
            process.kill()

    return stop


def spares_group(port: Any, real: Any, leader: int, number: signal.Signals) -> None:
    """Signals no group whose leader is remembered as `spared`."""
    if leader not in port.memory.get("spared", ()):
        real(leader, number)


def cancelled_answered(stateless: bool) -> Step:
    """Answers the cancelled calls of one era."""

    def answer(port: Any, call: Call) -> None:
        if call.is_cancelled and not port.is_ending and call.stateless == stateless:
            port.send_result(call.id, port.finished(port.error(Failure("The call was cancelled.")), stateless))

    return after(answer)


def only_silences(port: Any, real: Any, call: Call) -> None:
    with port.output:
        call.is_answered = True


def cancels_all(port: Any, call: Call) -> None:
    for each in set(port.calls) - {call}:
        port.end(each)


def compares_text(port: Any, real: Any, method: str, params: Any) -> None:
    for call in list(port.calls):
        if str(call.id) == str(wanted(method, params)):
            port.cancel(call)


def is_unknown(port: Any, method: str, params: Any) -> bool:
    """Whether the notification cancels a call that does not run."""
    return method == "notifications/cancelled" and wanted(method, params) not in [call.id for call in port.calls]


def answers_unknown(port: Any, method: str, params: Any) -> None:
    if is_unknown(port, method, params):
        port.send_error(None, -32602, "The request is unknown.")


def deaf_after_unknown(port: Any, method: str, params: Any) -> None:
    port.memory["is_deaf"] = port.memory.get("is_deaf") or is_unknown(port, method, params)


def only_the_newest(port: Any, real: Any, call: Call) -> None:
    if call in port.calls[-CANCELLABLE:]:
        real(call)


def in_a_place(port: Any, real: Any, call: Call) -> Any:
    """What is raised leaves the place taken."""
    PLACES.acquire()
    result = real(call)
    PLACES.release()
    return result


def all_of_none(port: Any, method: str, params: Any) -> None:
    if method == "notifications/cancelled" and (as_object(params) or {}).get("requestId") is None:
        for call in list(port.calls):
            port.cancel(call)


def first_behind(port: Any, call: Call) -> None:
    with port.turn_changed:
        for line in port.turns.values():
            if call in line[1:]:
                at = line.index(call)
                line[:] = line[at:] + line[:at]


defect("cancel-ignored", "Ignores cancellations.", "cancel:child")(cancel=always(None))
defect("cancel-silences-only", "Lets gemini run on, and only keeps the answer to itself.", "cancel:child")(
    cancel=only_silences, answer=only(lambda call, result: not call.is_answered)
)
defect("cancel-knows-numbers-only", "Finds no call whose id is a string.", "cancel:child")(
    cancel=only(lambda call: not isinstance(call.id, str))
)
defect("replies-uncancellable", "Does not cancel replies.", "cancel:child")(cancel=for_tool("chat-reply", always(None)))
defect("cancel-spares-lists", "Lets a list of sessions run on.", "cancel:child")(
    list_sessions=lambda port, real, call, plan: real(Call(call.id, call.tool, call.arguments), plan)
)
defect("cancel-ends-leader-only", "Ends gemini but not what gemini started.", "cancel:group")(
    signal_group=leader_only(lambda port: not port.is_ending)
)
defect("cancel-only-asks", "Sends SIGTERM and leaves it at that.", "cancel:ignored-term")(
    signal_group=never_kills(lambda port: not port.is_ending)
)
defect("cancelled-answered", "Answers a call that was cancelled with an error.", "cancel:unanswered")(
    serve_call=cancelled_answered(stateless=False)
)
defect("cancel-ends-all", "Ends every call when one is cancelled.", "cancel:others")(cancel=before(cancels_all))
defect("cancel-compares-text", 'Takes the id 7 and the id "7" for the same.', "cancel:others")(notified=compares_text)
defect("cancelled-reply-keeps-turn", "Lets the replies behind one that was cancelled wait for ever.", "cancel:others")(
    end_turn=only(lambda call, turn: not call.is_cancelled)
)
defect("unknown-cancel-answered", "Answers the cancellation of an unknown call with an error.", "cancel:unknown")(
    notified=before(answers_unknown)
)
defect("deaf-after-late-cancel", "Falls silent when a call is cancelled that it has answered.", "cancel:late")(
    notified=before(deaf_after_unknown),
    dispatch=lambda port, real, message: port.memory.get("is_deaf") or real(message),
)
defect("eight-can-be-cancelled", "Finds only the eight newest calls when one is cancelled.", "cancel:child")(
    cancel=only_the_newest
)
defect(
    "cancelled-keep-their-places", "Serves no more than 17 calls at a time, and counts cancelled ones.", "cancel:others"
)(execute=in_a_place)
defect("cancel-of-none-ends-all", "Cancels every call when a cancellation names none.", "cancel:others")(
    notified=before(all_of_none)
)
defect(
    "cancel-in-escapes-overlooked",
    "Overlooks a cancellation that writes the id in escapes.",
    "cancel:child",
)(receive=lambda port, real, line: None if b"/cancelled" in line and b"\\u" in line else real(line))
defect(
    "cancelled-waiter-lets-next-begin",
    "Begins the reply behind one that is cancelled while both wait for another.",
    "concurrency:same-session",
)(cancel=before(first_behind))
