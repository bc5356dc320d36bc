"""Defects in lines, places, heartbeats and endings that show when several calls are under way."""

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Failure
from conditions import keeps_turn
from defects.record import defect
from planning import Plan
from port import EXIT_SECONDS
from running import Call
from steps import before

BEAT_SECONDS = 4.0


def empty_alone(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    return replace(plan, turn=f"{plan.turn} by name") if plan.turn and arguments.get("sessionId") == "" else plan


def last_link_only(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    turn, path = real(tool, texts), os.path.abspath(texts.get("cwd", "."))
    if turn is None or not turn.startswith("latest in "):
        return turn
    if os.path.islink(path):
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    return f"latest in {path}"


def notes_unstarted(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    try:
        return real(call, plan)
    except Failure as failure:
        if failure.stderr is None:
            port.memory[call] = "unstarted"
        raise


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


def waits_for_oldest(port: Any, real: Any) -> None:
    port.is_ending = True
    for call in list(port.calls):
        port.end(call)
    for thread in port.threads[:1]:
        thread.join(EXIT_SECONDS)
    os._exit(0)


def limits_beats(port: Any, real: Any, call: Call) -> None:
    now = time.monotonic()
    if call.token is None or call.progress == 0:
        real(call)
    elif now >= port.memory.get("next", now):
        port.memory["next"] = now + BEAT_SECONDS
        real(call)


def counts_anew(port: Any, call: Call, plan: Plan) -> None:
    call.progress = 0


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


defect(
    "empty-id-waits-alone",
    "Runs a reply with an empty session id beside one without any in the latest session of the same directory.",
    "concurrency:latest",
)(plan=empty_alone)
defect(
    "link-on-the-way-unresolved",
    "Takes a directory behind a link for another one when the link is not the last part of the path.",
    "concurrency:latest",
)(turn=last_link_only)
defect(
    "turn-kept-by-unstarted",
    "Keeps the turn of a reply whose gemini could not be started, so the next one in its session waits for ever.",
    "concurrency:after-failure",
)(ask=notes_unstarted, end_turn=keeps_turn)
defect(
    "ticket-of-cancelled-served",
    "Begins the next reply in a session beside the running one when a reply that waits behind both is cancelled.",
    "concurrency:same-session",
)(await_turn=waits_by_ticket, end_turn=serves_next)
defect(
    "end-waits-for-oldest",
    "Waits at its end for the oldest call alone, so another gemini that ignores SIGTERM lives on.",
    "shutdown:stdin-end:ignored-term",
    "shutdown:sigterm:group",
)(shut_down=waits_for_oldest)
defect(
    "beats-share-one-limit",
    "Sends one progress notification in four seconds for all running calls, so a third one gets none.",
    "progress:interval",
)(report_progress=limits_beats)
defect(
    "progress-anew-in-list",
    "Counts the progress of a call from the beginning when it asks for the list of sessions.",
    "progress:increase",
)(list_sessions=before(counts_anew))
defect(
    "cancelled-waiter-beats-on",
    "Leaves a cancelled reply in its line and goes on to send its progress until its turn has come.",
    "stateless:cancelled",
)(await_turn=stays_in_line, report_progress=beats_in_line)
