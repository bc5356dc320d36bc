"""Options that are right alone and wrong beside another: ports that break `command`."""

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from answering import Answer, Outcome
from conditions import altering, asks, has_model, is_named, lacking
from defects.meeting.shared import has, is_latest, is_relative, is_reply, notes_neighbour, shared
from defects.record import defect
from defects.shared import names
from http_port import HttpPort
from planning import Plan
from running import Call


def model_unchecked(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    """Returns from the check of the words behind the first one."""
    port.memory["has_session"] = isinstance(arguments.get("sessionId"), str) and arguments["sessionId"]
    return real(tool, arguments)


def first_word_checked(port: Any, real: Any, name: str, text: str) -> None:
    if name != "model" or not port.memory.get("has_session"):
        real(name, text)


def notes_empties(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    port.memory["empties"] = arguments.get("model") == "" and arguments.get("sessionId") == ""
    return real(tool, arguments)


def new_session_for_two_empties(port: Any, real: Any, texts: Mapping[str, str]) -> tuple[str, ...]:
    return () if port.memory.get("empties") else real(texts)


def pins_latest(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    where = os.path.realpath(plan.cwd or ".")
    beside = [each for each in list(port.calls) if each.tool == "chat"]
    last = port.memory.get(where)
    is_moving = any(each.arguments.get("cwd") == call.arguments.get("cwd") for each in beside)
    is_pinned = plan.session == "latest" and last and is_moving
    answer = real(call, altering("-r", lambda _: last)(plan) if is_pinned else plan)
    port.memory[where] = answer.session or last
    return answer


def is_latest_on_stdin(call: Call, plan: Plan) -> bool:
    return is_latest(plan) and plan.stdin is not None and is_relative(plan.cwd)


def first_of_lines(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    """The model beside a directory with a blank."""
    return () if " " in texts.get("cwd", "") and tool == "chat-reply" else real(tool, texts)


def named_beside_latest(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    """Replaces each `latest` of the template, also one that is a value."""
    session = plan.session or ""
    change = altering("-m", lambda model: session if model == "latest" else model)
    return real(call, change(plan) if is_named(plan) else plan)


def is_session_empty(call: Call, plan: Plan) -> bool:
    return call.arguments.get("sessionId") == ""


def with_neighbours_model(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    before = port.memory.pop(call, None)
    model = before and before.arguments.get("model")
    return real(call, altering("-m", lambda own: model or own)(plan))


def words_once(plan: Plan) -> Plan:
    """Leaves the model out where its word is on the command line already."""
    at = plan.argv.index("-m")
    return replace(plan, argv=plan.argv[:at]) if plan.argv[at + 1] in plan.argv[:at] else plan


def latest_begun_anew(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    is_meant = arguments.get("sessionId") == "latest" and plan.cwd is not None
    return replace(plan, argv=(plan.argv[0], *plan.argv[3:])) if is_meant else plan


def two_kinds_of_arguments(call: Call, plan: Plan) -> bool:
    return call.token is not None and plan.system is not None and "-m" in plan.argv


def is_digits(call: Call) -> bool:
    return str(call.arguments.get("prompt")).isdecimal()


def undeclared_session(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan, session = real(tool, arguments), arguments.get("sessionId")
    is_taken = tool == "chat" and isinstance(session, str) and session and plan.cwd and "-m" in plan.argv
    return replace(plan, argv=(plan.argv[0], "-r", session, *plan.argv[1:])) if is_taken else plan


def shares_run(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    return shared(port, replace(plan, private=()), partial(real, call, plan))


def shares_answer(port: Any, real: Any, call: Call) -> Any:
    return shared(port, repr(call.arguments), partial(real, call)) if is_reply(call) else real(call)


defect(
    "format-lost-on-stdin-beside-directory",
    "Asks for no output format when a long prompt meets a directory.",
    "command:chat",
)(ask=asks(lambda call, plan: plan.stdin is not None and plan.cwd is not None, lacking("--output-format")))
defect(
    "model-unchecked-in-named-session",
    "Passes a model that starts with a dash in a reply by id.",
    "command:chat-reply",
    "injection:option:model",
)(texts=model_unchecked, check_word=first_word_checked)
defect(
    "latest-forgotten-beside-model",
    "Starts a new session for a reply that names a model and no session.",
    "command:chat-reply:latest",
)(ask=asks(lambda call, plan: plan.session == "latest" and has_model(plan), lacking("-r")))
defect(
    "two-empties-begin-anew",
    "Starts a new session for a reply whose model and session are both empty.",
    "command:chat-reply:latest",
    "arguments:empty:session-id",
)(texts=notes_empties, resume_option=new_session_for_two_empties)
defect(
    "latest-pinned-beside-chat",
    "Resumes the session last reported in a directory, not `latest`, while a chat runs in that directory.",
    "command:chat-reply:latest",
)(ask=pins_latest)
defect(
    "latest-begun-anew-on-stdin-in-relative-directory",
    "Starts a new session for a reply that names none when its prompt is long and its directory relative.",
    "command:chat-reply:latest",
)(ask=asks(is_latest_on_stdin, lacking("-r")))
defect(
    "model-lost-beside-directory-with-blank",
    "Loses the model of a reply in a directory with a blank in its path.",
    "command:chat-reply:model",
)(model_option=first_of_lines)
defect(
    "model-latest-is-session",
    "Takes the model `latest` of a reply by id for the place of the session.",
    "command:chat-reply:model",
)(ask=named_beside_latest)
defect(
    "model-lost-by-empty-session",
    "Loses the model of a reply whose session is empty.",
    "command:chat-reply:model",
)(ask=asks(is_session_empty, lacking("-m")))
defect(
    "reply-model-lost-beside-both",
    "Loses the model of a reply that has a system prompt and a directory.",
    "command:chat-reply:model",
)(ask=asks(lambda call, plan: bool(plan.session and plan.system and plan.cwd), lacking("-m")))
defect(
    "model-lost-beside-blank-system-prompt",
    "Loses the model of a reply whose system prompt is blank.",
    "command:chat-reply:model",
)(
    ask=asks(
        lambda call, plan: call.tool == "chat-reply" and plan.system is None and has("systemPrompt")(call),
        lacking("-m"),
    )
)
defect(
    "model-of-the-one-before-in-line",
    "Runs a reply that had to wait with the model of the one before it.",
    "command:chat-reply:model",
)(take_turn=notes_neighbour, ask=with_neighbours_model)
defect(
    "reply-model-named-like-session",
    "Passes no model in a reply whose model is the same word as something before it on the command line.",
    "command:chat-reply:model",
)(ask=asks(lambda call, plan: call.tool == "chat-reply" and has_model(plan), words_once))
defect(
    "http-reply-by-id-is-latest",
    "Resumes the latest session over HTTP when a reply has a system prompt.",
    "command:chat-reply:session-id",
)(
    HttpPort,
    ask=asks(
        lambda call, plan: is_reply(call) and plan.system is not None and not is_latest(plan),
        lambda plan: replace(plan, argv=("gemini", "-r", "latest", *plan.argv[3:])),
    ),
)
defect(
    "session-quoted-beside-directory",
    "Puts quotes around the session of a reply that names a directory.",
    "command:chat-reply:session-id",
)(ask=asks(lambda call, plan: is_named(plan) and bool(plan.cwd), altering("-r", lambda id: f'"{id}"')))
defect(
    "latest-by-name-begun-anew-in-directory",
    "Begins a new session for a reply to `latest` by that word with a directory.",
    "command:chat-reply:session-id",
)(plan=latest_begun_anew)
defect(
    "model-lost-beside-token-and-system-prompt",
    "Loses the model of a call with a system prompt that asks for progress.",
    "command:chat:model",
)(ask=asks(two_kinds_of_arguments, lacking("-m")))
defect(
    "http-model-lost-beside-directory",
    "Loses the model of a call with a directory over HTTP.",
    "command:chat:model",
)(HttpPort, ask=asks(names("model", "cwd"), lacking("-m")))
defect(
    "model-lost-beside-system-prompt-on-stdin",
    "Loses the model of a call with a system prompt whose prompt goes to stdin.",
    "command:chat:model",
)(ask=asks(lambda call, plan: plan.system is not None and plan.stdin is not None, lacking("-m")))
defect(
    "model-lost-to-stdin-and-file",
    "Passes no model when both the prompt and a text are handed over.",
    "command:chat:model",
)(ask=asks(lambda call, plan: plan.stdin is not None and plan.system is not None, lacking("-m")))
defect(
    "model-lost-beside-digits-and-directory",
    "Loses the model of a `chat` with a directory whose prompt is a number.",
    "command:chat:model",
)(ask=asks(lambda call, plan: call.tool == "chat" and is_digits(call) and plan.cwd is not None, lacking("-m")))
defect(
    "undeclared-session-resumed",
    "Resumes a session that `chat` does not declare, when a model and a directory are given too.",
    "command:chat:new-session",
)(plan=undeclared_session)
defect("equal-calls-share-a-run", "Runs gemini once for equal calls at the same time.", "command:once")(
    run_prompt=shares_run
)
defect(
    "equal-replies-share-an-answer",
    "Runs gemini once for equal replies at the same time, of which the second would have to wait.",
    "command:once",
    "command:chat-reply:session-id",
)(execute=shares_answer)
