"""Defects in what a port makes of its past: of calls that went otherwise, and of how many there were."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

from answering import Answer
from conditions import failed, from_time, marks, refused, since
from defects.past.states import leaves, reused
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message, RpcError
from steps import Step, gives, latest_repeated, without


def died(call: Call, result: Message) -> bool:
    return failed(call, result) and "ended by signal" in result["content"][0]["text"]


def has_warned(call: Call, result: Message) -> bool:
    return "warnings" in result.get("_meta", {})


def keeps_longer(key: str) -> Step:
    """Writes into the buffer of the call before, which keeps what a shorter text does not overwrite."""

    def step(port: Any, real: Any, value: Any) -> Any:
        result = real(value)
        kept = port.memory.get(key, result[:0])
        port.memory[key] = result + kept[len(result) :]
        return port.memory[key]

    return step


def cut_to_first(port: Any, real: Any, prompt: str) -> Any:
    """The buffer for stdin is as long as the first long prompt."""
    form, stdin = real(prompt)
    if stdin is None:
        return form, stdin
    size = port.memory.setdefault("size", len(stdin))
    return form, stdin[:size]


def latest_directory_stays(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    cwd = real(tool, texts)
    if tool == "chat-reply" and "sessionId" not in texts and cwd:
        port.memory["cwd"] = cwd
    return cwd or (port.memory.get("cwd") if tool == "chat" else None)


def refused_session_stays(port: Any, real: Any, tool: str, arguments: Any) -> Any:
    texts = real(tool, arguments)
    stays = tool == "chat-reply" and "sessionId" not in texts and "session" in port.memory
    return {**texts, "sessionId": port.memory["session"]} if stays else texts


def notes_refused_session(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    session = call.arguments.get("sessionId")
    if refused(call, result) and isinstance(session, str) and session and not session.startswith("-"):
        port.memory["session"] = session
    return result


def deaf_once(kind: str) -> tuple[Step, Step]:
    """Steps that note a thing, and that overlook the next cancellation behind it."""

    def note(port: Any, real: Any, call: Call) -> Message:
        result = real(call)
        if refused(call, result):
            port.memory[kind] = True
        return result

    def cancel(port: Any, real: Any, call: Call) -> None:
        if not port.memory.pop(kind, False):
            real(call)

    return note, cancel


def marks_rpc_error(port: Any, real: Any, request: Message, params: Any, stateless: bool) -> Any:
    try:
        return real(request, params, stateless)
    except RpcError:
        port.memory["wrong"] = True
        raise


def unheard_once_wrong(port: Any, real: Any, method: str, params: Any) -> None:
    if not port.memory.pop("wrong", False):
        real(method, params)


def answers_twice(period: int) -> Step:
    numbers = count(1)

    def answer(port: Any, real: Any, call: Call, result: Message) -> None:
        real(call, result)
        if next(numbers) % period == 0:
            real(call, result)

    return answer


def model_once_failed(port: Any, real: Any, tool: str, texts: Any) -> tuple[str, ...]:
    """Falls back to a model that is cheaper when the one that was asked for has failed twice."""
    failures = port.memory.get("failures", {}).get(texts.get("model"), 0)
    return ("-m", "gemini-2.5-flash") if "model" in texts and failures > 1 else real(tool, texts)


def counts_failures(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    model, failures = call.arguments.get("model"), port.memory.setdefault("failures", {})
    if isinstance(model, str) and failed(call, result):
        failures[model] = failures.get(model, 0) + 1
    return result


def lists_in_first_directory(port: Any, real: Any, plan: Plan) -> str | None:
    return port.memory.setdefault("listing", real(plan))


def all_warnings(port: Any, real: Any, answer: Answer) -> Message:
    """Adds to the warnings of an answer those of all answers before."""
    warnings: Any = answer.warnings
    if not isinstance(warnings, list):
        return real(answer)
    port.memory["warnings"] = [*port.memory.get("warnings", []), *warnings]
    return real(replace(answer, warnings=port.memory["warnings"]))


def unanswered_ids_again(port: Any, real: Any, call: Call, result: Message) -> None:
    """An id that answered a failure is taken for answered when it comes again; so is its text for the number."""
    if str(call.id) not in port.memory.setdefault("failed ids", set()):
        real(call, result)
    if result.get("isError"):
        port.memory["failed ids"].add(str(call.id))


def unmarked(result: Message) -> Message:
    return without("isError")(result)


def in_a_row(test: Callable[[Call, Message], bool], length: int, then: Callable[[Message], Message]) -> Step:
    """Of `execute`: gives another result for so many in a row of which `test` holds."""

    def execute(port: Any, real: Any, call: Call) -> Message:
        result = real(call)
        run = port.memory["run"] = port.memory.get("run", 0) + 1 if test(call, result) else 0
        return then(result) if run >= length else result

    return execute


defect(
    "directory-of-latest-stays",
    "Runs a `chat` without a directory in that of an earlier reply to the latest session.",
    "cwd:default",
)(cwd=latest_directory_stays)
defect(
    "session-of-refused-reply-stays",
    "Resumes the session of a reply that was refused when the next names none.",
    "command:chat-reply:latest",
)(execute=notes_refused_session, texts=refused_session_stays)
defect(
    "system-prompt-left-by-signal",
    "Hands the system prompt of a call whose gemini died of a signal to the next one without.",
    "system:leak",
)(execute=leaves("systemPrompt", died), texts=reused("systemPrompt"))
defect(
    "model-left-by-success-in-other-tool",
    "Passes the model of the latest `chat` to replies without one once a reply has failed.",
    "command:chat-reply:no-model",
)(
    execute=marks("reply failed", lambda call, result: call.tool == "chat-reply" and failed(call, result)),
    model_option=since("reply failed", latest_repeated("chat-reply")),
)
note, deaf = deaf_once("refused")
defect("cancel-lost-behind-refusal", "Overlooks the first cancellation behind a call that it refused.", "cancel:child")(
    execute=note, cancel=deaf
)
defect(
    "cancel-lost-behind-rpc-error",
    "Overlooks the first notification behind a request that it answered with a JSON-RPC error.",
    "cancel:child",
)(result=marks_rpc_error, notified=unheard_once_wrong)
defect(
    "warnings-pile-up",
    "Reports with each warning all earlier ones too.",
    "result:warnings",
)(success=all_warnings)
defect(
    "stderr-keeps-end-of-longer-one",
    "Reads stderr into the buffer of the failure before, and so shows the end of a longer one.",
    "error:stderr",
)(tail=keeps_longer("stderr"))
defect(
    "system-prompt-keeps-end-of-longer-one",
    "Writes a system prompt over the one before, whose end stays when it was longer.",
    "system:content",
)(system_bytes=keeps_longer("system"))
defect(
    "later-long-prompt-cut-to-first",
    "Cuts a long prompt to the length of the first one.",
    "prompt:long:whole",
)(prompt_form=cut_to_first)
defect("seventeenth-directory-lost", "Runs every seventeenth call that names a directory in its own.", "cwd:used")(
    cwd=lambda port, real, tool, texts: _seventeenth(port, real(tool, texts))
)
defect("third-failure-in-row-unmarked", "Returns the third failure in a row without isError.", "error:is-error")(
    execute=in_a_row(failed, 3, unmarked)
)
defect(
    "fourth-refusal-in-row-runs-dry",
    "Answers the fourth refusal in a row with an empty success.",
    "arguments:prompt:type",
    "arguments:optional:type",
)(execute=in_a_row(refused, 4, lambda result: {"content": []}))
defect("hundred-and-first-answered-twice", "Answers every hundred-and-first call twice.", "rpc:response:id")(
    answer=answers_twice(101)
)
defect("thirty-third-answered-twice", "Answers every thirty-third call twice.", "rpc:response:id")(
    answer=answers_twice(33)
)
defect(
    "model-replaced-after-two-failures",
    "Passes another model when two calls have failed with the one that is asked for.",
    "command:chat:model",
)(model_option=model_once_failed, execute=counts_failures)
defect(
    "list-in-first-directory",
    "Asks for every list of sessions in the directory of the first one.",
    "fallback:cwd",
)(listing_cwd=lists_in_first_directory)
defect(
    "session-forgotten-from-fiftieth-success",
    "Names no session any more from the fiftieth answer on.",
    "result:session-id",
)(success=from_time(50, gives(without("_meta"))))
defect(
    "ids-of-failures-unanswered-later",
    "Does not answer a call whose id a failure has had, or one that is written alike.",
    "rpc:response:id",
)(answer=unanswered_ids_again)
defect("seventh-run-in-text-format", "Asks for no output format in every seventh reply.", "command:chat-reply")(
    format_option=lambda port, real, tool: _seventh(port, real(tool)) if tool == "chat-reply" else real(tool)
)


def _seventeenth(port: Any, cwd: str | None) -> str | None:
    named = port.memory["named"] = port.memory.get("named", 0) + bool(cwd)
    return None if cwd and named % 17 == 0 else cwd


def _seventh(port: Any, option: Any) -> Any:
    number = port.memory["replies"] = port.memory.get("replies", 0) + 1
    return () if number % 7 == 0 else option
