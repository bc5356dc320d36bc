"""Replies in one session that run at once or out of turn: ports that break `concurrency:same-session`."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from itertools import count
from typing import Any

from answering import Answer, Failure
from defects.life.shared import PATIENCE, gets_lock, turns_of
from defects.record import defect
from planning import Plan
from running import Call
from steps import before, gives

KNOWN_SESSIONS = 8
LONG = 64
LINES = 8


def first_behind(port: Any, call: Call) -> None:
    with port.turn_changed:
        for line in port.turns.values():
            if call in line[1:]:
                at = line.index(call)
                line[:] = line[at:] + line[:at]


def waits_briefly(port: Any, real: Any, call: Call, turn: str) -> None:
    """Whoever waits for more than two seconds waits no longer."""
    line = port.turns[turn]
    port.turn_changed.wait_for(lambda: line[0] is call or call.is_cancelled, PATIENCE)


def second_and_third_together(port: Any, real: Any, call: Call, turn: str) -> None:
    """The end of a reply wakes all that wait for it, and each of them begins."""
    line = port.turns[turn]
    ahead = line[0]
    port.turn_changed.wait_for(lambda: call is ahead or ahead not in line or call.is_cancelled)


def behind_predecessor(port: Any, real: Any, call: Call, turn: str) -> None:
    """A chain of promises: each waits for the one before it to settle, however it settles."""
    line = port.turns[turn]
    previous = line[-2] if len(line) > 1 else None
    port.turn_changed.wait_for(lambda: previous not in line or call.is_cancelled)


def takes_permit(port: Any, real: Any, call: Call, turn: str) -> None:
    line = port.turns[turn]
    port.turn_changed.wait_for(lambda: line.index(call) < port.memory.get(turn, 1) or call.is_cancelled)
    port.memory[call] = not call.is_cancelled


def gives_permit_twice(port: Any, real: Any, call: Call, turn: str | None) -> None:
    if turn is not None and port.memory.pop(call, False) and call.is_cancelled:
        port.memory[turn] = port.memory.get(turn, 1) + 1
    real(call, turn)


def of_known_sessions(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    turn = real(tool, texts)
    if turn is None:
        return None
    with port.turn_changed:
        known = port.memory.setdefault("known", OrderedDict[str, str]())
        number = port.memory["number"] = port.memory.get("number", 0) + 1
        lock = known.setdefault(turn, f"{turn} {number}")
        known.move_to_end(turn)
        if len(known) > KNOWN_SESSIONS:
            known.popitem(last=False)
    return lock


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


def line_forgotten(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Forgets the line with the cancelled call when nobody stands behind it."""
    with port.turn_changed:
        if call.is_cancelled and turn is not None and port.turns.get(turn, [])[1:] == [call]:
            del port.turns[turn]
    real(call, turn)


def waits_by_ticket(port: Any, real: Any, call: Call, turn: str) -> None:
    tickets = port.memory.setdefault(turn, {"next": 0, "served": 0})
    ticket = tickets["next"]
    tickets["next"] += 1
    port.turn_changed.wait_for(lambda: tickets["served"] >= ticket or call.is_cancelled)


def serves_next(port: Any, real: Any, call: Call, turn: str | None) -> None:
    with port.turn_changed:
        if turn in port.memory:
            port.memory[turn]["served"] += 1
    real(call, turn)


def opens_line(port: Any, call: Call) -> None:
    for line in list(port.turns.values()):
        if line and line[0] is call:
            port.memory.update(dict.fromkeys(line, "open"))


def waits_loosely(port: Any, real: Any, call: Call, turn: str) -> None:
    line = port.turns[turn]
    port.turn_changed.wait_for(lambda: line[0] is call or call.is_cancelled or call in port.memory)


def frees_turn(port: Any, call: Call) -> None:
    with port.turn_changed:
        for line in port.turns.values():
            if call in line:
                line.remove(call)
        port.turn_changed.notify_all()


def unless_stateless(port: Any, real: Any, call: Call, turn: str | None) -> None:
    if not call.stateless:
        real(call, turn)


def takes_lock(port: Any, real: Any, call: Call, turn: str | None) -> None:
    if turn is not None:
        lock = port.memory.setdefault("locks", {}).setdefault(turn, threading.Lock())
        if gets_lock(lock, call):
            port.memory[call] = lock


