"""Defects in single characters that look harmless: what nobody sees, or what means something to a URL."""

import base64
import html
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from answering import Answer
from conditions import altering, asks
from defects.record import defect
from steps import Step, gives, takes

TERMINAL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
SELECTORS = re.compile("[\U000e0100-\U000e01ef]")


def of_prompt(change: Callable[[str], str]) -> Step:
    """Of `prompt_form`: another prompt."""
    return takes(change)


def of_answer(change: Callable[[str], str]) -> Step:
    """Of `read_json`: another text."""
    return gives(lambda answer: replace(answer, text=change(answer.text)))


def of_stderr(change: Callable[[str], str]) -> Step:
    return takes(change)


def option(name: str, change: Callable[[str], str]) -> Step:
    return asks(lambda call, plan: True, altering(name, change))


def backspaced(text: str) -> str:
    while "\b" in text[1:]:
        text = re.sub("[^\b]\b", "", text, count=1) if re.search("[^\b]\b", text) else text.replace("\b", "")
    return text


def of_directory(change: Callable[[str], str]) -> Step:
    """Of `cwd`: another path."""

    def cwd(port: Any, real: Any, tool: str, texts: Any) -> str | None:
        return real(tool, {**texts, "cwd": change(texts["cwd"])} if "cwd" in texts else texts)

    return cwd


def entities_of_session(answer: Answer) -> Answer:
    return replace(answer, session=html.escape(answer.session) if answer.session else None)


def padded(text: str) -> str:
    """Decodes base64 where a text looks like it."""
    if re.fullmatch(r"(?:[A-Za-z0-9+/]{4}){4,}", text):
        try:
            return base64.b64decode(text, validate=True).decode("utf-8")
        except ValueError:
            return text
    return text


defect("soft-hyphens-of-prompt-lost", "Drops soft hyphens of a prompt.", "prompt:verbatim:unicode")(
    prompt_form=of_prompt(lambda text: text.replace("\u00ad", ""))
)
defect(
    "ideographic-selectors-of-answer-lost",
    "Drops the selectors of ideographs in an answer.",
    "result:text:unicode",
)(read_json=of_answer(lambda text: SELECTORS.sub("", text)))
defect(
    "ideographic-selectors-of-prompt-lost",
    "Drops the selectors of ideographs in a prompt.",
    "prompt:verbatim:unicode",
)(prompt_form=of_prompt(lambda text: SELECTORS.sub("", text)))
defect("inner-marks-of-answer-lost", "Drops a byte order mark inside of an answer.", "result:text:unicode")(
    read_json=of_answer(lambda text: text[:1] + text[1:].replace("\ufeff", ""))
)
defect("inner-marks-of-prompt-lost", "Drops a byte order mark inside of a prompt.", "prompt:verbatim:unicode")(
    prompt_form=of_prompt(lambda text: text[:1] + text[1:].replace("\ufeff", ""))
)
defect("fixed-blanks-of-answer-loosened", "Makes ordinary blanks of U+00A0 in an answer.", "result:text:unicode")(
    read_json=of_answer(lambda text: text.replace("\u00a0", " "))
)
defect("backspaces-of-stderr-obeyed", "Takes away what a backspace in stderr takes away.", "error:stderr")(
    tail=of_stderr(backspaced)
)
defect("separators-of-stderr-are-newlines", "Makes newlines of U+0085, U+2028 and U+2029 in stderr.", "error:stderr")(
    tail=of_stderr(lambda text: re.sub("[\u0085\u2028\u2029]", "\n", text))
)
defect("c1-controls-of-stderr-lost", "Drops control characters of the second block in stderr.", "error:stderr")(
    tail=of_stderr(lambda text: re.sub("[\u0080-\u009f]", "", text))
)
defect("tabs-of-stderr-expanded", "Makes blanks of the tabs of stderr.", "error:stderr")(
    tail=of_stderr(lambda text: text.replace("\t", "    "))
)
defect("lone-returns-of-system-prompt-lost", "Makes newlines of lone returns in a system prompt.", "system:content")(
    system_bytes=takes(lambda text: re.sub("\r(?!\n)", "\n", text))
)
defect("noncharacters-of-system-prompt-lost", "Replaces noncharacters of a system prompt.", "system:content")(
    system_bytes=takes(lambda text: re.sub("[\ufdd0-\ufdef\ufffe\uffff\U0001fffe\U0001ffff]", "\ufffd", text))
)
defect("joiners-of-system-prompt-lost", "Drops joiners of a system prompt.", "system:content")(
    system_bytes=takes(lambda text: re.sub("[\u200c\u200d\u2060]", "", text))
)
defect("plus-of-session-is-blank", "Reads a plus in the id of a session as a blank.", "command:chat-reply:session-id")(
    ask=option("-r", lambda id: id.replace("+", " "))
)
defect("session-with-equals-cut", "Cuts the id of a session at an equals sign.", "command:chat-reply:session-id")(
    ask=option("-r", lambda id: id.split("=")[0] or id)
)
defect("session-in-base64-decoded", "Decodes a session id that looks like base64.", "command:chat-reply:session-id")(
    ask=option("-r", padded)
)
defect("model-ends-at-colon", "Cuts a model at a colon.", "command:chat:model")(
    ask=option("-m", lambda model: model.split(":")[0] or model)
)
defect("model-ends-at-at-sign", "Cuts a model at an at sign.", "command:chat:model")(
    ask=option("-m", lambda model: model.split("@")[0] or model)
)
defect("first-of-models-taken", "Passes the first of several models between commas.", "command:chat:model")(
    ask=option("-m", lambda model: model.split(",")[0] or model)
)
defect("model-in-quotes-bared", "Takes the quotes off a model.", "command:chat:model")(
    ask=option("-m", lambda model: model.strip("\"'") or model)
)
defect("directory-ends-at-question-mark", "Cuts a directory at a question mark or a number sign.", "cwd:used")(
    cwd=of_directory(lambda path: re.split("[?#]", path)[0] or path)
)
defect("blank-before-directory-lost", "Takes blanks off the beginning of a directory.", "cwd:relative")(
    cwd=of_directory(lambda path: path.lstrip(" ") or path)
)
defect("percents-of-directory-escaped", "Looks for a directory with its percent signs escaped.", "cwd:used")(
    cwd=of_directory(lambda path: path.replace("%", "%25"))
)
defect("entities-of-answer-read", "Reads the entities of HTML in an answer.", "result:text")(
    read_json=of_answer(lambda text: re.sub("&(?:amp|lt|gt|quot|#39);", lambda found: html.unescape(found[0]), text))
)
defect("colours-of-answer-lost", "Takes the escapes of a terminal out of an answer.", "result:text")(
    read_json=of_answer(lambda text: TERMINAL.sub("", text))
)
defect("fences-of-answer-lost", "Takes the fence off an answer that is one block of code.", "result:text")(
    read_json=of_answer(lambda text: re.sub(r"\A```\w*\n([\s\S]*)\n```\Z", r"\1", text))
)
defect("entities-in-session-of-answer", "Escapes for HTML the session that it names.", "result:session-id")(
    success=takes(entities_of_session)
)
