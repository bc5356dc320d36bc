"""Defects in what one odd output, exit or list becomes, where the ordinary ones are read rightly."""

import os
import signal
from collections.abc import Mapping
from typing import Any

from answering import STDERR_LIMIT, Answer, Failure, Outcome
from defects.call.commands import retries
from defects.record import defect
from planning import Plan
from running import LIST, LISTING_TIMEOUT, Call, Cancelled
from steps import gives

NO_TEXT = "gemini printed JSON without a text in `response`."


def null_error_counts(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    keyed = [value for _, value in port.scan(stdout).objects if "response" in value or "error" in value]
    if keyed and "response" not in keyed[-1] and keyed[-1]["error"] is None:
        raise Failure(NO_TEXT, stderr)
    return real(stdout, stderr)


def earlier_text(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    answers = [value for _, value in port.scan(stdout).objects if "response" in value or value.get("error") is not None]
    texts = [value for value in answers if isinstance(value.get("response"), str)]
    if texts and answers[-1].get("error") is None and not isinstance(answers[-1]["response"], str):
        return port.read_json(texts[-1], stderr)
    return real(stdout, stderr)


def empty_list_warns(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Answer:
    if value.get("response") == "" and value.get("warnings") == [] and value.get("error") is None:
        return Answer("", value.get("session_id"))
    return real(value, stderr)


def broken_off_behind_notice(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    scan = port.scan(stdout)
    return Answer(stdout) if scan.is_cut_short and not stdout.startswith("{") else real(stdout, stderr)


def interrupted_is_cancelled(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    if outcome.exit == -signal.SIGINT:
        raise Cancelled
    return outcome


def whole_lines(port: Any, real: Any, text: str) -> str:
    tail = real(text)
    return tail.partition("\n")[2] if len(text.encode("utf-8", "replace")) > STDERR_LIMIT else tail


def fails_with_list(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """A list that takes too long is caught, and one that does not start is not."""
    arguments = (plan.argv[0], LIST)
    try:
        return port.run(call, arguments, port.listing_cwd(plan), port.environment(None), None, LISTING_TIMEOUT)
    except Failure as failure:
        if failure.stderr is None:
            raise
    return None


def fails_without_file(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    is_there = os.path.exists(path)
    real(path, call, outcome)
    if not is_there and not call.is_cancelled:
        raise Failure("The file of the system prompt could not be removed: it does not exist.", "")


defect(
    "null-error-counts",
    "Takes an object behind the answer for another one when it has an error that is null.",
    "result:json:braces",
    "result:json:last",
)(read_stdout=null_error_counts)
defect(
    "earlier-text-for-null-response",
    "Takes an earlier answer when the response of the last one is no text.",
    "result:no-response",
)(read_stdout=earlier_text)
defect(
    "empty-list-of-warnings-warns",
    "Takes an empty text for an answer though no model was asked, when there is an empty list of warnings.",
    "result:unasked",
)(read_json=empty_list_warns)
defect(
    "broken-off-behind-notice-is-text",
    "Returns JSON that breaks off as text when a notice stands before it.",
    "result:truncated",
)(read_stdout=broken_off_behind_notice)
defect(
    "interrupted-gemini-unanswered",
    "Answers nothing when somebody else interrupts gemini.",
    "error:signal",
)(run_prompt=interrupted_is_cancelled)
defect(
    "killed-gemini-retried",
    "Runs the prompt again when gemini was killed.",
    "command:once",
)(run_prompt=retries(lambda outcome: outcome.exit == -signal.SIGKILL))
defect(
    "only-line-of-stderr-dropped",
    "Leaves out the line of stderr that the cut divides, also when no other follows.",
    "error:stderr:tail",
)(tail=whole_lines)
defect(
    "listed-session-in-lower-case",
    "Names a session that the list gives in lower case.",
    "fallback:list-sessions",
)(newest=gives(lambda session: session and session.lower()))
defect(
    "list-not-started-fails",
    "Fails the call when the list of sessions cannot be started.",
    "fallback:failure",
)(list_sessions=fails_with_list)
defect(
    "missing-system-file-fails",
    "Fails a call when gemini has removed the file of the system prompt itself.",
    "result:text",
)(remove_system=fails_without_file)
