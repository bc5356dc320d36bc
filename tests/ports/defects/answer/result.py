"""Outputs that become the wrong kind of result, or lose what stands beside the text: ports that break `result`."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from answering import Answer, Failure, Outcome, Scan
from conditions import REVISION, in_any_case, speaks
from defects.record import defect
from defects.shared import reads
from speaking import Message, as_object
from steps import Step, always, for_tool, gives, raises, takes

PICTURE = re.compile(r"data:(image/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/]{16,}={0,2})")


KEYS = ("response", "error", "session_id", "warnings")


def structured(port: Any, real: Any, answer: Any) -> Any:
    is_new = port.memory.get("revision", "") >= "2025-06-18"
    return {**real(answer), "content": [], "structuredContent": {"text": answer.text}} if is_new else real(answer)


def dumps_empty(port: Any, real: Any, value: Any, stderr: str) -> Answer:
    answer = real(value, stderr)
    return answer if answer.text else replace(answer, text=json.dumps(value))


def refuses_empty(port: Any, real: Any, value: Any, stderr: str) -> Answer:
    answer = real(value, stderr)
    if not answer.text:
        raise Failure("Gemini said nothing.", stderr)
    return answer


def without_silent_error(value: Any) -> Any:
    error = as_object(value.get("error"))
    return value if error is None or "message" in error else {**value, "error": None}


def without_false(scan: Scan) -> Scan:
    return Scan(
        [
            (begins, {name: part for name, part in value.items() if name != "error" or part is not False})
            for begins, value in scan.objects
        ],
        scan.is_cut_short,
    )


def earlier_text(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    answers = [value for _, value in port.scan(stdout).objects if "response" in value or value.get("error") is not None]
    texts = [value for value in answers if isinstance(value.get("response"), str)]
    if texts and answers[-1].get("error") is None and not isinstance(answers[-1]["response"], str):
        return port.read_json(texts[-1], stderr)
    return real(stdout, stderr)


def keys_in_any_case(scan: Scan) -> Scan:
    return replace(scan, objects=[(begins_line, in_any_case(KEYS)(value)) for begins_line, value in scan.objects])


def other_json_read(port: Any, real: Any, stdout: str) -> Answer:
    """A text that is JSON of another kind."""
    try:
        value = json.loads(stdout)
    except ValueError:
        return real(stdout)
    return Answer(value if isinstance(value, str) else str(value))


def plain_text_beside_stderr(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    answer = real(stdout, stderr)
    if stderr.strip() and not port.scan(stdout).objects:
        raise Failure("gemini printed no JSON.", stderr)
    return answer


def under_cli_name(result: Any) -> Any:
    meta = result.get("_meta", {})
    return {**result, "_meta": {{"sessionId": "session_id"}.get(name, name): value for name, value in meta.items()}}


def no_session_of_number(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Answer:
    """Takes the session of an answer for a UUID or for none."""
    answer = real(value, stderr)
    is_uuid = answer.session and re.fullmatch(r"[0-9a-fA-F-]{36}", answer.session)
    return answer if is_uuid else replace(answer, session=None)


def echoing(port: Any, real: Any, call: Any, plan: Any) -> Any:
    answer = real(call, plan)
    return answer if plan.session in (None, "latest") else replace(answer, session=plan.session)


def error_of_success(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    if (said := port.said(stderr)) is not None:
        raise Failure("Gemini reported an error.", stderr, said)
    return real(stdout, stderr)


def appends_stderr(port: Any, real: Any, outcome: Outcome) -> Answer:
    answer, stderr = real(outcome), port.decode(outcome.stderr)
    return replace(answer, text=f"{answer.text}\n{stderr}") if stderr else answer


def reads_stderr_first(port: Any, real: Any, outcome: Outcome) -> Answer:
    is_meant = outcome.exit == 0 and port.scan(port.decode(outcome.stderr)).objects
    return real(Outcome(0, outcome.stderr) if is_meant else outcome)


def refuses_stderr(port: Any, real: Any, outcome: Outcome) -> Answer:
    answer = real(outcome)
    if outcome.stderr.strip():
        raise Failure(answer.text, port.decode(outcome.stderr))
    return answer


def needs_model(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Answer:
    answer = real(value, stderr)
    if port.asked(value) == {} and answer.text:
        raise Failure("gemini asked no model.", stderr)
    return answer


def broken_off_as_text(pattern: str) -> Step:
    """Of `read_stdout`: takes a stdout that ends so for a text."""

    def read_stdout(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
        is_meant = port.scan(stdout).is_cut_short and re.search(pattern, stdout.rstrip("\n"))
        return Answer(stdout) if is_meant else real(stdout, stderr)

    return read_stdout


def broken_off_behind_notice(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    scan = port.scan(stdout)
    return Answer(stdout) if scan.is_cut_short and not stdout.startswith("{") else real(stdout, stderr)


def empty_list_warns(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Answer:
    if value.get("response") == "" and value.get("warnings") == [] and value.get("error") is None:
        return Answer("", value.get("session_id"))
    return real(value, stderr)


def in_one_line(port: Any, real: Any, answer: Answer) -> Message:
    warnings = answer.warnings
    if isinstance(warnings, list):
        warnings = [" ".join(each.splitlines()) if isinstance(each, str) else each for each in warnings]  # pyright: ignore[reportUnknownVariableType]
    return real(replace(answer, warnings=warnings))


def is_text(value: object) -> bool:
    return isinstance(value, str)


def notes_warnings(result: Message) -> Message:
    meta = result.get("_meta", {})
    return {**result, "_meta": {"notes" if key == "warnings" else key: value for key, value in meta.items()}}


def with_pictures(port: Any, real: Any, answer: Any) -> Any:
    result = real(answer)
    pictures = [{"type": "image", "data": each[2], "mimeType": each[1]} for each in PICTURE.finditer(answer.text)]
    return {**result, "content": [*result["content"], *pictures]}


def failing_with_tools(port: Any, real: Any, value: Any, stderr: str) -> Any:
    answer = real(value, stderr)
    match value.get("stats"):
        case {"tools": {"totalFail": int(count)}} if count > 0:
            raise Failure(f"{count} tools that gemini called failed.", stderr, answer.text[:200])
        case _:
            return answer


def explained_by_stderr(port: Any, real: Any, value: Any, stderr: str) -> Any:
    answer = real(value, stderr)
    if not answer.text and (said := port.said(stderr)):
        raise Failure("Gemini reported an error instead of an answer.", stderr, said)
    return answer


def with_stderr(port: Any, real: Any, stdout: str, stderr: str) -> Any:
    """Looks through both outputs for JSON, as when `2>&1` has joined them, and passes over what is no answer."""
    answer = real(stdout, stderr)
    later = [value for _, value in port.scan(stderr).objects if isinstance(value.get("response"), str)]
    return replace(answer, text=port.whole(later[-1]["response"])) if later else answer


defect("content-is-text", "Returns the text where the array of content should be.", "result:content")(
    success=gives(lambda result: {**result, "content": result["content"][0]["text"]})
)
defect("content-is-markdown", "Calls the type of its content `markdown`.", "result:content")(
    success=gives(lambda result: {**result, "content": [{**result["content"][0], "type": "markdown"}]})
)
defect(
    "structured-only",
    "Leaves the content empty for clients of newer revisions, which get structured content.",
    "result:content",
    "result:text",
)(initialize=REVISION, success=structured)
defect("empty-answer-dumped", "Returns the JSON when its response is empty.", "result:empty")(read_json=dumps_empty)
defect("empty-answer-is-error", "Calls an empty answer an error.", "result:empty")(read_json=refuses_empty)
defect("warned-is-unasked", "Calls an empty answer an error though a warning says why it is empty.", "result:empty")(
    read_json=reads(
        lambda value: {name: item for name, item in value.items() if value.get("response") or name != "warnings"}
    )
)
defect("error-without-message-overlooked", "Takes an error for one only when it has a message.", "result:error-key")(
    read_json=reads(without_silent_error)
)
defect("error-key-overlooked", "Overlooks the error in JSON when gemini exits with 0.", "result:error-key")(
    read_json=reads(lambda value: {"response": "", **value, "error": None})
)
defect(
    "error-beside-response-overlooked", "Overlooks an error in JSON that has a response beside it.", "result:error-key"
)(read_json=reads(lambda value: {**value, "error": None} if "response" in value else value))
defect("empty-error-ignored", "Takes an error without anything in it for none.", "result:error-key")(
    read_json=lambda port, real, value, stderr: real({**value, "error": value.get("error") or None}, stderr)
)
defect("false-error-ignored", "Takes an error that is false for none.", "result:error-key")(scan=gives(without_false))
defect("no-output-succeeds", "Returns an empty text when gemini prints nothing.", "result:no-output")(
    read_stdout=lambda port, real, stdout, stderr: real(stdout, stderr) if stdout.strip() else Answer("")
)
defect("answer-taken-from-stderr", "Looks for the answer on stderr when stdout is empty.", "result:no-output")(
    read_stdout=lambda port, real, stdout, stderr: real(
        stdout if stdout.strip() or not port.scan(stderr).objects else stderr, stderr
    )
)
defect("response-spelt-out", "Makes text of a response that is none.", "result:no-response")(
    response=lambda port, real, value: str(value.get("response", ""))
)
defect("number-is-an-answer", "Takes a number for a text.", "result:no-response")(
    response=gives(lambda found: str(found) if type(found) in (int, float) else found)
)
defect("parts-of-answer-joined", "Joins a response that is a list of texts.", "result:no-response")(
    response=gives(lambda value: "".join(cast("list[str]", value)) if isinstance(value, list) else value)
)
defect(
    "earlier-text-for-null-response",
    "Takes an earlier answer when the response of the last one is no text.",
    "result:no-response",
)(read_stdout=earlier_text)
defect(
    "answer-keys-in-any-case",
    "Reads the keys of gemini's JSON in any case.",
    "result:no-response",
)(scan=gives(keys_in_any_case))
defect("plain-text-refused", "Calls text without JSON an error.", "result:plain-text")(
    plain_text=raises(Failure("gemini printed no JSON.", ""))
)
defect(
    "plain-json-text-unquoted",
    "Reads a text without an object that is JSON of another kind.",
    "result:plain-text",
)(plain_text=other_json_read)
defect(
    "plain-text-beside-stderr-refused",
    "Calls text without JSON an error when there is anything on stderr.",
    "result:plain-text",
)(read_stdout=plain_text_beside_stderr)
defect("chat-without-session", "Returns no session from `chat`.", "result:session-id")(
    ask=for_tool("chat", gives(lambda answer: replace(answer, session=None)))
)
defect(
    "session-under-cli-name",
    "Names the session `session_id`, as gemini does.",
    "result:session-id",
    "result:session-id:chat-reply",
)(success=gives(under_cli_name))
defect(
    "session-must-be-uuid",
    "Takes the session of an answer for none that is no UUID.",
    "result:session-id",
)(read_json=no_session_of_number)
defect("session-of-answer-trimmed", "Takes blanks off the session that gemini names.", "result:session-id")(
    read=gives(lambda answer: replace(answer, session=answer.session and answer.session.strip()))
)
defect("session-unnamed-in-2025-03-26", "Names no session for clients of 2025-03-26.", "result:session-id")(
    initialize=REVISION,
    success=lambda port, real, answer: real(replace(answer, session=None) if speaks(port, "2025-03-26") else answer),
)
defect(
    "reply-echoes-session",
    "Returns the session that a reply asked for, not the one it got.",
    "result:session-id:changed",
)(ask=echoing)
defect("reply-without-session", "Returns no session from `chat-reply`.", "result:session-id:chat-reply")(
    ask=for_tool("chat-reply", gives(lambda answer: replace(answer, session=None)))
)
defect(
    "error-on-stderr-of-success-counts",
    "Calls a success an error when there is a JSON error on stderr.",
    "result:stderr",
)(read_stdout=error_of_success)
defect(
    "empty-answer-explained-by-stderr",
    "Makes an error of an empty answer when there is a JSON error on stderr.",
    "result:empty",
)(read_json=explained_by_stderr)
defect("stderr-appended", "Adds what stderr says to the answer.", "result:stderr", "result:text")(read=appends_stderr)
defect("json-of-stderr-wins", "Reads stderr before stdout.", "result:stderr")(read=reads_stderr_first)
defect("stderr-makes-error", "Calls a success an error when there is anything on stderr.", "result:success")(
    read=refuses_stderr
)
defect("error-word-makes-error", "Sets isError when the answer begins with the word error.", "result:success")(
    success=lambda port, real, answer: (
        real(answer) | {"isError": True} if answer.text.lower().startswith("error") else real(answer)
    )
)
defect(
    "answer-without-model-is-error",
    "Calls an answer with a text an error when the statistics name no model.",
    "result:success",
)(read_json=needs_model)
defect("truncated-is-text", "Returns JSON that breaks off as text.", "result:truncated")(is_cut_short=always(False))
defect(
    "cut-in-escape-is-text",
    "Takes JSON for text that breaks off within an escape.",
    "result:truncated",
)(read_stdout=broken_off_as_text(r"\\(u[0-9a-fA-F]{0,3})?\Z"))
defect(
    "cut-in-character-is-text",
    "Takes JSON for text that breaks off within a character.",
    "result:truncated",
)(read_stdout=broken_off_as_text("\ufffd\\Z"))
defect(
    "cut-behind-comma-is-text",
    "Takes JSON for text that breaks off behind a comma or a colon.",
    "result:truncated",
)(read_stdout=broken_off_as_text(r"[,:]\s*\Z"))
defect(
    "cut-behind-text-is-text",
    "Takes JSON for text that breaks off behind the whole of the response.",
    "result:truncated",
)(read_stdout=broken_off_as_text(r'"response"\s*:\s*"[^"]*"\s*,?\s*\Z'))
defect(
    "broken-off-behind-notice-is-text",
    "Returns JSON that breaks off as text when a notice stands before it.",
    "result:truncated",
)(read_stdout=broken_off_behind_notice)
defect("unasked-is-empty", "Takes an empty text for an answer though no model was asked.", "result:unasked")(
    asked=always(None)
)
defect(
    "empty-list-of-warnings-warns",
    "Takes an empty text for an answer though no model was asked, when there is an empty list of warnings.",
    "result:unasked",
)(read_json=empty_list_warns)
defect(
    "newlines-of-warnings-flattened",
    "Makes one line of a warning.",
    "result:warnings",
)(success=in_one_line)
defect("warnings-dropped", "Drops the warnings.", "result:warnings")(
    success=takes(lambda answer: replace(answer, warnings=None))
)
defect("only-first-warning", "Reports the first of several warnings.", "result:warnings")(
    success=takes(lambda answer: replace(answer, warnings=answer.warnings[:1]) if answer.warnings else answer)
)
defect("odd-warnings-dropped", "Drops warnings that are no texts.", "result:warnings")(
    success=takes(lambda answer: replace(answer, warnings=[each for each in answer.warnings or () if is_text(each)]))
)
defect("odd-warnings-spelt-out", "Makes texts of warnings that are none.", "result:warnings")(
    success=takes(lambda answer: replace(answer, warnings=[*map(str, answer.warnings or ())]))
)
defect("warnings-under-another-key", "Reports the warnings in `_meta` under a key of its own.", "result:warnings:key")(
    success=gives(notes_warnings)
)
defect(
    "picture-beside-text",
    "Adds an item of the type `image` to the content when an answer holds a picture as a `data:` address.",
    "result:content",
)(success=with_pictures)
defect(
    "failed-tool-fails-call",
    "Calls an answer an error when its statistics count a tool that failed on the way.",
    "result:success",
    "result:text",
)(read_json=failing_with_tools)
defect(
    "response-on-stderr",
    "Takes an object with a `response` that a gemini which succeeds writes to stderr for a later answer.",
    "result:stderr",
)(read_stdout=with_stderr)
