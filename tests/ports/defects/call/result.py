"""One circumstance of a call that spoils its answer: ports that break `result`."""

import html
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import IO, Any, cast

from answering import QUOTA, Answer, Failure, Scan
from conditions import REVISION, is_named, replacing, speaks
from defects.call.shared import Piped
from defects.record import defect
from planning import Plan
from running import Call
from speaking import JSON, Message
from steps import always, for_tool, gives, takes, without

QUOTE_BEHIND_BACKSLASH = re.compile(r'(?<!\\)(?:\\\\)+"')
LARGEST = 2**63 - 1
TAGS = re.compile("[\U000e0000-\U000e007f]")


def asked_of_object(port: Any, real: Any, value: Mapping[str, Any]) -> Any:
    return value.get("stats", {}).get("models")


def without_empty(scan: Scan) -> Scan:
    kept = [(begins, value) for begins, value in scan.objects if value.get("response") != "" or value.get("error")]
    has_answer = any("response" in value or value.get("error") for _, value in kept)
    return Scan(kept, scan.is_cut_short) if has_answer else scan


def braces_counted(port: Any, real: Any, text: str) -> Scan:
    """Counts braces outside strings, and takes each quote behind a backslash for one that is escaped."""
    with suppress(ValueError, RecursionError):
        json.loads(text)
        return real(text)
    return Scan(is_cut_short=True) if QUOTE_BEHIND_BACKSLASH.search(text) else real(text)


def reads_stderr_last(port: Any, real: Any, call: Call, process: Any, out: IO[bytes], err: IO[bytes]) -> Any:
    output = out.read()
    return port.wait(call, process), output, err.read()


def reads_all_last(port: Any, real: Any, call: Call, process: Any, out: IO[bytes], err: IO[bytes]) -> Any:
    return port.wait(call, process), out.read(), err.read()


