"""Processes that inherit, hold or wait for something when they end: ports that break `process`."""

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from typing import IO, Any

from answering import Failure, Outcome
from defects.life.shared import copied, processes
from defects.record import defect
from running import LIST, LISTING_TIMEOUT, Call
from steps import gives

PAUSE = 0.05


def is_damaged(value: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in value)


def decodable(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if not is_damaged(value)}


def opened(process: int) -> Iterator[os.stat_result]:
    with suppress(OSError):
        for each in os.scandir(f"/proc/{process}/fd"):
            with suppress(OSError):
                yield each.stat()


def is_held(file: IO[bytes]) -> bool:
    own = os.fstat(file.fileno())
    others = (each for each in processes() if each != os.getpid())
    return any(os.path.samestat(own, file) for each in others for file in opened(each))


def waits_for_holders(port: Any, real: Any, call: Call, exit: int, out: IO[bytes], err: IO[bytes]) -> Outcome:
    """Without JSON only the end of the output says that all has come."""
    outcome = real(call, exit, out, err)
    while exit == 0 and b"{" not in outcome.stdout and is_held(out) and not call.is_cancelled:
        time.sleep(PAUSE)
    return outcome


def waits_for_stderr(port: Any, real: Any, call: Call, *others: Any) -> Outcome:
    argv, cwd, env, stdin, seconds = others
    with port.input(stdin) as given, tempfile.TemporaryFile() as out:
        process = port.begin(call, argv, cwd, env, given, out, subprocess.PIPE, seconds)
        assert process.stderr is not None
        err = BytesIO(process.stderr.read())
        return port.outcome(call, port.wait(call, process), out, err)


def list_through_pipe(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """Reads what a list prints until nobody holds its output."""
    if LIST not in argv:
        return real(argv, **options)
    reading, writing = os.pipe()
    try:
        process = real(argv, **{**options, "stdout": writing})
    finally:
        os.close(writing)
    port.memory[process] = reader = threading.Thread(target=copied, args=(reading, options["stdout"]), daemon=True)
    reader.start()
    return process


def waits_for_pipe(port: Any, real: Any, call: Call, process: Any) -> int:
    exit, reader = real(call, process), port.memory.pop(process, None)
    if reader is not None:
        reader.join(LISTING_TIMEOUT)
        if reader.is_alive():
            raise Failure("The list has no end.")
    return exit


def list_inherits(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    return real(argv, **{**options, "stdin": None} if LIST in argv else options)


def write_all(writer: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(writer, data) :]
    except OSError:
        return


def held_until_end(port: Any, real: Any, text: str | None) -> Any:
    """A pipe that is closed when the next call begins, for a prompt that is long."""
    if text is None:
        return real(text)
    reader, writer = os.pipe()
    port.memory.setdefault("writers", []).append(writer)
    threading.Thread(target=write_all, args=(writer, text.encode()), daemon=True).start()
    return open(reader, "rb")


defect(
    "variables-cut-at-equals",
    "Cuts a variable at the first equals sign of its value.",
    "process:environment",
)(environment=gives(lambda variables: {name: value.split("=")[0] for name, value in variables.items()}))
defect("undecodable-variables-lost", "Hands no variable on that is not UTF-8.", "process:environment")(
    environment=gives(decodable)
)
defect(
    "plain-text-held",
    "Waits until nobody holds an output in which there is no JSON.",
    "process:held-output",
)(outcome=waits_for_holders)
defect(
    "answer-waits-for-stderr",
    "Answers only when nobody holds gemini's stderr any more.",
    "process:held-output",
)(run=waits_for_stderr)
defect(
    "held-list-given-up",
    "Gives a list of sessions up whose output a background process holds.",
    "process:held-output",
)(start=list_through_pipe, wait=waits_for_pipe)
defect("list-inherits-stdin", "Lets a list of sessions read the server's stdin.", "process:stdin")(start=list_inherits)
defect(
    "long-stdin-held-open",
    "Holds the stdin open by which a gemini reads a long prompt.",
    "process:stdin:ended",
)(input=held_until_end)
