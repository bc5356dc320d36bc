"""Defects with a limit of their own: on all that passes, on what stands around an answer, on a line."""

import json
from collections.abc import Mapping
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import STDERR
from defects.record import defect
from planning import PROPERTIES, Refusal
from running import Call
from steps import before

ALL_ANSWERS = 12 * 1024 * 1024
ONE_OUTPUT = 16 * 1024 * 1024
ALL_STDERR = 24 * 1024
LINES_BEFORE, LINES_BEHIND = 64, 32
WAITING = 3
UNDECLARED = 64 * 1024


def of_all_answers(port: Any, outcome: Outcome) -> None:
    total = port.memory["total"] = port.memory.get("total", 0) + len(outcome.stdout)
    if total > ALL_ANSWERS:
        raise too_much(port, outcome)


def of_one_output(port: Any, outcome: Outcome) -> None:
    if len(outcome.stdout) > ONE_OUTPUT:
        raise too_much(port, outcome)


def too_much(port: Any, outcome: Outcome) -> Failure:
    return Failure("gemini has printed too much.", port.decode(outcome.stderr))


def of_all_stderr(port: Any, real: Any, failure: Failure) -> str:
    quoted = real(failure).removeprefix(STDERR).encode()
    if failure.stderr is None:
        return ""
    left = port.memory.get("left", ALL_STDERR)
    port.memory["left"] = max(0, left - len(quoted))
    return STDERR + (quoted[-left:].decode("utf-8", "ignore") if left else "")


def in_first_lines(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    lines = stdout.split("\n", LINES_BEFORE)
    is_deep = len(lines) > LINES_BEFORE and "{" not in "".join(lines[:LINES_BEFORE])
    return port.plain_text(stdout) if is_deep else real(stdout, stderr)


def near_end(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    _, brace, rest = stdout.rpartition("}")
    return port.plain_text(stdout) if brace and rest.count("\n") > LINES_BEHIND else real(stdout, stderr)


def in_short_line(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Where the line is full, nobody can wait in it."""
    if turn is not None and len(port.turns.get(turn, ())) < WAITING:
        real(call, turn)


def refuses_long_undeclared(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    for name, value in arguments.items():
        if name not in PROPERTIES[tool] and len(json.dumps(value)) > UNDECLARED:
            raise Refusal(f"`{name}` is too long.")


defect("answers-within-budget", "Fails once all answers together had more than 12 MiB.", "result:text")(
    read=before(of_all_answers)
)
defect("output-over-16-mib-refused", "Fails when gemini prints more than 16 MiB.", "result:large-stdout")(
    read=before(of_one_output)
)
defect("stderr-within-budget", "Quotes 24 KiB of stderr in all errors together.", "error:stderr")(
    stderr_part=of_all_stderr
)
defect("json-in-first-64-lines", "Looks for JSON in the first 64 lines of stdout.", "result:json:notice-before")(
    read_stdout=in_first_lines
)
defect("json-in-last-32-lines", "Finds no JSON with more than 32 lines behind it.", "result:json:notice-after")(
    read_stdout=near_end
)
defect("line-of-three-replies", "Lets no more than two replies wait in a session.", "concurrency:same-session")(
    take_turn=in_short_line
)
defect(
    "long-undeclared-refused",
    "Refuses an undeclared argument of more than 64 KiB.",
    "arguments:unknown",
)(texts=before(refuses_long_undeclared))
