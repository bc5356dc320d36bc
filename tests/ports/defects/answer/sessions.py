"""Defects in finding the session when gemini does not name it."""

import re
from dataclasses import replace
from typing import Any

from answering import Answer, Outcome
from defects.record import defect
from planning import Plan
from running import LIST, TIMEOUT, Call
from steps import always, for_tool, gives, takes


def lists_once(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    if not port.memory.get("listing"):
        port.memory["listing"] = real(call, plan)
    return port.memory["listing"]


def fails_with_list(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = real(call, plan)
    if listing is not None:
        port.read(replace(listing, stdout=b"x"))
    return listing


def waits_for_list(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    arguments = (plan.argv[0], LIST)
    return port.run(call, arguments, plan.cwd, port.environment(None), None, TIMEOUT)


def then_lists(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    if answer.session:
        port.list_sessions(call, plan)
    return answer


defect("no-listing", "Never asks for the list of sessions.", "fallback:list-sessions")(list_sessions=always(None))
defect("listing-remembered", "Asks for the list once and remembers it.", "fallback:list-sessions")(
    list_sessions=lists_once
)
defect("first-entry-taken", "Takes the first entry of the list for the newest.", "fallback:last")(
    newest_entry=lambda port, real, entries: entries[0]
)
defect("index-compared-as-text", "Takes entry 9 for newer than entry 10.", "fallback:last")(
    newest_entry=lambda port, real, entries: max(entries, key=lambda entry: str(entry[0]))
)
defect("first-brackets-taken", "Takes the first brackets of an entry for the id.", "fallback:brackets")(
    entry_pattern=always(re.compile(r"\s*(\d+)\.\s[^\[]*\[([^\]]+)\].*"))
)
defect("listing-on-stdout-only", "Reads the list from stdout only.", "fallback:stderr")(
    list_text=takes(lambda listing: replace(listing, stderr=b""))
)
defect(
    "listing-on-stderr-only", "Reads the list from stderr only, where old versions print it.", "fallback:list-sessions"
)(list_text=takes(lambda listing: replace(listing, stdout=b"")))
defect("listing-elsewhere", "Asks for the list in its own directory.", "fallback:cwd")(listing_cwd=always(None))
defect("listing-failure-fails", "Fails the call when the list fails.", "fallback:failure")(
    list_sessions=fails_with_list
)
defect("listing-waits-forever", "Waits for the list as long as for an answer.", "fallback:failure")(
    list_sessions=waits_for_list
)
defect("unknown-session-named", "Names the session `unknown` when it finds none.", "fallback:none")(
    success=takes(lambda answer: replace(answer, session=answer.session or "unknown"))
)
defect("unknown-session-null", "Sends null as the session when it finds none.", "fallback:none")(
    success=gives(lambda result: {**result, "_meta": {"sessionId": None, **result.get("_meta", {})}})
)
defect("listed-every-time", "Asks for the list after every call.", "fallback:unneeded")(ask=then_lists)
defect("listed-after-replies", "Asks for the list after every reply.", "fallback:unneeded")(
    ask=for_tool("chat-reply", then_lists)
)
defect(
    "listed-for-reply-by-id", "Asks for the list after a reply by id without a session in the JSON.", "fallback:by-id"
)(with_session=lambda port, real, call, plan, answer: real(call, replace(plan, session=None), answer))
