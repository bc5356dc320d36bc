"""Defects around calls that show when two things meet, or after something that came before."""

import json
import signal
import threading
import time
from collections.abc import Mapping
from itertools import count
from typing import Any

from answering import Outcome
from conditions import cancels_alike
from defects.record import defect
from planning import Plan, Refusal
from port import META, STATELESS, UNSUPPORTED_VERSION
from running import GRACE, Call, Cancelled
from speaking import Message, RpcError, as_object
from steps import before

KEY_LENGTH = 64
SLOTS = 8
LINES = 8
RING = 16
CANCELLED = -32800


def registers_token(port: Any, call: Call) -> None:
    if call.token is not None and not call.progress:
        port.memory[str(call.token)] = call.token


def registered_token(port: Any, real: Any, call: Call) -> Message:
    message = real(call)
    message["params"]["progressToken"] = port.memory[str(call.token)]
    return message


def rest_of_character(body: bytes) -> bytes:
    """The bytes of a character that the end cuts."""
    for length in (3, 2, 1):
        rest = body[-length:]
        if len(rest) == length and rest[0] >= 0xC2 and all(0x80 <= byte < 0xC0 for byte in rest[1:]):
            return rest if length < 2 + (rest[0] >= 0xE0) + (rest[0] >= 0xF0) else b""
    return b""


def one_decoder(port: Any, real: Any, line: bytes) -> None:
    whole = port.memory.pop("rest", b"") + line
    port.memory["rest"] = rest_of_character(line.rstrip(b"\r\n"))
    real(whole)


def only_greater(port: Any, real: Any, call: Call) -> None:
    key = json.dumps(call.token)
    if call.progress + 1 <= port.memory.get(key, 0):
        call.progress += 1
        call.next_progress = time.monotonic() + 5
        return
    real(call)
    port.memory[key] = call.progress


def answers_cancelled_in_line(port: Any, real: Any, call: Call, turn: str | None) -> None:
    real(call, turn)
    if not (call.stateless and call.is_cancelled and turn):
        return
    line = port.turns[turn]
    with port.turn_changed:
        port.turn_changed.wait_for(lambda: line[0] is call or port.is_ending)
    if not port.is_ending:
        port.send_error(call.id, CANCELLED, "The request was cancelled.")


