"""Runs that are repeated or spared because of earlier ones: ports that break `command:once`."""

from typing import Any

from answering import SESSION_GONE, Answer, Failure, Outcome
from conditions import failed, is_named, lacking
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message

GONE = "does not know this session"


def cached_reply(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    key = (plan.session, call.arguments["prompt"])
    if is_named(plan) and key in port.memory:
        return port.memory[key]
    port.memory[key] = answer = real(call, plan)
    return answer


def gone_for_good(port: Any, real: Any, call: Call) -> Message:
    gone, session = port.memory.setdefault("gone", {}), call.arguments.get("sessionId")
    if repr(session) in gone:
        return gone[repr(session)]
    result = real(call)
    if session and failed(call, result) and GONE in result["content"][0]["text"]:
        gone[repr(session)] = result
    return result


def same_call_cached(port: Any, real: Any, call: Call) -> Message:
    key = f"{call.tool} {sorted(map(repr, call.arguments.items()))}"
    if port.memory.get("key") != key:
        port.memory.update(key=key, result=real(call))
    return port.memory["result"]


def begun_anew(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    is_gone = outcome.exit == 42 and SESSION_GONE.search(port.decode(outcome.stderr))
    return real(call, lacking("-r")(plan)) if is_gone and is_named(plan) else outcome


def refuses_what_was_gone(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    known = port.memory.get(plan.session)
    if known is not None:
        raise Failure(known, "")
    try:
        return real(call, plan)
    except Failure as failure:
        if is_named(plan) and "does not know this session" in failure.sentence:
            port.memory[plan.session] = failure.sentence
        raise


def retries_in_known_session(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    """A session that was there a moment ago is taken to be there still."""
    outcome, known = real(call, plan), port.memory.setdefault("known", set[str]())
    if outcome.exit != 0 and plan.session in known:
        return real(call, plan)
    if outcome.exit == 0 and is_named(plan):
        known.add(plan.session)
    return outcome


defect(
    "reply-cached-by-session-and-prompt",
    "Answers a reply by id from memory when its session has had that prompt before.",
    "command:once",
)(ask=cached_reply)
defect(
    "gone-session-remembered",
    "Fails every later reply in a session that gemini did not know once.",
    "command:once",
    "concurrency:after-failure",
)(execute=gone_for_good)
defect("same-call-cached", "Answers a call that is like the one before without running gemini.", "command:once")(
    execute=same_call_cached
)
defect(
    "gone-session-begun-anew",
    "Runs the prompt again in a new session when gemini does not know the one that a reply names.",
    "command:once",
)(run_prompt=begun_anew)
defect(
    "gone-session-gone-everywhere",
    "Answers a reply in a session that gemini once did not know with that error again, whatever the directory is.",
    "command:once",
    "command:chat-reply:session-id",
)(ask=refuses_what_was_gone)
defect(
    "reply-retried-in-known-session",
    "Runs the prompt of a reply that fails again when its session has answered before.",
    "command:once",
)(run_prompt=retries_in_known_session)
