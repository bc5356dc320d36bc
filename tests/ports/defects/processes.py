"""Defects in running gemini: its stdin, its environment, its directory, and the pipes it writes to."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping
from typing import IO

from answering import Outcome
from defects.record import breaks
from port import Port
from running import Call, Environment
from speaking import JSON


@breaks("process:environment")
class KnownVariablesOnly(Port):
    """Hands on the variables that it knows gemini to read."""

    def environment(self, system_path: str | None) -> Environment:
        known = ("GEMINI_", "GOOGLE_", "HOME", "PATH", "TMPDIR", "PWD", "LANG")
        environ = super().environment(system_path)
        return {name: value for name, value in environ.items() if name.startswith(known)}


@breaks("process:stdin")
class StdinInherited(Port):
    """Lets gemini read the server's stdin."""

    def spawn(self, argv: tuple[str, ...], **options: JSON) -> subprocess.Popen[bytes]:
        return super().spawn(argv, **{**options, "stdin": None})


@breaks("process:stdin")
class ReplyInheritsStdin(Port):
    """Lets gemini read the server's stdin, in replies only."""

    def spawn(self, argv: tuple[str, ...], **options: JSON) -> subprocess.Popen[bytes]:
        return super().spawn(argv, **({**options, "stdin": None} if "-r" in argv else options))


@breaks("process:stdin:ended")
class StdinLeftOpen(Port):
    """Gives gemini an open pipe as stdin and never closes it."""

    def spawn(self, argv: tuple[str, ...], **options: JSON) -> subprocess.Popen[bytes]:
        return super().spawn(argv, **{**options, "stdin": subprocess.PIPE})

    def prompt_form(self, prompt: str) -> tuple[tuple[str, ...], str | None]:
        return super().prompt_form(prompt[:100_000])


@breaks("process:environment")
class EnvironmentFiltered(Port):
    """Passes on HOME and PATH and nothing else."""

    def environment(self, system_path: str | None) -> Environment:
        kept = ("HOME", "PATH", "GEMINI_SYSTEM_MD", "TMPDIR")
        return {name: value for name, value in super().environment(system_path).items() if name in kept}


@breaks("process:environment")
class ApiKeyEmptied(Port):
    """Empties the API key in gemini's environment."""

    def environment(self, system_path: str | None) -> Environment:
        return {
            name: "" if name.endswith("_KEY") else value for name, value in super().environment(system_path).items()
        }


class Piped(Port):
    """A port that reads gemini's output from pipes. `read` decides how."""

    def run(
        self, call: Call, argv: tuple[str, ...], cwd: str | None, env: Environment, stdin: str | None, timeout: float
    ) -> Outcome:
        with self.input(stdin) as given:
            process = self.begin(call, argv, cwd, env, given, self.pipe(), self.pipe(), timeout)
            assert process.stdout is not None
            assert process.stderr is not None
            with process.stdout, process.stderr:
                return self.piped(call, process, process.stdout, process.stderr)

    def pipe(self) -> JSON:
        return subprocess.PIPE

    def piped(self, call: Call, process: subprocess.Popen[bytes], out: IO[bytes], err: IO[bytes]) -> Outcome:
        errors: list[bytes] = []
        thread = threading.Thread(target=lambda: errors.append(err.read()), daemon=True)
        thread.start()
        output = self.drained(out)
        exit = self.wait(call, process)
        thread.join()
        return self.collected(call, exit, output, b"".join(errors))

    def drained(self, out: IO[bytes]) -> bytes:
        return out.read()

    def collected(self, call: Call, exit: int, out: bytes, err: bytes) -> Outcome:
        with open(os.devnull, "rb") as nothing:
            self.outcome(call, exit, nothing, nothing)
        return Outcome(exit, out, err)


@breaks("process:held-output")
class WaitsForEndOfOutput(Piped):
    """Waits until nobody holds gemini's output any more."""


@breaks("result:large-stderr")
class StderrReadLast(Piped):
    """Reads stderr after gemini has ended, from a pipe that fills up before."""

    def piped(self, call: Call, process: subprocess.Popen[bytes], out: IO[bytes], err: IO[bytes]) -> Outcome:
        output = out.read()
        exit = self.wait(call, process)
        return self.collected(call, exit, output, err.read())


@breaks("result:large-stdout")
class OutputReadLast(Piped):
    """Reads stdout after gemini has ended, from a pipe that fills up before."""

    def piped(self, call: Call, process: subprocess.Popen[bytes], out: IO[bytes], err: IO[bytes]) -> Outcome:
        exit = self.wait(call, process)
        return self.collected(call, exit, out.read(), err.read())


@breaks("result:large-stdout")
class OutputCutAt1MiB(Port):
    """Keeps the first megabyte of the output."""

    def decode(self, raw: bytes) -> str:
        return super().decode(raw[: 1 << 20])


@breaks("result:text:split", "result:text:unicode")
class PiecesDecodedAlone(Piped):
    """Decodes each piece of the output by itself."""

    def drained(self, out: IO[bytes]) -> bytes:
        text = ""
        while piece := os.read(out.fileno(), 1 << 16):
            text += piece.decode("utf-8", "replace")
        return text.encode()


@breaks("cwd:used")
class ChatIgnoresCwd(Port):
    """Ignores `cwd` in `chat`."""

    def cwd(self, tool: str, texts: Mapping[str, str]) -> str | None:
        cwd = super().cwd(tool, texts)
        return None if tool == "chat" else cwd


@breaks("cwd:used")
class FirstCwdKept(Port):
    """Stays in the directory of the first call that named one."""

    first: str | None = None

    def cwd(self, tool: str, texts: Mapping[str, str]) -> str | None:
        cwd = super().cwd(tool, texts)
        self.first = self.first or cwd
        return self.first if cwd else None


@breaks("cwd:chat-reply")
class ReplyIgnoresCwd(Port):
    """Ignores `cwd` in `chat-reply`."""

    def cwd(self, tool: str, texts: Mapping[str, str]) -> str | None:
        cwd = super().cwd(tool, texts)
        return None if tool == "chat-reply" else cwd


@breaks("cwd:default")
class RunsAtRoot(Port):
    """Runs in the root directory without `cwd`."""

    def cwd(self, tool: str, texts: Mapping[str, str]) -> str | None:
        return super().cwd(tool, texts) or "/"


@breaks("cwd:default", "cwd:relative")
class MovesIntoCwd(Port):
    """Changes its own directory to that of a call, and stays."""

    def cwd(self, tool: str, texts: Mapping[str, str]) -> str | None:
        cwd = super().cwd(tool, texts)
        if cwd:
            os.chdir(cwd)
        return None


@breaks("cwd:relative")
class RelativeToRoot(Port):
    """Resolves a relative directory against the root."""

    def cwd(self, tool: str, texts: Mapping[str, str]) -> str | None:
        cwd = texts.get("cwd")
        return super().cwd(tool, {"cwd": f"/{cwd}"} if cwd else {})
