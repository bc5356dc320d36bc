"""Defects in how runs end: what else is in their group, what they still print, and who takes their place."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any

from answering import Outcome
from conditions import has_listed, notes_listing
from defects.life.cancelling import spares_group, stops_leader
from defects.life.moments import notes_output, size_of
from defects.record import defect
from planning import Plan
from port import EXIT_SECONDS, Port
from running import GRACE, Call, Cancelled
from steps import before

PAUSE = 0.05
PIECE = 32 * 1024


def processes() -> Iterator[int]:
    return map(int, filter(str.isdecimal, os.listdir("/proc")))


def members(group: int) -> Iterator[int]:
    for each in processes():
        with suppress(ProcessLookupError):
            if os.getpgid(each) == group:
                yield each


def kills_members_asked(port: Any, real: Any, leader: int, number: signal.Signals) -> None:
    """Kills whom it has asked; what has been started since is not among them."""
    if number == signal.SIGTERM:
        port.memory[leader] = list(members(leader))
        real(leader, number)
        return
    for each in port.memory.get(leader, ()):
        with suppress(ProcessLookupError):
            os.kill(each, number)


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


def kept_for_list(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    if outcome is None:
        real(path, call, outcome)
    else:
        port.memory[call] = (path, outcome)


def removed_behind_list(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    try:
        return real(call, plan)
    except Cancelled:
        # At the end of the server all goes; it is the cancellation alone that forgets the file.
        if not port.is_ending:
            port.memory.pop(call, None)
        raise
    finally:
        path, outcome = port.memory.pop(call, (None, None))
        if path is not None:
            Port.remove_system(port, path, call, outcome)


def ends_running_alone(port: Any, real: Any) -> None:
    """A reply whose turn comes by that is begun, and nobody looks after it any more."""
    port.is_ending = True
    for call in list(port.calls):
        if call.process is not None:
            port.end(call)
    deadline = time.monotonic() + EXIT_SECONDS
    for thread in list(port.threads):
        thread.join(max(0.0, deadline - time.monotonic()))
    os._exit(0)


def waits_for_holders(port: Any, real: Any, call: Call, exit: int, out: IO[bytes], err: IO[bytes]) -> Outcome:
    """Without JSON only the end of the output says that all has come."""
    outcome = real(call, exit, out, err)
    while exit == 0 and b"{" not in outcome.stdout and is_held(out) and not call.is_cancelled:
        time.sleep(PAUSE)
    return outcome


def is_held(file: IO[bytes]) -> bool:
    own = os.fstat(file.fileno())
    others = (each for each in processes() if each != os.getpid())
    return any(os.path.samestat(own, file) for each in others for file in opened(each))


def opened(process: int) -> Iterator[os.stat_result]:
    with suppress(OSError):
        for each in os.scandir(f"/proc/{process}/fd"):
            with suppress(OSError):
                yield each.stat()


def ends_input_at_output(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """Writes no more of a prompt once gemini has begun to speak."""
    given = options["stdin"]
    if not size_of(given):
        return real(argv, **options)
    process = real(argv, **{**options, "stdin": subprocess.PIPE})
    threading.Thread(target=fed, args=(process, given.read(), options["stdout"]), daemon=True).start()
    return process


def fed(process: subprocess.Popen[bytes], text: bytes, out: IO[bytes]) -> None:
    assert process.stdin is not None
    with suppress(OSError), process.stdin as pipe:
        for at in range(0, len(text), PIECE):
            if at and size_of(out):
                return
            pipe.write(text[at : at + PIECE])
            pipe.flush()


defect(
    "late-members-spared",
    "Kills only those processes of a cancelled call's group that it has asked to end.",
    "cancel:group",
)(signal_group=kills_members_asked)
defect(
    "printing-gemini-spared",
    "Sends no SIGKILL to a cancelled gemini that still prints something.",
    "cancel:ignored-term",
)(begin=before(notes_output), stop=kills_the_silent)
defect(
    "children-of-list-spared",
    "Ends the list of sessions of a cancelled call, but not what the list started.",
    "cancel:group",
)(list_sessions=before(notes_listing), stop=stops_leader(has_listed), signal_group=spares_group)
defect(
    "system-prompt-kept-by-cancelled-list",
    "Removes a system prompt behind the list of sessions, and not when that is cancelled.",
    "system:removed:cancel",
)(remove_system=kept_for_list, ask=removed_behind_list)
defect(
    "waiting-reply-begun-at-end",
    "Begins a reply that waits when the end of the server ends the one before it.",
    "shutdown:stdin-end:group",
    "shutdown:sigterm:group",
)(shut_down=ends_running_alone)
defect(
    "plain-text-held",
    "Waits until nobody holds an output in which there is no JSON.",
    "process:held-output",
)(outcome=waits_for_holders)
defect(
    "stdin-ended-at-first-output",
    "Writes no more of a long prompt once gemini has printed something.",
    "prompt:long:whole",
)(spawn=ends_input_at_output)
