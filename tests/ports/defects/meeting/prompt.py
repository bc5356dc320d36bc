"""Prompts that are right alone and altered beside an argument: ports that break `prompt`."""

import os
import re
import unicodedata
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import IO, Any

from answering import Answer
from conditions import asks, has_model, is_named
from defects.meeting.shared import Texts, altered, open_prompts, unflagged, where
from defects.record import defect
from http_port import HttpPort
from planning import ARGUMENT_LIMIT, RISKY, STDIN_LIMIT, Plan, Refusal
from running import Call
from steps import before, takes

BLOCK = 131_072
"""Bytes of 65,536 units of UTF-16."""
MOST_CHARACTERS = 4 << 20
OTHERS = 32
"""Bytes of a command line beside the prompt: enough where there is nothing else."""
COMMAND_WORD = re.compile("mcp|extensions?|skills?|hooks?|gemma|help")


def within_limit_at_once(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    size = sum(len(prompt.encode("utf-8", "replace")) for prompt in open_prompts(port))
    if plan.stdin is not None and size > STDIN_LIMIT:
        raise Refusal("`prompt` is too long beside those of the calls that run.")
    return plan


def limit_for_both(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    texts = [arguments.get(name) for name in ("prompt", "systemPrompt")]
    if sum(len(text.encode("utf-8", "replace")) for text in texts if isinstance(text, str)) > STDIN_LIMIT:
        raise Refusal("`prompt` and `systemPrompt` are longer than the 8388608 bytes that gemini reads.")


def in_blocks_of_units(port: Any, real: Any, text: str | None) -> IO[bytes]:
    if text is None:
        return real(text)
    units = text.encode("utf-16-le")
    return real("".join(units[at : at + BLOCK].decode("utf-16-le", "replace") for at in range(0, len(units), BLOCK)))


def blank_before_stdin(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    """Joins the texts for an old gemini, and takes a blank one for a text."""
    system = call.arguments.get("systemPrompt") or ""
    is_meant = plan.stdin is not None and not system.strip()
    return real(call, replace(plan, stdin=system + (plan.stdin or "")) if is_meant else plan)


def joins_long(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Does not send a long prompt twice at the same time."""
    if plan.stdin is None:
        return real(call, plan)
    own: Future[Answer] = Future()
    first = port.memory.setdefault(plan, own)
    if first is not own:
        return first.result()
    try:
        own.set_result(real(call, plan))
    except BaseException as error:
        own.set_exception(error)
    finally:
        port.memory.pop(plan)
    return own.result()


def any_length_in_directory(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    prompt = arguments.get("prompt")
    if not (isinstance(prompt, str) and len(prompt) > STDIN_LIMIT and {"cwd", "systemPrompt"} <= arguments.keys()):
        return real(tool, arguments)
    port.check_characters("prompt", prompt)
    return {**real(tool, {**arguments, "prompt": "too long"}), "prompt": prompt}


def unread_beyond_chat(port: Any, real: Any, tool: str, prompt: str) -> None:
    if tool == "chat" or not prompt or "\n" not in prompt[:1000]:
        real(tool, prompt)


def measured_together(port: Any, real: Any, tool: str, texts: Texts, form: tuple[str, ...]) -> tuple[str, ...]:
    argv = real(tool, texts, form)
    if sum(len(word.encode()) + 1 for word in argv) > ARGUMENT_LIMIT + OTHERS:
        raise Refusal("The arguments are longer than a command line can carry.")
    return argv


def has(*names: str) -> Callable[[str, Texts], bool]:
    return lambda tool, texts: all(name in texts for name in names)


def notes_reply_in_directory(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    port.memory["is_meant"] = tool == "chat-reply" and arguments.get("cwd")


def unless_word_in_directory(port: Any, real: Any, prompt: str) -> bool:
    return real(prompt) and not (port.memory.get("is_meant") and COMMAND_WORD.fullmatch(prompt))


def trimmed(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    texts = real(tool, arguments)
    return {**texts, "prompt": texts["prompt"].rstrip("\n") or texts["prompt"]}


def notes_relative(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    cwd = arguments.get("cwd")
    port.memory["is_relative"] = isinstance(cwd, str) and cwd and not os.path.isabs(cwd)


def number_in_relative(port: Any, real: Any, prompt: str) -> bool:
    return real(prompt) and not (port.memory.get("is_relative") and re.fullmatch(r"[0-9.]+(?:[eE][0-9]+)?", prompt))


def form_sought(port: Any, real: Any, tool: str, texts: Mapping[str, str], form: tuple[str, ...]) -> tuple[str, ...]:
    """Writes the prompt as it is, and looks for it then to write its form."""
    if not form:
        return real(tool, texts, form)
    words = list(real(tool, texts, (texts["prompt"],)))
    words[words.index(texts["prompt"])] = form[0]
    return tuple(words)


defect(
    "long-prompt-ends-line-beside-model",
    "Ends a long prompt with a newline of its own in a reply with a model.",
    "prompt:long",
)(
    ask=asks(
        lambda call, plan: bool(plan.session and plan.stdin and has_model(plan)),
        lambda plan: replace(plan, stdin=f"{plan.stdin}\n"),
    )
)
defect(
    "prompts-at-once-within-limit",
    "Refuses a long prompt when it and those of the calls that run have more than 8 MiB together.",
    "prompt:long",
)(plan=within_limit_at_once)
defect(
    "limit-for-both-texts",
    "Refuses a prompt that is longer than gemini reads only together with its system prompt.",
    "prompt:long",
)(texts=before(limit_for_both))
defect(
    "stdin-block-cuts-surrogate-pair",
    "Writes a long prompt in blocks of 65,536 UTF-16 units, and damages an emoji that lies across the end of one.",
    "prompt:long",
    "prompt:verbatim:unicode",
)(input=in_blocks_of_units)
defect(
    "blank-system-prompt-before-stdin",
    "Writes a blank system prompt before a long prompt.",
    "prompt:long:whole",
    "arguments:empty:system-prompt",
)(ask=blank_before_stdin)
defect("long-prompt-cut-at-4-mib", "Cuts a prompt after four times 1,048,576 characters.", "prompt:long:whole")(
    input=takes(lambda text: text and text[:MOST_CHARACTERS])
)
defect(
    "long-prompts-joined",
    "Answers a call from the run of an equal one that is under way when their prompt goes to stdin.",
    "prompt:long:whole",
    "command:once",
)(ask=joins_long)
defect(
    "over-limit-accepted-beside-directory-and-system-prompt",
    "Passes on a prompt that is longer than gemini reads in a call with a directory and a system prompt.",
    "prompt:over-limit",
)(texts=any_length_in_directory)
defect(
    "over-limit-accepted-in-replies-of-lines",
    "Passes on a prompt of several lines that is longer than gemini reads, in replies.",
    "prompt:over-limit",
)(check_prompt=unread_beyond_chat)
defect(
    "arguments-measured-together",
    "Refuses a prompt of about 128,000 bytes beside another argument.",
    "prompt:verbatim:128000",
)(argv=measured_together)
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
    "newline-of-posted-prompt-lost",
    "Takes newlines off the end of a prompt that comes by a post.",
    "prompt:verbatim:newline",
    "http:equivalence",
)(HttpPort, texts=trimmed)
defect(
    "number-positional-in-relative-directory",
    "Passes a prompt that is a number as it is in a call with a relative directory.",
    "prompt:verbatim:number",
)(texts=before(notes_relative), is_risky=number_in_relative)
defect(
    "hexadecimal-positional-in-named-session-beside-directory",
    "Passes a hexadecimal prompt as it is in a reply by id with a directory.",
    "prompt:verbatim:number",
)(
    ask=asks(
        lambda call, plan: (
            is_named(plan)
            and plan.cwd is not None
            and str(call.arguments["prompt"])[:2].lower() == "0x"
            and RISKY.fullmatch(str(call.arguments["prompt"])) is not None
        ),
        unflagged,
    )
)
defect(
    "quotes-escaped-in-named-session",
    "Escapes the double quotes of a prompt in a reply by id with a model.",
    "prompt:verbatim:quotes",
)(texts=where(has("sessionId", "model"), altered("prompt", lambda text: text.replace('"', '\\"'))))
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
    "prompt-formed-over-an-equal-session",
    "Writes the form of a prompt in the place of a session with the same name.",
    "prompt:verbatim:number",
    "prompt:verbatim:command-word",
)(argv=form_sought)
