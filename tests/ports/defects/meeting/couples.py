"""Defects that show where one kind of value meets another argument, or one kind of output meets another."""

import json
import os
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from answering import STDERR_LIMIT, Answer, Outcome
from defects.record import defect
from planning import ARGUMENT_LIMIT, STDIN_LIMIT, Plan, Refusal
from running import Call
from steps import Step, before

COMMAND_WORD = re.compile("mcp|extensions?|skills?|hooks?|gemma|help")
CUT = 64 * 1024
OTHERS = 32
"""Bytes of a command line beside the prompt: enough where there is nothing else."""
Texts = Mapping[str, str]


def where(test: Callable[[str, Texts], object], change: Callable[[Texts], Texts]) -> Step:
    """Of `texts`: changes the texts of a call of which `test` holds."""

    def texts(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Texts:
        found = real(tool, arguments)
        return change(found) if test(tool, found) else found

    return texts


def altered(name: str, change: Callable[[str], str]) -> Callable[[Texts], Texts]:
    return lambda texts: {**texts, name: change(texts[name])} if name in texts else texts


def has(*names: str) -> Callable[[str, Texts], bool]:
    return lambda tool, texts: all(name in texts for name in names)


def unless_word_in_directory(port: Any, real: Any, prompt: str) -> bool:
    return real(prompt) and not (port.memory.get("is_meant") and COMMAND_WORD.fullmatch(prompt))


def notes_reply_in_directory(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    port.memory["is_meant"] = tool == "chat-reply" and arguments.get("cwd")


def number_in_relative(port: Any, real: Any, prompt: str) -> bool:
    return real(prompt) and not (port.memory.get("is_relative") and re.fullmatch(r"[0-9.]+(?:[eE][0-9]+)?", prompt))


def notes_relative(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    cwd = arguments.get("cwd")
    port.memory["is_relative"] = isinstance(cwd, str) and cwd and not os.path.isabs(cwd)


def latest_begun_anew(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    is_meant = arguments.get("sessionId") == "latest" and plan.cwd is not None
    return replace(plan, argv=(plan.argv[0], *plan.argv[3:])) if is_meant else plan


def blank_hides_directory(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan, system = real(tool, arguments), arguments.get("systemPrompt")
    return replace(plan, cwd=None) if isinstance(system, str) and plan.system is None else plan


def empty_directory_hides(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    return replace(plan, system=None) if arguments.get("cwd") == "" else plan


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


def without_surrogates(tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    session = arguments.get("sessionId")
    if isinstance(session, str) and arguments.get("systemPrompt"):
        return {**arguments, "sessionId": re.sub("[\ud800-\udfff]", "", session)}
    return arguments


def model_unchecked(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    """Returns from the check of the words behind the first one."""
    port.memory["has_session"] = isinstance(arguments.get("sessionId"), str) and arguments["sessionId"]
    return real(tool, arguments)


def first_word_checked(port: Any, real: Any, name: str, text: str) -> None:
    if name != "model" or not port.memory.get("has_session"):
        real(name, text)


def limit_for_both(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    texts = [arguments.get(name) for name in ("prompt", "systemPrompt")]
    if sum(len(text.encode("utf-8", "replace")) for text in texts if isinstance(text, str)) > STDIN_LIMIT:
        raise Refusal("`prompt` and `systemPrompt` are longer than the 8388608 bytes that gemini reads.")


def measured_together(port: Any, real: Any, tool: str, texts: Texts, form: tuple[str, ...]) -> tuple[str, ...]:
    argv = real(tool, texts, form)
    if sum(len(word.encode()) + 1 for word in argv) > ARGUMENT_LIMIT + OTHERS:
        raise Refusal("The arguments are longer than a command line can carry.")
    return argv


def warnings_lost_without_list(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    found = real(call, plan, answer)
    return found if found.session else replace(found, warnings=None)


def unread_beside_wide(port: Any, real: Any, stderr: str) -> str | None:
    return real(stderr) if stderr.isascii() else None


def relative_path(port: Any, real: Any, system_path: str | None) -> dict[str, str]:
    """Names the file as the server itself would find it."""
    return real(system_path and os.path.relpath(system_path))


def quiet_success(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    """Looks at stderr when the exit code is not 0."""
    return real(stdout, "")


def damaged_stderr_of_reply(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    outcome = real(call, plan)
    if call.tool == "chat-reply" and outcome.exit != 0 and len(outcome.stderr) > STDERR_LIMIT:
        return replace(outcome, stderr=outcome.stderr.replace(b"\n", b" "))
    return outcome


defect(
    "slash-behind-blank-beside-system-prompt",
    "Puts a blank before a prompt that starts with a slash in a call with a system prompt.",
    "prompt:verbatim:slash",
)(
    texts=where(
        lambda tool, texts: "systemPrompt" in texts and texts["prompt"].startswith("/"),
        altered("prompt", lambda text: f" {text}"),
    )
)
defect(
    "at-signs-escaped-in-directory",
    "Puts a backslash before each @ of a prompt in a call with a directory.",
    "prompt:verbatim:at-sign",
)(texts=where(has("cwd"), altered("prompt", lambda text: text.replace("@", "\\@"))))
defect(
    "command-word-positional-in-reply-in-directory",
    "Passes a prompt that is a command word as it is in a reply with a directory.",
    "prompt:verbatim:command-word",
)(texts=before(notes_reply_in_directory), is_risky=unless_word_in_directory)
defect(
    "number-positional-in-relative-directory",
    "Passes a prompt that is a number as it is in a call with a relative directory.",
    "prompt:verbatim:number",
)(texts=before(notes_relative), is_risky=number_in_relative)
defect(
    "long-system-prompt-cut-beside-long-prompt",
    "Cuts a system prompt at 64 KiB when the prompt is longer than that too.",
    "system:content",
)(
    texts=where(
        lambda tool, texts: len(texts["prompt"]) > CUT,
        altered("systemPrompt", lambda text: text.encode()[:CUT].decode("utf-8", "ignore")),
    )
)
defect(
    "prompt-composed-beside-wide-system-prompt",
    "Composes the characters of a prompt when the system prompt is not ASCII.",
    "prompt:verbatim:unicode",
)(
    texts=where(
        lambda tool, texts: not texts.get("systemPrompt", "").isascii(),
        altered("prompt", lambda text: unicodedata.normalize("NFC", text)),
    )
)
defect(
    "returns-of-system-prompt-lost-beside-prompt-of-lines",
    "Writes a system prompt with newlines alone when the prompt has several lines.",
    "system:content",
)(
    texts=where(
        lambda tool, texts: "\n" in texts["prompt"],
        altered("systemPrompt", lambda text: text.replace("\r\n", "\n")),
    )
)
defect(
    "quotes-escaped-in-named-session",
    "Escapes the double quotes of a prompt in a reply by id with a model.",
    "prompt:verbatim:quotes",
)(texts=where(has("sessionId", "model"), altered("prompt", lambda text: text.replace('"', '\\"'))))
defect(
    "latest-by-name-begun-anew-in-directory",
    "Begins a new session for a reply to `latest` by that word with a directory.",
    "command:chat-reply:session-id",
)(plan=latest_begun_anew)
defect(
    "blank-system-prompt-hides-directory",
    "Runs a call with a blank system prompt in its own directory.",
    "cwd:used",
)(plan=blank_hides_directory)
defect(
    "empty-directory-hides-system-prompt",
    "Hands no system prompt over in a call whose directory is empty.",
    "system:content",
)(plan=empty_directory_hides)
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
    "surrogates-of-session-dropped-beside-system-prompt",
    "Drops lone surrogates of the session of a reply with a system prompt.",
    "arguments:surrogate",
)(texts=changes_arguments(without_surrogates))
defect(
    "model-unchecked-in-named-session",
    "Passes a model that starts with a dash in a reply by id.",
    "command:chat-reply",
    "injection:option:model",
)(texts=model_unchecked, check_word=first_word_checked)
defect(
    "limit-for-both-texts",
    "Refuses a prompt that is longer than gemini reads only together with its system prompt.",
    "prompt:long",
)(texts=before(limit_for_both))
defect(
    "arguments-measured-together",
    "Refuses a prompt of about 128,000 bytes beside another argument.",
    "prompt:verbatim:128000",
)(argv=measured_together)
defect(
    "warnings-lost-without-list",
    "Reports no warnings when no list names the session.",
    "result:warnings",
)(with_session=warnings_lost_without_list)
defect(
    "message-unread-beside-wide-text",
    "Reads no JSON error in a stderr that is not ASCII.",
    "error:json-on-stderr",
)(said=unread_beside_wide)
defect(
    "lines-of-long-stderr-joined-in-replies",
    "Makes one line of the stderr of a reply when it has to be cut.",
    "error:stderr:tail",
)(run_prompt=damaged_stderr_of_reply)
defect(
    "path-of-system-prompt-relative",
    "Names the file of a system prompt by a path from its own directory, where gemini need not run.",
    "system:content",
)(environment=relative_path)
defect(
    "stderr-unquoted-of-exit-0",
    "Quotes no stderr when gemini exits with 0 and gives no answer.",
    "error:stderr",
)(read_stdout=quiet_success)
