"""Defects in what calls leave to each other, in what waits or overlaps, and in what an end finds still running."""

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from zlib import crc32

from answering import SESSION_GONE, Failure, Outcome
from conditions import has_listed, is_named, lacking, notes_listing, refused
from defects.call.system import keeps
from defects.life.cancelling import only_asks
from defects.record import defect
from planning import Plan, Refusal
from port import PROGRESS_SECONDS
from running import LISTING_TIMEOUT, Call, Cancelled
from speaking import Message
from steps import Step, before, takes

PLACES = 16
STRIPES = 8
MOMENT = 0.1
EXIT_SECONDS = 1.5
WRITING = threading.Lock()


def missing_stays_missing(port: Any, real: Any, cwd: str) -> None:
    if cwd in port.memory:
        raise Refusal(f"`cwd` {cwd!r} does not exist.")
    if not os.path.exists(cwd):
        port.memory[cwd] = "missing"
    real(cwd)


def keeps_place_of_refusal(port: Any, real: Any, call: Call) -> Message:
    """There are sixteen places, and a refusal leaves before it gives its own back."""
    if port.memory.get("refusals", 0) >= PLACES:
        return port.error(Failure("The server is busy."))
    result = real(call)
    port.memory["refusals"] = port.memory.get("refusals", 0) + refused(call, result)
    return result


