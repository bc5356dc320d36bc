"""Defects in what follows upon something: a session that is gone, a list that hung, a refusal, another session."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from answering import Failure, Outcome
from conditions import is_named, refused
from defects.record import defect
from planning import Plan
from running import LIST, Call
from speaking import Message
from steps import before

HURRIED_SECONDS = 1.0


def notes_gone(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    if outcome.exit == 42 and is_named(plan) and b"session" in outcome.stderr:
        port.memory["is_gone"] = True
    return outcome


def anew_behind_gone(port: Any, real: Any, texts: Mapping[str, str]) -> tuple[str, ...]:
    if "sessionId" not in texts and port.memory.pop("is_gone", False):
        return ()
    return real(texts)


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


def sentence_by_stderr(port: Any, real: Any, exit: int, stderr: str) -> str:
    if exit < 0:
        return real(exit, stderr)
    return port.memory.setdefault("sentences", {}).setdefault(stderr, real(exit, stderr))


def before_last_missed(port: Any, real: Any, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Two sessions are kept, and the older one is not moved to the front when it is used again."""
    option, kept = real(texts), port.memory.setdefault("kept", list[str]())
    if option[1] in kept:
        return (option[0], kept[-1])
    port.memory["kept"] = [*kept[-1:], option[1]]
    return option


def unwritten_when_as_long(port: Any, real: Any, text: str) -> bytes:
    """A file of the same size is taken for the same file."""
    written, kept = real(text), port.memory.get("written")
    if kept is None or len(kept) != len(written):
        port.memory["written"] = written
    return port.memory["written"]


def refused_frees_session(port: Any, real: Any, call: Call) -> Message:
    """The end of a refused reply gives back a lock that it has never had."""
    result, session = real(call), call.arguments.get("sessionId")
    if refused(call, result) and isinstance(session, str):
        with port.turn_changed:
            if line := port.turns.get(session):
                line.pop(0)
            port.turn_changed.notify_all()
    return result


def stops_timers_on_error(port: Any, message: Message) -> None:
    if "error" in message:
        for call in list(port.calls):
            call.next_progress = float("inf")


defect(
    "gone-session-leaves-new-one",
    "Starts a new session for a reply that names none behind one whose session was gone.",
    "command:chat-reply:latest",
)(run_prompt=notes_gone, resume_option=anew_behind_gone)
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
    "explanation-kept-by-stderr",
    "Explains a failure as it has explained the first with the same stderr, whatever the exit code.",
    "error:exit:41",
)(exit_sentence=sentence_by_stderr)
defect(
    "session-before-last-missed",
    "Resumes the session of the reply before when a reply comes back to one of the last two.",
    "command:chat-reply:session-id",
)(resume_option=before_last_missed)
defect(
    "system-prompt-of-same-size-kept",
    "Hands the system prompt of the call before over when the new one has as many bytes.",
    "system:content",
)(system_bytes=unwritten_when_as_long)
defect(
    "refused-reply-frees-session",
    "Begins the next reply in a session beside the one that runs when another one there is refused.",
    "concurrency:same-session",
)(execute=refused_frees_session)
defect(
    "timers-stopped-by-error",
    "Tells no more progress of the calls that run when it sends a JSON-RPC error.",
    "progress:interval",
)(write=before(stops_timers_on_error))