def notes_refused(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    try:
        real(params)
    except RpcError:
        port.memory["refused"] = True
        raise
    port.memory["refused"] = False


def finished_for_latest(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    return real(result, stateless and not port.memory.get("refused"))


def learns_cursor(port: Any, real: Any, params: Mapping[str, Any], stateless: bool) -> Message:
    cursor = params.get("cursor")
    if isinstance(cursor, str):
        if cursor in port.memory:
            return real({}, stateless)
        port.memory[cursor] = True
    return real(params, stateless)


def slots(port: Any) -> threading.Semaphore:
    return port.memory.setdefault("slots", threading.Semaphore(SLOTS))


def loses_slot(port: Any, real: Any, cwd: str) -> None:
    try:
        real(cwd)
    except Refusal as refusal:
        if "is not a directory" in str(refusal):
            slots(port).acquire(blocking=False)
        raise


def in_slot(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    while not slots(port).acquire(timeout=0.1):
        if call.is_cancelled:
            raise Cancelled
    try:
        return real(call, plan)
    finally:
        slots(port).release()


def few_lines(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    turn = real(tool, texts)
    if turn is None:
        return None
    lines = port.memory.setdefault("lines", {})
    number = lines.setdefault(turn, next(port.memory.setdefault("numbers", count())))
    if len(lines) > LINES:
        del lines[next(iter(lines))]
    return f"{turn} {number}"


def resolved_once(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    if tool != "chat-reply" or port.resumed(texts) != "latest":
        return real(tool, texts)
    return port.memory.setdefault(texts.get("cwd"), real(tool, texts))


def writes_before_turn(port: Any, real: Any, call: Call, turn: str | None) -> None:
    text = call.arguments.get("systemPrompt")
    if not (turn in port.turns and text and text.strip()):
        real(call, turn)
        return
    path = port.write_system(text)
    real(call, turn)
    if not call.is_cancelled or port.is_ending:
        port.remove_system(path, call, None)


def checks_notification(port: Any, real: Any, method: str, params: Any) -> None:
    meta = as_object((as_object(params) or {}).get("_meta")) or {}
    version = meta.get(f"{META}protocolVersion")
    if version is None or version in STATELESS:
        real(method, params)
    else:
        port.send_error(None, UNSUPPORTED_VERSION, "The protocol version is not supported.")


def gives_lists_up(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    hung = port.memory.get(plan.cwd, 0)
    if hung >= 2:
        return None
    listing = real(call, plan)
    port.memory[plan.cwd] = 0 if listing else hung + 1
    return listing


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


def takes_place(port: Any, real: Any, *arguments: Any) -> Call:
    call = real(*arguments)
    place = next(port.memory.setdefault("count", count())) % RING
    port.memory[place], port.memory[call] = call, place
    return call


def answers_from_place(port: Any, real: Any, call: Call, result: Message) -> None:
    if port.memory[port.memory.pop(call)] is call:
        real(call, result)
    else:
        call.is_answered = True


def follows_cancelled(port: Any, real: Any, call: Call, turn: str) -> None:
    line = port.turns[turn]
    previous = line[-2] if len(line) > 2 else None
    real(call, turn)
    if previous and previous.is_cancelled:
        call.is_cancelled = True


defect(
    "twin-token-taken-over",
    'Knows a progress token by its text: a call with the token `7` goes on with `"7"` when a later call has that.',
    "progress:increase",
    "progress:token",
)(report_progress=before(registers_token), progress=registered_token)
defect(
    "cut-character-before-next-line",
    "Puts the bytes of a character that the end of a line cuts before the next line, which is then no JSON.",
    "rpc:alive:malformed",
)(receive=one_decoder)
defect(
    "id-known-by-64-characters",
    "Cancels every call whose id has the same first 64 characters.",
    "cancel:others",
)(notified=cancels_alike(lambda one, other: one[:KEY_LENGTH] == other[:KEY_LENGTH]))
defect(
    "progress-of-reused-token-held-back",
    "Holds progress back until it is greater than any that an earlier call with the same token has told.",
    "progress:start",
    "progress:interval",
)(report_progress=only_greater)
defect(
    "cancelled-in-line-answered-stateless",
    "Answers a stateless reply that was cancelled in its line with an error when its turn comes.",
    "stateless:cancelled",
    "cancel:unanswered",
)(take_turn=answers_cancelled_in_line)
defect(
    "refused-version-changes-running-call",
    "Finishes a running stateless call like one of the older era when the latest stateless request was refused.",
    "stateless:result-type",
    "stateless:server-info",
)(check_stateless=notes_refused, finished=finished_for_latest)
defect(
    "refused-cursor-accepted-again",
    "Lists the tools for an unknown cursor when it comes for the second time.",
    "tools:cursor",
)(list_tools=learns_cursor)
defect(
    "file-as-cwd-costs-slot",
    "Runs eight gemini at once, and one less for ever after each `cwd` that is no directory.",
    "concurrency:after-failure",
    "concurrency:calls",
    "cwd:file",
)(check_cwd=loses_slot, ask=in_slot)
defect(
    "eight-lines-remembered",
    "Remembers the lines of eight sessions, and forgets the first though a reply in it runs.",
    "concurrency:same-session",
    "concurrency:latest",
)(turn=few_lines)
defect(
    "moved-link-keeps-line",
    "Resolves a directory once for the line of its latest session, and knows nothing of a link that has moved since.",
    "concurrency:other-session",
    "concurrency:latest",
)(turn=resolved_once)
defect(
    "system-file-of-cancelled-in-line",
    "Writes a system prompt before the turn of its reply, and leaves the file when that is cancelled in its line.",
    "system:removed:cancel",
)(take_turn=writes_before_turn)
defect(
    "notification-of-unsupported-version-answered",
    "Answers a notification whose `_meta` names an unsupported protocol version with an error.",
    "rpc:notification:unanswered",
)(notified=checks_notification)
defect(
    "two-hung-lists-end-listing",
    "Asks for no list any more in a directory where two lists in succession have hung.",
    "fallback:latest",
    "fallback:list-sessions",
)(list_sessions=gives_lists_up)
defect(
    "one-timer-for-all-kills",
    "Has one timer that kills: a second cancellation spares the gemini of the first when that ignores SIGTERM.",
    "cancel:ignored-term",
)(stop=one_timer)
defect(
    "sixteen-places-for-calls",
    "Keeps calls in sixteen places, and never answers one that still runs when the sixteenth after it begins.",
    "concurrency:lost",
)(new_call=takes_place, answer=answers_from_place)
defect(
    "reply-behind-cancelled-dropped",
    "Drops a reply that came behind two others in its line when the one before it is cancelled.",
    "cancel:others",
)(await_turn=follows_cancelled)
