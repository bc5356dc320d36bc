"""Defects that show when a call is ended, and which of several calls that is."""

import os
import signal
import threading
import time
from contextlib import nullcontext, suppress
from hashlib import sha256
from typing import Any

from conditions import is_named
from defects.record import defect
from planning import Plan
from port import Port
from running import GRACE, Call
from speaking import Message
from steps import Change, Step

BLOCKED_SECONDS = 0.5


def ends_alike(key: Change) -> Step:
    """Of `cancel`: cancels the calls too that are like this one."""

    def cancel(port: Any, real: Any, call: Call) -> None:
        for other in list(port.calls):
            if other is not call and key(other) and key(other) == key(call):
                Port.cancel(port, other)
        real(call)

    return cancel


def spares_old(port: Any, real: Any, call: Call) -> None:
    """A call that has run for three seconds is no more among those that can be cancelled."""
    if call.deadline is None or call.deadline - time.monotonic() > 597:
        real(call)


def spared_at_signal(test: Change) -> Step:
    """Of `shut_down`: leaves the gemini of such calls running."""

    def shut_down(port: Any, real: Any) -> None:
        port.calls = [call for call in port.calls if not (port.ended_by_signal and test(call))]
        real()

    return shut_down


def only_oldest_killed(port: Any, real: Any, call: Call) -> None:
    if not port.is_ending or not port.calls or call is port.calls[0]:
        real(call)
    elif (process := call.process) is not None:
        port.signal_group(process.pid, signal.SIGTERM)


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


def waits_in_line(port: Any, real: Any) -> Any:
    deadline = time.monotonic() + 20
    while any(len(line) > 1 for line in list(port.turns.values())) and time.monotonic() < deadline:
        time.sleep(0.02)
    return real()


def three_at_once(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    with port.memory.setdefault("three", threading.Semaphore(3)) if is_named(plan) else _free():
        return real(call, plan)


def four_at_once(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    with port.memory.setdefault("four", threading.Semaphore(4)) if plan.system else _free():
        return real(call, plan)


def _free() -> Any:
    return nullcontext()


def directory_named(word: str, key: Change) -> dict[str, Step]:
    """Steps that name the directory of a system prompt after something of its call."""

    def run_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Any:
        port.memory[threading.get_ident()] = sha256(f"{word}{key(call)}".encode("utf-8", "replace")).hexdigest()[:6]
        return real(call, plan)

    def new_directory(port: Any, real: Any) -> str:
        path = os.path.join(os.path.dirname(made := real()), f"gemini-mcp-{port.memory[threading.get_ident()]}")
        os.rmdir(made)
        os.makedirs(path, 0o700, exist_ok=True)
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(path, port.system_name()))
        return path

    return {"run_prompt": run_prompt, "new_directory": new_directory}


def next_lost(port: Any, real: Any, message: Message) -> None:
    """What comes behind a message that had to wait is dropped."""
    if port.memory.pop("blocked", False):
        return
    began = time.monotonic()
    real(message)
    port.memory["blocked"] = time.monotonic() - began > BLOCKED_SECONDS


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
defect("cancel-unheard-after-three-seconds", "Cancels no call that runs for three seconds.", "cancel:child")(
    cancel=spares_old
)
defect(
    "signal-spares-long-prompts", "Leaves the gemini of a long prompt running on a signal.", "shutdown:sigterm:group"
)(shut_down=spared_at_signal(lambda call: len(str(call.arguments.get("prompt")).encode()) > 128_000))
defect("hangup-spares-replies", "Leaves the gemini of a reply running on a signal.", "shutdown:sighup:group")(
    shut_down=spared_at_signal(lambda call: call.tool == "chat-reply")
)
defect(
    "interrupt-spares-system-prompts",
    "Leaves the gemini of a call with a system prompt running on a signal.",
    "shutdown:sigint:group",
)(shut_down=spared_at_signal(lambda call: call.arguments.get("systemPrompt")))
defect(
    "end-kills-oldest-alone",
    "Sends SIGKILL to the oldest of several calls only when its input ends.",
    "shutdown:stdin-end:ignored-term",
)(stop=only_oldest_killed)
defect(
    "second-cancel-spares",
    "Sends no SIGKILL to a call that is cancelled a second time while it ends.",
    "cancel:ignored-term",
)(stop=begins_grace_anew)
defect(
    "content-with-end-of-leader",
    "Sends no SIGKILL to what gemini has started when gemini itself ends at SIGTERM.",
    "cancel:group",
)(stop=content_with_leader, wait=group_spared)
defect("ping-waits-for-line", "Answers ping when no reply waits for another.", "concurrency:ping")(ping=waits_in_line)
defect("three-sessions-at-once", "Runs replies by id in three sessions at the same time.", "concurrency:other-session")(
    run_prompt=three_at_once
)
defect("four-system-prompts-at-once", "Runs four calls with a system prompt at once.", "concurrency:calls")(
    run_prompt=four_at_once
)
defect(
    "file-named-by-length",
    "Names the directory of a system prompt by its length.",
    "system:isolation",
)(**directory_named("length", lambda call: len(str(call.arguments.get("systemPrompt")))))
defect("file-named-by-prompt", "Names the directory of a system prompt by the prompt.", "system:isolation")(
    **directory_named("prompt", lambda call: call.arguments.get("prompt"))
)
defect("file-named-by-id", "Names the directory of a system prompt by the text of the id.", "system:isolation")(
    **directory_named("id", lambda call: call.id)
)
defect("file-named-by-session", "Names the directory of a system prompt by the session.", "system:isolation")(
    **directory_named("session", lambda call: call.arguments.get("sessionId", "latest"))
)
defect(
    "message-behind-blocked-one-lost",
    "Drops the message behind one for which the client had no room for half a second.",
    "lifecycle:ping",
)(write=next_lost)
defect("third-cancel-spares-group", "Ends gemini alone at the third cancellation.", "cancel:group")(
    cancel=third_spares_group, wait=group_of_third_spared
)
