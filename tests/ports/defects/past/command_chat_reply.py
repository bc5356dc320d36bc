"""Sessions and models of a reply that come from an earlier call: ports that break `command:chat-reply`."""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Outcome
from conditions import altering, failed, is_named, lacking, marks, refused, since
from defects.past.shared import (
    cancels_noting,
    kept_argument,
    kept_by,
    kept_when,
    leaves,
    noted,
    noted_by_session,
    of_session,
    of_sibling,
    turn_kept_by,
)
from defects.record import defect
from planning import PROPERTIES, Plan, Refusal
from running import Call
from speaking import Message, as_object
from steps import Step, before, latest_repeated, notes


def _seventh(port: Any, option: Any) -> Any:
    number = port.memory["replies"] = port.memory.get("replies", 0) + 1
    return () if number % 7 == 0 else option


def notes_failed_prompt(port: Any, call: Call, result: Message) -> None:
    if failed(call, result):
        port.memory[repr(call.arguments.get("sessionId"))] = call.arguments["prompt"]


def failed_prompt_first(port: Any, real: Any, call: Call) -> Message:
    """What has not been answered is said again with what comes next in the session."""
    if call.tool != "chat-reply":
        return real(call)
    unanswered = port.memory.pop(repr(call.arguments.get("sessionId")), None)
    prompt = call.arguments.get("prompt")
    if unanswered and isinstance(prompt, str):
        call.arguments = {**call.arguments, "prompt": f"{unanswered}\n\n{prompt}"}
    result = real(call)
    notes_failed_prompt(port, call, result)
    return result


