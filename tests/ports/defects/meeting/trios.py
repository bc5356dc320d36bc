"""Defects that show where three things meet: two arguments and a token, an end, a place or a way to the session."""

import os
from dataclasses import replace
from typing import Any

from answering import Answer
from conditions import asks, failed, is_named, lacking, results
from defects.meeting.unions import is_latest
from defects.protocol.headers import without_stderr
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message
from steps import only


def is_relative(cwd: object) -> bool:
    return isinstance(cwd, str) and bool(cwd) and not os.path.isabs(cwd)


def is_relative_beside_blank(call: Call, plan: Plan) -> bool:
    system = call.arguments.get("systemPrompt")
    return isinstance(system, str) and not system.strip() and is_relative(plan.cwd)


def named_failed_with_token(call: Call, result: Message) -> bool:
    return call.token is not None and bool(call.arguments.get("sessionId")) and failed(call, result)


def listed_by_name_in_directory(call: Call, plan: Plan) -> bool:
    return call.arguments.get("sessionId") == "latest" and plan.cwd is not None


def unwarned_in_named_session(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    found = real(call, plan, answer)
    return replace(found, warnings=None) if is_named(plan) and plan.cwd else found


def is_latest_on_stdin(call: Call, plan: Plan) -> bool:
    return is_latest(plan) and plan.stdin is not None and is_relative(plan.cwd)


def list_elsewhere_on_stdin(port: Any, real: Any, plan: Plan) -> str | None:
    return None if plan.stdin is not None else real(plan)


defect(
    "relative-directory-lost-beside-blank-system-prompt",
    "Runs a call with a blank system prompt in its own directory when the one it names is relative.",
    "cwd:relative",
)(ask=asks(is_relative_beside_blank, lambda plan: replace(plan, cwd=None)))
defect(
    "stderr-lost-beside-token-in-named-session",
    "Quotes no stderr of a reply by id that asks for progress.",
    "error:stderr",
)(execute=results(named_failed_with_token, without_stderr))
defect(
    "listing-elsewhere-on-stdin",
    "Asks for the list in its own directory when the prompt went to stdin.",
    "fallback:cwd",
)(listing_cwd=list_elsewhere_on_stdin)
defect(
    "list-spared-for-latest-by-name-in-directory",
    "Asks for no list in a reply to `latest` by that word with a directory.",
    "fallback:latest",
)(list_sessions=only(lambda call, plan: not listed_by_name_in_directory(call, plan)))
defect(
    "warnings-lost-in-unnamed-answer-of-session",
    "Loses the warnings of a reply by id with a directory when the answer names no session.",
    "result:warnings",
)(with_session=unwarned_in_named_session)
defect(
    "latest-begun-anew-on-stdin-in-relative-directory",
    "Starts a new session for a reply that names none when its prompt is long and its directory relative.",
    "command:chat-reply:latest",
)(ask=asks(is_latest_on_stdin, lacking("-r")))