def begun_anew(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    is_gone = outcome.exit == 42 and SESSION_GONE.search(port.decode(outcome.stderr))
    return real(call, lacking("-r")(plan)) if is_gone and is_named(plan) else outcome


def stripe(turn: str | None) -> str | None:
    return turn and str(crc32(turn.encode()) % STRIPES)


def frees_first(port: Any, call: Call, turn: str | None) -> None:
    """Who leaves the line is taken for the first in it."""
    with port.turn_changed:
        line = port.turns.get(turn or "", [])
        if call.is_cancelled and call in line and line[0] is not call:
            line.pop(0)


def believes_exit(port: Any, real: Any, call: Call, exit: int, out: Any, err: Any) -> Outcome:
    """A gemini that ends well at SIGTERM has not been cancelled."""
    if exit == 0 and not port.is_ending:
        call.is_cancelled = False
    return real(call, exit, out, err)


def is_listed(port: Any, call: Call) -> bool:
    return has_listed(port, call) and not port.is_ending and not call.is_timed_out


def writes_before_waiting(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Has the file ready before its turn comes, and leaves it when it is cancelled in the line."""
    text = call.arguments.get("systemPrompt")
    path = port.write_system(text) if turn is not None and isinstance(text, str) and text.strip() else None
    real(call, turn)
    if path is not None and (port.is_ending or not call.is_cancelled):
        shutil.rmtree(os.path.dirname(path))


def is_unreadable(port: Any, call: Call, run: Outcome | None) -> bool:
    if run is None or run.exit != 0:
        return False
    try:
        port.read(run)
    except Failure:
        return True
    return False


def starts_late(port: Any, real: Any, call: Call) -> None:
    """A timer tells of the start; nobody stops it when the call has ended before."""
    with port.output:
        is_first = call.token is not None and call not in port.memory
        if is_first:
            port.memory[call] = "told"
            call.progress, call.next_progress = 1, time.monotonic() + PROGRESS_SECONDS
    if is_first:
        timer = threading.Timer(MOMENT, tell_start, (port, call))
        timer.daemon = True
        timer.start()
    elif time.monotonic() >= call.next_progress:
        real(call)


def tell_start(port: Any, call: Call) -> None:
    with port.output:
        if not call.is_cancelled:
            port.write(port.progress(call))


def one_timer(port: Any, real: Any, call: Call) -> None:
    """The timer of a call replaces that of the one before."""
    if call.token is not None and call.progress == 0:
        port.memory["timer"] = call
    if port.memory.get("timer", call) is call or call.token is None:
        real(call)
    else:
        call.next_progress = time.monotonic() + PROGRESS_SECONDS


def through_pipe(port: Any, real: Any, text: str | None) -> Any:
    """Gives the end of a pipe to be read; `feeding` writes to the other one."""
    if text is None:
        return real(text)
    reading, writing = os.pipe()
    reader = os.fdopen(reading, "rb")
    port.memory[reader] = writing, text.encode()
    return reader


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


def feed(writing: int, text: bytes, end: Callable[[], None]) -> None:
    with suppress(BrokenPipeError), open(writing, "wb", buffering=0) as pipe:
        while text:
            text = text[pipe.write(text) or 0 :]
    end()


def reads_when_written(port: Any, message: Any) -> None:
    with WRITING:
        pass


def ends_running_calls(port: Any, real: Any) -> None:
    """Forgets the replies that wait, and whose turn comes when the one before has been ended."""
    port.is_ending = True
    running = [call for call in port.calls if call.process is not None]
    for call in running:
        port.end(call)
    deadline = time.monotonic() + EXIT_SECONDS
    while set(running) & set(port.calls) and time.monotonic() < deadline:
        time.sleep(MOMENT / 5)
    time.sleep(MOMENT if len(port.calls) else 0)
    os._exit(0)


def ends_one_by_one(port: Any, real: Any) -> None:
    """Has ended a call, SIGKILL and all, before it turns to the next one."""
    port.is_ending = True
    with port.turn_changed:
        for call in port.calls:
            call.is_cancelled = True
        port.turn_changed.notify_all()
    for call in list(port.calls):
        port.stop(call)
    real()


def behind_latest(port: Any, call: Call, turn: str | None) -> None:
    """Since it changes what is the latest session, a `chat` waits until nobody continues that."""
    if call.tool == "chat":
        latest = f"latest in {os.path.realpath(call.arguments.get('cwd') or '.')}"
        with port.turn_changed:
            port.turn_changed.wait_for(lambda: latest not in port.turns or call.is_cancelled)


def file_of_second(port: Any, real: Any, text: str) -> str:
    """Has six digits for the name of a directory: the time of day."""
    directory = os.path.join(tempfile.gettempdir(), time.strftime("gemini-mcp-%H%M%S"))
    os.makedirs(directory, 0o700, exist_ok=True)
    path = os.path.join(directory, port.system_name())
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(port.system_bytes(text))
    return path


def abandoned_when_hung(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """Waits for the list no longer than it may, and then forgets that it runs."""
    listing, found = Call(call.id, call.tool, call.arguments), list[Outcome | None]()

    def lists() -> None:
        with suppress(Cancelled):
            found.append(real(listing, plan))

    thread = threading.Thread(target=lists, daemon=True)
    thread.start()
    deadline = time.monotonic() + LISTING_TIMEOUT
    while thread.is_alive() and time.monotonic() < deadline:
        thread.join(MOMENT / 5)
        if call.is_cancelled:
            port.end(listing)
            thread.join(1.0)
            raise Cancelled
    return found[0] if found else None


def waits_for_reader(port: Any) -> None:
    """Lets what is being written reach the client."""
    with port.output:
        pass


defect(
    "missing-directory-remembered",
    "Does not look again for a directory that was missing when it was first named.",
    "cwd:used",
)(check_cwd=missing_stays_missing)
defect(
    "places-lost-with-refusals",
    "Takes no call any more after sixteen refusals, which have each kept their place.",
    "concurrency:after-failure",
)(execute=keeps_place_of_refusal)
defect(
    "gone-session-begun-anew",
    "Runs the prompt again in a new session when gemini does not know the one that a reply names.",
    "command:once",
)(run_prompt=begun_anew)
defect(
    "locks-striped",
    "Has eight locks for all sessions, so that replies in some different sessions wait for each other.",
    "concurrency:other-session",
)(take_turn=takes(stripe), end_turn=takes(stripe))
defect(
    "cancelled-in-line-frees-first",
    "Gives the turn of the running reply away when one that waits behind it is cancelled.",
    "concurrency:same-session",
)(end_turn=before(frees_first))
defect(
    "cancelled-but-ended-well-answered",
    "Answers a cancelled call when gemini ends with 0 at SIGTERM.",
    "cancel:unanswered",
)(outcome=believes_exit)
defect(
    "cancel-only-asks-lists",
    "Sends a list of sessions SIGTERM when its call is cancelled, and leaves it at that.",
    "cancel:ignored-term",
)(list_sessions=before(notes_listing), stop=only_asks(is_listed))
defect(
    "kept-when-cancelled-in-line",
    "Keeps the system prompt of a reply that is cancelled while it waits for another.",
    "system:removed:cancel",
)(take_turn=writes_before_waiting)
defect(
    "kept-after-unreadable-answer",
    "Keeps the system prompt when gemini exits with 0 and the answer cannot be used.",
    "system:removed:failure",
)(remove_system=keeps(is_unreadable))
defect(
    "start-told-late",
    "Tells of the start of a call a moment later, even when the call has been answered by then.",
    "progress:end",
)(report_progress=starts_late)
defect(
    "interval-of-newest-call",
    "Tells progress of the call alone that has come last, once all have begun.",
    "progress:interval",
)(report_progress=one_timer)
defect(
    "stdin-held-by-sibling",
    "Lets a call that begins while a long prompt is written hold the stdin of the other one open.",
    "concurrency:calls",
)(
    input=through_pipe,
    spawn=feeding(lambda writing: os.set_inheritable(writing, True), lambda: None, close_fds=False),
)
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
    "next-in-line-starts-at-end",
    "Ends the reply that runs, and not the one that waits, which then starts a gemini that stays.",
    "shutdown:sigterm:group",
    "shutdown:stdin-end:group",
)(shut_down=ends_running_calls)
defect(
    "hung-list-abandoned",
    "Gives up a list of sessions that hangs without ending it, and leaves it running when the input ends.",
    "shutdown:stdin-end:group",
)(list_sessions=abandoned_when_hung)
defect(
    "exit-waits-for-reader",
    "Waits at the end of its input until the client has read an answer that is being written.",
    "shutdown:stdin-end",
)(input_ended=before(waits_for_reader))
defect(
    "calls-ended-one-by-one",
    "Ends its calls one after the other, which takes long when several ignore SIGTERM.",
    "shutdown:prompt",
)(shut_down=ends_one_by_one)
defect(
    "chat-waits-for-latest",
    "Lets a `chat` wait until no reply continues the latest session of its directory.",
    "concurrency:calls",
)(take_turn=before(behind_latest))
defect(
    "file-named-by-second",
    "Names the directory of a system prompt by the second in which it is made.",
    "system:isolation",
    "system:life",
)(write_system=file_of_second)