def forgets_lock(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Whoever waits has the lock that is forgotten here; who comes later makes another."""
    if lock := port.memory.pop(call, None):
        port.memory["locks"].pop(turn, None)
        lock.release()


def few_lines(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    turn = real(tool, texts)
    if turn is None:
        return None
    lines = port.memory.setdefault("lines", {})
    number = lines.setdefault(turn, next(port.memory.setdefault("numbers", count())))
    if len(lines) > LINES:
        del lines[next(iter(lines))]
    return f"{turn} {number}"


def line_let_go(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    try:
        return real(call, plan)
    except Failure:
        with port.turn_changed:
            port.memory.setdefault("free", []).extend(port.turns.get(plan.turn or "", [])[1:])
        raise


def awaits_or_free(port: Any, real: Any, call: Call, turn: str) -> None:
    line, free = port.turns[turn], port.memory.setdefault("free", [])
    port.turn_changed.wait_for(lambda: line[0] is call or call.is_cancelled or call in free)


def forgets_line(port: Any, real: Any, call: Call, turn: str | None) -> None:
    with port.turn_changed:
        line = port.turns.get(turn, [])
        if call.is_cancelled and len(line) == 2 and line[1] is call:
            line.clear()
    real(call, turn)


defect(
    "cancelled-waiter-lets-next-begin",
    "Begins the reply behind one that is cancelled while both wait for another.",
    "concurrency:same-session",
)(cancel=before(first_behind))
defect("replies-overlap", "Runs replies in the same session at the same time.", "concurrency:same-session")(
    turn=lambda port, real, tool, texts: None if "sessionId" in texts else real(tool, texts)
)
defect(
    "turns-by-session-and-model",
    "Lets replies in the same session overlap when they name different models.",
    "concurrency:same-session",
)(turn=lambda port, real, tool, texts: (found := real(tool, texts)) and f"{found} with {texts.get('model')}")
defect(
    "turn-waited-for-two-seconds",
    "Lets a reply wait two seconds for another in its session, and no longer.",
    "concurrency:same-session",
)(await_turn=waits_briefly)
defect(
    "turns-by-session-and-system-prompt",
    "Lets replies in the same session overlap when one has a system prompt.",
    "concurrency:same-session",
)(**turns_of(lambda call, turn: turn and f"{turn} {call.arguments.get('systemPrompt')}"))
defect(
    "turns-of-long-prompts-apart",
    "Lets a reply with a long prompt overlap with others in its session.",
    "concurrency:same-session",
)(**turns_of(lambda call, turn: turn and f"{turn} {len(str(call.arguments.get('prompt'))) > 100_000}"))
defect(
    "turns-beside-tokens-apart",
    "Lets replies with a token overlap with those without one in the same session.",
    "concurrency:same-session",
)(**turns_of(lambda call, turn: turn and f"{turn} {call.token is None}"))
defect(
    "second-and-third-together",
    "Begins all replies that wait for another in the same session when it ends.",
    "concurrency:same-session",
)(await_turn=second_and_third_together)
defect(
    "turn-behind-predecessor-alone",
    "Lets a reply begin as soon as the one before it in the line is gone, also when that was cancelled as it waited.",
    "concurrency:same-session",
    "concurrency:latest",
)(await_turn=behind_predecessor)
defect(
    "turn-given-back-twice",
    "Lets one more reply run at the same time in a session in which a running reply has been cancelled.",
    "concurrency:same-session",
    "concurrency:latest",
)(await_turn=takes_permit, end_turn=gives_permit_twice)
defect(
    "turns-of-eight-sessions",
    "Forgets who runs in the session that was named longest ago once a ninth is named.",
    "concurrency:same-session",
    "concurrency:latest",
)(turn=of_known_sessions)
defect(
    "line-forgotten-behind-waiter",
    "Forgets the line of a session when one reply leaves it, so a newcomer does not wait for one that waited.",
    "concurrency:same-session",
)(await_turn=keeps_line, end_turn=leaves_and_forgets)
defect(
    "line-forgotten-with-cancelled",
    "Lets a reply run beside an earlier one of its session when one that waited between them was cancelled.",
    "concurrency:same-session",
)(end_turn=line_forgotten)
defect(
    "ticket-of-cancelled-served",
    "Begins the next reply in a session beside the running one when a reply that waits behind both is cancelled.",
    "concurrency:same-session",
)(await_turn=waits_by_ticket, end_turn=serves_next)
defect(
    "cancel-opens-line",
    "Begins all replies that wait for another in the same session when that one is cancelled.",
    "concurrency:same-session",
)(cancel=before(opens_line), await_turn=waits_loosely)
defect(
    "turn-freed-before-death",
    "Begins the next reply in a session while the gemini of a cancelled one still ends.",
    "concurrency:same-session",
)(cancel=before(frees_turn))
defect(
    "stateless-replies-overlap",
    "Runs replies in the same session at the same time when there was no handshake.",
    "concurrency:same-session",
)(take_turn=unless_stateless)
defect(
    "long-sessions-overlap",
    "Runs replies at the same time in a session whose id has more than 64 characters.",
    "concurrency:same-session",
)(turn=gives(lambda turn: turn if turn and (len(turn) <= LONG or turn.startswith("latest in ")) else None))
defect(
    "lock-forgotten-by-first-to-end",
    "Forgets the lock of a session at the end of a reply, also when the next one holds it.",
    "concurrency:same-session",
)(take_turn=takes_lock, end_turn=forgets_lock)
defect(
    "eight-lines-remembered",
    "Remembers the lines of eight sessions, and forgets the first though a reply in it runs.",
    "concurrency:same-session",
    "concurrency:latest",
)(turn=few_lines)
defect(
    "line-let-go-by-failed-reply",
    "Lets all replies go on at once that wait in the line of a reply when that one fails.",
    "concurrency:same-session",
)(ask=line_let_go, await_turn=awaits_or_free)
defect(
    "cancelled-waiter-clears-line",
    "Forgets that a reply runs when the one reply that waited for it is cancelled, so that the next does not wait.",
    "concurrency:same-session",
)(end_turn=forgets_line)
