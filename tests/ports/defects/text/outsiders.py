"""Defects in text that a stranger would look for: rare characters, copies of a prompt, entries of a list, logs."""

import json
import re
import sys
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from answering import PREFIX, STDERR_LIMIT, Answer, Failure, Outcome
from conditions import stdin_changed
from defects.record import defect
from planning import Refusal
from steps import always, for_tool, gives

MEGABYTE = 1024 * 1024
LABEL = re.compile(r"\s+\([^()]*\)$")
LONELY = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])")
NOT_CURRENT = re.compile(r"(?!.*, current\) \[)\s*([0-9]+)\.\s.*\[([^\[\]\s]+)\][^\[\]]*")


def by_megabytes(text: str) -> str:
    """Checks each block for itself, though a character may stand in two."""
    raw = text.encode()
    return "".join(raw[at : at + MEGABYTE].decode("utf-8", "replace") for at in range(0, len(raw), MEGABYTE))


def cwd_of_url(port: Any, real: Any, tool: str, texts: dict[str, str]) -> str | None:
    return real(tool, {**texts, "cwd": unquote(texts["cwd"])} if "cwd" in texts else texts)


def shows_nul(port: Any, real: Any, name: str, text: str) -> None:
    if name == "systemPrompt" and "\0" in text:
        raise Refusal(f"`{name}` holds a NUL character, which no command line can carry: {json.dumps(text)}")
    real(name, text)


def mends_source(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    r"""In JSON a backslash may itself be escaped, as in `\\ud83d`."""
    return real(LONELY.sub(r"\\ufffd", stdout), stderr)


def says_at_once(port: Any, real: Any, outcome: Outcome) -> Answer:
    try:
        return real(outcome)
    except Failure as failure:
        if outcome.exit == 0 or not failure.said or port.said(failure.stderr):
            raise
        raise replace(failure, sentence=f"{failure.sentence} Gemini CLI says: {failure.said}", said=None) from None


def withholds_what_fits(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return real(text, tuple(secret for secret in private if len(secret) <= STDERR_LIMIT))


def logs_what_breaks_off(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    try:
        return real(stdout, stderr)
    except Failure as failure:
        if "incomplete" in failure.sentence:
            print(f"{PREFIX}JSON expected: {stdout}", file=sys.stderr, flush=True)
        raise


defect(
    "megabyte-divides-character",
    "Replaces a character on stdin that begins before the end of a megabyte and ends behind it.",
    "prompt:long",
    "prompt:verbatim:unicode",
)(prompt_form=stdin_changed(by_megabytes))
defect(
    "nul-shown-in-its-text",
    "Shows a system prompt with a NUL when it refuses it.",
    "error:prompt",
)(check_characters=shows_nul)
defect(
    "percent-in-reply-path",
    "Decodes percent signs in the path in which a reply runs.",
    "cwd:chat-reply",
    "cwd:used",
)(cwd=for_tool("chat-reply", cwd_of_url))
defect(
    "label-behind-model",
    "Drops what stands in parentheses at the end of the model of a reply.",
    "command:chat-reply:model",
)(model_option=for_tool("chat-reply", gives(lambda words: tuple(LABEL.sub("", word) for word in words))))
defect(
    "surrogate-spelt-out",
    "Takes an escaped backslash before `ud83d` in an answer for half a character.",
    "result:text",
)(read_stdout=mends_source)
defect(
    "message-of-failed-stdout-raw",
    "Repeats the message of a JSON error on stdout as it stands when gemini also fails with an exit code.",
    "error:prompt",
    "error:secrets",
)(read=says_at_once)
defect(
    "longer-than-shown-stays",
    "Removes no prompt from stderr that is longer than the part of it that is shown.",
    "error:prompt",
)(withheld=withholds_what_fits)
defect(
    "current-session-not-listed",
    "Passes over the entry of a list that is marked as the current one.",
    "fallback:last",
    "fallback:list-sessions",
    "fallback:latest",
)(entry_pattern=always(NOT_CURRENT))
defect(
    "broken-json-in-log",
    "Writes what there is of an answer that breaks off to its own stderr.",
    "stdio:stderr:private",
)(read_stdout=logs_what_breaks_off)
