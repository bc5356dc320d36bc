"""Defects that set a text as a printer would, or that damage what is usual in one place only."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import replacing
from defects.record import defect
from defects.size.thresholds import with_token
from defects.text.characters import in_answer_session, in_directory, in_model, in_session, in_system_prompt
from defects.text.spellings import of_answer, of_prompt, of_stderr
from planning import Refusal
from speaking import Message
from steps import Step, before, gives, takes

BEYOND = "[\U00010000-\U0010ffff]"
ANSI = "\x1b\\[[0-9;]*[A-Za-z]"


def refuses_damaged(port: Any, name: str, text: str) -> None:
    if name == "prompt" and "\ufffd" in text:
        raise Refusal("`prompt` was damaged on its way.")


def refuses_damaged_answer(port: Any, text: str) -> None:
    if "\ufffd" in text:
        raise Failure("The answer was damaged on its way.", "")


def apostrophe_refused(port: Any, cwd: str) -> None:
    if "'" in cwd:
        raise Refusal(f"`cwd` {cwd!r} holds a quote.")


def of_warnings(change: Callable[[str], str]) -> Step:
    def changed(answer: Answer) -> Answer:
        warnings: list[Any] = answer.warnings or []
        changed = [change(each) if isinstance(each, str) else each for each in warnings]
        return replace(answer, warnings=changed or answer.warnings)

    return takes(changed)


def listed_in_lower_case(entry: tuple[int, str]) -> tuple[int, str]:
    return entry[0], entry[1].lower()


def latin(raw: bytes) -> str:
    """Reads all of it as Latin-1 when it is no UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def stderr_as_latin(port: Any, real: Any, outcome: Outcome) -> Answer:
    return real(replace(outcome, stderr=latin(outcome.stderr).encode()))


def stdout_as_latin(port: Any, real: Any, outcome: Outcome) -> Answer:
    return real(replace(outcome, stdout=latin(outcome.stdout).encode()))


def first_line(message: str | None) -> str | None:
    return message and message.split("\n", 1)[0]


def ended_with_newline(text: str) -> str:
    """As an editor does."""
    return text if "\n" not in text or text.endswith("\n") else f"{text}\n"


def bold_lost(text: str) -> str:
    return re.sub(r"\*\*([^*]+)\*\*", r"\1", text)


def id_without_controls(port: Any, real: Any, message: Message) -> bytes:
    identity = message.get("id")
    if isinstance(identity, str):
        message = {**message, "id": re.sub("[\x00-\x1f]", "", identity)}
    return real(message)


def environment_filled(port: Any, real: Any, text: str) -> bytes:
    return real(re.sub(r"\$\{?([A-Z_]+)\}?", lambda name: os.environ.get(name[1], name[0]), text))


def answer_by_name(names: Mapping[str, tuple[str, str, Callable[[str], str]]]) -> None:
    for name, (sentence, requirement, change) in names.items():
        defect(name, sentence, requirement)(whole=of_answer(change))


