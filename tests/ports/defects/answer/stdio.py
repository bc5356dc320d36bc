"""What gemini printed, written where it does not belong or in another encoding: ports that break `stdio`."""

import json
import re
import sys
from typing import Any

from answering import Answer, Outcome
from defects.answer.shared import answered
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message

LARGE = 64 * 1024


def in_surrogates(port: Any, real: Any, message: Message) -> bytes:
    """As the `modified UTF-8` of Java: a character beyond the basic plane becomes two of three bytes."""
    text = json.dumps(message, separators=(",", ":"), ensure_ascii=False)
    if re.search("[\ud800-\udfff]", text):
        return real(message)
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    return "".join(map(chr, units)).encode("utf-8", "surrogatepass") + b"\n"


def logs(text: Any) -> None:
    print(text, file=sys.stderr, flush=True)


def logs_in_ascii(port: Any, real: Any, answer: Answer) -> Message:
    if not answer.text.isascii():
        logs(json.dumps(answer.text))
    return real(answer)


def logs_cancelled(port: Any, real: Any, call: Call, exit: int, out: Any, err: Any) -> Outcome:
    if call.is_cancelled and not port.is_ending:
        out.seek(0)
        logs(out.read().decode("utf-8", "replace"))
    return real(call, exit, out, err)


def logs_beside_warnings(port: Any, plan: Plan, answer: Answer) -> Answer:
    if answer.warnings:
        logs(plan.private[0])
    return answer


def logs_when_session_changes(port: Any, plan: Plan, answer: Answer) -> Answer:
    if plan.session not in (None, "latest", answer.session):
        logs(f"The session has changed: {plan.private[0]}")
    return answer


def blank_line_behind(port: Any, real: Any, message: Message) -> bytes:
    line = real(message)
    return line + b"\n" if len(line) > LARGE else line


defect(
    "wide-characters-in-surrogates",
    "Writes a character beyond the basic plane as two surrogates of three bytes each.",
    "stdio:encoding",
)(encoded=in_surrogates)
defect("answer-logged-in-ascii", "Logs an answer that is not ASCII, in escapes.", "stdio:stderr:private")(
    success=logs_in_ascii
)
defect("output-of-cancelled-logged", "Logs what a cancelled gemini has printed.", "stdio:stderr:private")(
    outcome=logs_cancelled
)
defect("prompt-logged-beside-warnings", "Logs a prompt to whose answer there are warnings.", "stdio:stderr:private")(
    ask=answered(logs_beside_warnings)
)
defect(
    "prompt-logged-when-session-changes",
    "Logs the prompt of a reply whose session gemini has changed.",
    "stdio:stderr:private",
)(ask=answered(logs_when_session_changes))
defect(
    "blank-line-behind-large-message",
    "Writes an empty line behind a message of more than 64 KiB.",
    "stdio:stdout",
)(encoded=blank_line_behind)
