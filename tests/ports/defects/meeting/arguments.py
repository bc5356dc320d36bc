"""Arguments that are judged rightly alone and wrongly beside another: ports that break `arguments`."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from conditions import REVISION, speaks
from defects.record import defect
from planning import PROPERTIES, Plan, Refusal
from running import Call
from speaking import Message
from steps import Step, before, for_tool


def passing(name: str, test: Callable[[str], bool]) -> Step:
    """Of `check_word`: overlooks such characters in this argument."""

    def check_word(port: Any, real: Any, named: str, text: str) -> None:
        real(named, "".join(each for each in text if not test(each)) if named == name else text)

    return check_word


def refuses_empty_directory(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    if arguments.get("cwd") == "" and arguments.get("sessionId"):
        raise Refusal("`cwd` is empty, but should be a directory.")


def only_spaces_are_blank(port: Any, real: Any, name: str, text: str) -> bool:
    is_line_end = name == "systemPrompt" and bool(text) and not text.strip("\r\n")
    return not is_line_end and real(name, text)


def blank_kept(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    blank = arguments.get("systemPrompt")
    is_meant = tool == "chat-reply" and "-m" in plan.argv and plan.system is None and isinstance(blank, str)
    return replace(plan, system=blank) if is_meant else plan


def ending_at_nul(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    is_meant = tool == "chat-reply" and name == "cwd" and isinstance(value, str)
    return real(tool, name, value.split("\0")[0] if is_meant else value)


def null_model_of_session(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    is_free = arguments.get("sessionId") and arguments.get("model", "") is None
    return real(tool, {name: value for name, value in arguments.items() if not (is_free and name == "model")})


def models_are_text_in_named_sessions(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    model = arguments.get("model")
    is_meant = "sessionId" in arguments and isinstance(model, int | float)
    return real(tool, {**arguments, "model": str(model)} if is_meant else arguments)


def wrong_types_absent(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    if arguments.get("model") == "":
        arguments = {
            name: value
            for name, value in arguments.items()
            if name not in ("systemPrompt", "cwd") or isinstance(value, str)
        }
    return real(tool, arguments)


def changes_arguments(change: Callable[[str, Mapping[str, Any]], Mapping[str, Any]]) -> Step:
    """Of `texts`: looks at other arguments."""
    return lambda port, real, tool, arguments: real(tool, change(tool, arguments))


def first_session(tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    match arguments:
        case {"sessionId": [str(session)], "model": str(model)} if model:
            return {**arguments, "sessionId": session}
        case _:
            return arguments


def name_of_model(tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    match arguments:
        case {"model": dict(), "systemPrompt": str(system)} if system.strip():
            return {**arguments, "model": json.dumps(arguments["model"])}
        case _:
            return arguments


def forgives(test: Callable[[str, Mapping[str, Any]], bool], name: str) -> Step:
    """Of `texts`: drops an argument of the wrong type from calls of which `test` holds."""

    def texts(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
        is_dropped = test(tool, arguments) and name in arguments and not isinstance(arguments[name], str)
        return real(tool, {key: value for key, value in arguments.items() if not is_dropped or key != name})

    return texts


def one_item(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    match value:
        case [str(item)] if name == "model":
            return real(tool, name, item)
        case _:
            return real(tool, name, value)


def without_prefix_of_directory(port: Any, real: Any, sentence: str) -> Message:
    return {"content": port.content(sentence), "isError": True} if sentence.startswith("`cwd`") else real(sentence)


def replaced_in_model(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    model = arguments.get("model")
    if isinstance(model, str) and arguments.get("systemPrompt"):
        arguments = {**arguments, "model": re.sub("[\ud800-\udfff]", "\ufffd", model)}
    return real(tool, arguments)


def without_surrogates(tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    session = arguments.get("sessionId")
    if isinstance(session, str) and arguments.get("systemPrompt"):
        return {**arguments, "sessionId": re.sub("[\ud800-\udfff]", "", session)}
    return arguments


def replacing_surrogates(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    is_meant = tool == "chat-reply" and name == "systemPrompt" and isinstance(value, str)
    return real(tool, name, port.whole(value) if is_meant else value)


def refuses_unknown_in(revision: str) -> Step:
    def texts(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
        if speaks(port, revision) and arguments.keys() - PROPERTIES[tool].keys():
            raise Refusal("The call holds arguments that the tool does not declare.")

    return before(texts)


def refuses_unknown_in_replies(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    known = {"prompt", "model", "systemPrompt", "cwd", "sessionId"}
    if tool == "chat-reply" and {"sessionId", "systemPrompt"} <= arguments.keys():
        for name in arguments.keys() - known:
            raise Refusal(f"`{name}` is unknown.")
    return real(tool, arguments)


def in_line_of_any_session(port: Any, real: Any, call: Call, turn: str | None) -> None:
    session = call.arguments.get("sessionId")
    real(call, session if turn is None and isinstance(session, str) and session else turn)


defect("c1-controls-passed", "Passes a model with control characters of the second block.", "arguments:control")(
    check_word=passing("model", lambda each: "\x80" <= each <= "\x9f")
)
defect("delete-passed-in-session", "Passes a session with U+007F.", "arguments:control")(
    check_word=passing("sessionId", lambda each: each == "\x7f")
)
defect(
    "empty-directory-refused-beside-session",
    "Refuses an empty directory in a reply by id.",
    "arguments:empty:cwd",
)(texts=before(refuses_empty_directory))
defect(
    "line-ends-are-a-system-prompt",
    "Hands over a system prompt that is nothing but line ends.",
    "arguments:empty:system-prompt",
)(is_absent=only_spaces_are_blank)
defect(
    "blank-system-prompt-written-beside-model",
    "Hands over a blank system prompt in a reply with a model.",
    "arguments:empty:system-prompt",
)(plan=blank_kept)
defect("nul-ends-directory-of-reply", "Cuts the directory of a reply at its first NUL.", "arguments:nul")(
    text=ending_at_nul
)
defect(
    "null-model-of-session-accepted",
    "Takes a null model for none in a reply that names its session.",
    "arguments:optional:null",
)(texts=null_model_of_session)
defect(
    "numbers-are-models-in-named-sessions",
    "Makes text of a model that is a number in a reply by id.",
    "arguments:optional:type",
)(texts=models_are_text_in_named_sessions)
defect(
    "wrong-types-forgiven-beside-empty-model",
    "Takes a directory and a system prompt that are no texts for absent in a call whose model is empty.",
    "arguments:optional:type",
    "arguments:optional:null",
)(texts=wrong_types_absent)
defect(
    "session-in-list-taken-beside-model",
    "Takes the session out of an array in a reply with a model.",
    "arguments:optional:type",
)(texts=changes_arguments(first_session))
defect(
    "object-is-model-beside-system-prompt",
    "Makes text of a model that is an object in a call with a system prompt.",
    "arguments:optional:type",
)(texts=changes_arguments(name_of_model))
defect(
    "wrong-system-prompt-forgiven-beside-directory",
    "Ignores a system prompt that is no text in a call with a directory.",
    "arguments:optional:type",
)(texts=forgives(lambda tool, arguments: "cwd" in arguments and tool == "chat", "systemPrompt"))
defect(
    "wrong-directory-forgiven-beside-session-and-model",
    "Ignores a directory that is no text in a reply by id with a model.",
    "arguments:optional:type",
)(texts=forgives(lambda tool, arguments: {"sessionId", "model"} <= arguments.keys(), "cwd"))
defect(
    "reply-model-of-one-item",
    "Takes an array of one text for the model of a reply.",
    "arguments:optional:type",
)(text=for_tool("chat-reply", one_item))
defect("prefix-lost-for-directory", "Leaves the prefix out when it refuses a directory.", "arguments:refused:prefix")(
    refused=without_prefix_of_directory
)
defect(
    "surrogates-of-model-replaced-beside-system-prompt",
    "Replaces lone surrogates in the model of a call with a system prompt.",
    "arguments:surrogate",
)(texts=replaced_in_model)
defect(
    "surrogates-of-session-dropped-beside-system-prompt",
    "Drops lone surrogates of the session of a reply with a system prompt.",
    "arguments:surrogate",
)(texts=changes_arguments(without_surrogates))
defect(
    "surrogates-of-system-prompt-replaced",
    "Replaces lone surrogates in the system prompt of a reply.",
    "arguments:surrogate",
)(text=replacing_surrogates)
defect(
    "unknown-argument-refused-in-2025-06-18",
    "Refuses an argument that the tool does not declare for clients of 2025-06-18.",
    "arguments:unknown",
)(initialize=REVISION, texts=refuses_unknown_in("2025-06-18"))
defect(
    "unknown-argument-refused-in-session",
    "Refuses an unknown argument in a reply by id with a system prompt.",
    "arguments:unknown",
)(texts=refuses_unknown_in_replies)
defect(
    "chat-in-line-of-undeclared-session",
    "Lets a chat wait for the replies of the session that its undeclared `sessionId` names.",
    "arguments:unknown",
    "concurrency:calls",
)(take_turn=in_line_of_any_session, end_turn=in_line_of_any_session)
