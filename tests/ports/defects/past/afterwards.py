"""Defects that show after something else: a cancellation, a refusal, failures in a row, a session that was named."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import KEYS, Answer, Failure, Outcome
from conditions import failed, is_refusal, lacking
from defects.record import defect
from planning import Plan, Refusal
from running import Call
from speaking import Message
from steps import before

FAILURES_IN_A_ROW = 5


def cancels_noting(name: str) -> Any:
    """Of `cancel`: remembers this argument of the call."""

    def cancel(port: Any, call: Call) -> None:
        if isinstance(call.arguments.get(name), str):
            port.memory[name] = call.arguments[name]

    return before(cancel)


def refuses_noting(name: str) -> Any:
    """Of `plan`: remembers this argument of a call that is refused."""

    def plan(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
        try:
            return real(tool, arguments)
        except Refusal:
            if isinstance(arguments.get(name), str):
                port.memory[name] = arguments[name]
            raise

    return plan


def noted(name: str) -> Any:
    """Of what takes the texts of a call last: gives it what is remembered where the call has nothing."""

    def step(port: Any, real: Any, *arguments: Any) -> Any:
        texts = arguments[-1]
        kept = {name: port.memory[name]} if name in port.memory and name not in texts else {}
        return real(*arguments[:-1], {**texts, **kept})

    return step


def keeps_cancelled_stderr(port: Any, real: Any, call: Call, exit: int, out: Any, err: Any) -> Outcome:
    if call.is_cancelled:
        err.seek(0)
        port.memory["stderr"] = err.read()
    outcome = real(call, exit, out, err)
    return replace(outcome, stderr=outcome.stderr or port.memory.pop("stderr", b"")) if exit else outcome


def keeps_warnings_of_error(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Answer:
    if value.get("error") is not None and value.get("warnings"):
        port.memory["warnings"] = value["warnings"]
    answer = real(value, stderr)
    return replace(answer, warnings=answer.warnings or port.memory.pop("warnings", None))


def counts_failures(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    if port.memory.get("failures", 0) >= FAILURES_IN_A_ROW:
        port.memory["failures"] = 0
        raise Failure("gemini has failed five times in a row; wait a while.", "")
    outcome = real(call, plan)
    port.memory["failures"] = port.memory.get("failures", 0) + 1 if outcome.exit else 0
    return outcome


def pauses_after_signal(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    if port.memory.pop("signal", False):
        raise Failure("gemini has just crashed; try again.", "")
    outcome = real(call, plan)
    port.memory["signal"] = outcome.exit < 0
    return outcome


def spends_token(port: Any, real: Any, call: Call) -> None:
    if call.token not in port.memory.get("spent", ()):
        real(call)


def notes_spent(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    if is_refusal(result) and call.token is not None:
        port.memory.setdefault("spent", set()).add(call.token)
    return result


def third_begins_anew(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    if plan.session in (None, "latest"):
        return real(call, plan)
    times = port.memory[plan.session] = port.memory.get(plan.session, 0) + 1
    return real(call, lacking("-r")(plan) if times == 3 else plan)


def shortens_third(port: Any, real: Any, failure: Failure) -> Message:
    result = real(failure)
    text = result["content"][0]["text"]
    same, times = port.memory.get("last", ("", 0))
    port.memory["last"] = (text, times + 1 if text == same else 1)
    if port.memory["last"][1] < 3 or failure.stderr is None:
        return result
    return {**result, "content": port.content(text.partition("\nStderr: ")[0] + "\nStderr: (as before)")}


def deaf_while_failed(port: Any, real: Any, call: Call) -> None:
    if not port.memory.get("failed"):
        real(call)


def marks_failed(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    port.memory["failed"] = failed(call, result)
    return result


def notes_named(port: Any, real: Any, outcome: Outcome) -> Answer:
    answer = real(outcome)
    port.memory["named"] = port.memory.get("named") or answer.session is not None
    return answer


def asks_old_ones(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    return answer if port.memory.get("named") and plan.session is None else real(call, plan, answer)


def every_second_time(port: Any, real: Any, text: str) -> str:
    """A pattern of JavaScript with the flag `g` goes on, in the next text, where the last match has ended."""
    if KEYS.search(text) is None:
        return real(text)
    port.memory["goes on"] = not port.memory.get("goes on")
    return real(text) if port.memory["goes on"] else text


defect(
    "session-left-by-cancel",
    "Resumes the session of a reply that was cancelled when the next names none.",
    "command:chat-reply:latest",
)(cancel=cancels_noting("sessionId"), resumed=noted("sessionId"))
defect(
    "model-left-by-cancel",
    "Passes the model of a call that was cancelled to later calls without one.",
    "command:chat:no-model",
)(cancel=cancels_noting("model"), model_option=noted("model"))
defect(
    "directory-left-by-refusal",
    "Runs later calls in the directory of one that it refused.",
    "cwd:default",
)(plan=refuses_noting("cwd"), cwd=noted("cwd"))
defect(
    "system-prompt-left-by-refusal",
    "Hands the system prompt of a call that it refused to later ones without one.",
    "system:leak",
)(plan=refuses_noting("systemPrompt"), system=noted("systemPrompt"))
defect(
    "stderr-left-by-cancel",
    "Quotes the stderr of a call that was cancelled when the next failure has none.",
    "error:stderr",
)(outcome=keeps_cancelled_stderr)
defect("warnings-left-by-error", "Reports the warnings of an error with the next answer.", "result:warnings")(
    read_json=keeps_warnings_of_error
)
defect(
    "circuit-broken-after-five-failures",
    "Fails the call behind five failures in a row without running gemini.",
    "concurrency:after-failure",
)(run_prompt=counts_failures)
defect(
    "next-call-untried-after-signal",
    "Fails the call behind one whose gemini died of a signal without running gemini.",
    "concurrency:after-failure",
)(run_prompt=pauses_after_signal)
defect(
    "token-spent-by-refusal",
    "Tells no progress to a token whose call was refused before.",
    "progress:start",
)(report_progress=spends_token, execute=notes_spent)
defect(
    "third-reply-begins-anew",
    "Begins a new session for the third reply in a session.",
    "command:chat-reply:session-id",
)(ask=third_begins_anew)
defect(
    "repeated-failure-shortened",
    "Quotes no stderr when the same failure comes for the third time in a row.",
    "error:stderr",
)(error=shortens_third)
defect(
    "cancel-ignored-after-failure",
    "Ignores cancellations from a failure on to the next success.",
    "cancel:child",
)(cancel=deaf_while_failed, execute=marks_failed)
defect(
    "list-given-up-once-named",
    "Asks for no list any more once gemini has named a session by itself.",
    "fallback:list-sessions",
)(
    read=notes_named,
    with_session=asks_old_ones,
)
defect("keys-shown-every-second-time", "Masks keys in every other text that holds some.", "error:secrets")(
    masked=every_second_time
)
