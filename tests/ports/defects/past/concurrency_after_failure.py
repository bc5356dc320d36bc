"""Places that are never given back, and failures that spread: ports that break `concurrency:after-failure`."""

import time
from collections.abc import Callable
from typing import Any

from answering import PREFIX, Answer, Failure, Outcome
from conditions import refused
from defects.past.shared import turn_kept_by
from defects.record import defect
from planning import Plan, Refusal
from running import Call
from speaking import Message, RpcError
from steps import Step

FAILURES_IN_A_ROW = 5
PLACES = 16
INTERNAL = -32603
BREAK_SECONDS = 60.0
BUSY = "The server is busy."
UNREADABLE = 12


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


def breaker(port: Any, real: Any, call: Call) -> Message:
    """After a quota is used up the next call is not tried."""
    if port.memory.pop("is_open", False):
        return port.error(Failure("The quota is used up; this call was not tried.", ""))
    result = real(call)
    port.memory["is_open"] = "(HTTP 429" in result["content"][0]["text"]
    return result


def stays_unknown(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Call:
    if port.memory.pop("was_unknown", False):
        raise RpcError(-32602, "The tool is unknown.")
    try:
        return real(identity, params, stateless)
    except RpcError:
        port.memory["was_unknown"] = True
        raise


def refuses_again(test: Callable[[Outcome], bool], key: Callable[[Plan], object]) -> Step:
    """Of `run_prompt`: gives the same outcome without a run where one has ended so before."""

    def run_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
        kept = port.memory.setdefault("ends", {})
        if key(plan) in kept:
            return kept[key(plan)]
        outcome = real(call, plan)
        if test(outcome):
            kept[key(plan)] = outcome
        return outcome

    return run_prompt


def missing_remembered(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    if port.memory.get("is_missing"):
        raise FileNotFoundError
    try:
        return real(argv, **options)
    except FileNotFoundError:
        port.memory["is_missing"] = True
        raise


def keeps_place_of_refusal(port: Any, real: Any, call: Call) -> Message:
    """There are sixteen places, and a refusal leaves before it gives its own back."""
    if port.memory.get("refusals", 0) >= PLACES:
        return port.error(Failure("The server is busy."))
    result = real(call)
    port.memory["refusals"] = port.memory.get("refusals", 0) + refused(call, result)
    return result


def keeps_turn_of_refused(port: Any, real: Any, call: Call) -> Message:
    """The turn is taken before the directory is looked at."""
    result, session = real(call), call.arguments.get("sessionId")
    if call.tool == "chat-reply" and session and call.arguments.get("cwd") and refused(call, result):
        port.turns.setdefault(session, []).append(call)
    return result


def loses_place(port: Any, real: Any, *arguments: Any) -> Call:
    """A place is taken before the tool is looked up."""
    lost = port.memory.get("lost", 0)
    if lost >= PLACES:
        raise RpcError(INTERNAL, "The server is busy.")
    try:
        return real(*arguments)
    except RpcError:
        port.memory["lost"] = lost + 1
        raise


def stays_refused(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    """Keeps the complaint about an argument for its next value."""
    if name in port.memory:
        raise Refusal(port.memory[name])
    try:
        return real(tool, name, value)
    except Refusal as refusal:
        port.memory[name] = str(refusal)
        raise


def notes_unreadable(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    if outcome.exit == 0:
        try:
            port.read(outcome)
        except Failure:
            port.memory[call] = "kept"
    return outcome


def breaks_circuit(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Spares the API after three errors about the quota in a row."""
    row, since = port.memory.get("row", (0, 0.0))
    if row >= 3 and time.monotonic() < since + BREAK_SECONDS:
        raise Failure("The quota of the Gemini API is used up. Wait a minute.", "")
    try:
        answer = real(call, plan)
    except Failure as failure:
        port.memory["row"] = (row + 1 if "quota" in failure.sentence else 0, time.monotonic())
        raise
    port.memory.pop("row", None)
    return answer


def keeps_turn_of_refused_directory(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    session = call.arguments.get("sessionId")
    is_cwd = result.get("isError") and result["content"][0]["text"].startswith(f"{PREFIX}`cwd`")
    if call.tool == "chat-reply" and is_cwd and session:
        with port.turn_changed:
            port.turns.setdefault(session, []).insert(0, call)
    return result


def loses_place_of_unreadable(port: Any, real: Any, outcome: Outcome) -> Answer:
    try:
        return real(outcome)
    except Failure:
        if outcome.exit == 0:
            port.memory["lost"] = port.memory.get("lost", 0) + 1
        raise


def with_places(most: int) -> Any:
    """Of `run_prompt`: begins no run when so many places are lost."""

    def run_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
        if port.memory.get("lost", 0) >= most:
            raise Failure(BUSY, "")
        return real(call, plan)

    return run_prompt


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
    "next-call-untried-after-quota",
    "Fails the call behind one whose quota was used up without running gemini.",
    "concurrency:after-failure",
)(execute=breaker)
defect(
    "unknown-tool-stays-unknown",
    "Answers the call behind one of an unknown tool as if it were unknown as well.",
    "concurrency:after-failure",
)(new_call=stays_unknown)
defect(
    "missing-sign-in-remembered",
    "Fails every call behind one that was not signed in without running gemini.",
    "concurrency:after-failure",
)(run_prompt=refuses_again(lambda outcome: outcome.exit == 41, lambda plan: "all"))
defect(
    "missing-trust-remembered",
    "Fails every call in a directory that gemini did not trust once, without running gemini.",
    "concurrency:after-failure",
)(run_prompt=refuses_again(lambda outcome: outcome.exit == 55, lambda plan: plan.cwd))
defect(
    "spent-turns-remembered",
    "Fails every reply in a session that has reached its limit once, without running gemini.",
    "concurrency:after-failure",
)(run_prompt=refuses_again(lambda outcome: outcome.exit == 53, lambda plan: plan.session))
defect(
    "failing-model-remembered",
    "Fails every call with a model with which one has failed, without running gemini.",
    "concurrency:after-failure",
)(
    run_prompt=refuses_again(
        lambda outcome: outcome.exit != 0,
        lambda plan: plan.argv[plan.argv.index("-m") :] if "-m" in plan.argv else object(),
    )
)
defect(
    "failing-prompt-remembered",
    "Fails every call with a prompt with which one has failed, without running gemini.",
    "concurrency:after-failure",
)(run_prompt=refuses_again(lambda outcome: outcome.exit != 0, lambda plan: plan.private))
defect(
    "missing-gemini-remembered",
    "Does not look for gemini again once it could not find it.",
    "concurrency:after-failure",
)(spawn=missing_remembered)
defect(
    "places-lost-with-refusals",
    "Takes no call any more after sixteen refusals, which have each kept their place.",
    "concurrency:after-failure",
)(execute=keeps_place_of_refusal)
defect(
    "turn-kept-by-refused-directory",
    "Lets replies wait for ever behind one whose directory was refused.",
    "concurrency:after-failure",
)(execute=keeps_turn_of_refused)
defect(
    "places-lost-with-unknown-tools",
    "Takes no call any more after sixteen of unknown tools.",
    "concurrency:after-failure",
)(new_call=loses_place)
defect(
    "refused-argument-stays-refused",
    "Refuses every value of an argument of which it has refused one.",
    "concurrency:after-failure",
)(text=stays_refused)
defect(
    "turn-kept-by-unreadable-answer",
    "Lets replies wait for ever behind one whose gemini exits with 0 and gives no answer.",
    "concurrency:after-failure",
)(**turn_kept_by(run_prompt=notes_unreadable))
defect(
    "circuit-broken-by-quota",
    "Runs no gemini for a minute after three calls in a row have failed because of the quota.",
    "concurrency:after-failure",
    "command:chat",
)(ask=breaks_circuit)
defect(
    "refused-directory-keeps-turn",
    "Lets a session's replies wait forever after one of them has been refused for its `cwd`.",
    "concurrency:after-failure",
    "command:chat-reply",
)(execute=keeps_turn_of_refused_directory)
defect(
    "places-lost-with-unreadable-answers",
    "Serves no call any more after twelve whose gemini exits with 0 and gives no answer.",
    "concurrency:after-failure",
)(read=loses_place_of_unreadable, run_prompt=with_places(UNREADABLE))
