"""Defects in what a port keeps of earlier calls without meaning to: patterns that remember, turns, shapes, links."""

import json
import os
import re
import threading
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from answering import QUOTA, Answer, Failure, Outcome
from conditions import failed, is_named, keeps_turn, marks
from defects.record import defect
from planning import Plan, Refusal
from running import Call, Cancelled
from speaking import Message
from steps import Step

CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
LONG_LINE = 1024 * 1024
LINE = threading.Lock()


def found_from_last(port: Any, pattern: re.Pattern[str], text: str) -> bool:
    """Whether the pattern is found; as in JavaScript with the flag `g`, the search begins where the last one ended."""
    places = port.memory.setdefault("places", {})
    found = pattern.search(text, places.get(pattern, 0))
    places[pattern] = found.end() if found else 0
    return found is not None


def sentence_of_exit(port: Any, real: Any, exit: int, stderr: str) -> str:
    return port.memory.setdefault(exit, real(exit, stderr))


def checks_controls_from_last(port: Any, real: Any, name: str, text: str) -> None:
    if found_from_last(port, CONTROLS, text):
        raise Refusal(f"`{name}` holds a control character.")
    real(name, CONTROLS.sub("", text) or "x")


def quota_from_last(port: Any, real: Any, exit: int, stderr: str) -> str:
    return real(exit, stderr if found_from_last(port, QUOTA, stderr) else QUOTA.sub("", stderr))


def trusts_checked(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    """Looks at the type of an argument until it has been right once."""
    checked = port.memory.setdefault("checked", set[tuple[str, str]]())
    if (tool, name) in checked and isinstance(value, bool | int | float):
        return json.dumps(value)
    text = real(tool, name, value)
    checked.add((tool, name))
    return text


def stays_refused(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    """Keeps the complaint about an argument for its next value."""
    if name in port.memory:
        raise Refusal(port.memory[name])
    try:
        return real(tool, name, value)
    except Refusal as refusal:
        port.memory[name] = str(refusal)
        raise


def notes_unread(port: Any, real: Any, *given: Any) -> Any:
    """Stops writing to stdin for good when a gemini has ended without reading it."""
    *others, stdin, limit = given
    text = "" if stdin is not None and port.memory.get("broken") else stdin
    outcome = real(*others, text, limit)
    if stdin is not None and outcome.exit != 0:
        port.memory["broken"] = True
    return outcome


def real_path_kept(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    cwd = real(tool, texts)
    return cwd and port.memory.setdefault(os.path.abspath(cwd), os.path.realpath(cwd))


def one_at_a_time(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    with LINE if port.memory.get("failed") else nullcontext():
        return real(call, plan)


def notes_failed_list(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = real(call, plan)
    if listing is None or listing.exit != 0:
        port.memory[call] = "kept"
    return listing


def notes_unreadable(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    if outcome.exit == 0:
        try:
            port.read(outcome)
        except Failure:
            port.memory[call] = "kept"
    return outcome


def notes_cancelled_list(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    try:
        return real(call, plan)
    except Cancelled:
        port.memory[call] = "kept"
        raise


def notes_new_session(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    if is_named(plan) and answer.session not in (None, plan.session):
        port.memory[plan.session] = answer.session
    return answer


def follows_session(port: Any, real: Any, texts: Mapping[str, str]) -> tuple[str, ...]:
    option, session = real(texts)
    return option, port.memory.get(session, session)


def piles_up_in_session(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    if not is_named(plan) or plan.system is None:
        return plan
    system = "\n".join(filter(None, (port.memory.get(plan.session), plan.system)))
    port.memory[plan.session] = system
    return replace(plan, system=system)


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


def misread_behind_long(port: Any, real: Any, line: bytes) -> None:
    """Looks for a message in the encoding of an old locale when its buffer has grown."""
    is_behind = port.memory.pop("long", False)
    if len(line) > LONG_LINE:
        port.memory["long"] = True
    real(line.decode("latin-1").encode() if is_behind else line)


def silent_behind_falsy(port: Any, real: Any, params: Mapping[str, Any]) -> Any:
    token = real(params)
    is_silent = port.memory.get("falsy", False)
    port.memory["falsy"] = token is not None and not token
    return None if is_silent else token


def kept_by(**steps: Step) -> dict[str, Step]:
    """Steps that keep the turn of some calls for ever."""
    return {**steps, "end_turn": keeps_turn}


defect(
    "explanation-kept-by-exit",
    "Explains an exit code as it has explained it the first time, whatever stderr says.",
    "error:session-gone",
)(exit_sentence=sentence_of_exit)
defect(
    "controls-looked-for-from-last",
    "Looks for control characters behind the place where it has found the last one.",
    "arguments:control",
)(check_word=checks_controls_from_last)
defect(
    "quota-looked-for-from-last",
    "Looks for a quota in stderr behind the place where it has found the last one.",
    "error:quota",
)(exit_sentence=quota_from_last)
defect(
    "types-checked-until-right",
    "Makes text of a number where an earlier call has had a text.",
    "arguments:optional:type",
)(text=trusts_checked)
defect(
    "refused-argument-stays-refused",
    "Refuses every value of an argument of which it has refused one.",
    "concurrency:after-failure",
)(text=stays_refused)
defect(
    "stdin-broken-by-failure",
    "Writes no long prompt any more once a gemini has failed that had one.",
    "prompt:long",
    "prompt:long:whole",
)(run=notes_unread)
defect(
    "links-of-directories-remembered",
    "Runs in the directory to which a link has led the first time.",
    "cwd:used",
)(cwd=real_path_kept)
defect(
    "one-at-a-time-behind-failure",
    "Serves one call after the other once a call has failed.",
    "concurrency:calls",
)(execute=marks("failed", failed), run_prompt=one_at_a_time)
defect(
    "turn-kept-by-failed-list",
    "Lets replies wait for ever behind one whose list of sessions failed.",
    "command:chat-reply:latest",
)(**kept_by(list_sessions=notes_failed_list))
defect(
    "turn-kept-by-unreadable-answer",
    "Lets replies wait for ever behind one whose gemini exits with 0 and gives no answer.",
    "concurrency:after-failure",
)(**kept_by(run_prompt=notes_unreadable))
defect(
    "turn-kept-when-cancelled-in-list",
    "Lets replies wait for ever behind one that was cancelled while it asked for the list.",
    "cancel:others",
)(**kept_by(list_sessions=notes_cancelled_list))
defect(
    "changed-session-followed",
    "Resumes the session into which gemini has changed another when a reply names that one again.",
    "command:chat-reply:session-id",
)(ask=notes_new_session, resume_option=follows_session)
defect(
    "system-prompts-pile-up-in-session",
    "Hands over with a system prompt all those that its session has had before.",
    "system:content",
)(plan=piles_up_in_session)
defect(
    "failed-prompt-said-again",
    "Says the prompt of a reply that failed once more with the next one of its session.",
    "command:chat-reply",
)(execute=failed_prompt_first)
defect(
    "text-misread-behind-long-line",
    "Reads the line behind one of more than a megabyte as Latin-1.",
    "prompt:verbatim:unicode",
)(receive=misread_behind_long)
defect(
    "silent-behind-falsy-token",
    "Tells no progress of the call behind one whose token was 0 or empty.",
    "progress:start",
)(token=silent_behind_falsy)
