"""Defects in what is made of an output that is sound in itself: numbers, keys, and lines with brackets."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome, Scan
from conditions import in_any_case, is_named
from defects.record import defect
from planning import Plan
from running import Call
from steps import gives, takes

NODE_IS_MISSING = 127
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
IN_BRACKETS = re.compile(r"\[([^\[\]\s]+)\]")
KEYS = ("response", "error", "session_id", "warnings")


def needs_model(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Answer:
    answer = real(value, stderr)
    if port.asked(value) == {} and answer.text:
        raise Failure("gemini asked no model.", stderr)
    return answer


def numbers_as_numbers(port: Any, real: Any, text: str) -> Any:
    return [{"type": "text", "text": json.loads(text)}] if NUMBER.fullmatch(text) else real(text)


def any_brackets(port: Any, real: Any, listing: Outcome) -> str | None:
    """Takes a list whose lines have no numbers for one of another version."""
    session = real(listing)
    if session is not None or listing.exit != 0:
        return session
    found = IN_BRACKETS.findall(port.list_text(listing))
    return found[-1] if found else None


def node_by_exit(port: Any, real: Any, exit: int, stderr: str) -> str:
    sentence = real(exit, stderr)
    is_doubted = "needs node" in sentence and exit != NODE_IS_MISSING
    return f"gemini failed with exit code {exit}." if is_doubted else sentence


def silent_of_what_is_shown(failure: Failure) -> Failure:
    """What stands in stderr, and nothing else does, needs not be said twice."""
    stderr = (failure.stderr or "").strip()
    return replace(failure, said=None) if stderr.startswith("{") and stderr.endswith("}") else failure


def keys_in_any_case(scan: Scan) -> Scan:
    return replace(scan, objects=[(begins_line, in_any_case(KEYS)(value)) for begins_line, value in scan.objects])


def keeps_empty_session(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Answer:
    answer = real(value, stderr)
    return replace(answer, session="") if value.get("session_id") == "" else answer


def believes_empty_session(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    return answer if answer.session == "" and is_named(plan) else real(call, plan, answer)


defect(
    "answer-without-model-is-error",
    "Calls an answer with a text an error when the statistics name no model.",
    "result:success",
)(read_json=needs_model)
defect(
    "numeric-answer-is-number",
    "Sends an answer that reads like a number as a number.",
    "result:text",
)(content=numbers_as_numbers)
defect(
    "brackets-without-number-are-session",
    "Takes a text in brackets for the session when no line of the list has a number.",
    "fallback:none",
)(newest=any_brackets)
defect(
    "node-missing-by-exit-alone",
    "Explains that Node is missing when gemini exits with 127, and with no other exit code.",
    "error:saying:no-node",
)(exit_sentence=node_by_exit)
defect(
    "message-left-out-beside-bare-json",
    "Leaves the message of a JSON error out when stderr holds nothing else.",
    "error:json-on-stderr",
)(error=takes(silent_of_what_is_shown))
defect(
    "answer-keys-in-any-case",
    "Reads the keys of gemini's JSON in any case.",
    "result:no-response",
)(scan=gives(keys_in_any_case))
defect(
    "empty-session-believed-in-reply-by-id",
    "Names an empty session in a reply by id when gemini names an empty one.",
    "fallback:by-id",
)(read_json=keeps_empty_session, with_session=believes_empty_session)
