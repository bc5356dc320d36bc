"""Arguments that mislead the search for the session: ports that break `fallback`."""

import os
import re
from dataclasses import replace
from typing import Any

from answering import Answer, Outcome
from conditions import is_named
from defects.call.shared import pieces
from defects.record import defect
from planning import Plan
from running import Call
from steps import for_tool, gives, takes

PIECE = 65536


def listed_for_number(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    """gemini takes a number for an index of its list."""
    is_index = re.fullmatch("[0-9]+", plan.session or "")
    return real(call, replace(plan, session="latest") if is_index else plan, answer)


def lists_elsewhere(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    is_explicit = call.arguments.get("sessionId") == "latest"
    is_relative = plan.cwd is not None and not os.path.isabs(plan.cwd)
    return real(call, replace(plan, cwd=None) if is_explicit and is_relative else plan)


def notes_session(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    port.memory[plan.cwd] = answer.session
    return answer


def session_as_noted(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    noted = port.memory.get(plan.cwd) if plan.session == "latest" else None
    return replace(answer, session=noted) if noted else real(call, plan, answer)


def gives_lists_up(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    hopeless = port.memory.setdefault("hopeless", set[str | None]())
    if call.tool == "chat-reply" and plan.cwd in hopeless:
        return None
    listing = real(call, plan)
    if call.tool == "chat" and listing is not None and listing.exit != 0:
        hopeless.add(plan.cwd)
    return listing


def nameless_with_warnings(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    named = real(call, plan, answer)
    return replace(named, session=None) if answer.warnings else named


def list_of_killed(port: Any, real: Any, listing: Outcome) -> str | None:
    return real(replace(listing, exit=max(listing.exit, 0)))


def list_where_brackets_are(port: Any, real: Any, listing: Outcome) -> str:
    return port.decode(listing.stdout) if b"[" in listing.stdout else real(listing)


def looks_for_latest(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Wants to know once whether there is a session to continue."""
    known = port.memory.setdefault("directories", set[str | None]())
    if plan.session == "latest" and plan.cwd and plan.cwd not in known:
        port.list_sessions(call, plan)
    known.add(plan.cwd)
    return real(call, plan)


def looks_for_changed(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    if is_named(plan) and answer.session != plan.session:
        port.list_sessions(call, plan)
    return answer


def lists_at_home(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    is_home = call.stateless and answer.warnings is not None and plan.session is None
    return real(call, replace(plan, cwd=None) if is_home else plan, answer)


def before_long_line(text: str) -> str:
    lines = text.split("\n")
    long = next((at for at, line in enumerate(lines) if len(line.encode()) >= PIECE), len(lines))
    return "\n".join(lines[:long])


def shortened(port: Any, real: Any, plan: Plan) -> str | None:
    """Shortens a path without a look at its links."""
    cwd = real(plan)
    return None if cwd is None else os.path.abspath(cwd)


def asked_session(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    """Asks the arguments before the list, whichever tool they are for."""
    session = call.arguments.get("sessionId")
    return replace(answer, session=session) if isinstance(session, str) and session else real(call, plan, answer)


defect(
    "list-for-number-as-session",
    "Asks for the list after a reply by an id that is a number, and reports the newest session.",
    "fallback:by-id",
)(with_session=listed_for_number)
defect(
    "list-of-explicit-latest-elsewhere",
    "Asks for the list in the server's own directory when a reply names `latest` itself and its `cwd` is relative.",
    "fallback:cwd",
    "fallback:latest",
)(list_sessions=lists_elsewhere)
defect(
    "list-at-home-behind-warnings",
    "Asks for the list in the server's directory when a chat of 2026-07-28 was answered with warnings.",
    "fallback:cwd",
)(with_session=lists_at_home)
defect(
    "latest-as-last-reported",
    "Reports for a reply to the latest session the one that it reported last in the directory, and asks for no list.",
    "fallback:latest",
)(ask=notes_session, with_session=session_as_noted)
defect(
    "reply-trusts-failed-list-of-chat",
    "Asks for no list after a reply to the latest session once the list has failed for a `chat` in that directory.",
    "fallback:latest",
)(list_sessions=gives_lists_up)
defect(
    "listed-session-lost-beside-warnings",
    "Leaves the session that the list names out of the result of `chat` when there are warnings.",
    "fallback:list-sessions",
)(with_session=for_tool("chat", nameless_with_warnings))
defect(
    "list-in-lines-of-128",
    "Reads the list of sessions in lines of at most 128 characters, so that it overlooks an entry with a long title.",
    "fallback:list-sessions",
    "fallback:last",
)(list_text=gives(lambda text: "\n".join(piece for line in text.split("\n") for piece in pieces(line, 128))))
defect(
    "list-of-killed-gemini",
    "Takes a session from the list of a gemini that died by a signal.",
    "fallback:none",
)(newest=list_of_killed)
defect(
    "list-hidden-by-brackets",
    "Looks for no list on stderr when stdout of the listing holds a bracket, though no entry.",
    "fallback:stderr",
)(list_text=list_where_brackets_are)
defect(
    "list-before-first-latest-of-directory",
    "Asks for the list before a reply to the latest session of a directory that no call has named before.",
    "fallback:unneeded",
)(ask=looks_for_latest)
defect(
    "list-behind-changed-session",
    "Asks for the list when gemini names another session than the one that a reply resumed.",
    "fallback:unneeded",
)(ask=looks_for_changed)

defect(
    "list-ends-at-long-line",
    "Reads the list of sessions up to the first line of 64 KiB.",
    "fallback:last",
    "fallback:list-sessions",
)(list_text=gives(before_long_line))
defect(
    "hundred-entries-read",
    "Reads the first hundred entries of the list alone.",
    "fallback:last",
)(newest_entry=takes(lambda entries: entries[:100]))
defect(
    "list-in-shortened-path",
    "Asks for the sessions in a directory whose path is shortened without a look at links: `link/..`.",
    "fallback:cwd",
)(listing_cwd=shortened)
defect(
    "undeclared-session-reported",
    "Reports a `sessionId` that `chat` does not declare as the session of an answer that names none.",
    "fallback:list-sessions",
)(with_session=asked_session)