answer_by_name(
    {
        "three-points-of-answer-joined": (
            "Makes an ellipsis of three points in an answer.",
            "result:text",
            replacing(r"\.\.\.", "…"),
        ),
        "bold-of-answer-lost": ("Takes the asterisks off bold words of an answer.", "result:text", bold_lost),
        "two-hyphens-of-answer-joined": (
            "Makes a dash of two hyphens in an answer.",
            "result:text",
            replacing(r"(?<!-)--(?!-)", "–"),
        ),
        "copyright-of-answer-set": ("Makes © of (c) in an answer.", "result:text", replacing(r"\((c|C)\)", "©")),
        "links-of-answer-shortened": (
            "Keeps the words of a link in an answer and drops its address.",
            "result:text",
            replacing(r"\[([^\]]+)\]\([^)]*\)", r"\1"),
        ),
    }
)
defect("damaged-prompt-refused", "Refuses a prompt that holds U+FFFD.", "prompt:verbatim:unicode")(
    check_characters=before(refuses_damaged)
)
defect("damaged-answer-refused", "Calls an answer that holds U+FFFD an error.", "result:text:unicode")(
    whole=before(refuses_damaged_answer)
)
defect("comments-of-prompt-lost", "Takes lines of a prompt that begin with `#` for comments.", "command:chat")(
    prompt_form=of_prompt(replacing(r"(?m)^#.*\n?"))
)
defect(
    "exclamations-of-prompt-escaped",
    "Puts a backslash before each exclamation mark of a prompt.",
    "command:chat",
)(prompt_form=of_prompt(replacing("!", r"\\!")))
defect(
    "last-backslash-of-prompt-lost",
    "Takes a backslash at the end of a prompt for a line that goes on.",
    "prompt:verbatim:quotes",
)(prompt_form=of_prompt(replacing(r"\\\Z")))
defect("percent-names-filled", "Replaces `%NAME%` in a prompt by a variable.", "command:chat")(
    prompt_form=of_prompt(replacing(r"%\w+%"))
)
defect(
    "first-tilde-of-prompt-filled",
    "Puts the home directory in the place of a tilde that begins a prompt.",
    "command:chat",
)(prompt_form=of_prompt(replacing(r"\A~(?=/|\Z)", "/root")))
defect("variables-of-system-prompt-filled", "Replaces variables in a system prompt.", "system:content")(
    system_bytes=environment_filled
)
defect(
    "lines-of-system-prompt-ended",
    "Ends a system prompt of several lines with a newline.",
    "system:content",
)(system_bytes=in_system_prompt(ended_with_newline))
defect("emoji-of-stderr-replaced", "Replaces characters of stderr beyond the basic plane.", "error:stderr")(
    read=of_stderr(replacing(BEYOND, "?"))
)
defect("emoji-of-warnings-replaced", "Replaces characters of warnings beyond the basic plane.", "result:warnings")(
    success=of_warnings(replacing(BEYOND, "?"))
)
defect("controls-of-warnings-lost", "Drops line ends and tabs of warnings.", "result:warnings")(
    success=of_warnings(replacing("[\n\r\t]", " "))
)
defect("emoji-of-directory-lost", "Drops characters of a directory beyond the basic plane.", "cwd:used")(
    texts=in_directory(replacing(BEYOND))
)
defect("apostrophe-of-directory-refused", "Refuses a directory with an apostrophe.", "cwd:used")(
    check_cwd=before(apostrophe_refused)
)
defect("slashes-begin-comment", "Cuts a directory at two slashes.", "cwd:used")(
    texts=in_directory(replacing("(?<=.)//.*"))
)
defect("emoji-of-token-lost", "Replaces characters of a progress token beyond the basic plane.", "progress:token")(
    progress=with_token(lambda token: re.sub(BEYOND, "?", token) if isinstance(token, str) else token)
)
defect("controls-of-ids-lost", "Drops control characters of an id.", "rpc:response:id")(encoded=id_without_controls)
defect(
    "colours-of-plain-text-lost",
    "Takes the escapes of a terminal out of a text without JSON.",
    "result:plain-text",
)(plain_text=takes(replacing(ANSI)))
defect("said-in-one-line", "Cuts what gemini says of its failure at its first line.", "error:json-on-stderr")(
    message=gives(first_line)
)
defect("listed-in-lower-case", "Takes the id of a list in lower case.", "fallback:brackets")(
    newest_entry=gives(listed_in_lower_case)
)
defect("stderr-read-as-latin", "Reads all of a stderr that is not UTF-8 as Latin-1.", "error:stderr")(
    read=stderr_as_latin
)
defect("stdout-read-as-latin", "Reads all of a stdout that is not UTF-8 as Latin-1.", "result:json:encoding")(
    read=stdout_as_latin
)
defect("session-cut-at-colon", "Cuts the id of a session at a colon.", "command:chat-reply:session-id")(
    ask=in_session(replacing("(?<=.):.*"))
)
defect(
    "session-cut-at-ampersand",
    "Cuts the id of a session at an ampersand or a question mark.",
    "command:chat-reply:session-id",
)(ask=in_session(replacing("(?<=.)[&?].*")))
defect("model-cut-at-equals", "Cuts a model at an equals sign.", "command:chat:model")(
    ask=in_model(replacing("(?<=.)=.*"))
)
defect(
    "session-of-answer-cut-at-point",
    "Cuts the session that gemini names at a point or a slash.",
    "result:session-id",
)(success=in_answer_session(replacing("(?<=.)[./].*")))