def anew_where_no_chat_began(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    directory, begun = os.path.realpath(plan.cwd or "."), port.memory.setdefault("begun", set[str]())
    if plan.session == "latest" and begun and directory not in begun:
        plan = lacking("-r")(plan)
    answer = real(call, plan)
    if call.tool == "chat":
        begun.add(directory)
    return answer


def reused_session(port: Any, real: Any, tool: str, arguments: Any) -> Any:
    texts = real(tool, arguments)
    remembered = tool == "chat-reply" and "sessionId" in port.memory
    return {"sessionId": port.memory["sessionId"], **texts} if remembered else texts


def notes_refused_session(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    session = call.arguments.get("sessionId")
    if refused(call, result) and isinstance(session, str) and session and not session.startswith("-"):
        port.memory["session"] = session
    return result


def refused_session_stays(port: Any, real: Any, tool: str, arguments: Any) -> Any:
    texts = real(tool, arguments)
    stays = tool == "chat-reply" and "sessionId" not in texts and "session" in port.memory
    return {**texts, "sessionId": port.memory["session"]} if stays else texts


def rows(ending: str, keeps: dict[str, Step], kept: dict[str, tuple[str, str]]) -> None:
    for name, (argument, requirement) in kept.items():
        defect(name, f"Gives {ending} to the next one that lacks it: `{argument}`.", requirement)(
            **keeps, texts=kept_argument(argument)
        )


def kept_by_unknown_tool(port: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> None:
    if params.get("name") not in PROPERTIES:
        port.memory["kept"] = as_object(params.get("arguments")) or {}


def is_plain(outcome: Outcome) -> bool:
    return outcome.exit == 0 and b"{" not in outcome.stdout


def after_three_replies(port: Any, real: Any, texts: Mapping[str, str]) -> str:
    session = texts.get("sessionId")
    if session is None:
        return port.memory["favourite"] if port.memory.get("count", 0) >= 3 else real(texts)
    count = port.memory.get("count", 0) + 1 if session == port.memory.get("favourite") else 1
    port.memory.update(favourite=session, count=count)
    return session


def noted_by_directory(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    if plan.cwd and answer.session:
        port.memory[plan.cwd] = answer.session
    return answer


def notes_listed(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    found = real(call, plan, answer)
    if plan.session is None:
        port.memory["listed"] = found.session
    return found


def resumes_listed(port: Any, real: Any, texts: Mapping[str, str]) -> str:
    return texts.get("sessionId") or port.memory.get("listed") or real(texts)


def notes_failed_list(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = real(call, plan)
    if listing is None or listing.exit != 0:
        port.memory[call] = "kept"
    return listing


def notes_gone(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    if outcome.exit == 42 and is_named(plan) and b"session" in outcome.stderr:
        port.memory["is_gone"] = True
    return outcome


def anew_behind_gone(port: Any, real: Any, texts: Mapping[str, str]) -> tuple[str, ...]:
    if "sessionId" not in texts and port.memory.pop("is_gone", False):
        return ()
    return real(texts)


def is_empty(outcome: Outcome) -> bool:
    return outcome.exit == 0 and re.search(rb'"response":\s*""', outcome.stdout) is not None


def third_begins_anew(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    if plan.session in (None, "latest"):
        return real(call, plan)
    times = port.memory[plan.session] = port.memory.get(plan.session, 0) + 1
    return real(call, lacking("-r")(plan) if times == 3 else plan)


def shortened_to_latest(port: Any, real: Any, texts: Mapping[str, str]) -> tuple[str, ...]:
    return ("-r", "latest") if port.resumed(texts) == port.memory.get("served") else real(texts)


def notes_listed_sessions(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
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


def notes_new_session(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    if is_named(plan) and answer.session not in (None, plan.session):
        port.memory[plan.session] = answer.session
    return answer


def follows_session(port: Any, real: Any, texts: Mapping[str, str]) -> tuple[str, ...]:
    option, session = real(texts)
    return option, port.memory.get(session, session)


def before_last_missed(port: Any, real: Any, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Two sessions are kept, and the older one is not moved to the front when it is used again."""
    option, kept = real(texts), port.memory.setdefault("kept", list[str]())
    if option[1] in kept:
        return (option[0], kept[-1])
    port.memory["kept"] = [*kept[-1:], option[1]]
    return option


def follows_new_name(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    new = port.memory.get(plan.session)
    if new is not None:
        plan = altering("-r", lambda _: new)(replace(plan, session=new))
    answer = real(call, plan)
    if is_named(plan) and answer.session not in (None, plan.session):
        port.memory[plan.session] = answer.session
    return answer


defect("seventh-run-in-text-format", "Asks for no output format in every seventh reply.", "command:chat-reply")(
    format_option=lambda port, real, tool: _seventh(port, real(tool)) if tool == "chat-reply" else real(tool)
)
defect(
    "failed-prompt-said-again",
    "Says the prompt of a reply that failed once more with the next one of its session.",
    "command:chat-reply",
)(execute=failed_prompt_first)
defect(
    "session-left-by-cancel",
    "Resumes the session of a reply that was cancelled when the next names none.",
    "command:chat-reply:latest",
)(cancel=cancels_noting("sessionId"), resumed=noted("sessionId"))
defect(
    "latest-begun-anew-where-no-chat-began",
    "Starts a new session for a reply that names none in a directory where no `chat` began, once one began elsewhere.",
    "command:chat-reply:latest",
)(ask=anew_where_no_chat_began)
defect("session-left-by-failure", "Resumes the session of a reply that failed.", "command:chat-reply:latest")(
    execute=leaves("sessionId", failed),
    texts=reused_session,
)
defect(
    "session-of-refused-reply-stays",
    "Resumes the session of a reply that was refused when the next names none.",
    "command:chat-reply:latest",
)(execute=notes_refused_session, texts=refused_session_stays)
defect(
    "session-of-model-kept",
    "Resumes the session that a model has continued last when a reply names the model and no session.",
    "command:chat-reply:latest",
)(texts=kept_by("model", "sessionId"))
rows(
    "an argument of a call of an unknown tool",
    {"begin_call": before(kept_by_unknown_tool)},
    {
        "directory-left-by-unknown-tool": ("cwd", "cwd:default"),
        "system-prompt-left-by-unknown-tool": ("systemPrompt", "system:leak"),
        "session-left-by-unknown-tool": ("sessionId", "command:chat-reply:latest"),
    },
)
rows(
    "an argument of a call whose gemini died of a signal",
    {"run_prompt": kept_when(lambda outcome: outcome.exit < 0)},
    {
        "directory-left-by-signal": ("cwd", "cwd:default"),
        "session-left-by-signal": ("sessionId", "command:chat-reply:latest"),
    },
)
rows(
    "an argument of a call whose answer was no JSON",
    {"run_prompt": kept_when(is_plain)},
    {
        "session-left-by-plain-text": ("sessionId", "command:chat-reply:latest"),
        "model-left-by-plain-text": ("model", "command:chat:no-model"),
    },
)
defect(
    "favourite-session-is-latest",
    "Resumes a session when a reply names none and three in a row have named that one.",
    "command:chat-reply:latest",
)(resumed=after_three_replies)
defect(
    "session-of-running-sibling",
    "Resumes the session of a reply that runs in one that names none.",
    "command:chat-reply:latest",
)(plan=of_sibling("sessionId"))
defect(
    "latest-is-its-own-in-directory",
    "Resumes the session that it served last in a directory, when a reply names the directory and no session.",
    "command:chat-reply:latest",
)(
    ask=noted_by_directory,
    resumed=lambda port, real, texts: texts.get("sessionId") or port.memory.get(texts.get("cwd")) or real(texts),
)
defect(
    "latest-is-what-was-listed",
    "Resumes the session that the list named for a `chat` in every later reply without one.",
    "command:chat-reply:latest",
)(with_session=notes_listed, resumed=resumes_listed)
defect(
    "turn-kept-by-failed-list",
    "Lets replies wait for ever behind one whose list of sessions failed.",
    "command:chat-reply:latest",
)(**turn_kept_by(list_sessions=notes_failed_list))
defect(
    "gone-session-leaves-new-one",
    "Starts a new session for a reply that names none behind one whose session was gone.",
    "command:chat-reply:latest",
)(run_prompt=notes_gone, resume_option=anew_behind_gone)
defect(
    "session-left-by-empty-answer",
    "Resumes the session of a reply with an empty answer when the next one names none.",
    "command:chat-reply:latest",
)(run_prompt=kept_when(is_empty), texts=kept_argument("sessionId"))
defect(
    "model-left-by-success-in-other-tool",
    "Passes the model of the latest `chat` to replies without one once a reply has failed.",
    "command:chat-reply:no-model",
)(
    execute=marks("reply failed", lambda call, result: call.tool == "chat-reply" and failed(call, result)),
    model_option=since("reply failed", latest_repeated("chat-reply")),
)
defect(
    "model-stays-in-session",
    "Passes the model with which a session began to a reply by id without one.",
    "command:chat-reply:no-model",
)(ask=noted_by_session, texts=of_session("model"))
defect(
    "third-reply-begins-anew",
    "Begins a new session for the third reply in a session.",
    "command:chat-reply:session-id",
)(ask=third_begins_anew)
defect(
    "session-served-last-is-latest",
    "Resumes `latest` in the place of the session that it has served last.",
    "command:chat-reply:session-id",
)(
    execute=notes("served", lambda result: result.get("_meta", {}).get("sessionId")),
    resume_option=shortened_to_latest,
)
defect(
    "unlisted-sessions-refused-behind-list",
    "Refuses a reply in a session that neither a list nor an answer has named, once a list has named some.",
    "command:chat-reply:session-id",
)(list_sessions=notes_listed_sessions, success=before(notes_session), plan=listed_only)
defect(
    "changed-session-followed",
    "Resumes the session into which gemini has changed another when a reply names that one again.",
    "command:chat-reply:session-id",
)(ask=notes_new_session, resume_option=follows_session)
defect(
    "session-before-last-missed",
    "Resumes the session of the reply before when a reply comes back to one of the last two.",
    "command:chat-reply:session-id",
)(resume_option=before_last_missed)
defect(
    "renamed-session-followed",
    "Resumes the session that gemini named in an earlier reply in the place of the one that the call names.",
    "command:chat-reply:session-id",
)(ask=follows_new_name)
