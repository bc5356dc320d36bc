"""Defects that need a second circumstance: a call beside the call, something said before, a count that is reached."""

import os
import re
import signal
import time
import unicodedata
from typing import Any

from conditions import cancels_alike
from defects.record import defect
from port import PROGRESS_SECONDS, Stop
from running import Call
from speaking import Message

INVALID_LIMIT = 12
NUMERIC = re.compile(r"\s*[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*")


def keeps_line(port: Any, real: Any, call: Call, turn: str) -> None:
    port.memory[call] = port.turns[turn]
    real(call, turn)


def leaves_line(port: Any, real: Any, call: Call, turn: str | None) -> None:
    with port.turn_changed:
        line = port.memory.pop(call, [])
        if call in line:
            line.remove(call)
        port.turn_changed.notify_all()


def leaves_and_forgets(port: Any, real: Any, call: Call, turn: str | None) -> None:
    with port.turn_changed:
        port.turns.pop(turn, None)
    leaves_line(port, real, call, turn)


def are_equal_numbers(one: str, other: str) -> bool:
    return all(map(NUMERIC.fullmatch, (one, other))) and float(one) == float(other)


def quits_at_interrupt(port: Any, real: Any, number: int, frame: Any) -> None:
    if port.is_ending and number == signal.SIGINT:
        os._exit(130)
    real(number, frame)


def token_of_32_bits(port: Any, real: Any, call: Call) -> Message:
    message = real(call)
    if isinstance(call.token, int) and call.progress > 1:
        message["params"]["progressToken"] = (call.token + 2**31) % 2**32 - 2**31
    return message


def counts_for_ticker(port: Any, real: Any, call: Call) -> None:
    """One ticker for all calls that want one; an error is counted where it is caught and again at the end."""
    wants = call.token is not None
    port.memory["wanting"] = port.memory.get("wanting", 0) + wants
    real(call)
    ended = 2 if port.memory.pop(call, False) else 1
    port.memory["wanting"] = max(0, port.memory["wanting"] - (ended if wants else 0))


def notes_error(port: Any, real: Any, call: Call, result: Message) -> None:
    port.memory[call] = result.get("isError", False)
    real(call, result)


def reports_while_counted(port: Any, real: Any, call: Call) -> None:
    if call.progress and not port.memory["wanting"]:
        call.next_progress = time.monotonic() + PROGRESS_SECONDS
    else:
        real(call)


def lists_and_keeps_token(port: Any, real: Any, params: Any, stateless: bool) -> Message:
    if stateless:
        token = params["_meta"].get("progressToken")
        port.memory["token"] = token if port.is_id(token) else None
    return real(params, stateless)


def token_or_kept(port: Any, real: Any, params: Any) -> Any:
    token = real(params)
    return port.memory.get("token") if token is None and port.is_stateless(params) else token


def begins_with_equal_id(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> None:
    """Finds a running id that is canonically the same text."""

    def form(text: Any) -> Any:
        return unicodedata.normalize("NFC", text) if isinstance(text, str) else None

    same = [each.id for each in port.calls if isinstance(each.id, str) and form(each.id) == form(identity)]
    real(same[0] if same else identity, params, stateless)


def gives_up(port: Any, real: Any, message: Any) -> None:
    real(message)
    port.memory["invalid"] = 0 if port.is_valid(message) else port.memory.get("invalid", 0) + 1
    if port.memory["invalid"] >= INVALID_LIMIT:
        raise Stop


defect(
    "line-forgotten-behind-waiter",
    "Forgets the line of a session when one reply leaves it, so a newcomer does not wait for one that waited.",
    "concurrency:same-session",
)(await_turn=keeps_line, end_turn=leaves_and_forgets)
defect(
    "cancel-equal-numeric-text",
    'Cancels the call "7" when the cancelled id is another text that is the same number, such as "007".',
    "cancel:others",
    "cancel:unknown",
)(notified=cancels_alike(are_equal_numbers))
defect(
    "interrupt-while-closing",
    "Exits at once at a SIGINT that follows the end of stdin, before a gemini that ignores SIGTERM is killed.",
    "shutdown:stdin-end:ignored-term",
)(on_signal=quits_at_interrupt)
defect(
    "token-wraps-later",
    "Cuts a number as token to 32 bits in every progress notification of a call but the first.",
    "progress:token",
)(progress=token_of_32_bits)
defect(
    "ticker-counted-out",
    "Tells no more progress of a running call when another one with a token has failed beside it.",
    "progress:interval",
)(serve_call=counts_for_ticker, answer=notes_error, report_progress=reports_while_counted)
defect(
    "token-of-tools-list",
    "Tells progress of a 2026-07-28 call without a token under the token of the last tools/list.",
    "progress:unasked",
    "progress:token",
)(list_tools=lists_and_keeps_token, token=token_or_kept)
defect(
    "id-canonically-same",
    "Answers a call with the id of a running one when both are the same text in composed and decomposed letters.",
    "rpc:response:id",
)(begin_call=begins_with_equal_id)
defect(
    "gives-up-on-invalid",
    "Ends after twelve messages in a row that are no valid requests.",
    "rpc:alive:malformed",
)(dispatch=gives_up)
