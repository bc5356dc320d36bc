"""Defects in what calls leave behind, in what runs beside them, in progress, and at the edges of a connection."""

import json
import os
import select
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import Any
from unicodedata import normalize

from answering import SESSION_GONE, Answer, Failure, Outcome
from conditions import cancels_alike, has_listed, has_model, is_named, keeps_turn, lacking, notes_listing, wanted
from defects.record import defect
from planning import Plan
from port import META
from running import Call
from speaking import Message
from steps import before

QUOTAS = 3
OPEN_SECONDS = 60.0
QUEUE = 8
BEAT_SECONDS = 4.0
SEND_SECONDS = 2.0
PIECE_SECONDS = 3.0


def keeps_model(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Sets the model of a session aside for the time of a call; no cancellation clears it."""
    models = port.memory
    if not is_named(plan):
        return real(call, plan)
    if has_model(plan):
        models[plan.session] = plan.argv[-1]
    elif plan.session in models:
        plan = replace(plan, argv=(*plan.argv, "-m", models[plan.session]))
    try:
        answer = real(call, plan)
    except Failure:
        models.pop(plan.session, None)
        raise
    models.pop(plan.session, None)
    return answer


def notes_unstartable(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    try:
        return real(call, plan)
    except Failure as failure:
        if failure.stderr is None and "could not be started" in failure.sentence:
            port.memory[call] = "unstartable"
        raise


def keeps_cancellation(port: Any, real: Any, method: str, params: Any) -> None:
    named = wanted(method, params)
    is_known = any(call.id == named for call in list(port.calls))
    if isinstance(named, str) and named.isdecimal() and not is_known:
        port.memory.setdefault("early", set[int]()).add(int(named))
    real(method, params)


def drops_cancelled(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Any:
    if identity in port.memory.get("early", ()):
        port.memory["early"].remove(identity)
        return None
    return real(identity, params, stateless)


def gives_model_up(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """A circuit breaker for each model."""
    if not has_model(plan):
        return real(call, plan)
    failures, since = port.memory.get(plan.argv[-1], (0, 0.0))
    if failures >= QUOTAS and time.monotonic() < since + OPEN_SECONDS:
        raise Failure("The quota of the Gemini API is used up (HTTP 429, exit code 173).", "")
    try:
        answer = real(call, plan)
    except Failure as failure:
        is_quota = "(HTTP 429, exit code 173)" in failure.sentence
        port.memory[plan.argv[-1]] = (failures + 1 if is_quota else 0, time.monotonic())
        raise
    port.memory.pop(plan.argv[-1], None)
    return answer


def remembers_none(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Knows the directories that have no session, until a prompt has succeeded there."""
    empty = port.memory.setdefault("empty", set[str | None]())
    if plan.session == "latest" and plan.cwd in empty:
        plan = lacking("-r")(plan)
    try:
        answer = real(call, plan)
    except Failure as failure:
        if plan.session == "latest" and SESSION_GONE.search(failure.stderr or ""):
            empty.add(plan.cwd)
        raise
    empty.discard(plan.cwd)
    return answer


def shares_listing(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """One list at a time for a directory, but of the path only the last name is the key."""
    name, mine = os.path.basename(plan.cwd or os.getcwd()), Future[Outcome | None]()
    running = port.memory.setdefault(name, mine)
    if running is not mine:
        return running.result()
    listing = None
    try:
        listing = real(call, plan)
        return listing
    finally:
        port.memory.pop(name, None)
        mine.set_result(listing)


def named_latest_apart(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    turn = real(tool, texts)
    return f"named {turn}" if texts.get("sessionId") == "latest" else turn


def queue_bounded(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Any:
    """Puts a reply into a queue that takes no more than a few, and waits for room where it reads its input."""
    if params.get("name") == "chat-reply":
        with port.turn_changed:
            port.turn_changed.wait_for(lambda: sum(len(line) - 1 for line in port.turns.values()) < QUEUE)
    return real(identity, params, stateless)


def one_beat(port: Any, real: Any, call: Call) -> None:
    """One clock for all calls tells of one of them at a time, and the one that has waited longest is next."""
    if call.token is None or call.progress == 0:
        real(call)
        return
    now = time.monotonic()
    others = [each for each in list(port.calls) if each.token is not None and each.progress]
    is_next = all(call.next_progress <= each.next_progress for each in others)
    if is_next and now >= port.memory.get("beat", 0.0):
        port.memory["beat"] = now + BEAT_SECONDS
        real(call)


def token_by_text(port: Any, real: Any, call: Call) -> Message:
    """Looks the token of all but the first notification up in a table whose keys are texts."""
    message = real(call)
    token = port.memory.setdefault(str(call.token), call.token)
    if call.progress > 1:
        message["params"]["progressToken"] = token
    return message


def token_forgotten(port: Any, real: Any, call: Call) -> None:
    real(call)
    port.memory.pop(str(call.token), None)


def leaves_token(port: Any, real: Any, call: Call) -> None:
    real(call)
    if call.is_cancelled and call.stateless and call.token is not None:
        port.memory["token"] = call.token


def inherits_token(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Call:
    call = real(identity, params, stateless)
    if stateless and call.token is None:
        call.token = port.memory.pop("token", None)
    return call


def pongs_in_time(port: Any, real: Any, message: Message) -> None:
    is_pong = message.get("result") == {}
    if port.output.acquire(timeout=SEND_SECONDS if is_pong else -1):
        try:
            port.write(message)
        finally:
            port.output.release()


def lines_in_time(port: Any, real: Any) -> Iterable[bytes]:
    rest = b""
    while True:
        if rest and not select.select([0], [], [], PIECE_SECONDS)[0]:
            rest = b""
        piece = os.read(0, 1 << 16)
        if not piece:
            break
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
    yield rest


def trusts_client(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    client = json.dumps(params["_meta"].get(f"{META}clientInfo"), sort_keys=True)
    if client not in port.memory:
        real(params)
        if client != "null":
            port.memory[client] = "checked"


def cancels_prompt_only(port: Any, real: Any, call: Call) -> None:
    if not has_listed(port, call):
        real(call)


defect(
    "model-of-cancelled-reply-inherited",
    "Passes the model of a cancelled reply to the next reply in that session which names none.",
    "command:chat-reply:no-model",
)(ask=keeps_model)
defect(
    "turn-kept-by-unstartable-gemini",
    "Never gives the turn of a session on when the gemini of a reply exists but cannot be executed.",
    "concurrency:after-failure",
)(ask=notes_unstartable, end_turn=keeps_turn)
defect(
    "early-cancellation-in-digits-kept",
    "Keeps a cancellation for an unknown text of digits, and drops the later call whose id is that number.",
    "cancel:others",
    "cancel:unknown",
)(notified=keeps_cancellation, begin_call=drops_cancelled)
defect(
    "model-given-up-after-three-quotas",
    "Runs gemini no more with a model that has failed three times in a row with exit code 173.",
    "concurrency:after-failure",
    "command:chat",
)(ask=gives_model_up)
defect(
    "directory-without-sessions-remembered",
    "Resumes no session in a second reply to the latest of a directory after gemini had found none there.",
    "command:chat-reply:latest",
)(ask=remembers_none)

defect(
    "list-shared-by-directory-name",
    "Uses a list of sessions that runs for another call whose directory has the same last name.",
    "fallback:list-sessions",
    "fallback:cwd",
)(list_sessions=shares_listing)
defect(
    "named-latest-has-own-line",
    "Lets a reply that names the session `latest` run beside one in the same directory that names none.",
    "concurrency:latest",
)(turn=named_latest_apart)
defect(
    "ninth-waiting-reply-stops-reader",
    "Reads no further input after a reply that comes when eight others wait for their turn.",
    "concurrency:ping",
    "concurrency:calls",
)(begin_call=queue_bounded)

defect(
    "one-beat-for-all-calls",
    "Tells the progress of one running call every four seconds, so that three calls wait too long for theirs.",
    "progress:interval",
)(report_progress=one_beat)
defect(
    "later-progress-under-token-of-same-text",
    "Sends the later progress of a call with the token of another that runs and whose token has the same text.",
    "progress:increase",
    "progress:token",
)(progress=token_by_text, serve_call=token_forgotten)
defect(
    "token-of-cancelled-request-inherited",
    "Sends progress for a call of 2026-07-28 without a token under that of an earlier one that was cancelled.",
    "progress:increase",
    "progress:unasked",
    "stateless:cancelled",
)(cancel=leaves_token, new_call=inherits_token)

defect(
    "cancels-id-in-other-composition",
    "Cancels also a call whose id is the same text in another Unicode composition.",
    "cancel:others",
)(notified=cancels_alike(lambda one, other: normalize("NFC", one) == normalize("NFC", other)))
defect(
    "ping-dropped-behind-slow-reader",
    "Drops the answer to a ping that must wait two seconds because the client does not read a large message.",
    "concurrency:ping",
    "lifecycle:ping",
)(send=pongs_in_time)
defect(
    "piece-dropped-after-pause",
    "Forgets the first piece of a message when the next does not come within three seconds.",
    "rpc:alive:chunks",
)(lines=lines_in_time)
defect(
    "known-client-unchecked",
    "Checks the version and capabilities in the requests of 2026-07-28 only until one of the same client was right.",
    "stateless:version",
    "stateless:meta",
)(check_stateless=trusts_client)
defect(
    "cancellation-ignored-during-list",
    "Ignores the cancellation of a call that asks for the list of sessions.",
    "cancel:unanswered",
    "cancel:child",
)(cancel=cancels_prompt_only, list_sessions=before(notes_listing))
