"""Defects of one call that show where two of its arguments meet, or one of them meets an outcome."""

import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from answering import Answer, Failure
from conditions import REVISION, is_refusal, speaks
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message
from steps import before, for_tool, takes


def path_of_url(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    return real(tool, {name: unquote(text) if name == "cwd" else text for name, text in texts.items()})


def null_passed_over(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    values = [value for _, value in port.scan(stdout).objects if "response" in value or value.get("error") is not None]
    texts = [value for value in values if isinstance(value.get("response"), str)]
    is_null = values and values[-1].get("response") is None and values[-1].get("error") is None
    return port.read_json(texts[-1], stderr) if is_null and texts else real(stdout, stderr)


def blanks_unasked(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Answer:
    answer = real(value, stderr)
    if answer.text.strip() or answer.warnings or port.asked(value) != {}:
        return answer
    raise Failure("gemini asked no model; the prompt may be too long.", stderr)


def notes_private(port: Any, call: Call, plan: Plan) -> None:
    port.memory[threading.get_ident()] = plan.private


def sentence_of_withheld(port: Any, real: Any, exit: int, stderr: str) -> str:
    return real(exit, port.withheld(stderr, port.memory[threading.get_ident()]))


def message_said_once(port: Any, real: Any, failure: Failure) -> str:
    if failure.said is None or failure.stderr is None:
        return real(failure)
    lines = [line for line in failure.stderr.split("\n") if line.strip() != failure.said]
    return real(replace(failure, stderr="\n".join(lines)))


def refusal_unsigned(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    whole = real(result, stateless)
    if is_refusal(result):
        whole.pop("_meta", None)
    return whole


def object_written_anew(port: Any, real: Any, answer: Answer) -> Message:
    try:
        value = json.loads(answer.text) if speaks(port, "2025-06-18") else None
    except (ValueError, RecursionError):
        value = None
    is_object = isinstance(value, dict)
    return real(replace(answer, text=port.whole(json.dumps(value, ensure_ascii=False))) if is_object else answer)


def objects_forgotten(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name == "prompt" or value != {}}


defect(
    "reply-directory-percent-decoded",
    "Decodes `%20` and its like in the directory of a reply.",
    "cwd:chat-reply",
    "cwd:used",
)(cwd=for_tool("chat-reply", path_of_url))
defect(
    "null-answer-passed-over",
    "Answers with an earlier text when the last JSON has null as its `response`.",
    "result:no-response",
)(read_stdout=null_passed_over)
defect(
    "blank-answer-unasked",
    "Takes an answer of blanks for none when gemini counts no model.",
    "result:text:blanks",
)(read_json=blanks_unasked)
defect(
    "cause-looked-for-in-withheld",
    "Looks for the cause of a failure in a stderr from which the words of the prompt have been removed.",
    "error:quota",
    "error:session-gone",
)(ask=before(notes_private), exit_sentence=sentence_of_withheld)
defect(
    "line-like-message-left-out",
    "Leaves lines out of stderr that are the same as the message it shows before.",
    "error:stderr",
)(stderr_part=message_said_once)
defect(
    "refusal-without-server-info",
    "Does not name the server in the result for a call that started nothing.",
    "stateless:server-info",
)(finished=refusal_unsigned)
defect(
    "object-written-anew",
    "Writes an answer that is a JSON object anew for clients of 2025-06-18, with blanks of its own.",
    "result:text:json",
)(initialize=REVISION, success=object_written_anew)
defect(
    "empty-object-counts-as-absent",
    "Takes an optional argument that is an empty object for absent.",
    "arguments:optional:type",
)(texts=takes(objects_forgotten))
defect(
    "json-error-looked-for-in-tail",
    "Finds no message in a JSON error that begins before the last 8192 bytes of stderr.",
    "error:json-on-stderr",
)(said=lambda port, real, stderr: real(port.tail(stderr)))
