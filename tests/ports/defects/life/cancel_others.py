"""Cancellations that meet the wrong call: ports that break `cancel:others`."""

import re
import threading
from collections.abc import Mapping
from typing import Any
from unicodedata import normalize

from conditions import cancels_alike, refused, wanted
from defects.life.shared import ends_siblings
from defects.record import defect
from port import Port
from running import Call
from speaking import as_object
from steps import Change, Step, before, only

PLACES = threading.Semaphore(32)
NUMERIC = re.compile(r"\s*[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*")
KEY_LENGTH = 64


def cancels_all(port: Any, call: Call) -> None:
    for each in set(port.calls) - {call}:
        port.end(each)


def compares_text(port: Any, real: Any, method: str, params: Any) -> None:
    for call in list(port.calls):
        if str(call.id) == str(wanted(method, params)):
            port.cancel(call)


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


def sweeps_line(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Removes the cancelled from the list that it goes through, and so passes over every second in a row."""
    with port.turn_changed:
        line = port.turns.get(turn or "", [])
        if line[:1] != [call]:
            return
        line.remove(call)
        for each in line:
            if each.is_cancelled:
                line.remove(each)
        port.turn_changed.notify_all()


def ends_alike(key: Change) -> Step:
    """Of `cancel`: cancels the calls too that are like this one."""

    def cancel(port: Any, real: Any, call: Call) -> None:
        for other in list(port.calls):
            if other is not call and key(other) and key(other) == key(call):
                Port.cancel(port, other)
        real(call)

    return cancel


def keeps_cancellation(port: Any, real: Any, method: str, params: Any) -> None:
    named = wanted(method, params)
    is_known = any(call.id == named for call in list(port.calls))
    if isinstance(named, str) and named.isdecimal() and not is_known:
        port.memory.setdefault("early", set[int]()).add(int(named))
    real(method, params)


def drops_cancelled(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Any:
    if identity in port.memory.get("early", ()):
        port.memory["early"].remove(identity)
        return None
    return real(identity, params, stateless)


def cancels_newest(port: Any, real: Any, method: str, params: Any) -> None:
    """An unknown id is taken for that of the newest call."""
    wanted = (as_object(params) or {}).get("requestId")
    if method == "notifications/cancelled" and port.calls and all(call.id != wanted for call in port.calls):
        port.cancel(port.calls[-1])
    real(method, params)


def cancels_directories(port: Any, real: Any, call: Call) -> None:
    """Cancels with a reply in a directory all others that name one."""
    real(call)
    session = call.arguments.get("sessionId")
    for other in list(port.calls):
        if other is not call and session and other.arguments.get("cwd") and call.arguments.get("cwd"):
            Port.cancel(port, other)


def are_equal_numbers(one: str, other: str) -> bool:
    return all(map(NUMERIC.fullmatch, (one, other))) and float(one) == float(other)


def clears_line(port: Any, call: Call) -> None:
    for line in list(port.turns.values()):
        if call in line[1:]:
            for other in line[1:]:
                port.end(other)


def third_in_line_overlooked(port: Any, real: Any, call: Call) -> None:
    if not any(call in line[2:] for line in list(port.turns.values())):
        real(call)


def follows_cancelled(port: Any, real: Any, call: Call, turn: str) -> None:
    line = port.turns[turn]
    previous = line[-2] if len(line) > 2 else None
    real(call, turn)
    if previous and previous.is_cancelled:
        call.is_cancelled = True


defect("cancel-ends-all", "Ends every call when one is cancelled.", "cancel:others")(cancel=before(cancels_all))
defect("cancel-compares-text", 'Takes the id 7 and the id "7" for the same.', "cancel:others")(notified=compares_text)
defect("cancelled-reply-keeps-turn", "Lets the replies behind one that was cancelled wait for ever.", "cancel:others")(
    end_turn=only(lambda call, turn: not call.is_cancelled)
)
defect(
    "cancelled-keep-their-places", "Serves no more than 32 calls at a time, and counts cancelled ones.", "cancel:others"
)(execute=in_a_place)
defect("cancel-of-none-ends-all", "Cancels every call when a cancellation names none.", "cancel:others")(
    notified=before(all_of_none)
)
defect(
    "two-cancelled-in-line",
    "Lets replies wait for ever behind two in a row that were cancelled while they waited.",
    "cancel:others",
    "concurrency:after-failure",
)(end_turn=sweeps_line)
defect("cancel-ends-same-model", "Cancels every call with the same model.", "cancel:others")(
    cancel=ends_alike(lambda call: call.arguments.get("model"))
)
defect("cancel-ends-same-system-prompt", "Cancels every call with the same system prompt.", "cancel:others")(
    cancel=ends_alike(lambda call: call.arguments.get("systemPrompt"))
)
defect("cancel-ends-same-prompt", "Cancels every call with the same prompt.", "cancel:others")(
    cancel=ends_alike(lambda call: call.arguments.get("prompt"))
)
defect("cancel-ends-same-token", "Cancels every call whose progress token reads the same.", "cancel:others")(
    cancel=ends_alike(lambda call: str(call.token) if call.token is not None else None)
)
defect(
    "early-cancellation-in-digits-kept",
    "Keeps a cancellation for an unknown text of digits, and drops the later call whose id is that number.",
    "cancel:others",
    "cancel:unknown",
)(notified=keeps_cancellation, begin_call=drops_cancelled)
defect(
    "cancels-id-in-other-composition",
    "Cancels also a call whose id is the same text in another Unicode composition.",
    "cancel:others",
)(notified=cancels_alike(lambda one, other: normalize("NFC", one) == normalize("NFC", other)))
defect("refusal-ends-siblings", "Ends the calls that run beside one that it refuses.", "cancel:others")(
    execute=ends_siblings(refused)
)
defect(
    "unknown-cancel-hits-newest", "Cancels the newest call when the id is unknown.", "cancel:others", "cancel:unknown"
)(notified=cancels_newest)
defect(
    "cancel-ends-named-directories",
    "Cancels all calls that name a directory with a reply by id that does.",
    "cancel:others",
)(cancel=cancels_directories)
defect(
    "cancel-equal-numeric-text",
    'Cancels the call "7" when the cancelled id is another text that is the same number, such as "007".',
    "cancel:others",
    "cancel:unknown",
)(notified=cancels_alike(are_equal_numbers))
defect(
    "cancel-clears-line",
    "Cancels all replies that wait in a line when one of them is cancelled.",
    "cancel:others",
)(cancel=before(clears_line))
defect(
    "cancel-of-third-in-line-overlooked",
    "Cancels the first of the replies that wait in a line, and no other of them.",
    "cancel:others",
    "cancel:child",
)(cancel=third_in_line_overlooked)
defect(
    "id-known-by-64-characters",
    "Cancels every call whose id has the same first 64 characters.",
    "cancel:others",
)(notified=cancels_alike(lambda one, other: one[:KEY_LENGTH] == other[:KEY_LENGTH]))
defect(
    "reply-behind-cancelled-dropped",
    "Drops a reply that came behind two others in its line when the one before it is cancelled.",
    "cancel:others",
)(await_turn=follows_cancelled)
