"""System prompts that calls share, lose or leave when they end: ports that break `system`."""

import errno
import glob
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from io import BytesIO
from itertools import count
from typing import Any

from answering import Outcome
from defects.life.shared import LOCK, until_end_of_output
from defects.record import defect
from defects.shared import directory_named, keeps
from http_port import HttpPort
from planning import Plan
from port import Port
from running import Call, Cancelled
from steps import Change, Step, before

FILE_NAMES = 8


def pushes(port: Any, real: Any, text: str) -> str:
    path = real(text)
    with LOCK:
        port.memory.setdefault("stack", []).append(path)
    return path


def pops(port: Any, real: Any, path: str, call: Call, outcome: Any) -> None:
    """Takes the newest file from those that a signal removes, whichever call has ended."""
    with LOCK:
        stack = port.memory["stack"]
        if port.ended_by_signal:
            if path not in stack:
                return
        elif stack:
            stack.pop()
    real(path, call, outcome)


def system_of_first(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    """Knows the system prompts that are in use by the rest of their calls."""
    if plan.system is None:
        return real(call, plan)
    key = (plan.argv, plan.cwd, plan.stdin)
    with LOCK:
        first = port.memory.setdefault("systems", {}).setdefault(key, plan)
    try:
        return real(call, replace(plan, system=first.system))
    finally:
        with LOCK:
            if port.memory["systems"].get(key) is plan:
                del port.memory["systems"][key]


def file_by_text(port: Any, real: Any, text: str) -> str:
    named = hashlib.sha256(text.encode()).hexdigest()[:6]
    directory = os.path.join(tempfile.gettempdir(), f"gemini-mcp-{named}")
    os.makedirs(directory, 0o700, exist_ok=True)
    path = os.path.join(directory, port.system_name())
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(port.system_bytes(text))
    return path


def removes_all(port: Any, *arguments: Any) -> None:
    for each in glob.glob(os.path.join(tempfile.gettempdir(), "gemini-mcp-*")):
        shutil.rmtree(each, ignore_errors=True)


def removed_by_clock(port: Any, real: Any, path: str | None) -> Any:
    if path is not None:
        clock = threading.Timer(1.5, lambda: os.path.exists(path) and os.unlink(path))
        clock.daemon = True
        clock.start()
    return real(path)


def file_gone_with_output(port: Any, real: Any, call: Call, argv: Any, cwd: Any, env: Any, *others: Any) -> Outcome:
    process, out, err = until_end_of_output(port, call, argv, cwd, env, *others)
    with suppress(KeyError, FileNotFoundError):
        os.unlink(env["GEMINI_SYSTEM_MD"])
    return port.outcome(call, port.wait(call, process), BytesIO(out), err)


def in_few_names(port: Any, real: Any, text: str) -> str:
    number = next(port.memory.setdefault("number", count())) % FILE_NAMES
    folder = os.path.join(tempfile.gettempdir(), f"gemini-mcp-{number:06d}")
    os.makedirs(folder, 0o700, exist_ok=True)
    path = os.path.join(folder, port.system_name())
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(port.system_bytes(text))
    return path


def kept_by_disconnected(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    if not (call.is_cancelled and call.stateless):
        real(path, call, outcome)


def notes_killed(port: Any, real: Any, call: Call, process: subprocess.Popen[bytes]) -> int:
    exit = real(call, process)
    if exit == -signal.SIGKILL:
        port.memory[call] = "killed"
    return exit


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


def writes_before_turn(port: Any, real: Any, call: Call, turn: str | None) -> None:
    text = call.arguments.get("systemPrompt")
    if not (turn in port.turns and text and text.strip()):
        real(call, turn)
        return
    path = port.write_system(text)
    real(call, turn)
    if not call.is_cancelled or port.is_ending:
        port.remove_system(path, call, None)


def writes_before_looking(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    path = port.write_system(texts["systemPrompt"]) if texts.get("systemPrompt") else None
    cwd = real(tool, texts)
    if path is not None:
        port.remove_system(path, None, None)
    return cwd


def notes_too_long(port: Any, real: Any, argv: Any, **options: Any) -> Any:
    port.memory["is_too_long"] = False
    try:
        return real(argv, **options)
    except OSError as error:
        port.memory["is_too_long"] = error.errno == errno.E2BIG
        raise


def keeps_too_long(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    if outcome is not None or not port.memory.get("is_too_long"):
        real(path, call, outcome)


def written_before_turn(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Has the file ready before its turn comes, and leaves it when the server ends meanwhile."""
    text = call.arguments.get("systemPrompt")
    path = port.write_system(text) if turn is not None and isinstance(text, str) and text.strip() else None
    real(call, turn)
    if path is not None and not port.is_ending:
        shutil.rmtree(os.path.dirname(path))


def oldest_keeps(port: Any, real: Any, path: str, call: Call, outcome: Any) -> None:
    if port.memory.get("oldest") is not call:
        real(path, call, outcome)


def notes_oldest(port: Any) -> None:
    prompted = [call for call in port.calls if call.arguments.get("systemPrompt")]
    port.memory["oldest"] = prompted[0] if len(port.calls) > 1 and prompted else None


def removes_empty_directory(port: Any, real: Any, path: str, *others: Any) -> None:
    os.unlink(path)
    with suppress(OSError):
        os.rmdir(os.path.dirname(path))


def keep_for_answer(port: Any, real: Any, path: str, call: Any, outcome: Any) -> None:
    port.memory[call] = partial(real, path, call, outcome)


def answer_and_remove(port: Any, real: Any, call: Any, result: Any) -> None:
    remove = port.memory.pop(call, None)
    if remove is None:
        real(call, result)
        return
    with port.output:
        if not call.is_cancelled:
            call.is_answered = True
            message = {"jsonrpc": "2.0", "id": call.id, "result": port.finished(result, call.stateless)}
            data = port.encoded(message)
            with suppress(BrokenPipeError):
                sys.stdout.buffer.write(data[:-1])
                sys.stdout.buffer.flush()
            remove()
            with suppress(BrokenPipeError):
                sys.stdout.buffer.write(data[-1:])
                sys.stdout.buffer.flush()
        remove()


def serve_and_remove(port: Any, real: Any, call: Any) -> None:
    try:
        real(call)
    finally:
        if (remove := port.memory.pop(call, None)) is not None:
            remove()


def shared_by(key: Change) -> Step:
    """Of `write_system`: gives a call the file of one that runs, when the keys of both texts are the same."""

    def write(port: Any, real: Any, text: str) -> str:
        with LOCK:
            path, users = port.memory.get(key(text), (None, 0))
            path = path if users else real(text)
            port.memory[key(text)] = path, users + 1
            return path

    return write


def removes_with_last(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    with LOCK:
        key = next(key for key, (shared, _) in port.memory.items() if shared == path)
        users = port.memory[key][1] - 1
        port.memory[key] = path, users
        if not users:
            real(path, call, outcome)


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
    "system-of-equal-call",
    "Hands a call the system prompt of another one that runs and is equal in all other arguments.",
    "system:isolation",
)(run_prompt=system_of_first)
defect(
    "equal-system-prompts-share-a-file",
    "Keeps a system prompt in a file named after its text, and removes it when the first of two calls has ended.",
    "system:life",
)(write_system=file_by_text)
defect("cancel-cleans-too-much", "Removes the system prompts of all calls when one is cancelled.", "system:life")(
    cancel=before(removes_all)
)
defect(
    "system-prompt-removed-by-clock",
    "Removes the system prompt a second and a half after gemini has started.",
    "system:life",
)(environment=removed_by_clock)
defect(
    "file-gone-with-output",
    "Removes the file of the system prompt when gemini has closed its stdout.",
    "system:life",
)(run=file_gone_with_output)
defect(
    "eight-file-names",
    "Has eight names for the files of system prompts, and overwrites one that is in use.",
    "system:life",
    "system:isolation",
)(write_system=in_few_names)
defect(
    "system-prompt-kept-for-stateless-cancellation",
    "Keeps the system prompt of a call of the stateless era that was cancelled.",
    "system:removed:cancel",
)(remove_system=kept_by_disconnected)
defect(
    "system-prompt-kept-for-disconnected",
    "Keeps the system prompt of a call whose client has closed its connection.",
    "system:removed:cancel",
)(HttpPort, remove_system=kept_by_disconnected)
defect(
    "kept-when-killed-by-cancel",
    "Keeps the system prompt of a cancelled call whose gemini had to be killed.",
    "system:removed:cancel",
)(
    wait=notes_killed,
    remove_system=keeps(lambda port, call, outcome: call in port.memory and call.is_cancelled and not port.is_ending),
)
defect(
    "system-prompt-kept-by-cancelled-list",
    "Removes a system prompt behind the list of sessions, and not when that is cancelled.",
    "system:removed:cancel",
)(remove_system=kept_for_list, ask=removed_behind_list)
defect(
    "system-file-of-cancelled-in-line",
    "Writes a system prompt before the turn of its reply, and leaves the file when that is cancelled in its line.",
    "system:removed:cancel",
)(take_turn=writes_before_turn)
defect(
    "system-prompt-written-before-look",
    "Writes the system prompt before it looks at the directory, and keeps it when it refuses that.",
    "system:removed:failure",
)(cwd=writes_before_looking)
defect(
    "kept-after-death-by-signal",
    "Keeps the system prompt of a call whose gemini has died of a signal.",
    "system:removed:failure",
)(remove_system=keeps(lambda port, call, outcome: outcome is not None and outcome.exit < 0))
defect(
    "system-file-kept-when-too-long",
    "Leaves the file of the system prompt when the command line is too long for the system.",
    "system:removed:failure",
)(spawn=notes_too_long, remove_system=keeps_too_long)
defect(
    "kept-when-killed-by-signal",
    "Keeps the system prompt of a call whose gemini had to be killed when a signal ends the server.",
    "system:removed:sigterm",
)(wait=notes_killed, remove_system=keeps(lambda port, call, outcome: call in port.memory and port.ended_by_signal))
defect(
    "kept-in-line-at-end",
    "Keeps the system prompt of a reply that waits for another when its input ends.",
    "system:removed:stdin-end",
    "system:removed:sigterm",
)(take_turn=written_before_turn)
defect(
    "newest-file-forgotten",
    "Leaves the newest file at a signal when a call with an older one has ended.",
    "system:removed:sigterm",
)(write_system=pushes, remove_system=pops)
defect(
    "oldest-keeps-file-at-end",
    "Leaves the system prompt of the oldest of several calls when its input ends.",
    "system:removed:stdin-end",
)(remove_system=oldest_keeps, shut_down=before(notes_oldest))
defect(
    "directory-kept-when-littered",
    "Leaves the directory of the system prompt when gemini has put a file into it.",
    "system:removed:success",
)(remove_system=removes_empty_directory)
defect(
    "file-waits-for-reader",
    "Removes a system prompt when its answer has been written, so it stays if the input ends and nobody has read that.",
    "system:removed:stdin-end",
    "system:removed:sigterm",
)(remove_system=keep_for_answer, answer=answer_and_remove, serve_call=serve_and_remove)
defect(
    "start-removes-files-in-use",
    "Removes every directory of a system prompt when it starts, of a server that runs as well.",
    "system:life",
)(serve=before(removes_all))
defect(
    "file-of-equal-prompt-shared-while-used",
    "Gives a call the file of another one that runs and has the same system prompt.",
    "system:directory",
)(write_system=shared_by(lambda text: text), remove_system=removes_with_last)
defect(
    "file-of-like-prompt-shared-while-used",
    "Gives a call the file of another one that runs when their system prompts begin with the same 512 characters.",
    "system:isolation",
    "system:content",
)(write_system=shared_by(lambda text: text[:512]), remove_system=removes_with_last)
