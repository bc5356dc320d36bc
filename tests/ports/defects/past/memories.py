"""Defects in what is remembered of calls, of sessions, of directories and of lists, which all may change."""

from dataclasses import replace
from typing import Any

from answering import Answer
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message
from steps import Step


def same_call_cached(port: Any, real: Any, call: Call) -> Message:
    key = f"{call.tool} {sorted(map(repr, call.arguments.items()))}"
    if port.memory.get("key") != key:
        port.memory.update(key=key, result=real(call))
    return port.memory["result"]


def listing_of_directory(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    if plan.cwd not in port.memory:
        port.memory[plan.cwd] = real(call, plan)
    return port.memory[plan.cwd]


def noted_by_directory(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    if plan.cwd and answer.session:
        port.memory[plan.cwd] = answer.session
    return answer


def noted_by_session(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    if answer.session:
        port.memory[answer.session] = call.arguments
    return answer


def of_session(key: str) -> Step:
    """Of `texts`: adds to a reply what an earlier call of its session said."""

    def texts(port: Any, real: Any, tool: str, arguments: Any) -> Any:
        right = real(tool, arguments)
        earlier = port.memory.get(right.get("sessionId"), {}).get(key)
        return {key: earlier, **right} if isinstance(earlier, str) and earlier else right

    return texts


def gives_up_listing(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    listing = None if port.memory.get("is_given_up") else real(call, plan)
    port.memory["is_given_up"] = listing is None or listing.exit != 0
    return listing


def gives_up_slow_listing(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    listing = None if port.memory.get("is_given_up") else real(call, plan)
    port.memory["is_given_up"] = listing is None
    return listing


def own_session_first(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    known = port.memory.get("session") if call.tool == "chat" else None
    return replace(answer, session=known) if known else real(call, plan, answer)


def notes_session(port: Any, real: Any, value: Any, stderr: str) -> Answer:
    answer = real(value, stderr)
    port.memory["session"] = answer.session or port.memory.get("session")
    return answer


def by_spelling(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    turn = real(tool, texts)
    return f"latest in {texts.get('cwd')}" if turn and turn.startswith("latest in ") else turn


def missing_remembered(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    if port.memory.get("is_missing"):
        raise FileNotFoundError
    try:
        return real(argv, **options)
    except FileNotFoundError:
        port.memory["is_missing"] = True
        raise


defect("same-call-cached", "Answers a call that is like the one before without running gemini.", "command:once")(
    execute=same_call_cached
)
defect("listing-remembered-by-directory", "Asks for the list once in each directory.", "fallback:list-sessions")(
    list_sessions=listing_of_directory
)
defect(
    "latest-is-its-own-in-directory",
    "Resumes the session that it served last in a directory, when a reply names the directory and no session.",
    "command:chat-reply:latest",
)(
    ask=noted_by_directory,
    resumed=lambda port, real, texts: texts.get("sessionId") or port.memory.get(texts.get("cwd")) or real(texts),
)
defect(
    "model-stays-in-session",
    "Passes the model with which a session began to a reply by id without one.",
    "command:chat-reply:no-model",
)(ask=noted_by_session, texts=of_session("model"))
defect(
    "system-prompt-stays-in-session",
    "Hands the system prompt with which a session began to a reply by id without one.",
    "system:leak",
)(ask=noted_by_session, texts=of_session("systemPrompt"))
defect("directory-stays-in-session", "Runs a reply by id in the directory in which its session began.", "cwd:default")(
    ask=noted_by_session, texts=of_session("cwd")
)
defect(
    "listing-given-up-after-failure",
    "Asks for no list any more after one that failed.",
    "fallback:list-sessions",
)(list_sessions=gives_up_listing)
defect("listing-given-up-after-hang", "Asks for no list any more after one that hung.", "fallback:latest")(
    list_sessions=gives_up_slow_listing
)
defect(
    "own-session-before-list",
    "Names the session of the call before when gemini names none.",
    "fallback:list-sessions",
)(read_json=notes_session, with_session=own_session_first)
defect(
    "latest-by-spelling",
    "Runs replies to the latest session at the same time when they spell its directory differently.",
    "concurrency:latest",
)(turn=by_spelling)
defect(
    "missing-gemini-remembered",
    "Does not look for gemini again once it could not find it.",
    "concurrency:after-failure",
)(spawn=missing_remembered)
