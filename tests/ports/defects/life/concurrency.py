"""Calls that wait for each other, get lost or are mixed up: ports that break `concurrency`."""

import re
import threading
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from itertools import count
from typing import Any

from answering import Failure, Outcome
from conditions import is_named, refused
from defects.life.shared import in_one_of, when_idle
from defects.record import defect
from http_port import HttpPort
from planning import Plan
from running import Call
from speaking import Message
from steps import after, always, for_tool, gives, takes

ONE_AT_A_TIME = threading.Lock()
OF_SESSION = threading.Lock()
system_prompts = threading.Lock()
TWELVE = threading.Semaphore(12)
RING = 16
PAUSE = 0.02
CROWD = 16
QUEUE = 8
SEND_SECONDS = 2.0


def runs_alone(port: Any, real: Any, call: Call, plan: Any) -> Any:
    with ONE_AT_A_TIME:
        return real(call, plan)


def one_of_each_text(port: Any, real: Any, call: Call, plan: Any) -> Any:
    if plan.system is None:
        return real(call, plan)
    with port.memory.setdefault(plan.system, threading.Lock()):
        return real(call, plan)


def one_at_a_time(port: Any, real: Any, call: Call) -> Any:
    with OF_SESSION:
        return real(call)


def _free() -> Any:
    return nullcontext()


