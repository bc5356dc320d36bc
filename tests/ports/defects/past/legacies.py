"""Defects in what an end, a habit or a neighbour leaves for the next call: arguments, tokens, eras and thrift."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import is_refusal
from defects.record import defect
from planning import PROPERTIES, STDIN_LIMIT, Plan, Refusal
from port import Port
from running import Call
from speaking import Message, as_object
from steps import Step, after, before


def kept_by_unknown_tool(port: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> None:
    if params.get("name") not in PROPERTIES:
        port.memory["kept"] = as_object(params.get("arguments")) or {}


def kept_when(test: Callable[[Outcome], object]) -> Step:
    """Of `run_prompt`: remembers the arguments of a run that ends so, and forgets them with another."""

    def run_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
        outcome = real(call, plan)
        port.memory["kept"] = call.arguments if test(outcome) else {}
        return outcome

    return run_prompt


def kept_argument(name: str) -> Step:
    """Of `texts`: gives a call that lacks this argument the one that was kept."""

    def texts(port: Any, real: Any, tool: str, arguments: Any) -> Any:
        right, kept = real(tool, arguments), port.memory.get("kept", {}).get(name)
        return {name: kept, **right} if name in PROPERTIES[tool] and isinstance(kept, str) and kept else right

    return texts


def keeps_refused_directory(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> Any:
    try:
        return real(tool, texts)
    except Refusal:
        port.memory["kept"] = texts
        raise


def kept_after_times(name: str, times: int) -> Step:
    """Of `texts`: keeps an argument that so many calls in a row have had."""

    def texts(port: Any, real: Any, tool: str, arguments: Any) -> Any:
        right = real(tool, arguments)
        if name not in PROPERTIES[tool]:
            return right
        value, (last, count) = right.get(name), port.memory.get("row", (None, 0))
        if value is None:
            return {**right, name: last} if count >= times else right
        port.memory["row"] = (value, count + 1 if value == last else 1)
        return right

    return texts


def list_fails(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = real(call, plan)
    if listing is None or listing.exit != 0:
        port.memory["kept"] = call.arguments
    return listing


def keeps_token_of_refusal(port: Any, call: Call, result: Message) -> None:
    if is_refusal(result):
        port.memory["token"] = call.token


def keeps_token_of_cancelled(port: Any, call: Call) -> None:
    port.memory["token"] = call.token


def keeps_token_of_list(port: Any, params: Mapping[str, Any], stateless: bool) -> None:
    port.memory["token"] = port.token(params)


def token_of_call_or_kept(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Call:
    call = real(identity, params, stateless)
    call.token = port.memory.pop("token", None) if call.token is None else call.token
    return call


def stderr_of_session(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Keeps one text for all failures of a session."""
    try:
        return real(call, plan)
    except Failure as failure:
        if plan.session in (None, "latest") or failure.stderr is None:
            raise
        port.memory[plan.session] = text = port.memory.get(plan.session, "") + failure.stderr
        raise replace(failure, stderr=text) from None


def long_ones_refused(port: Any, real: Any, tool: str, prompt: str) -> None:
    if port.memory.get("too long") and len(prompt.encode()) > 128_000:
        raise Refusal("`prompt` is too long.")
    try:
        real(tool, prompt)
    except Refusal:
        port.memory["too long"] = len(prompt.encode()) > STDIN_LIMIT
        raise


