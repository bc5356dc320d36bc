"""Answers that are tidied, decoded or stripped: ports that break `result:text`."""

import html
import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from answering import PRIVATE_LENGTH, Answer, Failure
from conditions import replacing
from defects.record import defect
from defects.shared import text
from defects.text.shared import (
    CONTROLS,
    DIRECTIONS,
    IDEOGRAPHIC_SELECTORS,
    NONCHARACTERS,
    PAIR,
    SELECTORS,
    WITHHELD,
    TextChange,
    escapes_read,
    normalized,
    raw,
    straightened,
    without_category,
)
from planning import Plan
from running import Call
from speaking import Message
from steps import Step, before, gives, takes

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
TERMINAL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
LONELY = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])")
RIGHT = re.compile(r'\\.|"|[{}]', re.DOTALL)
NAIVE = re.compile(r'(?<!\\)"|[{}]')
PIPE = 1 << 16
PRIVATE_USE = re.compile("[\ue000-\uf8ff\U000f0000-\U000ffffd]")
TAGS = re.compile("[\U000e0000-\U000e007f]")


def time_of_answer(answer: Answer) -> Answer:
    """As Newtonsoft's Json.NET does, which makes a time of a text that looks like one."""
    if TIME.fullmatch(answer.text):
        with suppress(ValueError):
            time = datetime.fromisoformat(answer.text).astimezone(UTC)
            return replace(answer, text=time.strftime("%Y-%m-%dT%H:%M:%SZ"))
    return answer


def of_answer_text(change: Callable[[str], str]) -> Step:
    """Of `read_json`: another text."""
    return gives(lambda answer: replace(answer, text=change(answer.text)))


