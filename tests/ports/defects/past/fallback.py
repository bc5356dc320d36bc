"""Lists that are not asked for, or are read as earlier ones were: ports that break `fallback`."""

import os
import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import is_named
from defects.record import defect
from planning import Plan
from running import LIST, Call
from steps import before

HURRIED_SECONDS = 1.0
FRUITLESS = 3


def lists_in_first_directory(port: Any, real: Any, plan: Plan) -> str | None:
    return port.memory.setdefault("listing", real(plan))


def gives_up_slow_listing(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    listing = None if port.memory.get("is_given_up") else real(call, plan)
    port.memory["is_given_up"] = listing is None
    return listing


def no_shorter_list(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """A reply begins no session, and so the list cannot have become shorter."""
    listing = real(call, plan)
    if listing is None or listing.exit != 0:
        return listing
    numbers = re.findall(rb"(?m)^\s*([0-9]+)\.\s", listing.stdout + b"\n" + listing.stderr)
    highest, known = max(map(int, numbers), default=0), port.memory.get(plan.cwd, 0)
    port.memory[plan.cwd] = highest
    return None if plan.session == "latest" and highest < known else listing


def keeps_late_output(port: Any, real: Any, call: Call, exit: int, out: Any, err: Any) -> Outcome:
    if call.is_timed_out:
        out.seek(0)
        port.memory["late"] = out.read()
    return real(call, exit, out, err)


def list_behind_late_output(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    kept, listing = port.memory.pop("late", b""), real(call, plan)
    return replace(listing, stdout=kept + b"\n" + listing.stdout) if listing is not None and kept else listing


def hurries_behind_hung(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    if not port.memory.get("has_hung"):
        listing = real(call, plan)
        port.memory["has_hung"] = listing is None
        return listing
    arguments = (plan.argv[0], LIST)
    with suppress(Failure):
        return port.run(call, arguments, port.listing_cwd(plan), port.environment(None), None, HURRIED_SECONDS)
    return None


def notes_named(port: Any, real: Any, outcome: Outcome) -> Answer:
    answer = real(outcome)
    port.memory["named"] = port.memory.get("named") or answer.session is not None
    return answer


def asks_old_ones(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    return answer if port.memory.get("named") and plan.session is None else real(call, plan, answer)


def stream_of_first_list(port: Any, real: Any, listing: Outcome) -> str:
    """Old gemini list on stderr, and one that did is taken for old."""
    text, stderr = real(listing), port.decode(listing.stderr)
    entry = port.entry_pattern()
    if not any(map(entry.fullmatch, port.decode(listing.stdout).split("\n"))):
        port.memory["old"] = port.memory.get("old") or any(map(entry.fullmatch, stderr.split("\n")))
    return stderr if port.memory.get("old") else text


def remembers_list_of_directory(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """A list that has named no session is not asked for again in that directory."""
    empty, place = port.memory.setdefault("empty", set[str]()), os.path.realpath(plan.cwd or ".")
    if place in empty:
        return None
    listing = real(call, plan)
    if listing is not None and port.newest(listing) is None:
        empty.add(place)
    return listing


def listing_of_directory(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    if plan.cwd not in port.memory:
        port.memory[plan.cwd] = real(call, plan)
    return port.memory[plan.cwd]


def gives_up_listing(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    listing = None if port.memory.get("is_given_up") else real(call, plan)
    port.memory["is_given_up"] = listing is None or listing.exit != 0
    return listing


def notes_session(port: Any, real: Any, value: Any, stderr: str) -> Answer:
    answer = real(value, stderr)
    port.memory["session"] = answer.session or port.memory.get("session")
    return answer


def own_session_first(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    known = port.memory.get("session") if call.tool == "chat" else None
    return replace(answer, session=known) if known else real(call, plan, answer)


def counts_fruitless(port: Any, real: Any, listing: Outcome) -> str | None:
    found = real(listing)
    port.memory["fruitless"] = 0 if found else port.memory.get("fruitless", 0) + 1
    return found


def asks_while_fruitful(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    return None if port.memory.get("fruitless", 0) >= FRUITLESS else real(call, plan)


def earlier_list(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = real(call, plan)
    if listing is None or listing.exit != 0:
        return port.memory.get(plan.cwd)
    port.memory[plan.cwd] = listing
    return listing


def notes_list(port: Any, call: Call, plan: Plan, answer: Answer) -> None:
    port.memory["has listed"] = True


def lists_ahead(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    if port.memory.get("has listed") and not is_named(plan):
        port.list_sessions(call, plan)
    return real(call, plan)


defect(
    "list-in-first-directory",
    "Asks for every list of sessions in the directory of the first one.",
    "fallback:cwd",
)(listing_cwd=lists_in_first_directory)
defect("listing-given-up-after-hang", "Asks for no list any more after one that hung.", "fallback:latest")(
    list_sessions=gives_up_slow_listing
)
defect(
    "shorter-list-distrusted",
    "Names no session for a reply to the latest one when the list is shorter than the last in that directory.",
    "fallback:latest",
)(list_sessions=no_shorter_list)
defect(
    "list-left-by-hung-one",
    "Reads what a list of sessions has said that hung before what the next one says.",
    "fallback:latest",
    "fallback:list-sessions",
)(outcome=keeps_late_output, list_sessions=list_behind_late_output)
defect(
    "list-hurried-behind-hung-one",
    "Waits one second for a list of sessions behind one that hung.",
    "fallback:latest",
    "fallback:list-sessions",
)(list_sessions=hurries_behind_hung)
defect(
    "list-given-up-once-named",
    "Asks for no list any more once gemini has named a session by itself.",
    "fallback:list-sessions",
)(
    read=notes_named,
    with_session=asks_old_ones,
)
defect(
    "lists-on-stderr-for-good",
    "Reads every list of sessions from stderr alone once one has come there.",
    "fallback:list-sessions",
)(list_text=stream_of_first_list)
defect(
    "empty-list-of-directory-remembered",
    "Asks for no list any more in a directory in which one named no session.",
    "fallback:list-sessions",
)(list_sessions=remembers_list_of_directory)
defect("listing-remembered-by-directory", "Asks for the list once in each directory.", "fallback:list-sessions")(
    list_sessions=listing_of_directory
)
defect(
    "listing-given-up-after-failure",
    "Asks for no list any more after one that failed.",
    "fallback:list-sessions",
)(list_sessions=gives_up_listing)
defect(
    "own-session-before-list",
    "Names the session of the call before when gemini names none.",
    "fallback:list-sessions",
)(read_json=notes_session, with_session=own_session_first)
defect(
    "three-fruitless-lists",
    "Asks for no list any more after three in a row that named no session.",
    "fallback:list-sessions",
)(newest=counts_fruitless, list_sessions=asks_while_fruitful)
defect(
    "failed-list-answered-from-earlier",
    "Names a session from the last good list of the directory when a list fails or hangs.",
    "fallback:none",
)(list_sessions=earlier_list)
defect(
    "listed-ahead",
    "Asks for the list before each run once a run has named no session.",
    "fallback:unneeded",
)(with_session=before(notes_list), ask=lists_ahead)
