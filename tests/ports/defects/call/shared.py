"""What several modules of this room use: other arguments and directories, trusted prompts, output from pipes."""

import os
import subprocess
import threading
from collections.abc import Callable, Mapping
from typing import IO, Any

from answering import Outcome
from planning import Plan
from port import Port
from running import Call, Environment
from steps import Change, Step, notes

remembers_session = notes("session", lambda result: result.get("_meta", {}).get("sessionId"))
BLOCK = 65_536
PIPE: Any = subprocess.PIPE


def reads_argument(name: str, change: Any) -> Step:
    """Of `plan`: reads what stands under this name as something else."""

    def plan(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
        return real(tool, {**arguments, name: change(arguments[name])} if name in arguments else arguments)

    return plan


def pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


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


def trusts(test: Callable[[str], bool]) -> Step:
    """Passes the prompts of which `test` holds as they are, however risky."""
    return lambda port, real, prompt: real(prompt) and not test(prompt)


def values(change: Callable[[str, Any], Any]) -> Step:
    """Takes the value of an argument for another one."""
    return lambda port, real, tool, name, value: real(tool, name, change(name, value))


def also_absent(other: str) -> Step:
    """Of `is_absent`: takes this argument for absent when it is blank."""
    return lambda port, real, name, text: real(name, text) or (name == other and not text.strip())


def changed_directory(change: Change) -> Step:
    """Of `cwd`: looks for another directory."""
    return lambda port, real, tool, texts: real(
        tool, {**texts, "cwd": change(texts["cwd"])} if "cwd" in texts else texts
    )
