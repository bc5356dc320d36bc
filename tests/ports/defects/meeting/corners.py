"""Defects in corners: an argument, an answer or a list that is served alone, and not beside another one."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import KEYS, Answer, Failure
from conditions import asks, failed, lacking
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message
from steps import gives, takes

MOST_WARNINGS = 8
MOST_CHARACTERS = 4 << 20


def null_model_of_session(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    is_free = arguments.get("sessionId") and arguments.get("model", "") is None
    return real(tool, {name: value for name, value in arguments.items() if not (is_free and name == "model")})


def undeclared_session(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan, session = real(tool, arguments), arguments.get("sessionId")
    is_taken = tool == "chat" and isinstance(session, str) and session and plan.cwd and "-m" in plan.argv
    return replace(plan, argv=(plan.argv[0], "-r", session, *plan.argv[1:])) if is_taken else plan


def below_home(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    """A relative directory of a reply by id with a model."""
    texts = real(tool, arguments)
    is_meant = {"sessionId", "model", "cwd"} <= texts.keys() and not os.path.isabs(texts["cwd"])
    return {**texts, "cwd": os.path.join(os.environ["HOME"], texts["cwd"])} if is_meant else texts


def only_spaces_are_blank(port: Any, real: Any, name: str, text: str) -> bool:
    is_line_end = name == "systemPrompt" and bool(text) and not text.strip("\r\n")
    return not is_line_end and real(name, text)


def turned_by_cursor(port: Any, real: Any, params: Mapping[str, Any], stateless: bool) -> Message:
    port.memory["is_turned"] = port.memory.get("is_turned") or params.get("cursor") is not None
    result = real(params, stateless)
    return {**result, "tools": result["tools"][::-1]} if port.memory["is_turned"] else result


def longest_answer(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    texts = [value for _, value in port.scan(stdout).objects if isinstance(value.get("response"), str)]
    if len(texts) < 2:
        return real(stdout, stderr)
    return port.read_json(max(texts, key=lambda value: len(value["response"])), stderr)


def object_before_notice(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    """The last object before a notice, wherever it stands."""
    answer = real(stdout, stderr)
    if stdout.rstrip().endswith("}"):
        return answer
    inner = [value for _, value in port.scan(answer.text).objects if isinstance(value.get("response"), str)]
    return replace(answer, text=inner[-1]["response"]) if inner else answer


def unwarned_by_list(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    found = real(call, plan, answer)
    return replace(found, warnings=None) if found.session else found


def resumed_with_warnings(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    is_kept = answer.warnings and plan.session not in (None, "latest")
    return replace(answer, session=plan.session) if is_kept else answer


def first_key_of_line(port: Any, real: Any, text: str) -> str:
    return "\n".join(KEYS.sub("[masked]", line, count=1) for line in text.split("\n"))


def told_unmasked(port: Any, real: Any, failure: Failure) -> Message:
    """What gemini says of its failure is shown as it is."""
    result = real(replace(failure, said=None))
    said = failure.said and f" Gemini CLI says: {port.withheld(failure.said, failure.private)}"
    sentence, label, stderr = result["content"][0]["text"].partition("\nStderr: ")
    return {**result, "content": port.content(f"{sentence}{said or ''}{label}{stderr}")}


def notes_failed_session(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    if failed(call, result):
        port.memory.setdefault("failed", []).append(call.arguments.get("sessionId"))
    return result


def free_after_failure(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    return None if texts.get("sessionId", "") in port.memory.get("failed", ()) else real(tool, texts)


defect(
    "null-model-of-session-accepted",
    "Takes a null model for none in a reply that names its session.",
    "arguments:optional:null",
)(texts=null_model_of_session)
defect(
    "undeclared-session-resumed",
    "Resumes a session that `chat` does not declare, when a model and a directory are given too.",
    "command:chat:new-session",
)(plan=undeclared_session)
defect(
    "relative-directory-below-home",
    "Looks for the relative directory of a reply by id with a model in the home directory.",
    "cwd:relative",
)(texts=below_home)
defect(
    "line-ends-are-a-system-prompt",
    "Hands over a system prompt that is nothing but line ends.",
    "arguments:empty:system-prompt",
)(is_absent=only_spaces_are_blank)
defect("tools-turned-by-cursor", "Lists the tools in another order after it was asked for a page.", "tools:order")(
    list_tools=turned_by_cursor
)
defect("longest-answer-counts", "Of several answers takes the longest.", "result:json:last")(read_stdout=longest_answer)
defect(
    "object-in-answer-before-notice",
    "Takes an object within the answer for the answer when text follows the JSON.",
    "result:json:notice-after",
)(read_stdout=object_before_notice)
defect("warnings-cut-at-eight", "Reports no more than eight warnings.", "result:warnings")(
    read_json=gives(lambda answer: replace(answer, warnings=answer.warnings and answer.warnings[:MOST_WARNINGS]))
)
defect("warnings-lost-to-list", "Loses the warnings when the list names the session.", "result:warnings")(
    with_session=unwarned_by_list
)
defect(
    "resumed-session-with-warnings",
    "Reports the session that it resumed when gemini warns and names another.",
    "result:session-id:changed",
)(ask=resumed_with_warnings)
defect(
    "long-prompt-loses-session",
    "Reports no session when the prompt went to stdin.",
    "result:session-id",
)(ask=lambda port, real, call, plan: replace(real(call, plan), **({} if plan.stdin is None else {"session": None})))
defect(
    "list-of-relative-directory", "Lists the sessions where it runs itself, for a relative directory.", "fallback:cwd"
)(listing_cwd=gives(lambda cwd: cwd if cwd and os.path.isabs(cwd) else None))
defect("first-key-of-line-masked", "Masks the first key of each line.", "error:secrets")(masked=first_key_of_line)
defect("key-in-json-error", "Shows a key that stands in the JSON of a failure.", "error:secrets")(error=told_unmasked)
defect(
    "session-free-after-failure",
    "Lets replies of a session run at once after one of them has failed.",
    "concurrency:same-session",
)(execute=notes_failed_session, turn=free_after_failure)
defect("sessions-without-case", "Takes sessions that differ in case for one.", "concurrency:other-session")(
    turn=gives(lambda turn: turn and turn.lower())
)
defect("long-prompt-cut-at-4-mib", "Cuts a prompt after four times 1,048,576 characters.", "prompt:long:whole")(
    input=takes(lambda text: text and text[:MOST_CHARACTERS])
)
defect(
    "model-lost-to-stdin-and-file",
    "Passes no model when both the prompt and a text are handed over.",
    "command:chat:model",
)(ask=asks(lambda call, plan: plan.stdin is not None and plan.system is not None, lacking("-m")))
