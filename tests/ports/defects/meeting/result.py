"""Answers that are right alone and spoilt beside something else: ports that break `result`."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome, Scan
from conditions import ends, every, is_named, results
from defects.meeting.shared import Test, failing, is_latest, is_reply
from defects.record import defect
from defects.shared import names, reads
from http_port import HttpPort
from planning import Plan
from port import Port
from running import Call
from steps import Step, takes, without

NOTICES = 64 * 1024
MEGABYTE = 1024 * 1024
LONE_ESCAPE = re.compile(rb"(\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})|\\ud[89a-f][0-9a-f]{2}", re.IGNORECASE)


def refuses_answer(test: Callable[[Call, Answer], object]) -> Step:
    """Of `ask`: takes such an answer for a failure."""

    def ask(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
        answer = real(call, plan)
        if test(call, answer):
            raise Failure("gemini gave no answer.", "")
        return answer

    return ask


def refuses_damage(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    if is_reply(call) and "-m" in plan.argv and outcome.exit == 0:
        try:
            outcome.stdout.decode()
        except UnicodeDecodeError:
            raise Failure("gemini printed what is no UTF-8.", port.decode(outcome.stderr)) from None
    return outcome


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


def as_answer(text: str) -> Outcome:
    return Outcome(0, json.dumps({"response": text}).encode())


def text_of(test: Test, is_meant: Callable[[Any, str], object]) -> Step:
    """Of `run_prompt`: takes the whole of such an output for the answer."""

    def run_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
        outcome = real(call, plan)
        text = port.decode(outcome.stdout)
        is_taken = outcome.exit == 0 and text.strip() and test(call, plan) and is_meant(port, text)
        return as_answer(text) if is_taken else outcome

    return run_prompt


def at_line_starts(port: Any, real: Any, text: str) -> Scan:
    scan = real(text)
    return Scan([each for each in scan.objects if each[0]], scan.is_cut_short)


def looks_at_beginning(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    return real(stdout, stderr) if "{" in stdout[:NOTICES] else port.plain_text(stdout)


def pretty_unread(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    if plan.system is None or plan.session is None:
        return real(call, plan)
    outcome = port.run_prompt(call, plan)
    if outcome.exit == 0 and re.match(rb"\s*\{\r?\n", outcome.stdout):
        raise Failure("gemini printed no JSON.", port.decode(outcome.stderr))
    answer = port.read(outcome)
    return answer if answer.session else port.with_session(call, plan, answer)


def has_large(call: Call, outcome: Outcome) -> bool:
    return bool(call.arguments.get("model")) and len(outcome.stdout) > MEGABYTE


def cut_large(outcome: Outcome) -> Outcome:
    middle = len(outcome.stdout) // 2
    return replace(outcome, stdout=outcome.stdout[:middle] + outcome.stdout[middle + 1 :])


def refuses_plain_text(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    if plan.system and outcome.exit == 0 and outcome.stdout.strip() and b"{" not in outcome.stdout:
        raise Failure("gemini printed no JSON.", port.decode(outcome.stderr))
    return outcome


def cancels_for_anybody(port: Any, real: Any, call: Call) -> None:
    Port.cancel(port, call)


def asked_session_with_warnings(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    return replace(answer, session=plan.session) if answer.warnings and is_named(plan) else answer


def resumed_with_warnings(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    is_kept = answer.warnings and plan.session not in (None, "latest")
    return replace(answer, session=plan.session) if is_kept else answer


def is_broken_off(port: Any, text: str) -> bool:
    scan = port.scan(text)
    return scan.is_cut_short and not any("response" in value for _, value in scan.objects)


def broken_is_text_beside_stderr(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    try:
        return real(stdout, stderr)
    except Failure as failure:
        if "incomplete" in failure.sentence and stderr.strip():
            return Answer(stdout)
        raise


def number_kept(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    return replace(answer, session=plan.session) if (plan.session or "").isdecimal() else answer


defect(
    "empty-answer-of-named-session-is-error",
    "Calls an empty answer an error in a reply by id with a directory.",
    "result:empty",
)(ask=refuses_answer(lambda call, answer: names("sessionId", "cwd")(call) and answer.text == ""))
defect(
    "error-key-of-long-reply-overlooked",
    "Takes an error in JSON for an answer in a reply with a long prompt.",
    "result:error-key",
)(
    ask=failing(
        lambda call, plan: is_reply(call) and plan.stdin is not None,
        "Gemini reported",
        lambda failure: Answer(failure.said or ""),
    )
)
defect(
    "error-overlooked-beside-warnings",
    "Overlooks an error in JSON that has warnings and a response beside it.",
    "result:error-key",
)(read_json=reads(lambda value: {**value, "error": None} if value.get("warnings") and "response" in value else value))
defect(
    "damaged-answer-of-reply-with-model-fails",
    "Fails in a reply with a model when the output is not UTF-8.",
    "result:json:encoding",
)(run_prompt=refuses_damage)
defect("longest-answer-counts", "Of several answers takes the longest.", "result:json:last")(read_stdout=longest_answer)
defect(
    "object-in-answer-before-notice",
    "Takes an object within the answer for the answer when text follows the JSON.",
    "result:json:notice-after",
)(read_stdout=object_before_notice)
defect(
    "notice-hides-json-beside-long-prompt",
    "Takes all of stdout for the answer to a long prompt when a notice stands first.",
    "result:json:notice-before",
)(run_prompt=text_of(lambda call, plan: plan.stdin is not None, lambda port, text: not text.lstrip().startswith("{")))
defect(
    "json-behind-text-of-its-line-overlooked",
    "Looks for JSON at the beginnings of lines.",
    "result:json:notice-before",
    "result:text",
)(scan=at_line_starts)
defect("notices-over-64-kib-hide-json", "Looks for JSON in the first 64 KiB.", "result:json:notice-before")(
    read_stdout=looks_at_beginning
)
defect(
    "pretty-json-unread-beside-system-prompt",
    "Reads no JSON over several lines in a reply with a system prompt.",
    "result:json:pretty",
)(ask=pretty_unread)
defect(
    "large-answer-cut-beside-model",
    "Loses a character of an answer of more than a megabyte in a call with a model.",
    "result:large-stdout",
)(run_prompt=ends(has_large, cut_large))
defect(
    "no-output-succeeds-in-latest-beside-system-prompt",
    "Returns an empty text when gemini prints nothing to a reply to the latest session with a system prompt.",
    "result:no-output",
)(ask=failing(lambda call, plan: is_latest(plan) and plan.system, "without any output", lambda failure: Answer("")))
defect(
    "no-response-is-empty-in-chat-beside-model-and-system-prompt",
    "Takes JSON without a text for an empty answer in a `chat` with a model and a system prompt.",
    "result:no-response",
)(
    ask=failing(
        lambda call, plan: not is_reply(call) and names("model", "systemPrompt")(call),
        "without a text",
        lambda failure: Answer(""),
    )
)
defect(
    "plain-text-refused-beside-system-prompt",
    "Calls text without JSON an error in a call with a system prompt.",
    "result:plain-text",
)(run_prompt=refuses_plain_text)
defect(
    "plain-text-to-sub",
    "Takes the character U+001A in plain text for the end of the file.",
    "result:plain-text",
)(plain_text=takes(lambda stdout: stdout.split("\x1a")[0]))
defect(
    "session-lost-beside-directory-system-prompt-and-warnings",
    "Names no session of a call with a directory and a system prompt when gemini warns.",
    "result:session-id",
)(
    execute=results(
        lambda call, result: names("cwd", "systemPrompt")(call) and "warnings" in result.get("_meta", {}),
        lambda result: {**result, "_meta": {key: it for key, it in result["_meta"].items() if key != "sessionId"}},
    )
)
defect(
    "long-prompt-loses-session",
    "Reports no session when the prompt went to stdin.",
    "result:session-id",
)(ask=lambda port, real, call, plan: replace(real(call, plan), **({} if plan.stdin is None else {"session": None})))
defect("cancelled-by-anybody", "Lets a client cancel the calls of another.", "result:session-id")(
    HttpPort, cancel=cancels_for_anybody
)
defect(
    "changed-session-lost-beside-warnings",
    "Names the session that a reply asked for when gemini changes it with a warning.",
    "result:session-id:changed",
)(ask=asked_session_with_warnings)
defect(
    "resumed-session-with-warnings",
    "Reports the session that it resumed when gemini warns and names another.",
    "result:session-id:changed",
)(ask=resumed_with_warnings)
defect(
    "stateless-session-lost-beside-text-token",
    "Names no session in a reply without a handshake whose progress token is a string.",
    "result:session-id:chat-reply",
)(
    execute=results(
        lambda call, result: call.stateless and call.tool == "chat-reply" and isinstance(call.token, str),
        without("_meta"),
    )
)
defect("fiftieth-answer-in-capitals", "Writes every fiftieth answer in capitals.", "result:text")(
    whole=every(50, lambda port, real, text: real(text).upper())
)
defect(
    "surrogates-of-reply-with-model-dropped",
    "Drops lone surrogates in the answer to a reply with a model.",
    "result:text:surrogate",
)(
    run_prompt=ends(
        lambda call, outcome: is_reply(call) and names("model")(call),
        lambda outcome: replace(outcome, stdout=LONE_ESCAPE.sub(lambda found: found[1] or b"", outcome.stdout)),
    )
)
defect(
    "truncated-answer-to-long-prompt-is-text",
    "Returns JSON that breaks off as text when the prompt was long.",
    "result:truncated",
)(run_prompt=text_of(lambda call, plan: plan.stdin is not None, is_broken_off))
defect(
    "truncated-is-text-beside-stderr",
    "Returns JSON that breaks off as text when gemini says something on stderr.",
    "result:truncated",
)(read_stdout=broken_is_text_beside_stderr)
defect(
    "unasked-is-empty-in-named-session-beside-model",
    "Takes an empty text for an answer though no model was asked, in a reply by id with a model.",
    "result:unasked",
)(ask=failing(names("sessionId", "model"), "asked no model", lambda failure: Answer("")))
defect(
    "reply-by-number-keeps-number",
    "Reports the number of a session in the list, by which a reply was asked for, in the place of the id it has.",
    "result:session-id:changed",
)(ask=number_kept)
