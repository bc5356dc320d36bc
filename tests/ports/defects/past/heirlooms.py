"""Defects in what earlier calls leave to later ones: what they have named, had refused, been told, or given up."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from threading import Timer
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import is_named, lacking
from defects.record import defect
from http_port import HttpPort
from planning import Plan, Refusal
from port import STATELESS
from running import LISTING_TIMEOUT, Call, Cancelled
from speaking import Message, RpcError, as_object
from steps import before

NOT_FOUND = "gemini was not found on PATH"


def refused_are_supported(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    """The list that the error shows is the one to which the version is added."""
    try:
        real(params)
    except RpcError as error:
        if data := error.error.get("data"):
            known = port.memory.setdefault("known", list(STATELESS))
            data["supported"] = list(known)
            known.append(data["requested"])
        raise


def remedy_once(port: Any, real: Any, failure: Failure) -> Message:
    if failure.sentence.startswith(NOT_FOUND):
        if port.memory.get("is_told"):
            failure = replace(failure, sentence="gemini could not be started.")
        port.memory["is_told"] = True
    return real(failure)


def notes_listed(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = real(call, plan)
    if listing is not None and listing.exit == 0:
        found = map(port.entry_pattern().fullmatch, port.list_text(listing).split("\n"))
        port.memory.setdefault("sessions", set[str]()).update(entry[2] for entry in found if entry)
    return listing


def notes_session(port: Any, answer: Answer) -> None:
    if answer.session is not None and "sessions" in port.memory:
        port.memory["sessions"].add(answer.session)


def listed_only(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan, sessions = real(tool, arguments), port.memory.get("sessions")
    if sessions and is_named(plan) and plan.session not in sessions:
        raise Refusal("`sessionId` names no session that gemini has listed.")
    return plan


def notes_turn(port: Any, call: Call, turn: str | None) -> None:
    port.memory[type(call.id), call.id] = turn


def late_cancel_frees(port: Any, method: str, params: Any) -> None:
    wanted = (as_object(params) or {}).get("requestId")
    if method != "notifications/cancelled" or not port.is_id(wanted):
        return
    turn = port.memory.get((type(wanted), wanted))
    with port.turn_changed:
        line = port.turns.get(turn or "")
        if line and not any(type(each.id) is type(wanted) and each.id == wanted for each in list(port.calls)):
            line.pop(0)
            port.turn_changed.notify_all()


def notes_agreement(port: Any, real: Any, params: Mapping[str, Any]) -> Message:
    result = real(params)
    port.memory["is_agreed"] = result["protocolVersion"] == params.get("protocolVersion")
    return result


def no_token_unless_agreed(port: Any, real: Any, params: Mapping[str, Any]) -> Any:
    return real(params) if port.memory.get("is_agreed", True) or port.is_stateless(params) else None


def anew_where_no_chat_began(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    directory, begun = os.path.realpath(plan.cwd or "."), port.memory.setdefault("begun", set[str]())
    if plan.session == "latest" and begun and directory not in begun:
        plan = lacking("-r")(plan)
    answer = real(call, plan)
    if call.tool == "chat":
        begun.add(directory)
    return answer


def checked_by_text(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    accepted = port.memory.setdefault("accepted", set[str]())
    if isinstance(value, str) and value in accepted:
        return value
    text = real(tool, name, value)
    accepted.add(text)
    return text


def leaves_timer(port: Any, call: Call, plan: Plan) -> None:
    def fire() -> None:
        running = [each for each in list(port.calls) if each.process is not None]
        if running and call not in port.calls:
            port.stop(running[-1])

    timer = Timer(LISTING_TIMEOUT, fire)
    timer.daemon = True
    timer.start()


def versions_until_known(port: Any, real: Any) -> tuple[str | None, ...]:
    post, known = port.current.post, port.memory.setdefault("sessions", set[str]())
    if post.session in known:
        return (*real(), post.version)
    if post.session is not None and post.version in real():
        known.add(post.session)
    return real()


def notes_digits(port: Any, request: Message) -> None:
    identity = request["id"]
    if isinstance(identity, str) and identity.isdecimal():
        port.memory["has_text"] = True


def ids_as_texts(port: Any, real: Any, message: Message) -> None:
    identity = message.get("id")
    is_number = isinstance(identity, int | float)
    real({**message, "id": str(identity)} if is_number and port.memory.get("has_text") else message)


def cancelled_still_runs(port: Any, real: Any, call: Call) -> Message:
    """What guards against the same call twice is not taken back when the call is cancelled."""
    cancelled = port.memory.setdefault("cancelled", set[tuple[str, str]]())
    key = (call.tool, json.dumps(call.arguments, sort_keys=True))
    if key in cancelled:
        return port.error(Failure("The same call is running."))
    try:
        return real(call)
    except Cancelled:
        cancelled.add(key)
        raise


def below_last_directory(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    cwd, last = texts.get("cwd"), port.memory.get("last")
    if cwd is None:
        return real(tool, texts)
    if not os.path.isabs(cwd) and last is not None and os.path.isdir(os.path.join(last, cwd)):
        return real(tool, {**texts, "cwd": os.path.join(last, cwd)})
    directory = real(tool, texts)
    if os.path.isabs(cwd):
        port.memory["last"] = cwd
    return directory


defect(
    "refused-versions-join-supported",
    "Adds each version that it has refused to those that it says it supports.",
    "stateless:version",
)(check_stateless=refused_are_supported)
defect(
    "remedy-told-once",
    "Says once that gemini is not on PATH, and later only that it could not be started.",
    "error:not-started:remedy",
)(error=remedy_once)
defect(
    "unlisted-sessions-refused-behind-list",
    "Refuses a reply in a session that neither a list nor an answer has named, once a list has named some.",
    "command:chat-reply:session-id",
)(list_sessions=notes_listed, success=before(notes_session), plan=listed_only)
defect(
    "late-cancel-frees-turn",
    "Begins the next reply in a session beside the one that runs when an answered one there is cancelled.",
    "concurrency:same-session",
)(take_turn=before(notes_turn), notified=before(late_cancel_frees))
defect(
    "progress-lost-behind-other-version",
    "Tells no progress to a client that had asked for another version than it was given.",
    "progress:start",
)(initialize=notes_agreement, token=no_token_unless_agreed)
defect(
    "latest-begun-anew-where-no-chat-began",
    "Starts a new session for a reply that names none in a directory where no `chat` began, once one began elsewhere.",
    "command:chat-reply:latest",
)(ask=anew_where_no_chat_began)
defect(
    "checks-remembered-by-text",
    "Takes a text for a model or a session unchecked that it has accepted as another argument before.",
    "injection:option:model",
    "injection:option:session-id",
)(text=checked_by_text)
defect(
    "timer-of-list-ends-later-call",
    "Ends the call that runs when the time of an earlier list of sessions would have been over.",
    "result:text",
)(list_sessions=before(leaves_timer))
defect(
    "version-unread-in-known-session",
    "Looks at the version in the header until a request in the session has named a supported one.",
    "http:version",
)(HttpPort, known_versions=versions_until_known)


defect(
    "ids-are-texts-behind-digits",
    "Writes the numbers of ids as texts once an id was a text of digits.",
    "rpc:response:id",
)(requested=before(notes_digits), write=ids_as_texts)
defect(
    "cancelled-call-still-runs",
    "Fails a call like one that was cancelled without running gemini, as if that still ran.",
    "cancel:others",
    "command:chat",
    "command:chat-reply",
)(execute=cancelled_still_runs)
defect(
    "relative-directory-below-last",
    "Looks for a relative directory first in the absolute one that an earlier call has named last.",
    "cwd:relative",
)(cwd=below_last_directory)
