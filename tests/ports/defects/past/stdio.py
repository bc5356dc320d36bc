"""Texts of earlier calls that come out where they do not belong: ports that break `stdio`."""

import os
import select
import sys
from collections.abc import Mapping
from typing import Any

from answering import Answer
from conditions import failed
from defects.past.shared import others
from defects.record import defect
from defects.shared import log_bare
from planning import Plan
from running import Call
from speaking import Message, RpcError
from steps import before

STALL_SECONDS = 0.5
PIECE = 4096


def logs_siblings(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    if failed(call, result):
        for other in others(port, call):
            log_bare(f"still running: {other.tool} {other.arguments.get('prompt')}")
    return result


def logs_unlisted(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    found = real(call, plan, answer)
    if not found.session:
        print(f"no session is listed for {answer!r}", file=sys.stderr, flush=True)
    return found


def logs_running(port: Any) -> None:
    for call in list(port.calls):
        print(f"ended: {call.arguments}", file=sys.stderr, flush=True)


def logs_unknown(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Call:
    try:
        return real(identity, params, stateless)
    except RpcError:
        print(f"cannot call {dict(params)}", file=sys.stderr, flush=True)
        raise


def begun_anew(port: Any, real: Any, message: Message) -> None:
    """Begins a line again when the client has made it wait in the middle."""
    line = rest = memoryview(port.encoded(message))
    has_waited = False
    while rest:
        if not has_waited and not select.select([], [1], [], STALL_SECONDS)[1]:
            has_waited, rest = True, line
        rest = rest[os.write(1, rest[:PIECE]) :]


defect(
    "siblings-logged-on-failure",
    "Logs the prompts of the calls that run beside one that fails.",
    "stdio:stderr:private",
)(execute=logs_siblings)
defect("answer-logged-without-list", "Logs an answer for which no list names a session.", "stdio:stderr:private")(
    with_session=logs_unlisted
)
defect("calls-logged-at-end", "Logs the calls that it ends when it ends.", "stdio:stderr:private")(
    shut_down=before(logs_running)
)
defect("unknown-tool-logged", "Logs the arguments of a call of an unknown tool.", "stdio:stderr:private")(
    new_call=logs_unknown
)
defect(
    "line-begun-anew-for-slow-reader",
    "Begins a long line again when the client has not read for half a second in the middle of it.",
    "stdio:stdout",
    "stdio:framing",
)(write=begun_anew)
