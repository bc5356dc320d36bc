"""Failures that are told as an earlier one was, or not any more: ports that break `error`."""

import time
from dataclasses import replace
from typing import Any

from answering import KEYS, QUOTA, Answer, Failure, Outcome
from conditions import failed, is_named
from defects.past.shared import found_from_last, in_a_row, keeps_longer
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message
from steps import without

NOT_FOUND = "gemini was not found on PATH"


def sentence_by_stderr(port: Any, real: Any, exit: int, stderr: str) -> str:
    if exit < 0:
        return real(exit, stderr)
    return port.memory.setdefault("sentences", {}).setdefault(stderr, real(exit, stderr))


def unmarked(result: Message) -> Message:
    return without("isError")(result)


def says_what_was_said(port: Any, real: Any, failure: Failure) -> Message:
    if failure.stderr is None:
        return real(failure)
    said = failure.said or port.memory.get("said")
    port.memory["said"] = failure.said
    return real(replace(failure, said=said))


def remedy_once(port: Any, real: Any, failure: Failure) -> Message:
    if failure.sentence.startswith(NOT_FOUND):
        if port.memory.get("is_told"):
            failure = replace(failure, sentence="gemini could not be started.")
        port.memory["is_told"] = True
    return real(failure)


def first_private(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return real(text, port.memory.setdefault("private", private))


def quota_from_last(port: Any, real: Any, exit: int, stderr: str) -> str:
    return real(exit, stderr if found_from_last(port, QUOTA, stderr) else QUOTA.sub("", stderr))


def every_second_time(port: Any, real: Any, text: str) -> str:
    """A pattern of JavaScript with the flag `g` goes on, in the next text, where the last match has ended."""
    if KEYS.search(text) is None:
        return real(text)
    port.memory["goes on"] = not port.memory.get("goes on")
    return real(text) if port.memory["goes on"] else text


def sentence_of_exit(port: Any, real: Any, exit: int, stderr: str) -> str:
    return port.memory.setdefault(exit, real(exit, stderr))


def keeps_cancelled_stderr(port: Any, real: Any, call: Call, exit: int, out: Any, err: Any) -> Outcome:
    if call.is_cancelled:
        err.seek(0)
        port.memory["stderr"] = err.read()
    outcome = real(call, exit, out, err)
    return replace(outcome, stderr=outcome.stderr or port.memory.pop("stderr", b"")) if exit else outcome


def shortens_third(port: Any, real: Any, failure: Failure) -> Message:
    result = real(failure)
    text = result["content"][0]["text"]
    same, times = port.memory.get("last", ("", 0))
    port.memory["last"] = (text, times + 1 if text == same else 1)
    if port.memory["last"][1] < 3 or failure.stderr is None:
        return result
    return {**result, "content": port.content(text.partition("\nStderr: ")[0] + "\nStderr: (as before)")}


def stderr_of_session(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Keeps one text for all failures of a session."""
    try:
        return real(call, plan)
    except Failure as failure:
        if plan.session in (None, "latest") or failure.stderr is None:
            raise
        port.memory[plan.session] = text = port.memory.get(plan.session, "") + failure.stderr
        raise replace(failure, stderr=text) from None


def stderr_meanwhile(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Takes stderr from a place that all calls share."""
    began = time.monotonic()
    try:
        return real(call, plan)
    except Failure as failure:
        at, stderr = port.memory.get("stderr", (0.0, None))
        if failure.stderr:
            port.memory["stderr"] = (time.monotonic(), failure.stderr)
        if at > began and failure.stderr is not None:
            raise replace(failure, stderr=stderr) from None
        raise


def with_stderr_of_success(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    """One buffer for all; who writes nothing finds what was written before."""
    outcome = real(call, plan)
    if outcome.exit == 0 or outcome.stderr:
        port.memory["stderr"] = outcome.stderr
        return outcome
    return replace(outcome, stderr=port.memory.get("stderr", b""))


def withholds_first(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """What the errors of a session withhold is worked out once."""
    if not is_named(plan):
        return real(call, plan)
    try:
        return real(call, plan)
    except Failure:
        # Plans are frozen, and the caller takes from this one what is private.
        object.__setattr__(plan, "private", port.memory.setdefault(plan.session, plan.private))
        raise


defect(
    "explanation-kept-by-stderr",
    "Explains a failure as it has explained the first with the same stderr, whatever the exit code.",
    "error:exit:41",
)(exit_sentence=sentence_by_stderr)
defect("third-failure-in-row-unmarked", "Returns the third failure in a row without isError.", "error:is-error")(
    execute=in_a_row(failed, 3, unmarked)
)
defect("message-of-failure-before", "Repeats what gemini said of the failure before.", "error:json-on-stderr")(
    error=says_what_was_said
)
defect(
    "remedy-told-once",
    "Says once that gemini is not on PATH, and later only that it could not be started.",
    "error:not-started:remedy",
)(error=remedy_once)
defect("private-of-first-failure", "Withholds the prompt of its first failure in all later ones.", "error:prompt")(
    withheld=first_private
)
defect(
    "withholds-first-of-session",
    "Withholds the prompt of the first failed reply of a session in the errors of its later replies, not their own.",
    "error:prompt",
)(ask=withholds_first)
defect(
    "quota-looked-for-from-last",
    "Looks for a quota in stderr behind the place where it has found the last one.",
    "error:quota",
)(exit_sentence=quota_from_last)
defect("keys-shown-every-second-time", "Masks keys in every other text that holds some.", "error:secrets")(
    masked=every_second_time
)
defect(
    "explanation-kept-by-exit",
    "Explains an exit code as it has explained it the first time, whatever stderr says.",
    "error:session-gone",
)(exit_sentence=sentence_of_exit)
defect(
    "stderr-left-by-cancel",
    "Quotes the stderr of a call that was cancelled when the next failure has none.",
    "error:stderr",
)(outcome=keeps_cancelled_stderr)
defect(
    "repeated-failure-shortened",
    "Quotes no stderr when the same failure comes for the third time in a row.",
    "error:stderr",
)(error=shortens_third)
defect(
    "stderr-keeps-end-of-longer-one",
    "Reads stderr into the buffer of the failure before, and so shows the end of a longer one.",
    "error:stderr",
)(tail=keeps_longer("stderr"))
defect("stderr-piles-up-in-session", "Quotes the stderr of all failures of a session.", "error:stderr")(
    ask=stderr_of_session
)
defect(
    "stderr-crossed",
    "Quotes the stderr of a call that has failed meanwhile.",
    "error:stderr",
)(ask=stderr_meanwhile)
defect(
    "stderr-of-success-left",
    "Quotes the stderr of an earlier success when a failure has none.",
    "error:stderr",
)(run_prompt=with_stderr_of_success)