def null_passed_over(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    values = [value for _, value in port.scan(stdout).objects if "response" in value or value.get("error") is not None]
    texts = [value for value in values if isinstance(value.get("response"), str)]
    is_null = values and values[-1].get("response") is None and values[-1].get("error") is None
    return port.read_json(texts[-1], stderr) if is_null and texts else real(stdout, stderr)


def quota_before_plain_text(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    answer = real(stdout, stderr)
    if answer.text == stdout and QUOTA.search(stderr):
        raise Failure("The quota of the Gemini API is used up (exit code 0).", stderr)
    return answer


def kept_when_prefix(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    is_same = is_named(plan) and answer.session.startswith(plan.session)
    return replace(answer, session=plan.session) if is_same else answer


def same_but_for_case(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    is_same = is_named(plan) and (answer.session or "").lower() == (plan.session or "").lower()
    return replace(answer, session=plan.session) if is_same else answer


def known_session_left_out(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    meta = result.get("_meta", {})
    if not (speaks(port, "2024-11-05") and meta.get("sessionId") == call.arguments.get("sessionId", "")):
        return result
    return {**result, "_meta": without("sessionId")(meta)}


def has_large(value: JSON) -> bool:
    if isinstance(value, dict | list):
        inner = cast("dict[str, JSON] | list[JSON]", value)
        return any(map(has_large, inner.values() if isinstance(inner, dict) else inner))
    return isinstance(value, int) and value > LARGEST


def without_large(scan: Scan) -> Scan:
    return Scan([each for each in scan.objects if not has_large(each[1])], scan.is_cut_short)


def blanks_unasked(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Answer:
    answer = real(value, stderr)
    if answer.text.strip() or answer.warnings or port.asked(value) != {}:
        return answer
    raise Failure("gemini asked no model; the prompt may be too long.", stderr)


def object_written_anew(port: Any, real: Any, answer: Answer) -> Message:
    try:
        value = json.loads(answer.text) if speaks(port, "2025-06-18") else None
    except (ValueError, RecursionError):
        value = None
    is_object = isinstance(value, dict)
    return real(replace(answer, text=port.whole(json.dumps(value, ensure_ascii=False))) if is_object else answer)


def decodes_pieces(port: Any, real: Any, out: IO[bytes]) -> bytes:
    text = ""
    while piece := os.read(out.fileno(), 1 << 16):
        text += piece.decode("utf-8", "replace")
    return text.encode()


def completed(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    whole = stdout.rstrip() + "}"
    scan = port.scan(stdout)
    is_one_short = scan.is_cut_short and not scan.objects and not port.scan(whole).is_cut_short
    return real(whole if is_one_short else stdout, stderr)


def notice_for_warnings(port: Any, real: Any, answer: Answer) -> Message:
    return real(answer if answer.text else replace(answer, warnings=None))


def escaped(answer: Answer) -> Answer:
    warnings = answer.warnings
    if isinstance(warnings, list):
        warnings = [html.escape(each, quote=False) if isinstance(each, str) else each for each in warnings]  # pyright: ignore[reportUnknownVariableType]
    return replace(answer, warnings=warnings)


def without_nul(text: Any) -> Any:
    return text.replace("\0", "") if isinstance(text, str) else text


def surrogates_in_pairs(text: str) -> str:
    return re.sub("[\ud800-\udbff][\U00010000-\U0010ffff]", "\ufffd" * 3, text)


defect(
    "empty-text-with-null-stats",
    "Fails on an empty text when `stats` is null.",
    "result:empty",
)(asked=asked_of_object)
defect(
    "empty-text-without-content-in-first-revision",
    "Gives an empty list as the content of an empty text to a client of 2024-11-05.",
    "result:empty",
)(
    initialize=REVISION,
    content=lambda port, real, text: real(text) if text or not speaks(port, "2024-11-05") else [],
)
defect(
    "last-object-skipped-if-empty",
    "Takes an earlier object when the text of the last one is empty.",
    "result:json:last",
)(scan=gives(without_empty))
defect(
    "backslash-before-quote",
    "Finds no JSON among other text on stdout when a string in it ends with a backslash.",
    "result:json:notice-before",
    "result:json:notice-after",
)(scan=braces_counted)
defect(
    "stderr-read-last", "Reads stderr after gemini has ended, from a pipe that fills up before.", "result:large-stderr"
)(Piped, piped=reads_stderr_last)
defect(
    "output-read-last", "Reads stdout after gemini has ended, from a pipe that fills up before.", "result:large-stdout"
)(Piped, piped=reads_all_last)
defect("output-cut-at1-mi-b", "Keeps the first megabyte of the output.", "result:large-stdout")(
    decode=takes(lambda raw: raw[: 1 << 20])
)
defect(
    "null-answer-passed-over",
    "Answers with an earlier text when the last JSON has null as its `response`.",
    "result:no-response",
)(read_stdout=null_passed_over)
defect(
    "quota-on-stderr-beside-plain-text",
    "Takes plain text for a failure when stderr speaks of the quota.",
    "result:plain-text",
)(read_stdout=quota_before_plain_text)
defect(
    "longer-session-not-changed",
    "Reports the session that a reply resumed when gemini names one that only begins with that id.",
    "result:session-id:changed",
)(ask=kept_when_prefix)
defect(
    "changed-session-in-other-case",
    "Reports the session that a reply resumed when gemini names one that differs from it in upper and lower case only.",
    "result:session-id:changed",
    "result:session-id:chat-reply",
)(ask=same_but_for_case)
defect(
    "session-known-to-old-client",
    "Leaves the session out of a reply's result when a client of 2024-11-05 has named the same one.",
    "result:session-id:chat-reply",
)(initialize=REVISION, execute=known_session_left_out)
defect("chat-as-stream", "Asks for a stream of events in `chat`, and answers with it.", "result:text")(
    format_option=for_tool("chat", always(("--output-format", "stream-json")))
)
defect(
    "integer-beyond-64-bits",
    "Does not read JSON in which an integer needs more than 64 bits, wherever it stands.",
    "result:text",
)(scan=gives(without_large))
defect(
    "text-ends-at-nul",
    "Ends the text of an answer at a NUL character.",
    "result:text",
)(whole=gives(lambda text: text.partition("\0")[0]))
defect(
    "answer-without-nul",
    "Drops the NUL characters of an answer.",
    "result:text",
)(response=gives(without_nul))
defect(
    "blank-answer-unasked",
    "Takes an answer of blanks for none when gemini counts no model.",
    "result:text:blanks",
)(read_json=blanks_unasked)
defect(
    "object-written-anew",
    "Writes an answer that is a JSON object anew for clients of 2025-06-18, with blanks of its own.",
    "result:text:json",
)(initialize=REVISION, success=object_written_anew)
defect(
    "pieces-decoded-alone", "Decodes each piece of the output by itself.", "result:text:split", "result:text:unicode"
)(Piped, drained=decodes_pieces)
defect(
    "eight-bit-sequences-dropped",
    "Drops terminal sequences that begin with U+009B from the answer.",
    "result:text:unicode",
    "result:text",
)(response=gives(lambda text: replacing("\x9b[0-?]*[ -/]*[@-~]")(text) if isinstance(text, str) else text))
defect(
    "tag-characters-dropped",
    "Drops the tag characters of an answer, which the flags of Scotland and Wales are made of.",
    "result:text:unicode",
    "result:text",
)(read_json=gives(lambda answer: replace(answer, text=TAGS.sub("", answer.text))))
defect(
    "emoji-behind-surrogate-spoilt",
    "Gives U+FFFD for each half of an emoji that follows a lone high surrogate in the answer.",
    "result:text:surrogate",
    "result:text:unicode",
)(whole=takes(surrogates_in_pairs))
defect(
    "last-brace-supplied",
    "Supplies the last brace of a JSON that breaks off just before it.",
    "result:truncated",
)(read_stdout=completed)
defect(
    "notice-in-place-of-warnings",
    "Leaves out the warnings of an answer whose text is empty.",
    "result:warnings",
)(success=notice_for_warnings)
defect(
    "warnings-escaped-for-html",
    "Escapes `&`, `<` and `>` in warnings as HTML does.",
    "result:warnings",
)(read_json=gives(escaped))
