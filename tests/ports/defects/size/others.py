"""Numbers, lengths and counts of other things: ports that break `arguments`, `cwd`, `lifecycle` or `process`."""

import json
import os
import select
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from conditions import asks, from_time, without_variables
from defects.record import defect
from defects.size.shared import LINE
from planning import ARGUMENT_LIMIT, PROPERTIES, Refusal
from steps import before, gives

UNREAD_SECONDS = 3.0
UNDECLARED = 64 * 1024
LONGEST_PATH = 260
"""What Windows calls MAX_PATH."""
PATH = 1024


def nul_overlooked_at_length(port: Any, real: Any, name: str, text: str) -> None:
    is_long = name == "prompt" and len(text.encode("utf-8", "surrogatepass")) > ARGUMENT_LIMIT
    real(name, text.replace("\0", "") if is_long else text)


def up_to_nul(form: tuple[tuple[str, ...], str | None]) -> tuple[tuple[str, ...], str | None]:
    argv, stdin = form
    return argv, stdin and stdin.split("\0")[0]


def refuses_many(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    if len(arguments) > 16:
        raise Refusal("`arguments` are too many.")


def refuses_long_undeclared(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    for name, value in arguments.items():
        if name not in PROPERTIES[tool] and len(json.dumps(value)) > UNDECLARED:
            raise Refusal(f"`{name}` is too long.")


def short_path(port: Any, real: Any, cwd: str) -> None:
    real(cwd)
    if len(cwd) >= LONGEST_PATH:
        raise Refusal(f"`cwd` {cwd!r} does not exist.")


def refuses_long_path(port: Any, cwd: str) -> None:
    if len(cwd.encode()) > PATH:
        raise Refusal(f"`cwd` {cwd!r} does not exist.")


def most_variables(port: Any, real: Any, path: str | None) -> dict[str, str]:
    environ = real(path)
    names = [name for name in environ if name != "GEMINI_SYSTEM_MD"]
    return {name: text for name, text in environ.items() if name not in names[64:]}


def cut_variables(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value[:LINE] for name, value in variables.items()}


def written_while_read(port: Any, real: Any, message: Any) -> None:
    """A client that reads nothing for a while should not hold the server up."""
    data = memoryview(port.encoded(message))
    with suppress(BrokenPipeError):
        while data and select.select([], [1], [], UNREAD_SECONDS)[1]:
            data = data[os.write(1, data[: select.PIPE_BUF]) :]


defect(
    "long-prompt-ends-at-nul",
    "Looks for NUL where it builds the command line, and writes a long prompt to stdin up to the first one.",
    "arguments:nul",
)(check_characters=nul_overlooked_at_length, prompt_form=gives(up_to_nul))
defect("seventeen-arguments-refused", "Refuses more than sixteen arguments.", "arguments:unknown")(
    texts=before(refuses_many)
)
defect(
    "long-undeclared-refused",
    "Refuses an undeclared argument of more than 64 KiB.",
    "arguments:unknown",
)(texts=before(refuses_long_undeclared))
defect("long-directory-overlooked", "Runs in its own directory when a path has more than 255 bytes.", "cwd:used")(
    ask=asks(lambda call, plan: len(plan.cwd or "") > 255, lambda plan: replace(plan, cwd=None))
)
defect(
    "path-of-windows",
    "Says of a directory that it does not exist when its path has 260 characters or more.",
    "cwd:used",
)(check_cwd=short_path)
defect("path-over-1-kib-refused", "Refuses a directory whose path has more than 1,024 bytes.", "cwd:used")(
    check_cwd=before(refuses_long_path)
)
defect("ping-limited", "Answers a hundred pings and no more.", "lifecycle:ping")(
    ping=from_time(101, lambda port, real: {"error": "Too many pings."})
)
defect("variables-beyond-64-lost", "Hands no more than 64 variables on.", "process:environment")(
    environment=most_variables
)
defect("large-variables-lost", "Hands no variable on of more than 8 KiB.", "process:environment")(
    environment=without_variables(lambda name, value: len(value) > 8192)
)
defect("variables-cut-at-4-kib", "Hands on the first 4 KiB of a variable.", "process:environment")(
    environment=gives(cut_variables)
)
defect(
    "message-given-up-unread",
    "Leaves the rest of a message out when the client reads nothing for three seconds while it is written.",
    "stdio:stdout",
    "stdio:framing",
)(write=written_while_read)
