"""Environments and pipes that are right until two things meet: ports that break `process`."""

import os
import time
from contextlib import suppress
from typing import Any

from conditions import is_fed, stdin_open, without_variables
from defects.record import defect
from planning import ARGUMENT_LIMIT
from running import LIST, Call
from steps import gives, without

VARIABLES = ("HOME", "PATH")
LONG = 60.0
PAUSE = 0.05


def poor_list(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    if LIST in argv:
        options["env"] = {name: options["env"][name] for name in VARIABLES if name in options["env"]}
    return real(argv, **options)


def with_system_alone(port: Any, real: Any, path: str | None) -> dict[str, str]:
    environment = real(path)
    if path is None:
        return environment
    return {name: environment[name] for name in ("HOME", "PATH", "GEMINI_SYSTEM_MD") if name in environment}


def waits_for_holders(port: Any, real: Any, call: Call, process: Any) -> int:
    exit = real(call, process)
    if call.tool == "chat-reply" and call.arguments.get("cwd"):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                os.killpg(process.pid, 0)
            except OSError:
                break
            time.sleep(0.05)
    return exit


def waits_for_group(port: Any, real: Any, call: Call, process: Any) -> int:
    exit, end = real(call, process), time.monotonic() + LONG
    is_long = len(str(call.arguments["prompt"]).encode("utf-8", "replace")) > ARGUMENT_LIMIT
    with suppress(ProcessLookupError):
        while is_long and not call.is_cancelled and time.monotonic() < end:
            os.killpg(process.pid, 0)
            time.sleep(PAUSE)
    return exit


def stdin_beside_directory(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    is_named = options["cwd"] is not None and not is_fed(options["stdin"])
    return real(argv, **{**options, "stdin": None} if is_named else options)


defect("environment-of-list-filtered", "Passes HOME and PATH alone to a list.", "process:environment")(start=poor_list)
defect("empty-variables-lost", "Hands no variable on that is empty.", "process:environment")(
    environment=without_variables(lambda name, value: not value)
)
defect(
    "environment-lost-beside-system-prompt",
    "Passes HOME and PATH alone to gemini when there is a system prompt.",
    "process:environment",
)(environment=with_system_alone)
defect("variables-trimmed", "Takes blanks off the values of variables.", "process:environment")(
    environment=gives(lambda variables: {name: value.strip() for name, value in variables.items()})
)
defect("temporary-directory-withheld", "Does not hand TMPDIR on.", "process:environment")(
    environment=gives(without("TMPDIR"))
)
defect(
    "held-output-of-reply-in-directory",
    "Waits for what gemini has left in the background in a reply with a directory.",
    "process:held-output",
)(wait=waits_for_holders)
defect(
    "held-output-awaited-on-stdin",
    "Waits for what gemini has left in the background when the prompt was long.",
    "process:held-output",
)(wait=waits_for_group)
defect(
    "stdin-inherited-beside-directory", "Lets gemini read the server's stdin in a named directory.", "process:stdin"
)(spawn=stdin_beside_directory)
defect(
    "stdin-of-list-open", "Gives a list of sessions an open pipe as stdin and never closes it.", "process:stdin:ended"
)(spawn=stdin_open(lambda argv: LIST in argv))
