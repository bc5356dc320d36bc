"""Defects in what remains of earlier calls: of lists, refusals, unknown tools, cancellations, and of many of them."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import refused
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message, RpcError, as_object
from steps import before

SLOTS = 32
TOKENS = 32
PLACES = 16
FRUITLESS = 3
INTERNAL = -32603


def keeps_turn_of_refused(port: Any, real: Any, call: Call) -> Message:
    """The turn is taken before the directory is looked at."""
    result, session = real(call), call.arguments.get("sessionId")
    if call.tool == "chat-reply" and session and call.arguments.get("cwd") and refused(call, result):
        port.turns.setdefault(session, []).append(call)
    return result


def notes_unknown_model(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Call:
    try:
        return real(identity, params, stateless)
    except RpcError:
        port.memory["model"] = (as_object(params.get("arguments")) or {}).get("model")
        raise


def with_model_of_unknown(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    texts, model = real(tool, arguments), port.memory.pop("model", None)
    return {"model": model, **texts} if isinstance(model, str) else texts


def notes_system_without_list(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    found = real(call, plan, answer)
    if not found.session:
        port.memory["system"] = plan.system
    return found


def with_system_of_before(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan, system = real(tool, arguments), port.memory.pop("system", None)
    return plan if plan.system else replace(plan, system=system)


def notes_listed(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    found = real(call, plan, answer)
    if plan.session is None:
        port.memory["listed"] = found.session
    return found


def resumes_listed(port: Any, real: Any, texts: Mapping[str, str]) -> str:
    return texts.get("sessionId") or port.memory.get("listed") or real(texts)


def warned_once_more(port: Any, real: Any, answer: Answer) -> Message:
    """What a session has warned of stays with it."""
    warned = port.memory.setdefault("warned", {})
    if answer.warnings:
        warned[answer.session] = answer.warnings
    return real(replace(answer, warnings=answer.warnings or warned.get(answer.session)))


def says_what_was_said(port: Any, real: Any, failure: Failure) -> Message:
    if failure.stderr is None:
        return real(failure)
    said = failure.said or port.memory.get("said")
    port.memory["said"] = failure.said
    return real(replace(failure, said=said))


def with_stderr_of_success(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    """One buffer for all; who writes nothing finds what was written before."""
    outcome = real(call, plan)
    if outcome.exit == 0 or outcome.stderr:
        port.memory["stderr"] = outcome.stderr
        return outcome
    return replace(outcome, stderr=port.memory.get("stderr", b""))


def notes_token(port: Any, call: Call) -> None:
    port.memory.setdefault("cancelled", set[Any]()).add((type(call.token), call.token))


def unless_cancelled_before(port: Any, real: Any, call: Call) -> None:
    if (type(call.token), call.token) not in port.memory.get("cancelled", ()):
        real(call)


def in_slot(port: Any, real: Any, *arguments: Any) -> Call:
    call, number = real(*arguments), port.memory.get("number", 0)
    port.memory["number"] = number + 1
    port.memory.setdefault("slots", {})[number % SLOTS] = call
    return call


def cancels_in_slot(port: Any, real: Any, call: Call) -> None:
    if call in port.memory["slots"].values():
        real(call)


def tells_few(port: Any, real: Any, call: Call) -> None:
    tokens = port.memory.setdefault("tokens", set[Any]())
    if len(tokens) < TOKENS or call.token in tokens:
        tokens.add(call.token)
        real(call)


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


def counts_fruitless(port: Any, real: Any, listing: Outcome) -> str | None:
    found = real(listing)
    port.memory["fruitless"] = 0 if found else port.memory.get("fruitless", 0) + 1
    return found


def asks_while_fruitful(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    return None if port.memory.get("fruitless", 0) >= FRUITLESS else real(call, plan)


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


defect(
    "turn-kept-by-refused-directory",
    "Lets replies wait for ever behind one whose directory was refused.",
    "concurrency:after-failure",
)(execute=keeps_turn_of_refused)
defect(
    "model-left-by-unknown-tool",
    "Passes the model of a call of an unknown tool to the next call without one.",
    "command:chat:no-model",
)(new_call=notes_unknown_model, texts=with_model_of_unknown)
defect(
    "system-prompt-left-without-list",
    "Hands the system prompt of a call for which no list named a session to the next one.",
    "system:leak",
)(with_session=notes_system_without_list, plan=with_system_of_before)
defect(
    "latest-is-what-was-listed",
    "Resumes the session that the list named for a `chat` in every later reply without one.",
    "command:chat-reply:latest",
)(with_session=notes_listed, resumed=resumes_listed)
defect("warnings-stay-in-session", "Repeats the warnings of a session when it warns no more.", "result:warnings")(
    success=warned_once_more
)
defect("message-of-failure-before", "Repeats what gemini said of the failure before.", "error:json-on-stderr")(
    error=says_what_was_said
)
defect(
    "stderr-of-success-left",
    "Quotes the stderr of an earlier success when a failure has none.",
    "error:stderr",
)(run_prompt=with_stderr_of_success)
defect(
    "token-silent-after-cancel",
    "Tells no progress to a token whose call was cancelled before.",
    "progress:start",
)(cancel=before(notes_token), report_progress=unless_cancelled_before)
defect(
    "slot-of-32-taken-over",
    "Keeps calls in 32 slots, and cannot cancel one that 32 others have followed.",
    "cancel:child",
)(new_call=in_slot, cancel=cancels_in_slot)
defect("tokens-used-up", "Tells progress to thirty-two tokens and no more.", "progress:start")(
    report_progress=tells_few
)
defect(
    "places-lost-with-unknown-tools",
    "Takes no call any more after sixteen of unknown tools.",
    "concurrency:after-failure",
)(new_call=loses_place)
defect(
    "three-fruitless-lists",
    "Asks for no list any more after three in a row that named no session.",
    "fallback:list-sessions",
)(newest=counts_fruitless, list_sessions=asks_while_fruitful)
defect("answer-logged-without-list", "Logs an answer for which no list names a session.", "stdio:stderr:private")(
    with_session=logs_unlisted
)
defect("calls-logged-at-end", "Logs the calls that it ends when it ends.", "stdio:stderr:private")(
    shut_down=before(logs_running)
)
defect("unknown-tool-logged", "Logs the arguments of a call of an unknown tool.", "stdio:stderr:private")(
    new_call=logs_unknown
)
