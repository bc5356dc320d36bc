"""Defects that tidy a text: typography, Markdown, escapes, emoji, and what looks like a notation of its own."""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from html import escape, unescape
from typing import Any
from urllib.parse import unquote

from answering import Answer, Outcome
from conditions import replacing
from defects.record import defect
from planning import Plan, Refusal
from steps import Step, before, gives, takes

Change = Callable[[str], str]

STRAIGHT = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "…": "..."})
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def of_prompt(change: Change) -> Step:
    return lambda port, real, prompt: real(change(prompt) or prompt)


def of_answer(change: Change) -> Step:
    return gives(lambda text: change(text) if isinstance(text, str) else text)


def of_stderr(change: Change) -> Step:
    def read(port: Any, real: Any, outcome: Outcome) -> Answer:
        text = outcome.stderr.decode("utf-8", "surrogateescape")
        return real(replace(outcome, stderr=change(text).encode("utf-8", "surrogateescape")))

    return read


def without_category(*categories: str) -> Change:
    return lambda text: "".join(each for each in text if unicodedata.category(each) not in categories)


def straightened(text: str) -> str:
    return text.translate(STRAIGHT)


def escapes_read(text: str) -> str:
    return re.sub(r"\\([ntr])", lambda found: ESCAPES[found[1]], text)


def digits_westernised(text: str) -> str:
    return "".join(str(unicodedata.decimal(each)) if unicodedata.category(each) == "Nd" else each for each in text)


def string_unquoted(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str) else text


def prompt_filled(port: Any, real: Any, call: Any, plan: Plan) -> Any:
    prompt = call.arguments["prompt"]
    system = plan.system and plan.system.replace("{prompt}", prompt).replace("{{prompt}}", prompt)
    return real(call, replace(plan, system=system))


def refuses_dash(port: Any, cwd: str) -> None:
    if cwd.startswith("-"):
        raise Refusal(f"`cwd` {cwd!r} starts with `-`.")


def session_of_nothing_latest(port: Any, real: Any, texts: Mapping[str, str]) -> str:
    session = real(texts)
    return session if re.sub("[\u200b-\u200f\u2060\ufeff]", "", session) else "latest"


def of_directory(change: Change) -> Step:
    return gives(lambda cwd: change(cwd) if cwd else cwd)


def of_session(change: Change) -> Step:
    return gives(lambda session: change(session) or session)


def of_model(change: Change) -> Step:
    return gives(lambda option: (option[0], change(option[1])) if option else option)


