"""Warnings that are lost beside an argument or another output: ports that break `result:warnings`."""

from dataclasses import replace
from typing import Any

from answering import Answer
from conditions import REVISION, is_named, results, speaks
from defects.meeting.shared import is_reply
from defects.record import defect
from http_port import HttpPort
from planning import Plan
from running import Call
from speaking import Message
from steps import Step, gives, without

MOST_WARNINGS = 8


def warnings_lost_in(revision: str) -> Step:
    return lambda port, real, answer: real(replace(answer, warnings=None) if speaks(port, revision) else answer)


def warns_by_directory(call: Call, result: Message) -> bool:
    return is_reply(call) and bool(call.arguments.get("sessionId")) and bool(call.arguments.get("cwd"))


def without_warnings(result: Message) -> Message:
    return {**result, **({"_meta": without("warnings")(result["_meta"])} if "_meta" in result else {})}


def unwarned_by_list(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    found = real(call, plan, answer)
    return replace(found, warnings=None) if found.session else found


def warnings_lost_without_list(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    found = real(call, plan, answer)
    return found if found.session else replace(found, warnings=None)


def without_list(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    found = real(call, plan, answer)
    return found if found.session else Answer(answer.text)


def warnings_lost(port: Any, real: Any, answer: Any) -> Any:
    result = real(answer)
    return {**result, **({"_meta": without("warnings")(result["_meta"])} if "_meta" in result else {})}


def unwarned_in_named_session(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    found = real(call, plan, answer)
    return replace(found, warnings=None) if is_named(plan) and plan.cwd else found


defect("warnings-lost-in-2025-06-18", "Loses warnings for clients of 2025-06-18.", "result:warnings")(
    initialize=REVISION, success=warnings_lost_in("2025-06-18")
)
defect(
    "warnings-lost-of-reply-in-directory",
    "Loses the warnings of a reply by id with a directory.",
    "result:warnings",
)(execute=results(warns_by_directory, without_warnings))
defect("warnings-cut-at-eight", "Reports no more than eight warnings.", "result:warnings")(
    read_json=gives(lambda answer: replace(answer, warnings=answer.warnings and answer.warnings[:MOST_WARNINGS]))
)
defect("warnings-lost-to-list", "Loses the warnings when the list names the session.", "result:warnings")(
    with_session=unwarned_by_list
)
defect(
    "warnings-lost-without-list",
    "Reports no warnings when no list names the session.",
    "result:warnings",
)(with_session=warnings_lost_without_list)
defect(
    "warnings-without-list",
    "Loses the warnings of an answer without a session when the list gives none either.",
    "result:warnings",
)(with_session=without_list)
defect("warnings-lost-over-http", "Reports no warnings, which the port over stdio does.", "result:warnings")(
    HttpPort, success=warnings_lost
)
defect(
    "warnings-lost-in-unnamed-answer-of-session",
    "Loses the warnings of a reply by id with a directory when the answer names no session.",
    "result:warnings",
)(with_session=unwarned_in_named_session)
