"""Defects in what ends or is left otherwise than usual: output that is closed early, files of gemini, waiting calls."""

import errno
import os
import subprocess
import tempfile
from contextlib import suppress
from io import BytesIO
from typing import Any

from answering import Outcome
from defects.record import defect
from running import Call
from speaking import as_object


def until_end_of_output(port: Any, call: Call, argv: Any, cwd: Any, env: Any, stdin: Any, timeout: float) -> Any:
    """The process, when it has closed its stdout, with what it has written there and the file of its stderr."""
    with port.input(stdin) as given:
        err = tempfile.TemporaryFile()  # noqa: SIM115
        process = port.begin(call, argv, cwd, env, given, subprocess.PIPE, err, timeout)
        assert process.stdout is not None
        return process, process.stdout.read(), err


def file_gone_with_output(port: Any, real: Any, call: Call, argv: Any, cwd: Any, env: Any, *others: Any) -> Outcome:
    process, out, err = until_end_of_output(port, call, argv, cwd, env, *others)
    with suppress(KeyError, FileNotFoundError):
        os.unlink(env["GEMINI_SYSTEM_MD"])
    return port.outcome(call, port.wait(call, process), BytesIO(out), err)


def ended_with_output(port: Any, real: Any, call: Call, *others: Any) -> Outcome:
    """A whole answer needs no exit code."""
    process, out, err = until_end_of_output(port, call, *others)
    is_whole = out.rstrip().endswith(b"}")
    if is_whole and process.poll() is None:
        port.stop(call)
    exit = port.wait(call, process)
    return port.outcome(call, 0 if is_whole else exit, BytesIO(out), err)


def waits_for_stderr(port: Any, real: Any, call: Call, *others: Any) -> Outcome:
    argv, cwd, env, stdin, seconds = others
    with port.input(stdin) as given, tempfile.TemporaryFile() as out:
        process = port.begin(call, argv, cwd, env, given, out, subprocess.PIPE, seconds)
        assert process.stderr is not None
        err = BytesIO(process.stderr.read())
        return port.outcome(call, port.wait(call, process), out, err)


def removes_empty_directory(port: Any, real: Any, path: str, *others: Any) -> None:
    os.unlink(path)
    with suppress(OSError):
        os.rmdir(os.path.dirname(path))


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


def negative_is_none(port: Any, real: Any, method: str, params: Any) -> None:
    id = (as_object(params) or {}).get("requestId")
    if not (method == "notifications/cancelled" and isinstance(id, int) and id < 0):
        real(method, params)


def tells_of_waiting(port: Any, real: Any, call: Call) -> None:
    """A call that has not begun is answered with an error when it is cancelled."""
    is_waiting = call.stateless and call.process is None and not call.is_answered
    real(call)
    if is_waiting:
        port.send({"jsonrpc": "2.0", "id": call.id, "error": {"code": -32800, "message": "It was cancelled."}})


defect(
    "file-gone-with-output",
    "Removes the file of the system prompt when gemini has closed its stdout.",
    "system:life",
)(run=file_gone_with_output)
defect(
    "ended-with-output",
    "Takes gemini for ended, and well, when it has closed its stdout behind a whole answer.",
    "error:exit",
)(run=ended_with_output)
defect(
    "answer-waits-for-stderr",
    "Answers only when nobody holds gemini's stderr any more.",
    "process:held-output",
)(run=waits_for_stderr)
defect(
    "directory-kept-when-littered",
    "Leaves the directory of the system prompt when gemini has put a file into it.",
    "system:removed:success",
)(remove_system=removes_empty_directory)
defect(
    "system-file-kept-when-too-long",
    "Leaves the file of the system prompt when the command line is too long for the system.",
    "system:removed:failure",
)(spawn=notes_too_long, remove_system=keeps_too_long)
defect("negative-id-not-cancelled", "Ignores the cancellation of a call whose id is negative.", "cancel:child")(
    notified=negative_is_none
)
defect(
    "waiting-call-answered-when-cancelled",
    "Answers a call of the stateless era that is cancelled while it waits for another.",
    "stateless:cancelled",
)(cancel=tells_of_waiting)
