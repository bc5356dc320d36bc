"""Defects in running gemini: its stdin, its environment, its directory, and the pipes it writes to."""

import os
import subprocess
import threading
import time
from contextlib import suppress
from typing import IO, Any

from answering import Outcome
from conditions import without_variables
from defects.record import defect
from port import Port
from running import Call, Environment
from steps import Step, first_kept, for_tool, gives, takes

PIPE: Any = subprocess.PIPE

LONG, PAUSE = 60, 0.05


class Piped(Port):
    """A port that reads gemini's output from pipes. `piped` decides how."""

    def run(
        self, call: Call, argv: tuple[str, ...], cwd: str | None, env: Environment, stdin: str | None, timeout: float
    ) -> Outcome:
        with self.input(stdin) as given:
            process = self.begin(call, argv, cwd, env, given, PIPE, PIPE, timeout)
            assert process.stdout is not None
            assert process.stderr is not None
            with process.stdout, process.stderr, open(os.devnull, "rb") as nothing:
                exit, out, err = self.piped(call, process, process.stdout, process.stderr)
                self.outcome(call, exit, nothing, nothing)
                return Outcome(exit, out, err)

    def piped(
        self, call: Call, process: subprocess.Popen[bytes], out: IO[bytes], err: IO[bytes]
    ) -> tuple[int, bytes, bytes]:
        errors: list[bytes] = []
        thread = threading.Thread(target=lambda: errors.append(err.read()), daemon=True)
        thread.start()
        output = self.drained(out)
        exit = self.wait(call, process)
        thread.join()
        return exit, output, b"".join(errors)

    def drained(self, out: IO[bytes]) -> bytes:
        return out.read()


def reads_stderr_last(port: Any, real: Any, call: Call, process: Any, out: IO[bytes], err: IO[bytes]) -> Any:
    output = out.read()
    return port.wait(call, process), output, err.read()


def reads_all_last(port: Any, real: Any, call: Call, process: Any, out: IO[bytes], err: IO[bytes]) -> Any:
    return port.wait(call, process), out.read(), err.read()


def decodes_pieces(port: Any, real: Any, out: IO[bytes]) -> bytes:
    text = ""
    while piece := os.read(out.fileno(), 1 << 16):
        text += piece.decode("utf-8", "replace")
    return text.encode()


def with_stdin(stdin: int | None, word: str = "gemini") -> Step:
    """Gives gemini another stdin when this word is on its command line."""

    def spawn(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
        return real(argv, **{**options, **({"stdin": stdin} if word in argv else {})})

    return spawn


def waits_for_group_of_failure(port: Any, real: Any, call: Call, process: subprocess.Popen[bytes]) -> int:
    exit, end = real(call, process), time.monotonic() + LONG
    with suppress(ProcessLookupError):
        while exit != 0 and not call.is_cancelled and time.monotonic() < end:
            os.killpg(process.pid, 0)
            time.sleep(PAUSE)
    return exit


defect("known-variables-only", "Hands on the variables that it knows gemini to read.", "process:environment")(
    environment=without_variables(
        lambda name, value: not name.startswith(("GEMINI_", "GOOGLE_", "HOME", "PATH", "TMPDIR", "PWD", "LANG"))
    )
)
defect("stdin-inherited", "Lets gemini read the server's stdin.", "process:stdin")(spawn=with_stdin(None))
defect("reply-inherits-stdin", "Lets gemini read the server's stdin, in replies only.", "process:stdin")(
    spawn=with_stdin(None, "-r")
)
defect("stdin-left-open", "Gives gemini an open pipe as stdin and never closes it.", "process:stdin:ended")(
    spawn=with_stdin(subprocess.PIPE), prompt_form=takes(lambda prompt: prompt[:100_000])
)
defect("environment-filtered", "Passes on HOME and PATH and nothing else.", "process:environment")(
    environment=without_variables(lambda name, value: name not in ("HOME", "PATH", "GEMINI_SYSTEM_MD", "TMPDIR"))
)
defect("api-key-emptied", "Empties the API key in gemini's environment.", "process:environment")(
    environment=gives(lambda all: {name: "" if name.endswith("_KEY") else value for name, value in all.items()})
)
defect("waits-for-end-of-output", "Waits until nobody holds gemini's output any more.", "process:held-output")(Piped)
defect(
    "stderr-read-last", "Reads stderr after gemini has ended, from a pipe that fills up before.", "result:large-stderr"
)(Piped, piped=reads_stderr_last)
defect(
    "output-read-last", "Reads stdout after gemini has ended, from a pipe that fills up before.", "result:large-stdout"
)(Piped, piped=reads_all_last)
defect("output-cut-at1-mi-b", "Keeps the first megabyte of the output.", "result:large-stdout")(
    decode=takes(lambda raw: raw[: 1 << 20])
)
defect(
    "pieces-decoded-alone", "Decodes each piece of the output by itself.", "result:text:split", "result:text:unicode"
)(Piped, drained=decodes_pieces)
defect("chat-ignores-cwd", "Ignores `cwd` in `chat`.", "cwd:used")(cwd=for_tool("chat", gives(lambda cwd: None)))
defect("first-cwd-kept", "Stays in the directory of the first call that named one.", "cwd:used")(cwd=first_kept)
defect("reply-ignores-cwd", "Ignores `cwd` in `chat-reply`.", "cwd:chat-reply")(
    cwd=for_tool("chat-reply", gives(lambda cwd: None))
)
defect("runs-at-root", "Runs in the root directory without `cwd`.", "cwd:default")(cwd=gives(lambda cwd: cwd or "/"))
defect("moves-into-cwd", "Changes its own directory to that of a call, and stays.", "cwd:default", "cwd:relative")(
    cwd=gives(lambda cwd: os.chdir(cwd) if cwd else None)
)
defect("relative-to-root", "Resolves a relative directory against the root.", "cwd:relative")(
    cwd=takes(lambda texts: {**texts, "cwd": f"/{texts['cwd']}"} if "cwd" in texts else texts)
)
defect(
    "failure-waits-for-its-group",
    "Answers a call that failed when all that gemini started has ended.",
    "process:held-output",
)(wait=waits_for_group_of_failure)