def mends_source(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    r"""In JSON a backslash may itself be escaped, as in `\\ud83d`."""
    return real(LONELY.sub(r"\\ufffd", stdout), stderr)


def string_unquoted(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str) else text


ANSWERS: dict[str, tuple[str, str, TextChange]] = {
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


def of_answer(change: TextChange) -> Step:
    return gives(lambda text: change(text) if isinstance(text, str) else text)


def system_withheld(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    if plan.system is None or len(plan.system) < PRIVATE_LENGTH:
        return answer
    return replace(answer, text=answer.text.replace(plan.system, WITHHELD))


def ends(text: str, mark: re.Pattern[str]) -> bool:
    """Whether the first object of the text ends, when these marks are counted."""
    depth, is_quoted = 0, False
    for found in mark.finditer(text, max(0, text.find("{"))):
        if found[0] == '"':
            is_quoted = not is_quoted
        elif found[0] in "{}" and not is_quoted:
            depth += 1 if found[0] == "{" else -1
            if depth == 0:
                return True
    return False


def looks_back_one(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    """Takes a quotation mark behind a backslash for a part of the text, also when the backslash is escaped itself."""
    if ends(stdout, RIGHT) and not ends(stdout, NAIVE):
        raise Failure("gemini ended in the middle of its answer: its JSON is incomplete.", stderr)
    return real(stdout, stderr)


def pairs_of_answer_damaged(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    return real(PAIR.sub(rb"\\ufffd\\ufffd", stdout.encode()).decode(), stderr)


def counted_in_characters(port: Any, real: Any, message: Message) -> None:
    """Goes on behind as many characters as the pipe has taken bytes."""
    text = raw(message)
    try:
        text.encode()
    except UnicodeEncodeError:
        real(message)
        return
    with suppress(BrokenPipeError):
        while text:
            text = text[os.write(1, text.encode()[:PIPE]) :]


def refuses_damaged_answer(port: Any, text: str) -> None:
    if "\ufffd" in text:
        raise Failure("The answer was damaged on its way.", "")


def unicode_lines(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    """Splits an output that begins with a notice at all line ends of Unicode."""
    is_noisy = '"response"' in stdout and not stdout.lstrip().startswith("{")
    return real(re.sub("[\u0085\u2028\u2029]", r"\\n", stdout) if is_noisy else stdout, stderr)


defect("controls-of-answer-lost", "Drops control characters of an answer.", "result:text")(
    success=text(replacing(CONTROLS))
)
defect("nul-ends-answer", "Cuts an answer at its first NUL.", "result:text")(
    success=text(lambda answer: answer.split("\0")[0])
)
defect(
    "times-of-answer-converted",
    "Writes an answer that is a date and a time in the zone of Greenwich.",
    "result:text",
)(read_json=gives(time_of_answer))
defect("entities-of-answer-read", "Reads the entities of HTML in an answer.", "result:text")(
    read_json=of_answer_text(
        lambda text: re.sub("&(?:amp|lt|gt|quot|#39);", lambda found: html.unescape(found[0]), text)
    )
)
defect("colours-of-answer-lost", "Takes the escapes of a terminal out of an answer.", "result:text")(
    read_json=of_answer_text(lambda text: TERMINAL.sub("", text))
)
defect("fences-of-answer-lost", "Takes the fence off an answer that is one block of code.", "result:text")(
    read_json=of_answer_text(lambda text: re.sub(r"\A```\w*\n([\s\S]*)\n```\Z", r"\1", text))
)
defect(
    "surrogate-spelt-out",
    "Takes an escaped backslash before `ud83d` in an answer for half a character.",
    "result:text",
)(read_stdout=mends_source)

for name, (sentence, requirement, change) in ANSWERS.items():
    defect(name, sentence, requirement)(response=of_answer(change))

defect(
    "system-prompt-withheld-from-answer",
    "Withholds a system prompt that an answer quotes.",
    "result:text",
)(ask=system_withheld)
defect(
    "last-backslash-misread",
    "Does not find the end of an answer whose text ends with a backslash.",
    "result:text",
)(read_stdout=looks_back_one)
defect("last-return-of-answer-lost", "Takes a carriage return off the end of an answer.", "result:text:blanks")(
    whole=gives(lambda text: text.removesuffix("\r"))
)
defect("tabs-of-answer-expanded", "Makes blanks of the tabs of an answer.", "result:text:blanks", "result:text")(
    whole=gives(str.expandtabs)
)
defect(
    "surrogates-in-row-joined",
    "Makes one U+FFFD of several lone surrogates in a row.",
    "result:text:surrogate",
)(whole=lambda port, real, text: re.sub("[\ud800-\udfff]+", "\ufffd", text))
defect("answer-composed", "Composes the characters of an answer.", "result:text:unicode")(
    success=text(normalized("NFC"))
)
defect("selectors-of-answer-lost", "Drops variation selectors of an answer.", "result:text:unicode")(
    success=text(replacing(SELECTORS))
)
defect("mark-of-answer-lost", "Drops a byte order mark before an answer.", "result:text:unicode")(
    success=text(lambda answer: answer.removeprefix("\ufeff"))
)
defect("directions-of-answer-lost", "Drops what turns the direction of an answer.", "result:text:unicode")(
    success=text(replacing(DIRECTIONS))
)
defect(
    "next-line-of-answer-is-newline",
    "Makes newlines of U+0085 and U+2028 in an answer.",
    "result:text:unicode",
    "result:text:newline",
)(success=text(replacing("[\x85\u2028\u2029]", "\n")))
defect("noncharacters-of-answer-lost", "Replaces noncharacters of an answer.", "result:text:unicode")(
    success=text(replacing(NONCHARACTERS, "\ufffd"))
)
defect("pairs-of-answer-damaged", "Reads a pair of escapes in gemini's JSON as two characters.", "result:text:unicode")(
    read_stdout=pairs_of_answer_damaged
)
defect(
    "writes-counted-in-characters",
    "Loses characters of a message of more than 64 KiB that is not ASCII.",
    "result:text:unicode",
    "result:large-stdout",
)(write=counted_in_characters)
defect("damaged-answer-refused", "Calls an answer that holds U+FFFD an error.", "result:text:unicode")(
    whole=before(refuses_damaged_answer)
)
defect(
    "ideographic-selectors-of-answer-lost",
    "Drops the selectors of ideographs in an answer.",
    "result:text:unicode",
)(read_json=of_answer_text(lambda text: IDEOGRAPHIC_SELECTORS.sub("", text)))
defect("inner-marks-of-answer-lost", "Drops a byte order mark inside of an answer.", "result:text:unicode")(
    read_json=of_answer_text(lambda text: text[:1] + text[1:].replace("\ufeff", ""))
)
defect("fixed-blanks-of-answer-loosened", "Makes ordinary blanks of U+00A0 in an answer.", "result:text:unicode")(
    read_json=of_answer_text(lambda text: text.replace("\u00a0", " "))
)
defect(
    "private-use-of-answer-lost",
    "Replaces characters for private use of an answer.",
    "result:text:unicode",
)(whole=takes(lambda text: PRIVATE_USE.sub("\ufffd", text)))
defect("tags-of-answer-lost", "Drops tag characters of an answer.", "result:text:unicode")(
    whole=gives(lambda text: TAGS.sub("", text))
)
defect(
    "unicode-line-ends-behind-notice",
    "Makes newlines of U+0085, U+2028 and U+2029 in an answer that stands behind a notice.",
    "result:text:unicode",
)(read_stdout=unicode_lines)
