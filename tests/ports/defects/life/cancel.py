"""Cancellations that are too mild, too late or answered: ports that break `cancel`."""

import os
import signal
from contextlib import suppress
from typing import Any

from conditions import has_listed, noted_alone, notes_listing, wanted
from defects.life.shared import has_printed, leader_only, never_kills, notes_output, size_of
from defects.record import defect
from defects.shared import cancelled_answered, is_unknown, members, only_asks, spares_group, stops_leader
from running import GRACE, LIST, Call
from speaking import INVALID_REQUEST, as_object
from steps import after, before

REQUEST_CANCELLED = -32800


def needs_true_id(port: Any, real: Any, method: str, params: Any) -> None:
    if method != "notifications/cancelled" or (as_object(params) or {}).get("requestId"):
        real(method, params)


def content_with_leader(port: Any, real: Any, call: Call) -> None:
    process = call.process
    if process is None:
        return
    port.signal_group(process.pid, signal.SIGTERM)
    if not call.ended.wait(GRACE):
        port.signal_group(process.pid, signal.SIGKILL)


def group_spared(port: Any, real: Any, call: Call, process: Any) -> int:
    """Waits for the leader, and does nothing about what outlives it."""
    exit = process.wait()
    call.ended.set()
    with call.lock:
        call.process, call.deadline = None, None
    return exit


def third_spares_group(port: Any, real: Any, call: Call) -> None:
    port.memory["cancelled"] = number = port.memory.get("cancelled", 0) + 1
    if number == 3 and (process := call.process) is not None:
        port.memory["spared"] = call
        call.is_cancelled = True
        process.terminate()
    else:
        real(call)


def group_of_third_spared(port: Any, real: Any, call: Call, process: Any) -> int:
    process.wait()
    return group_spared(port, real, call, process) if call is port.memory.get("spared") else real(call, process)


def kills_members_asked(port: Any, real: Any, leader: int, number: signal.Signals) -> None:
    """Kills whom it has asked; what has been started since is not among them."""
    if number == signal.SIGTERM:
        port.memory[leader] = list(members(leader))
        real(leader, number)
        return
    for each in port.memory.get(leader, ()):
        with suppress(ProcessLookupError):
            os.kill(each, number)


def notes_list(port: Any, real: Any, call: Call, argv: tuple[str, ...], *others: Any) -> Any:
    process = real(call, argv, *others)
    if LIST in argv:
        port.memory[process.pid] = LIST
    return process


def kills_unless_asked_again(port: Any, real: Any, call: Call) -> None:
    """The second request to stop replaces the timer of the first, and starts none."""
    count = port.memory[call] = port.memory.get(call, 0) + 1
    if count > 1 and not port.is_ending:
        return
    process = call.process
    if process is not None:
        port.signal_group(process.pid, signal.SIGTERM)
        call.ended.wait(GRACE)
        if port.memory[call] == 1 or port.is_ending:
            port.signal_group(process.pid, signal.SIGKILL)


def kills_latest(port: Any, real: Any, call: Call) -> None:
    """One clock for all: a call that is stopped sets it anew for the one before."""
    port.memory["stopped"] = call
    process = call.process
    if process is None:
        return
    port.signal_group(process.pid, signal.SIGTERM)
    call.ended.wait(GRACE)
    if port.memory["stopped"] is call:
        port.signal_group(process.pid, signal.SIGKILL)


def begins_grace_anew(port: Any, real: Any, call: Call) -> None:
    """A second wish to end a process takes the place of the first, and asks no more than that one."""
    stops = port.memory.setdefault("stops", dict[Call, int]())
    stops[call] = number = stops.get(call, 0) + 1
    process = call.process
    if process is None or number > 1:
        return
    port.signal_group(process.pid, signal.SIGTERM)
    call.ended.wait(GRACE)
    if stops[call] == number:
        port.signal_group(process.pid, signal.SIGKILL)


def kills_the_silent(port: Any, real: Any, call: Call) -> None:
    """A gemini that prints is taken for one that cleans up."""
    process, size = call.process, -1
    if process is None or port.is_ending:
        real(call)
        return
    port.signal_group(process.pid, signal.SIGTERM)
    while not call.ended.wait(GRACE) and size != (now := size_of(port.memory[call])):
        size = now
    port.signal_group(process.pid, signal.SIGKILL)


def one_timer(port: Any, real: Any, call: Call) -> None:
    process = call.process
    if port.is_ending or process is None:
        real(call)
        return
    port.memory["latest"] = call
    port.signal_group(process.pid, signal.SIGTERM)
    call.ended.wait(GRACE)
    if port.memory["latest"] is call:
        port.signal_group(process.pid, signal.SIGKILL)


def deaf_after_unknown(port: Any, method: str, params: Any) -> None:
    port.memory["is_deaf"] = port.memory.get("is_deaf") or is_unknown(port, method, params)


def objects_to_second(port: Any, method: str, params: Any) -> None:
    for call in list(port.calls):
        if call.is_cancelled and call.id == wanted(method, params):
            port.send_error(call.id, INVALID_REQUEST, "The call is cancelled already.")