def without_surrogates_in_session(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    session = arguments.get("sessionId")
    if isinstance(session, str):
        arguments = {**arguments, "sessionId": re.sub("[\ud800-\udfff]", "\ufffd", session)}
    return real(tool, arguments)


ANSWERS: dict[str, tuple[str, str, Change]] = {
    "lone-returns-of-answer-lost": (
        "Makes newlines of the lone returns of an answer.",
        "result:text:newline",
        replacing("\r(?!\n)", "\n"),
    ),
    "typography-of-answer-straightened": (
        "Makes ASCII of the quotes and dashes of an answer.",
        "result:text:unicode",
        straightened,
    ),
    "skin-tones-of-answer-lost": (
        "Drops the skin tones of an answer.",
        "result:text:unicode",
        replacing("[\U0001f3fb-\U0001f3ff]"),
    ),
    "spacing-marks-of-answer-lost": (
        "Drops the marks of an answer that take room, as in Devanagari.",
        "result:text:unicode",
        without_category("Mc"),
    ),
    "escapes-of-answer-read": ("Reads a backslash and an n as a newline.", "result:text", escapes_read),
    "line-ends-of-answer-trimmed": (
        "Takes blanks off the ends of the lines of an answer.",
        "result:text:blanks",
        replacing("[ \t]+(?=\n)"),
    ),
    "blank-lines-of-answer-joined": (
        "Makes one blank line of several in an answer.",
        "result:text:newline",
        replacing("\n{3,}", "\n\n"),
    ),
    "thoughts-of-answer-lost": (
        "Drops what stands between `<think>` and its end.",
        "result:text",
        replacing("(?s)<think>.*?</think>\\s*"),
    ),
    "tags-of-html-lost": ("Drops the tags of HTML in an answer.", "result:text", replacing("</?[a-z][^<>]*>")),
    "quoted-answer-unquoted": (
        "Reads an answer that is a text in JSON.",
        "result:text:json",
        string_unquoted,
    ),
    "bullets-of-answer-unified": ("Writes every bullet as a dash.", "result:text", replacing(r"(?m)^\* ", "- ")),
}
PROMPTS: dict[str, tuple[str, str, Change]] = {
    "form-feeds-of-prompt-are-newlines": (
        "Makes newlines of form feeds and vertical tabs.",
        "command:chat",
        replacing("[\x0b\x0c]", "\n"),
    ),
    "colours-of-prompt-lost": (
        "Takes the escapes of a terminal out of a prompt.",
        "command:chat",
        replacing("\x1b\\[[0-9;]*m"),
    ),
    "typography-of-prompt-straightened": (
        "Makes ASCII of the quotes and dashes of a prompt.",
        "prompt:verbatim:unicode",
        straightened,
    ),
    "flags-of-prompt-lost": (
        "Drops the letters of which flags are made.",
        "prompt:verbatim:unicode",
        replacing("[\U0001f1e6-\U0001f1ff]"),
    ),
    "enclosing-marks-of-prompt-lost": (
        "Drops enclosing marks of a prompt.",
        "prompt:verbatim:unicode",
        without_category("Me"),
    ),
    "digits-of-prompt-westernised": (
        "Makes ASCII of the digits of other scripts.",
        "prompt:verbatim:unicode",
        digits_westernised,
    ),
    "escapes-of-prompt-read": (
        "Reads a backslash and an n in a prompt as a newline.",
        "prompt:verbatim:quotes",
        escapes_read,
    ),
    "percents-of-prompt-read": ("Reads %20 in a prompt as a blank.", "command:chat", unquote),
    "entities-of-prompt-read": ("Reads the entities of HTML in a prompt.", "command:chat", unescape),
    "blank-lines-of-prompt-joined": (
        "Makes one blank line of several in a prompt.",
        "prompt:verbatim:newline",
        replacing("\n{3,}", "\n\n"),
    ),
    "blanks-of-prompt-joined": (
        "Makes one blank of several within a prompt.",
        "prompt:verbatim:blanks",
        replacing("(?<=\\S)  +(?=\\S)", " "),
    ),
}
SYSTEM_PROMPTS: dict[str, tuple[str, Change]] = {
    "colours-of-system-prompt-lost": (
        "Takes the escapes of a terminal out of a system prompt.",
        replacing("\x1b\\[[0-9;]*m"),
    ),
    "escapes-of-system-prompt-read": ("Reads a backslash and an n in a system prompt as a newline.", escapes_read),
    "entities-in-system-prompt": ("Escapes a system prompt for HTML.", lambda text: escape(text, quote=False)),
    "headings-of-system-prompt-lost": (
        "Takes lines of a system prompt that begin with `#` for comments.",
        replacing("(?m)^#.*\n?"),
    ),
    "front-matter-of-system-prompt-lost": (
        "Takes what stands between two lines of dashes off the beginning of a system prompt.",
        replacing("(?s)\\A---\n.*?\n---\n"),
    ),
    "line-ends-of-system-prompt-trimmed": (
        "Takes blanks off the ends of the lines of a system prompt.",
        replacing("[ \t]+(?=\n)"),
    ),
    "tabs-of-system-prompt-expanded": ("Makes blanks of the tabs of a system prompt.", replacing("\t", "    ")),
}

for name, (sentence, requirement, change) in ANSWERS.items():
    defect(name, sentence, requirement)(response=of_answer(change))
for name, (sentence, requirement, change) in PROMPTS.items():
    defect(name, sentence, requirement)(prompt_form=of_prompt(change))
for name, (sentence, change) in SYSTEM_PROMPTS.items():
    defect(name, sentence, "system:content")(system_bytes=takes(change))
defect("prompt-filled-into-system-prompt", "Fills the prompt into a system prompt with `{prompt}`.", "system:content")(
    run_prompt=prompt_filled
)
defect("directory-like-option-refused", "Refuses a directory that begins with a dash.", "cwd:relative")(
    check_cwd=before(refuses_dash)
)
defect("directory-ends-at-semicolon", "Cuts a directory at a semicolon or a comma.", "cwd:used")(
    cwd=of_directory(replacing("(?s)[;,].*"))
)
defect("invisibles-of-directory-lost", "Drops joiners, selectors and tags of a directory.", "cwd:used")(
    cwd=of_directory(without_category("Cf"))
)
defect("invisibles-of-session-lost", "Drops joiners and marks of a session.", "command:chat-reply:session-id")(
    resumed=of_session(without_category("Cf"))
)
defect(
    "session-without-width-is-latest",
    "Resumes the latest session when the id is of characters without width.",
    "command:chat-reply:session-id",
)(resumed=session_of_nothing_latest)
defect("session-ends-at-comma", "Cuts a session at a comma or a semicolon.", "command:chat-reply:session-id")(
    resumed=of_session(replacing("[;,].*"))
)
defect("backslashes-of-session-turned", "Makes slashes of backslashes in a session.", "command:chat-reply:session-id")(
    resumed=of_session(replacing(r"\\", "/"))
)
defect("spaces-of-model-are-dashes", "Makes dashes of the blanks in a model.", "command:chat:model")(
    model_option=of_model(replacing("(?<=\\S) +(?=\\S)", "-"))
)
defect("date-of-model-lost", "Takes a date off the end of a model.", "command:chat-reply:model")(
    model_option=of_model(replacing("-[0-9]{2}-[0-9]{4}$"))
)
defect("surrogates-of-session-replaced", "Replaces lone surrogates in a session.", "arguments:surrogate")(
    texts=without_surrogates_in_session
)
defect("typography-of-stderr-straightened", "Makes ASCII of the quotes of stderr.", "error:stderr")(
    read=of_stderr(straightened)
)
defect("line-ends-of-stderr-trimmed", "Takes blanks off the ends of the lines of stderr.", "error:stderr")(
    read=of_stderr(replacing("[ \t]+(?=\n)"))
)
defect("repeated-lines-of-stderr-joined", "Shows equal lines of stderr once.", "error:stderr")(
    read=of_stderr(replacing("(?m)^(.+\n)\\1+", "\\1"))
)
