"""Logs of what gemini has printed: ports that break `stdio:stderr`."""

import json
import sys
import time
from typing import Any

from answering import Answer, Outcome
from defects.record import defect
from defects.shared import log, log_bare
from planning import Plan
from running import Call
from speaking import Message
from steps import before


def logs_listed(port: Any, real: Any, call: Call, plan: Plan, answer: Any) -> Any:
    result = real(call, plan, answer)
    if result is not answer:
        log_bare(f"session {result.session} for {answer.text}")
    return result


def logs_what_is_cut(port: Any, real: Any, text: str, *others: Any) -> bool:
    is_cut = real(text, *others)
    if is_cut:
        log(f"cannot read {text}")
    return is_cut


def logs_failed(port: Any, real: Any, outcome: Outcome) -> Answer:
    if outcome.exit and outcome.stdout:
        log(f"exit code {outcome.exit}: {outcome.stdout.decode('utf-8', 'replace')}")
    return real(outcome)


def logs_blocked(port: Any, real: Any, message: Message) -> None:
    began = time.monotonic()
    real(message)
    if time.monotonic() - began > 0.5:
        log_bare(f"slow client: {json.dumps(message)[:2000]}")


def logs_undelivered(port: Any, real: Any, message: Message) -> None:
    try:
        sys.stdout.buffer.write(port.encoded(message))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        log_bare(f"nobody reads: {json.dumps(message)}")


def logs_repaired(port: Any, real: Any, text: str) -> str:
    whole = real(text)
    if whole != text:
        log_bare(f"repaired: {whole}")
    return whole


def logs_noise(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    if not stdout.lstrip().startswith("{") and port.scan(stdout).objects:
        log_bare(f"unexpected output: {stdout}")
    return real(stdout, stderr)


def logs_beside_stderr(port: Any, real: Any, outcome: Outcome) -> Answer:
    answer = real(outcome)
    if outcome.stderr.strip():
        log_bare(f"gemini wrote to stderr beside {answer!r}")
    return answer


def logs_long_answer(port: Any, answer: Any) -> None:
    if len(answer.text) > 10_000:
        log(f"long answer: {answer.text[:500]}")


defect("answer-logged-beside-list", "Logs an answer whose session the list has named.", "stdio:stderr:private")(
    with_session=logs_listed
)
defect("answer-logged", "Logs the answer to stderr.", "stdio:stderr:private")(
    success=before(lambda port, answer: log(f"answered {answer.text}"))
)
defect("broken-answer-logged", "Logs an answer that breaks off.", "stdio:stderr:private")(is_cut_short=logs_what_is_cut)
defect("answer-of-failure-logged", "Logs what a gemini that failed has printed.", "stdio:stderr:private")(
    read=logs_failed
)
defect("blocked-answer-logged", "Logs an answer for which the client had no room.", "stdio:stderr:private")(
    write=logs_blocked
)
defect("undelivered-answer-logged", "Logs an answer that nobody reads any more.", "stdio:stderr:private")(
    write=logs_undelivered
)
defect(
    "repaired-answer-logged",
    "Logs an answer in which it has replaced a lone surrogate.",
    "stdio:stderr:private",
)(whole=logs_repaired)
defect(
    "noisy-output-logged",
    "Logs what gemini has printed when a notice stands before the JSON.",
    "stdio:stderr:private",
)(read_stdout=logs_noise)
defect(
    "answer-logged-beside-stderr",
    "Logs an answer when gemini has written to stderr, too.",
    "stdio:stderr:private",
)(read=logs_beside_stderr)
defect("long-answer-logged", "Logs the beginning of a long answer.", "stdio:stderr:private")(
    success=before(logs_long_answer)
)