def cancels_prompt_only(port: Any, real: Any, call: Call) -> None:
    if not has_listed(port, call):
        real(call)


def answers_second(port: Any, real: Any, call: Call) -> None:
    if call.is_cancelled:
        port.send_error(call.id, REQUEST_CANCELLED, "The request is cancelled already.")
    real(call)


def answers_unknown(port: Any, method: str, params: Any) -> None:
    if is_unknown(port, method, params):
        port.send_error(None, -32602, "The request is unknown.")


def spares_orphans(port: Any, real: Any, leader: int, number: signal.Signals) -> None:
    """Signals gemini and what still hangs below it when it is first signalled."""
    every = members(leader)
    orphans = {pid for pid, parent in every.items() if pid != leader and parent not in every}
    spared = port.memory.setdefault(leader, orphans)
    for pid in every.keys() - spared:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


defect("cancel-of-zero-overlooked", "Takes the ids 0 and '' of a cancellation for none.", "cancel:falsy-id")(
    notified=needs_true_id
)
defect("cancel-ends-leader-only", "Ends gemini but not what gemini started.", "cancel:group")(
    signal_group=leader_only(lambda port: not port.is_ending)
)
defect(
    "content-with-end-of-leader",
    "Sends no SIGKILL to what gemini has started when gemini itself ends at SIGTERM.",
    "cancel:group",
)(stop=content_with_leader, wait=group_spared)
defect("third-cancel-spares-group", "Ends gemini alone at the third cancellation.", "cancel:group")(
    cancel=third_spares_group, wait=group_of_third_spared
)
defect(
    "late-members-spared",
    "Kills only those processes of a cancelled call's group that it has asked to end.",
    "cancel:group",
)(signal_group=kills_members_asked)
defect(
    "children-of-list-spared",
    "Ends the list of sessions of a cancelled call, but not what the list started.",
    "cancel:group",
)(list_sessions=before(notes_listing), stop=stops_leader(has_listed), signal_group=spares_group)
defect(
    "list-ended-alone",
    "Ends the process that lists the sessions without the rest of its group, when a call or the port is ended.",
    "cancel:group",
    "shutdown:stdin-end:group",
)(begin=notes_list, signal_group=noted_alone)
defect("cancel-only-asks", "Sends SIGTERM and leaves it at that.", "cancel:ignored-term")(
    signal_group=never_kills(lambda port: not port.is_ending)
)
defect(
    "cancelled-twice-never-killed",
    "Does not kill a gemini that ignores SIGTERM when a second cancellation follows at once.",
    "cancel:ignored-term",
)(stop=kills_unless_asked_again)
defect(
    "kill-clock-shared",
    "Sends SIGKILL to the last alone of several calls that are cancelled at once.",
    "cancel:ignored-term",
)(stop=kills_latest)
defect(
    "second-cancel-spares",
    "Sends no SIGKILL to a call that is cancelled a second time while it ends.",
    "cancel:ignored-term",
)(stop=begins_grace_anew)
defect(
    "printing-gemini-spared",
    "Sends no SIGKILL to a cancelled gemini that still prints something.",
    "cancel:ignored-term",
)(begin=before(notes_output), stop=kills_the_silent)
defect(
    "cancel-only-asks-behind-output",
    "Sends SIGTERM to a gemini that has printed something, and leaves it at that.",
    "cancel:ignored-term",
)(begin=after(notes_output), stop=only_asks(has_printed))
defect(
    "one-timer-for-all-kills",
    "Has one timer that kills: a second cancellation spares the gemini of the first when that ignores SIGTERM.",
    "cancel:ignored-term",
)(stop=one_timer)
defect("deaf-after-late-cancel", "Falls silent when a call is cancelled that it has answered.", "cancel:late")(
    notified=before(deaf_after_unknown),
    dispatch=lambda port, real, message: port.memory.get("is_deaf") or real(message),
)
defect("cancelled-answered", "Answers a call that was cancelled with an error.", "cancel:unanswered")(
    serve_call=cancelled_answered(stateless=False)
)
defect(
    "second-cancel-answered",
    "Answers the second cancellation of a call that is about to end.",
    "cancel:unanswered",
)(notified=before(objects_to_second))
defect(
    "cancellation-ignored-during-list",
    "Ignores the cancellation of a call that asks for the list of sessions.",
    "cancel:child",
    "cancel:unanswered",
)(cancel=cancels_prompt_only, list_sessions=before(notes_listing))
defect(
    "cancelled-twice-answered",
    "Answers a call with an error when a second cancellation comes before its gemini has ended.",
    "cancel:unanswered",
)(cancel=answers_second)
defect("unknown-cancel-answered", "Answers the cancellation of an unknown call with an error.", "cancel:unknown")(
    notified=before(answers_unknown)
)
defect(
    "orphans-spared",
    "Ends gemini and the processes below it, but not one of its group whose parent has ended.",
    "cancel:group",
    "shutdown:stdin-end:group",
    "shutdown:sigterm:group",
)(signal_group=spares_orphans)
