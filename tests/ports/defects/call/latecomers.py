"""Defects of one call in which two things meet: an argument and an outcome, an odd value and an earlier call."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import PREFIX, Answer, Failure, Outcome, Scan
from conditions import REVISION, has_model, is_refusal, speaks
from defects.record import defect
from planning import ARGUMENT_LIMIT, Plan
from running import Call
from speaking import Message
from steps import after, gives, takes, without

ESCAPED_PAIR = re.compile(rb"(?<!\\)((?:\\\\)*)\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


def unmasked_without_stderr(port: Any, real: Any, failure: Failure) -> Message:
    if failure.stderr or not failure.said:
        return real(failure)
    said = port.withheld(failure.said, failure.private)
    return real(replace(failure, sentence=f"{failure.sentence} Gemini CLI says: {said}", said=None))


def notes_session(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    port.memory[plan.cwd] = answer.session
    return answer


def session_as_noted(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    noted = port.memory.get(plan.cwd) if plan.session == "latest" else None
    return replace(answer, session=noted) if noted else real(call, plan, answer)


def without_empty(scan: Scan) -> Scan:
    kept = [(begins, value) for begins, value in scan.objects if value.get("response") != "" or value.get("error")]
    has_answer = any("response" in value or value.get("error") for _, value in kept)
    return Scan(kept, scan.is_cut_short) if has_answer else scan


def as_on_a_terminal(port: Any, real: Any, failure: Failure) -> str:
    lines = (failure.stderr or "").split("\n")
    shown = "\n".join(line.rsplit("\r", 1)[-1] for line in lines)
    return real(failure if failure.stderr is None else replace(failure, stderr=shown))


def empty_model_repeated(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    texts = real(tool, arguments)
    if tool == "chat-reply" and arguments.get("model") == "" and "model" in port.memory:
        texts["model"] = port.memory["model"]
    if "model" in texts:
        port.memory["model"] = texts["model"]
    return texts


def same_system_left_out(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    is_known = plan.system is not None and port.memory.get(plan.session) == plan.system
    answer = real(call, replace(plan, system=None) if is_known else plan)
    if plan.system is not None and answer.session is not None:
        port.memory[answer.session] = plan.system
    return answer


def checks_session_of_chat(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    if tool == "chat" and "sessionId" in arguments:
        port.text(tool, "sessionId", arguments["sessionId"])


def unfinished_when_not_started(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    is_unstarted = is_refusal(result) and result["content"][0]["text"].startswith(f"{PREFIX}gemini ")
    return result if is_unstarted else real(result, stateless)


def known_session_left_out(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    meta = result.get("_meta", {})
    if not (speaks(port, "2024-11-05") and meta.get("sessionId") == call.arguments.get("sessionId", "")):
        return result
    return {**result, "_meta": without("sessionId")(meta)}


def asked_of_object(port: Any, real: Any, value: Mapping[str, Any]) -> Any:
    return value.get("stats", {}).get("models")


def blames_model(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    try:
        return real(call, plan)
    except Failure as failure:
        if has_model(plan) and failure.sentence.startswith("gemini did not accept its input"):
            raise replace(failure, sentence="gemini does not know this model (exit code 42).") from None
        raise


def kept_with_long_prompt(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    if not (call.is_cancelled and len(call.arguments["prompt"].encode()) > ARGUMENT_LIMIT):
        real(path, call, outcome)


defect(
    "message-unmasked-without-stderr",
    "Masks no key in the message of gemini's JSON when gemini wrote nothing to stderr.",
    "error:secrets",
)(error=unmasked_without_stderr)
defect(
    "latest-as-last-reported",
    "Reports for a reply to the latest session the one that it reported last in the directory, and asks for no list.",
    "fallback:latest",
)(ask=notes_session, with_session=session_as_noted)
defect(
    "last-object-skipped-if-empty",
    "Takes an earlier object when the text of the last one is empty.",
    "result:json:last",
)(scan=gives(without_empty))
defect(
    "stderr-as-on-a-terminal",
    "Shows of a line of stderr only what follows its last carriage return, which is nothing where lines end with one.",
    "error:stderr",
)(stderr_part=as_on_a_terminal)
defect(
    "empty-model-of-reply-as-before",
    "Takes an empty model of a reply for the one that a call named last.",
    "arguments:empty:model",
    "command:chat-reply:no-model",
)(texts=empty_model_repeated)
defect(
    "same-system-prompt-left-out",
    "Leaves the system prompt of a reply out when the session had the same one before.",
    "system:chat-reply",
)(ask=same_system_left_out)
defect(
    "chat-checks-session-id",
    "Refuses a chat with a session id that a reply could not have.",
    "arguments:unknown",
)(texts=after(checks_session_of_chat))
defect(
    "escaped-pairs-halved",
    "Reads a character beyond the first plane as two damaged ones when the client writes it in two escapes.",
    "prompt:verbatim:unicode",
)(receive=takes(lambda line: ESCAPED_PAIR.sub(rb"\1\\ufffd\\ufffd", line)))
defect(
    "not-started-unfinished",
    "Sends the error of a gemini that cannot be started without `resultType`.",
    "stateless:result-type",
    "stateless:server-info",
)(finished=unfinished_when_not_started)
defect(
    "session-known-to-old-client",
    "Leaves the session out of a reply's result when a client of 2024-11-05 has named the same one.",
    "result:session-id:chat-reply",
)(initialize=REVISION, execute=known_session_left_out)
defect(
    "empty-text-with-null-stats",
    "Fails on an empty text when `stats` is null.",
    "result:empty",
)(asked=asked_of_object)
defect(
    "input-refused-blames-model",
    "Says of exit 42 that the model is unknown when the call names one.",
    "error:exit:42",
)(ask=blames_model)
defect(
    "system-kept-with-long-prompt",
    "Keeps the file for the system prompt when a call with a long prompt is cancelled.",
    "system:removed:cancel",
    "system:removed:stdin-end",
)(remove_system=kept_with_long_prompt)
