"""Turns and places that earlier calls have left in disorder: ports that break `concurrency`."""

import os
import threading
import unicodedata
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from typing import Any
from zlib import crc32

from answering import Outcome
from conditions import failed, marks, refused
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message, as_object
from steps import Step, before, gives, takes

PLACES_IN_LINE = 3

LINE = threading.Lock()
STRIPES = 8
WRITING = threading.Lock()


def through_pipe(port: Any, real: Any, text: str | None) -> Any:
    """Gives the end of a pipe to be read; `feeding` writes to the other one."""
    if text is None:
        return real(text)
    reading, writing = os.pipe()
    reader = os.fdopen(reading, "rb")
    port.memory[reader] = writing, text.encode()
    return reader


def feed(writing: int, text: bytes, end: Callable[[], None]) -> None:
    with suppress(BrokenPipeError), open(writing, "wb", buffering=0) as pipe:
        while text:
            text = text[pipe.write(text) or 0 :]
    end()


def feeding(begin: Callable[[int], object], end: Callable[[], None], **options: Any) -> Step:
    """Of `spawn`: writes what is meant for stdin in a thread, once the process has started."""

    def spawn(port: Any, real: Any, argv: tuple[str, ...], **others: Any) -> Any:
        writing, text = port.memory.pop(others["stdin"], (None, b""))
        try:
            process = real(argv, **{**others, **options})
        except OSError:
            if writing is not None:
                os.close(writing)
            raise
        if writing is not None:
            begin(writing)
            threading.Thread(target=feed, args=(writing, text, end), daemon=True).start()
        return process

    return spawn


def behind_latest(port: Any, call: Call, turn: str | None) -> None:
    """Since it changes what is the latest session, a `chat` waits until nobody continues that."""
    if call.tool == "chat":
        latest = f"latest in {os.path.realpath(call.arguments.get('cwd') or '.')}"
        with port.turn_changed:
            port.turn_changed.wait_for(lambda: latest not in port.turns or call.is_cancelled)


def one_at_a_time(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    with LINE if port.memory.get("failed") else nullcontext():
        return real(call, plan)


def by_spelling(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    turn = real(tool, texts)
    return f"latest in {texts.get('cwd')}" if turn and turn.startswith("latest in ") else turn


def by_last_name(turn: str | None) -> str | None:
    return f"latest in {os.path.basename(turn)}" if turn and turn.startswith("latest in ") else turn


def stripe(turn: str | None) -> str | None:
    return turn and str(crc32(turn.encode()) % STRIPES)


def reads_when_written(port: Any, message: Any) -> None:
    with WRITING:
        pass


def notes_turn(port: Any, call: Call, turn: str | None) -> None:
    port.memory[type(call.id), call.id] = turn


def late_cancel_frees(port: Any, method: str, params: Any) -> None:
    wanted = (as_object(params) or {}).get("requestId")
    if method != "notifications/cancelled" or not port.is_id(wanted):
        return
    turn = port.memory.get((type(wanted), wanted))
    with port.turn_changed:
        line = port.turns.get(turn or "")
        if line and not any(type(each.id) is type(wanted) and each.id == wanted for each in list(port.calls)):
            line.pop(0)
            port.turn_changed.notify_all()


def turn_by_directory(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    turn = real(tool, texts)
    return turn and f"{turn} in {texts.get('cwd')}"


def frees_first(port: Any, call: Call, turn: str | None) -> None:
    """Who leaves the line is taken for the first in it."""
    with port.turn_changed:
        line = port.turns.get(turn or "", [])
        if call.is_cancelled and call in line and line[0] is not call:
            line.pop(0)


def refused_frees_session(port: Any, real: Any, call: Call) -> Message:
    """The end of a refused reply gives back a lock that it has never had."""
    result, session = real(call), call.arguments.get("sessionId")
    if refused(call, result) and isinstance(session, str):
        with port.turn_changed:
            if line := port.turns.get(session):
                line.pop(0)
            port.turn_changed.notify_all()
    return result


def notes_cancelled_turn(port: Any, call: Call) -> None:
    """The lock of a reply goes with it."""
    if session := call.arguments.get("sessionId"):
        port.memory[session] = "cancelled"


def free_after_cancel(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    turn = real(tool, texts)
    return None if port.memory.get(turn) == "cancelled" else turn


def lines_of_three(port: Any, real: Any, call: Call, turn: str) -> None:
    """The line has three places behind the one that is served; who finds none is not held up."""
    if len(port.turns[turn]) <= PLACES_IN_LINE + 1:
        real(call, turn)


defect(
    "stdin-held-by-sibling",
    "Lets a call that begins while a long prompt is written hold the stdin of the other one open.",
    "concurrency:calls",
)(
    input=through_pipe,
    spawn=feeding(lambda writing: os.set_inheritable(writing, True), lambda: None, close_fds=False),
)
defect(
    "chat-waits-for-latest",
    "Lets a `chat` wait until no reply continues the latest session of its directory.",
    "concurrency:calls",
)(take_turn=before(behind_latest))
defect(
    "one-at-a-time-behind-failure",
    "Serves one call after the other once a call has failed.",
    "concurrency:calls",
)(execute=marks("failed", failed), run_prompt=one_at_a_time)
defect(
    "latest-by-spelling",
    "Runs replies to the latest session at the same time when they spell its directory differently.",
    "concurrency:latest",
)(turn=by_spelling)
defect(
    "turns-by-normal-form",
    "Lets replies wait for each other in sessions whose ids differ in their normal form alone.",
    "concurrency:other-session",
)(turn=gives(lambda turn: turn and unicodedata.normalize("NFKC", turn)))
defect(
    "turns-by-name-of-directory",
    "Lets replies to the latest sessions of two directories of the same name wait for each other.",
    "concurrency:other-session",
)(turn=gives(by_last_name))
defect(
    "locks-striped",
    "Has eight locks for all sessions, so that replies in some different sessions wait for each other.",
    "concurrency:other-session",
)(take_turn=takes(stripe), end_turn=takes(stripe))
defect(
    "deaf-while-stdin-fills",
    "Reads no message until gemini has taken the whole of a long prompt.",
    "concurrency:ping",
)(
    input=through_pipe,
    spawn=feeding(lambda writing: WRITING.acquire(), WRITING.release),
    dispatch=before(reads_when_written),
)
defect(
    "late-cancel-frees-turn",
    "Begins the next reply in a session beside the one that runs when an answered one there is cancelled.",
    "concurrency:same-session",
)(take_turn=before(notes_turn), notified=before(late_cancel_frees))
defect(
    "turns-by-session-and-directory",
    "Lets replies in the same session overlap when they write its directory differently.",
    "concurrency:same-session",
)(turn=turn_by_directory)
defect(
    "cancelled-in-line-frees-first",
    "Gives the turn of the running reply away when one that waits behind it is cancelled.",
    "concurrency:same-session",
)(end_turn=before(frees_first))
defect(
    "refused-reply-frees-session",
    "Begins the next reply in a session beside the one that runs when another one there is refused.",
    "concurrency:same-session",
)(execute=refused_frees_session)
defect(
    "session-free-after-cancel",
    "Lets replies of a session run at once after one of them has been cancelled.",
    "concurrency:same-session",
)(cancel=before(notes_cancelled_turn), turn=free_after_cancel)
defect(
    "fourth-waiter-runs",
    "Lets a reply run at once that finds three others waiting for the one that runs in its session.",
    "concurrency:same-session",
    "concurrency:latest",
)(await_turn=lines_of_three)
