"""Lists of sessions that are read wrongly or not asked for: ports that break `fallback:list-sessions`."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Outcome
from defects.answer.shared import entries
from defects.record import defect
from planning import Plan
from running import Call
from steps import always, gives, takes

SESSION_NAMED = re.compile(r'"session_id":\s*"([^"]+)"')
ENTRY = r"\s*([0-9]+)\.\s.*\[([^\[\]\s]+)\][^\[\]]*"


def unlisted_if_empty(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    return real(call, plan, answer) if answer.text or plan.session not in (None, "latest") else answer


def lists_once(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    if not port.memory.get("listing"):
        port.memory["listing"] = real(call, plan)
    return port.memory["listing"]


def session_of_stderr(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Answer:
    answer = real(value, stderr)
    named = None if answer.session else SESSION_NAMED.search(stderr)
    return replace(answer, session=named[1]) if named else answer


defect(
    "listed-ids-must-be-hexadecimal",
    "Takes an entry of the list for none whose id has other characters than a UUID.",
    "fallback:list-sessions",
)(entry_pattern=entries(r"\s*([0-9]+)\.\s.*\[([0-9a-fA-F-]+)\][^\[\]]*"))
defect(
    "tab-before-entry-hides-session",
    "Reads no entry of the list behind a tab.",
    "fallback:list-sessions",
)(entry_pattern=entries(ENTRY.replace(r"\s*([0-9]", r" *([0-9]")))
defect(
    "tab-behind-number-hides-session",
    "Reads no entry of the list with a tab behind its number.",
    "fallback:list-sessions",
)(entry_pattern=entries(ENTRY.replace(r"\.\s.", r"\. .")))
defect("empty-answer-unlisted", "Asks for no list behind an empty answer.", "fallback:list-sessions")(
    with_session=unlisted_if_empty
)
defect(
    "listed-session-in-lower-case",
    "Names a session that the list gives in lower case.",
    "fallback:list-sessions",
)(newest=gives(lambda session: session and session.lower()))
defect("no-listing", "Never asks for the list of sessions.", "fallback:list-sessions")(list_sessions=always(None))
defect("listing-remembered", "Asks for the list once and remembers it.", "fallback:list-sessions")(
    list_sessions=lists_once
)
defect(
    "listing-on-stderr-only", "Reads the list from stderr only, where old versions print it.", "fallback:list-sessions"
)(list_text=takes(lambda listing: replace(listing, stdout=b"")))
defect(
    "session-on-stderr",
    "Takes the session of an answer that names none from a `session_id` on stderr.",
    "fallback:list-sessions",
    "result:stderr",
)(read_json=session_of_stderr)
