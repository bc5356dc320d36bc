"""Faults of a call that touch something else: ports that break `cancel`, `concurrency`, `progress` or `stdio`."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from answering import Outcome
from conditions import is_fed, noted_alone
from defects.record import defect
from planning import ARGUMENT_LIMIT, Plan
from running import Call
from steps import for_tool, gives

PIECE = 65536


def listed_apart(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """Runs the list for a call of its own, of which the client knows nothing."""
    apart = Call(object(), call.tool, call.arguments)
    port.calls.append(apart)
    try:
        return real(apart, plan)
    finally:
        port.calls.remove(apart)


def notes_fed(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    process = real(argv, **options)
    if is_fed(options["stdin"]):
        port.memory[process.pid] = "fed"
    return process


def no_turn_for_stdin(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    is_long = len(texts["prompt"].encode()) > ARGUMENT_LIMIT
    return None if is_long and "systemPrompt" in texts and "sessionId" not in texts else real(tool, texts)


def logs_cancelled(port: Any, real: Any, call: Call) -> None:
    if call.stateless:
        print(f"cancelled: {call.tool} {json.dumps(call.arguments)}", file=sys.stderr, flush=True)
    real(call)


def cancellations_first(port: Any, real: Any) -> Iterator[bytes]:
    held = b""
    while piece := os.read(0, PIECE):
        *lines, held = (held + piece).split(b"\n")
        yield from sorted(lines, key=lambda line: b"cancelled" not in line)
    yield held


defect(
    "list-survives-cancellation",
    "Lets the list of sessions run on when its call is cancelled.",
    "cancel:child",
    "cancel:group",
)(list_sessions=listed_apart)
defect(
    "cancellation-before-its-call",
    "Takes cancellations first of what arrives at once, so that one which came with its call finds no call.",
    "cancel:group",
    "cancel:unanswered",
)(lines=cancellations_first)
defect(
    "fed-gemini-ended-alone",
    "Ends only gemini itself, and no other process of its group, when the prompt went to stdin.",
    "cancel:group",
    "shutdown:stdin-end:group",
    "shutdown:sigterm:group",
)(start=notes_fed, signal_group=noted_alone)
defect(
    "latest-from-stdin-with-system-waits-not",
    "Does not queue a reply to the latest session whose prompt goes to stdin and that has a system prompt.",
    "concurrency:latest",
)(turn=for_tool("chat-reply", no_turn_for_stdin))
defect(
    "token-of-256-cut",
    "Keeps no more than 255 characters of a progress token.",
    "progress:token",
)(token=gives(lambda token: token[:255] if isinstance(token, str) else token))
defect(
    "cancelled-stateless-call-logged",
    "Writes the arguments of a cancelled call of 2026-07-28 to its stderr.",
    "stdio:stderr:private",
)(cancel=logs_cancelled)
