"""Defects in what becomes of the words of an argument: dropped, cut, or taken for something else."""

import os
import re
from collections.abc import Mapping
from typing import Any

from defects.record import defect
from planning import Refusal
from steps import Change, Step, gives

SNAKE = {"system_prompt": "systemPrompt", "session_id": "sessionId"}
FLAG = "--prompt="


def flagged(change: Change) -> Step:
    """Of `prompt_form`: changes a prompt that follows `--prompt=`."""

    def form(port: Any, real: Any, prompt: str) -> tuple[tuple[str, ...], str | None]:
        words, stdin = real(prompt)
        return tuple(FLAG + change(word.removeprefix(FLAG)) if word.startswith(FLAG) else word for word in words), stdin

    return form


def overlooks(pattern: str) -> Step:
    """Of `is_risky`: takes a prompt that fits for an ordinary one."""
    fits = re.compile(pattern).fullmatch
    return lambda port, real, prompt: real(prompt) and not fits(prompt)


def refuses_line_ends(port: Any, real: Any, tool: str, prompt: str) -> None:
    if not prompt.strip("\r\n"):
        raise Refusal("`prompt` is empty, but should be the text for Gemini.")
    real(tool, prompt)


def unless_like_prompt(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    return None if texts.get("systemPrompt") == texts["prompt"] else real(tool, texts)


def automatic(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    return () if texts.get("model") == "auto" else real(tool, texts)


def refuses_slash_at_end(port: Any, real: Any, cwd: str) -> None:
    if len(cwd) > 1 and cwd.endswith("/"):
        raise Refusal(f"`cwd` {cwd!r} does not exist.")
    real(cwd)


def changed_directory(change: Change) -> Step:
    """Of `cwd`: looks for another directory."""
    return lambda port, real, tool, texts: real(
        tool, {**texts, "cwd": change(texts["cwd"])} if "cwd" in texts else texts
    )


def also_absent(other: str) -> Step:
    """Of `is_absent`: takes this argument for absent when it is blank."""
    return lambda port, real, name, text: real(name, text) or (name == other and not text.strip())


def from_snake_case(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    return real(tool, {**{SNAKE[name]: value for name, value in arguments.items() if name in SNAKE}, **arguments})


def empty_list_absent(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    return "" if value == [] and name != "prompt" else real(tool, name, value)


def text_of_object(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    return real(
        tool, name, value["text"] if name == "prompt" and isinstance(value, dict) and "text" in value else value
    )


def with_content(port: Any, real: Any, prompt: str) -> tuple[tuple[str, ...], str | None]:
    path = prompt.removeprefix("@")
    if path == prompt or not os.path.isfile(path):
        return real(prompt)
    with open(path, encoding="utf-8", errors="replace") as file:
        return real(file.read())


defect("equal-words-once", "Passes no word twice on the command line.", "command:chat", "command:chat:model")(
    argv=gives(lambda words: tuple(dict.fromkeys(words)))
)
defect(
    "flagged-prompt-cut-at-equals",
    "Cuts a prompt that follows `--prompt=` at an equals sign of its own.",
    "prompt:verbatim:dash",
)(prompt_form=flagged(lambda prompt: prompt.split("=")[0]))
defect(
    "flagged-prompt-trimmed",
    "Takes blanks off the end of a prompt that follows `--prompt=`.",
    "prompt:verbatim:dash",
    "prompt:verbatim:blanks",
)(prompt_form=flagged(str.rstrip))
defect(
    "flagged-prompt-in-one-line",
    "Makes blanks of the newlines of a prompt that follows `--prompt=`.",
    "prompt:verbatim:dash",
    "prompt:verbatim:newline",
)(prompt_form=flagged(lambda prompt: prompt.replace("\n", " ")))
defect("double-dash-positional", "Passes the prompt `--` as it is.", "prompt:verbatim:dash")(is_risky=overlooks("--"))
defect("first-point-overlooked", "Takes a number that begins with a point for a word.", "prompt:verbatim:number")(
    is_risky=overlooks(r"\.[0-9]+")
)
defect("signed-exponents-overlooked", "Takes a number like `1e-3` for a word.", "prompt:verbatim:number")(
    is_risky=overlooks(r"[0-9.]+[eE][-+][0-9]+")
)
defect("capital-hexadecimal-positional", "Passes a prompt like `0X1F` as it is.", "prompt:verbatim:number")(
    is_risky=overlooks(r"0X[0-9a-fA-F]+")
)
defect("prompt-of-line-ends-refused", "Refuses a prompt that is nothing but line ends.", "prompt:verbatim:blanks")(
    check_prompt=refuses_line_ends
)
defect(
    "system-prompt-like-prompt-lost",
    "Hands no system prompt over that is the same text as the prompt.",
    "system:content",
)(system=unless_like_prompt)
defect("model-auto-dropped", "Passes no model that is called `auto`.", "command:chat:model")(model_option=automatic)
defect(
    "session-by-its-last-part",
    "Resumes what follows the last slash in the id of a session.",
    "command:chat-reply:session-id",
)(resumed=gives(lambda session: session.rsplit("/", 1)[-1] or session))
defect("session-ends-at-number-sign", "Cuts the id of a session at `#`.", "command:chat-reply:session-id")(
    resumed=gives(lambda session: session.split("#")[0])
)
defect(
    "session-in-brackets-bared",
    "Takes the brackets off the id of a session, as the list writes it.",
    "command:chat-reply:session-id",
)(resumed=gives(lambda session: session.strip("[]")))
defect("directory-with-slash-refused", "Refuses a directory whose path ends in a slash.", "cwd:used")(
    check_cwd=refuses_slash_at_end
)
defect("directory-in-quotes-bared", "Takes the quotes off the path of a directory.", "cwd:used")(
    cwd=changed_directory(lambda cwd: cwd.strip("'\""))
)
defect("directory-ends-at-colon", "Cuts the path of a directory at a colon.", "cwd:used")(
    cwd=changed_directory(lambda cwd: cwd.split(":")[0])
)
defect("blank-directory-is-absent", "Takes a directory of blanks for an absent one.", "cwd:missing")(
    is_absent=also_absent("cwd")
)
defect(
    "blank-session-is-latest",
    "Resumes the latest session when the id is of blanks.",
    "command:chat-reply:session-id",
)(is_absent=also_absent("sessionId"))
defect("arguments-in-snake-case", "Reads `system_prompt` and `session_id` as well.", "arguments:unknown")(
    texts=from_snake_case
)
defect(
    "empty-lists-absent", "Takes an optional argument that is an empty array for absent.", "arguments:optional:type"
)(text=empty_list_absent)
defect("prompt-in-object-taken", "Takes the `text` of a prompt that is an object.", "arguments:prompt:type")(
    text=text_of_object
)
defect(
    "files-of-prompts-read", "Sends the content of the file that a prompt names behind `@`.", "prompt:verbatim:at-sign"
)(prompt_form=with_content)
