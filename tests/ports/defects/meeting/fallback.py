"""Sessions that are looked for wrongly where two arguments or outcomes meet: ports that break `fallback`."""

import os
import re
import threading
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import REVISION, speaks
from defects.meeting.shared import has, is_latest
from defects.record import defect
from http_port import HttpPort
from planning import Plan
from running import LIST, LISTING_TIMEOUT, Call
from steps import Step, gives, only

LISTS = 4


def own_directory_in_oldest(port: Any, real: Any, plan: Plan) -> str | None:
    return None if speaks(port, "2024-11-05") else real(plan)


def list_elsewhere_on_stdin(port: Any, real: Any, plan: Plan) -> str | None:
    return None if plan.stdin is not None else real(plan)


def list_must_succeed(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = real(call, plan)
    if listing is not None and listing.exit != 0 and is_latest(plan) and plan.cwd:
        raise Failure("gemini could not list its sessions.", port.decode(listing.stderr))
    return listing


def first_entry_with_system_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = real(call, plan)
    if listing is None or plan.system is None:
        return listing
    lines = [line for line in listing.stdout.split(b"\n") if re.match(rb"\s*[0-9]+\.", line)]
    return replace(listing, stdout=lines[0] + b"\n") if lines else listing


def listed_by_name_in_directory(call: Call, plan: Plan) -> bool:
    return call.arguments.get("sessionId") == "latest" and plan.cwd is not None


def silent_of_long_prompt(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    return answer if plan.stdin is not None and plan.session is None else real(call, plan, answer)


def listless_in(revision: str) -> Step:
    return lambda port, real, call, plan: None if speaks(port, revision) else real(call, plan)


def four_lists_at_once(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    lists = port.memory.setdefault("lists", set[Call]())
    if len(lists) >= LISTS:
        return None
    lists.add(call)
    try:
        return real(call, plan)
    finally:
        lists.discard(call)


def names_earlier_session(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    """Puts all objects of the output together, so that the last one inherits what it does not say."""
    answer = real(stdout, stderr)
    named = [value["session_id"] for _, value in port.scan(stdout).objects if isinstance(value.get("session_id"), str)]
    return answer if answer.session or not named else replace(answer, session=named[-1])


def lists_together(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """Who asks for a list while another one is being read gets that one."""
    if "list" in port.memory:
        done, listings = port.memory["list"]
        done.wait()
        return listings[0]
    done, listings = port.memory["list"] = threading.Event(), list[Any]()
    try:
        listings.append(real(call, plan))
        return listings[0]
    finally:
        del port.memory["list"]
        done.set()


def joins_listing(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """Takes the list for which another call is waiting already."""
    running = port.memory.get("listing")
    if running is not None:
        return running.result()
    port.memory["listing"] = future = Future[Outcome | None]()
    listing = None
    try:
        listing = real(call, plan)
        return listing
    finally:
        del port.memory["listing"]
        future.set_result(listing)


def one_listing_at_a_time(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """Counts the wait for the other lists to the time that the list may take."""
    lock = port.memory.setdefault("lock", threading.Lock())
    if not lock.acquire(timeout=LISTING_TIMEOUT):
        return None
    try:
        return real(call, plan)
    finally:
        lock.release()


def list_so_far(port: Any, real: Any, call: Call, exit: int, out: Any, err: Any) -> Outcome:
    try:
        return real(call, exit, out, err)
    except Failure:
        out.seek(0)
        return Outcome(0, out.read())


def listed_on_stdout_with_model(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = real(call, plan)
    return replace(listing, stderr=b"") if listing is not None and "-m" in plan.argv else listing


def begin_in_place(port: Any, real: Any, call: Any, argv: Any, *others: Any) -> Any:
    process = real(call, argv, *others)
    if argv[-1] == LIST:
        port.memory.setdefault("listing", set()).add(call)
        port.memory["place"] = call
    return process


def leave_place(port: Any, real: Any, call: Any, plan: Any) -> Any:
    try:
        return real(call, plan)
    finally:
        port.memory.get("listing", set()).discard(call)
        if port.memory.get("place") is call:
            port.memory["place"] = None


def stop_in_place(port: Any, real: Any, call: Any) -> None:
    place = port.memory.get("place")
    is_meant = call in port.memory.get("listing", ()) and call.is_cancelled and not call.is_timed_out
    real(call if not is_meant or port.is_ending or place is None else place)


defect(
    "http-list-in-own-directory",
    "Asks for the list of sessions in its own directory over HTTP.",
    "fallback:cwd",
)(HttpPort, listing_cwd=gives(lambda cwd: None))
defect(
    "listing-elsewhere-beside-system-prompt",
    "Asks for the list in its own directory when the call has a system prompt.",
    "fallback:cwd",
)(listing_cwd=lambda port, real, plan: None if plan.system else real(plan))
defect(
    "list-elsewhere-in-2024-11-05",
    "Asks for the list of sessions in its own directory for clients of 2024-11-05.",
    "fallback:cwd",
)(initialize=REVISION, listing_cwd=own_directory_in_oldest)
defect(
    "list-of-relative-directory", "Lists the sessions where it runs itself, for a relative directory.", "fallback:cwd"
)(listing_cwd=gives(lambda cwd: cwd if cwd and os.path.isabs(cwd) else None))
defect(
    "listing-elsewhere-on-stdin",
    "Asks for the list in its own directory when the prompt went to stdin.",
    "fallback:cwd",
)(listing_cwd=list_elsewhere_on_stdin)
defect(
    "failed-list-fails-latest-beside-directory",
    "Fails a reply to the latest session of a directory when the list fails.",
    "fallback:failure",
)(list_sessions=list_must_succeed)
defect(
    "first-entry-beside-system-prompt",
    "Takes the first entry of a list for the newest when the call has a system prompt.",
    "fallback:last",
)(list_sessions=first_entry_with_system_prompt)
defect(
    "list-spared-in-latest-beside-model-and-system-prompt",
    "Asks for no list in a reply to the latest session with a model and a system prompt.",
    "fallback:latest",
)(
    with_session=lambda port, real, call, plan, answer: (
        answer if plan.session == "latest" and has("model", "systemPrompt")(call) else real(call, plan, answer)
    )
)
defect(
    "list-spared-for-latest-by-name-in-directory",
    "Asks for no list in a reply to `latest` by that word with a directory.",
    "fallback:latest",
)(list_sessions=only(lambda call, plan: not listed_by_name_in_directory(call, plan)))
defect("long-prompt-spares-list", "Asks for no list in a `chat` whose prompt is long.", "fallback:list-sessions")(
    with_session=silent_of_long_prompt
)
defect("listless-in-2025-06-18", "Asks for no list of sessions for clients of 2025-06-18.", "fallback:list-sessions")(
    initialize=REVISION, list_sessions=listless_in("2025-06-18")
)
defect(
    "fifth-list-at-once-given-up",
    "Asks for no list of sessions while it waits for four others.",
    "fallback:list-sessions",
)(list_sessions=four_lists_at_once)
defect("earlier-session-inherited", "Takes the session of an earlier object.", "fallback:list-sessions")(
    read_stdout=names_earlier_session
)
defect("lists-at-once-shared", "Lists the sessions of one directory for another.", "fallback:list-sessions")(
    list_sessions=lists_together
)
defect(
    "listing-joined-across-directories",
    "Gives a call the list that another call asks for at the same time, though in another directory.",
    "fallback:list-sessions",
    "fallback:cwd",
)(list_sessions=joins_listing)
defect(
    "listing-times-out-in-line",
    "Asks for one list at a time, and gives up a list that has not begun within five seconds.",
    "fallback:list-sessions",
)(list_sessions=one_listing_at_a_time)
defect("list-that-hangs-used", "Uses what a list has said that hangs.", "fallback:none")(outcome=list_so_far)
defect(
    "stderr-of-list-unread-beside-model",
    "Reads the list of sessions from stdout alone when the call names a model.",
    "fallback:stderr",
)(list_sessions=listed_on_stdout_with_model)
defect(
    "one-place-for-lists",
    "Ends the newest list of sessions when a call is cancelled that asks for one, also when that is another call's.",
    "fallback:list-sessions",
    "cancel:others",
)(begin=begin_in_place, list_sessions=leave_place, stop=stop_in_place)