def four_at_once(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    with port.memory.setdefault("four", threading.Semaphore(4)) if plan.system else _free():
        return real(call, plan)


def waits_for_refused(port: Any, real: Any, call: Call) -> Message:
    """Keeps the place of a call that it refuses until a call has ended that runs."""
    result = real(call)
    if refused(call, result):
        running = [other for other in port.calls if other is not call and other.process is not None]
        for other in running:
            other.ended.wait()
    return result


def one_system_prompt_at_a_time(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    if plan.system is None:
        return real(call, plan)
    with system_prompts:
        return real(call, plan)


def answers_shared(port: Any, real: Any, call: Call, result: Message) -> None:
    port.memory["result"] = result
    time.sleep(0.05)
    real(call, port.memory["result"])


def ids_crossed(port: Any, real: Any, call: Call, result: Message) -> None:
    with port.output:
        waiting = [each for each in port.calls if not each.is_answered and not each.is_cancelled]
    if call in waiting and waiting[-1] is not call:
        call.id, waiting[-1].id = waiting[-1].id, call.id
    real(call, result)


def sessions_shared(port: Any, real: Any, call: Call, plan: Any) -> Any:
    answer = real(call, plan)
    port.memory["session"] = answer.session
    time.sleep(0.05)
    return replace(answer, session=port.memory["session"])


def counts_listing(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    port.memory[call] = "listing"
    try:
        return real(call, plan)
    finally:
        del port.memory[call]


def behind_listings(port: Any, real: Any, params: Any, stateless: bool) -> Message:
    while port.memory:
        time.sleep(0.05)
    return real(params, stateless)


def busy(port: Any, real: Any, *arguments: Any) -> Any:
    return port.error(Failure("The server is busy.")) if len(port.calls) >= 8 else real(*arguments)


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


def three_at_once(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    with port.memory.setdefault("three", threading.Semaphore(3)) if is_named(plan) else _free():
        return real(call, plan)


def in_order(port: Any, real: Any, call: Call, result: Message) -> None:
    earlier = [each for each in port.calls[: port.calls.index(call)] if each.tool == call.tool == "chat-reply"]
    while any(each in port.calls and not each.is_cancelled for each in earlier):
        time.sleep(PAUSE)
    real(call, result)


def resolved_once(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    if tool != "chat-reply" or port.resumed(texts) != "latest":
        return real(tool, texts)
    return port.memory.setdefault(texts.get("cwd"), real(tool, texts))


def under_lock(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    with port.output:
        return real(call, plan)


def waits_in_line(port: Any, real: Any) -> Any:
    deadline = time.monotonic() + 20
    while any(len(line) > 1 for line in list(port.turns.values())) and time.monotonic() < deadline:
        time.sleep(0.02)
    return real()


def queue_bounded(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Any:
    """Puts a reply into a queue that takes no more than a few, and waits for room where it reads its input."""
    if params.get("name") == "chat-reply":
        with port.turn_changed:
            port.turn_changed.wait_for(lambda: sum(len(line) - 1 for line in port.turns.values()) < QUEUE)
    return real(identity, params, stateless)


def pongs_in_time(port: Any, real: Any, message: Message) -> None:
    is_pong = message.get("result") == {}
    if port.output.acquire(timeout=SEND_SECONDS if is_pong else -1):
        try:
            port.write(message)
        finally:
            port.output.release()


def line_as_file_name(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    turn = real(tool, texts)
    return re.sub(r"[^A-Za-z0-9]", "_", turn) if turn and "sessionId" in texts else turn


defect("one-call-at-atime", "Serves one call after the other.", "concurrency:calls")(run_prompt=runs_alone)
defect("one-call-per-directory", "Serves one call after the other in the same directory.", "concurrency:calls")(
    turn=lambda port, real, tool, texts: f"directory {texts.get('cwd')}"
)
defect(
    "equal-system-prompts-wait",
    "Serves one call after the other that have the same system prompt.",
    "concurrency:calls",
)(run_prompt=one_of_each_text)
defect("http-calls-in-a-row", "Serves one call after the other over HTTP.", "concurrency:calls")(
    HttpPort, execute=one_at_a_time
)
defect("four-system-prompts-at-once", "Runs four calls with a system prompt at once.", "concurrency:calls")(
    run_prompt=four_at_once
)
defect("refusals-wait-for-calls", "Answers a refusal when the calls have ended that run.", "concurrency:calls")(
    execute=waits_for_refused
)
defect(
    "system-prompts-one-at-a-time",
    "Serves one call with a system prompt after the other.",
    "concurrency:calls",
)(run_prompt=one_system_prompt_at_a_time)
defect(
    "answers-crossed", "Keeps the answer that is being sent in a place that all calls share.", "concurrency:crossed"
)(answer=answers_shared)
defect("ids-crossed", "Answers the call that came last, whichever has ended.", "concurrency:crossed")(
    answer=ids_crossed
)
defect(
    "sessions-crossed",
    "Keeps the session of an answer in a place that all calls share.",
    "concurrency:crossed",
    "result:session-id",
)(ask=sessions_shared)
defect("list-waits", "Lists its tools when no call runs.", "concurrency:list")(list_tools=when_idle)
defect(
    "tools-behind-sessions",
    "Answers `tools/list` only when no list of sessions is being asked for.",
    "concurrency:list",
)(list_sessions=counts_listing, list_tools=behind_listings)
defect("ninth-call-lost", "Forgets the calls beyond eight.", "concurrency:lost")(
    begin_call=lambda port, real, identity, params, stateless: (
        real(identity, params, stateless) if len(port.calls) < 8 else None
    )
)
defect("ninth-call-refused", "Is too busy for more than eight calls.", "concurrency:lost")(begin_call=busy)
defect(
    "list-needs-second-slot",
    "Runs twelve geminis at most, and a call keeps its place while it waits for another one for its list.",
    "concurrency:lost",
)(ask=in_one_of(TWELVE), list_sessions=in_one_of(TWELVE))
defect(
    "sixteen-places-for-calls",
    "Keeps calls in sixteen places, and never answers one that still runs when the sixteenth after it begins.",
    "concurrency:lost",
)(new_call=takes_place, answer=answers_from_place)
defect("sessions-cut-short", "Takes sessions for one that begin alike.", "concurrency:other-session")(
    take_turn=takes(lambda turn: turn and turn[:-1]), end_turn=takes(lambda turn: turn and turn[:-1])
)
defect("all-replies-in-line", "Runs one reply after the other, whatever their session.", "concurrency:other-session")(
    turn=for_tool("chat-reply", always("any"))
)
defect("three-sessions-at-once", "Runs replies by id in three sessions at the same time.", "concurrency:other-session")(
    run_prompt=three_at_once
)
defect(
    "replies-answered-in-order",
    "Holds the answer to a reply back until all earlier replies have theirs.",
    "concurrency:other-session",
)(answer=in_order)
defect(
    "one-line-for-all-latest",
    "Lets replies to the latest sessions of different directories wait for each other.",
    "concurrency:other-session",
)(turn=gives(lambda turn: turn and ("latest" if turn.startswith("latest in ") else turn)))
defect(
    "moved-link-keeps-line",
    "Resolves a directory once for the line of its latest session, and knows nothing of a link that has moved since.",
    "concurrency:other-session",
    "concurrency:latest",
)(turn=resolved_once)
defect(
    "line-named-like-lock-file",
    "Lets replies wait for each other whose sessions differ in nothing but marks such as `-` and `.`.",
    "concurrency:other-session",
)(turn=line_as_file_name)
defect("ping-waits", "Answers ping when no call runs.", "concurrency:ping")(ping=when_idle)
defect(
    "reads-nothing-meanwhile",
    "Reads no message while a call runs.",
    "concurrency:ping",
    "concurrency:calls",
    "concurrency:list",
    "cancel:child",
)(begin_call=after(lambda port, identity, params, stateless: port.threads[-1].join()))
defect("list-stops-all", "Answers nothing while gemini lists sessions.", "concurrency:ping")(list_sessions=under_lock)
defect("ping-waits-in-crowd", "Leaves a ping unanswered while sixteen calls run.", "concurrency:ping")(
    ping=lambda port, real: None if len(port.calls) >= CROWD else real()
)
defect("ping-waits-for-line", "Answers ping when no reply waits for another.", "concurrency:ping")(ping=waits_in_line)
defect(
    "ninth-waiting-reply-stops-reader",
    "Reads no further input after a reply that comes when eight others wait for their turn.",
    "concurrency:ping",
    "concurrency:calls",
)(begin_call=queue_bounded)
defect(
    "ping-dropped-behind-slow-reader",
    "Drops the answer to a ping that must wait two seconds because the client does not read a large message.",
    "concurrency:ping",
    "lifecycle:ping",
)(send=pongs_in_time)