def model_of_flagged(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    option = real(tool, texts)
    if not port.is_risky(texts["prompt"]):
        return option
    port.memory["model"] = kept = option or port.memory.get("model", ())
    return kept


def after_three_replies(port: Any, real: Any, texts: Mapping[str, str]) -> str:
    session = texts.get("sessionId")
    if session is None:
        return port.memory["favourite"] if port.memory.get("count", 0) >= 3 else real(texts)
    count = port.memory.get("count", 0) + 1 if session == port.memory.get("favourite") else 1
    port.memory.update(favourite=session, count=count)
    return session


def told_once(key: str) -> Step:
    """Of `success`: leaves out of `_meta` what was told before."""

    def success(port: Any, real: Any, answer: Answer) -> Message:
        result = real(answer)
        meta, told = dict(result.get("_meta", {})), port.memory.setdefault("told", list[Any]())
        if key in meta and meta[key] in told:
            del meta[key]
        elif key in meta:
            told.append(meta[key])
        return {**result, "_meta": meta}

    return success


def same_answer_spared(port: Any, real: Any, answer: Answer) -> Message:
    text, port.memory["text"] = port.memory.get("text"), answer.text
    return real(replace(answer, text="(as before)") if text == answer.text and text else answer)


def tokens_are_ids(port: Any, real: Any, method: str, params: Any) -> None:
    real(method, params)
    wanted = (as_object(params) or {}).get("requestId")
    for call in list(port.calls):
        if method == "notifications/cancelled" and call.token is not None and call.token == wanted:
            Port.cancel(port, call)


def of_sibling(name: str) -> Step:
    """Of `plan`: gives a call that lacks this argument that of one which runs."""

    def plan(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
        values = [call.arguments.get(name) for call in port.calls if call.process is not None]
        is_lent = name in PROPERTIES[tool] and not arguments.get(name)
        lent = next((value for value in values if isinstance(value, str) and value), None)
        return real(tool, {**arguments, name: lent} if is_lent and lent else arguments)

    return plan


def rows(ending: str, keeps: dict[str, Step], kept: dict[str, tuple[str, str]]) -> None:
    for name, (argument, requirement) in kept.items():
        defect(name, f"Gives {ending} to the next one that lacks it: `{argument}`.", requirement)(
            **keeps, texts=kept_argument(argument)
        )


def is_plain(outcome: Outcome) -> bool:
    return outcome.exit == 0 and b"{" not in outcome.stdout


rows(
    "an argument of a call of an unknown tool",
    {"begin_call": before(kept_by_unknown_tool)},
    {
        "directory-left-by-unknown-tool": ("cwd", "cwd:default"),
        "system-prompt-left-by-unknown-tool": ("systemPrompt", "system:leak"),
        "session-left-by-unknown-tool": ("sessionId", "command:chat-reply:latest"),
    },
)
rows(
    "an argument of a call whose gemini died of a signal",
    {"run_prompt": kept_when(lambda outcome: outcome.exit < 0)},
    {
        "directory-left-by-signal": ("cwd", "cwd:default"),
        "session-left-by-signal": ("sessionId", "command:chat-reply:latest"),
    },
)
rows(
    "an argument of a call whose answer was no JSON",
    {"run_prompt": kept_when(is_plain)},
    {
        "session-left-by-plain-text": ("sessionId", "command:chat-reply:latest"),
        "model-left-by-plain-text": ("model", "command:chat:no-model"),
    },
)
defect(
    "system-prompt-left-by-refused-directory",
    "Hands the system prompt of a call whose directory was refused to the next one without.",
    "system:absent",
)(cwd=keeps_refused_directory, texts=kept_argument("systemPrompt"))
defect(
    "directory-left-by-failed-list",
    "Runs calls in the directory in which it could not list the sessions.",
    "cwd:default",
)(list_sessions=list_fails, texts=kept_argument("cwd"))
defect("directory-stays-after-three", "Stays in a directory that three calls in a row have named.", "cwd:default")(
    texts=kept_after_times("cwd", 3)
)
defect(
    "system-prompt-stays-after-two",
    "Keeps a system prompt that two calls in a row have had.",
    "system:leak",
)(texts=kept_after_times("systemPrompt", 2))
defect("model-stays-after-four", "Keeps a model that four calls in a row have named.", "command:chat:no-model")(
    texts=kept_after_times("model", 4)
)
defect("token-left-by-refusal", "Tells progress to the token of a refused call in the next one.", "progress:unasked")(
    answer=after(keeps_token_of_refusal), new_call=token_of_call_or_kept
)
defect("token-left-by-cancel", "Tells progress to the token of a cancelled call in the next one.", "progress:unasked")(
    cancel=before(keeps_token_of_cancelled), new_call=token_of_call_or_kept
)
defect("token-left-by-list-of-tools", "Tells progress of a call to the token of a list of tools.", "progress:token")(
    list_tools=before(keeps_token_of_list), new_call=token_of_call_or_kept
)
defect("stderr-piles-up-in-session", "Quotes the stderr of all failures of a session.", "error:stderr")(
    ask=stderr_of_session
)
defect(
    "long-prompts-refused-after-too-long-one",
    "Refuses every long prompt once one was longer than gemini reads.",
    "prompt:long",
)(check_prompt=long_ones_refused)
defect(
    "model-left-by-flagged-prompt",
    "Passes the model of a call with a risky prompt to the next such call without one.",
    "command:chat:no-model",
)(model_option=model_of_flagged)
defect(
    "favourite-session-is-latest",
    "Resumes a session when a reply names none and three in a row have named that one.",
    "command:chat-reply:latest",
)(resumed=after_three_replies)
defect("warnings-told-once", "Reports no warnings that it has reported before.", "result:warnings")(
    success=told_once("warnings")
)
defect("session-told-once", "Names no session that it has named before.", "result:session-id:chat-reply")(
    success=told_once("sessionId")
)
defect("same-answer-spared", "Says `as before` when an answer is the same.", "result:text")(success=same_answer_spared)
defect("tokens-taken-for-ids", "Cancels a call whose progress token a cancellation names.", "cancel:others")(
    notified=tokens_are_ids
)
defect("model-of-running-sibling", "Passes the model of a call that runs to one without.", "command:chat:no-model")(
    plan=of_sibling("model")
)
defect("directory-of-running-sibling", "Runs a call without a directory in that of one that runs.", "cwd:default")(
    plan=of_sibling("cwd")
)
defect(
    "session-of-running-sibling",
    "Resumes the session of a reply that runs in one that names none.",
    "command:chat-reply:latest",
)(plan=of_sibling("sessionId"))
