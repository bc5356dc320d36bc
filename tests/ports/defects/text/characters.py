"""Defects that damage one kind of character in one place."""

import os
import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from answering import Answer
from conditions import altering, asks, replacing
from defects.answer.answers import text
from defects.record import defect
from defects.size.thresholds import with_id, with_token
from planning import Plan
from steps import Change, Step, gives, takes

JOINERS, SELECTORS, TAGS = "[\u200b-\u200d\u2060]", "[\ufe00-\ufe0f\U000e0100-\U000e01ef]", "[\U000e0000-\U000e007f]"
DIRECTIONS, PRIVATE = "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", "[\ue000-\uf8ff]"
NONCHARACTERS, CONTROLS = "[\ufdd0-\ufdef\ufffe\uffff]", "[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]"
ANSI = "\x1b\\[[0-9;]*[A-Za-z]"
PAIR = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


def normalized(form: Any) -> Callable[[str], str]:
    return lambda text: unicodedata.normalize(form, text)


def on_argv(change: Callable[[str], str]) -> Step:
    """Alters prompts on the command line."""
    return gives(lambda form: (tuple(map(change, form[0])), form[1]))


def on_stdin(change: Callable[[str], str]) -> Step:
    """Alters prompts on stdin."""
    return gives(lambda form: (form[0], form[1] and change(form[1])))


def in_replies(change: Callable[[str], str]) -> Step:
    """Alters the prompts of replies, however they travel."""

    def changed(plan: Plan) -> Plan:
        argv = tuple(word if number < 3 else change(word) for number, word in enumerate(plan.argv))
        return replace(plan, argv=argv, stdin=plan.stdin and change(plan.stdin))

    return asks(lambda call, plan: plan.session is not None, changed)


def in_system_prompt(change: Callable[[str], str]) -> Step:
    return takes(change)


def in_model(change: Callable[[str], str]) -> Step:
    return asks(lambda call, plan: True, altering("-m", change))


def in_session(change: Callable[[str], str]) -> Step:
    return asks(lambda call, plan: True, altering("-r", change))


def in_directory(change: Callable[[str], str]) -> Step:
    """Looks at another directory than the one that is named."""
    return takes(lambda texts: {**texts, "cwd": change(texts["cwd"])} if "cwd" in texts else texts)


def in_answer_session(change: Callable[[str], str]) -> Step:
    return takes(lambda answer: replace(answer, session=answer.session and change(answer.session)))


def in_stderr(change: Change) -> Step:
    return takes(lambda failure: replace(failure, stderr=failure.stderr and change(failure.stderr)))


def in_texts(change: Callable[[str], str]) -> Change:
    """Changes what is a text, and leaves a number as it is."""
    return lambda value: change(value) if isinstance(value, str) else value


def pairs_damaged(port: Any, real: Any, line: bytes) -> Any:
    return real(PAIR.sub(rb"\\ufffd\\ufffd", line))


def pairs_of_answer_damaged(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    return real(PAIR.sub(rb"\\ufffd\\ufffd", stdout.encode()).decode(), stderr)


def lines_as_python(port: Any, real: Any, listing: Any) -> str:
    return "\n".join(real(listing).splitlines())


def slashes_for_backslashes(text: str) -> str:
    return text.replace("\\", "/")


defect("selectors-of-prompt-lost", "Drops variation selectors of a prompt.", "prompt:verbatim:unicode")(
    prompt_form=on_argv(replacing(SELECTORS))
)
defect("tags-of-prompt-lost", "Drops tag characters of a prompt, which nobody sees.", "prompt:verbatim:unicode")(
    prompt_form=on_argv(replacing(TAGS))
)
defect("joiners-of-replies-lost", "Drops joiners of a prompt, in replies only.", "prompt:verbatim:unicode")(
    ask=in_replies(replacing(JOINERS))
)
defect("directions-of-prompt-lost", "Drops what turns the direction of a prompt.", "prompt:verbatim:unicode")(
    prompt_form=on_argv(replacing(DIRECTIONS))
)
defect("mark-of-prompt-lost", "Drops a byte order mark before a prompt.", "prompt:verbatim:unicode")(
    prompt_form=takes(lambda prompt: prompt.removeprefix("\ufeff") or prompt)
)
defect("prompt-decomposed", "Decomposes the characters of a long prompt.", "prompt:long:whole")(
    prompt_form=on_stdin(normalized("NFD"))
)
defect("prompt-made-compatible", "Replaces ligatures and wide letters of a prompt.", "prompt:verbatim:unicode")(
    prompt_form=on_argv(normalized("NFKC"))
)
defect("noncharacters-of-prompt-lost", "Replaces noncharacters of a prompt.", "prompt:verbatim:unicode")(
    prompt_form=on_argv(replacing(NONCHARACTERS, "\ufffd"))
)
defect("private-use-of-prompt-lost", "Replaces characters for private use of a prompt.", "prompt:verbatim:unicode")(
    prompt_form=on_argv(replacing(PRIVATE, "\ufffd"))
)
defect(
    "pairs-of-escapes-damaged",
    "Reads the escapes of a character beyond the basic plane as two.",
    "prompt:verbatim:unicode",
)(parse=pairs_damaged)
defect("controls-of-prompt-lost", "Drops control characters of a prompt.", "command:chat")(
    prompt_form=on_argv(replacing(CONTROLS))
)
defect("next-line-of-prompt-is-newline", "Makes a newline of U+0085.", "prompt:verbatim:unicode")(
    prompt_form=takes(lambda prompt: prompt.replace("\x85", "\n"))
)
defect("separators-of-long-prompt-lost", "Makes newlines of U+2028 and U+2029 on stdin.", "prompt:long:whole")(
    prompt_form=on_stdin(replacing("[\u2028\u2029]", "\n"))
)
defect(
    "returns-of-long-prompt-lost",
    "Writes prompts to stdin as a text file, with its line ends.",
    "prompt:long:whole",
    "prompt:long",
)(prompt_form=on_stdin(replacing("\r\n?", "\n")))
defect(
    "tabs-of-prompt-expanded",
    "Makes blanks of the tabs of a prompt.",
    "prompt:verbatim:blanks",
    "prompt:verbatim:newline",
)(prompt_form=on_argv(lambda prompt: prompt.replace("\t", "    ")))
defect(
    "line-ends-of-prompt-trimmed",
    "Takes blanks off the ends of the lines of a prompt.",
    "prompt:verbatim:blanks",
    "prompt:verbatim:newline",
)(prompt_form=takes(replacing("[ \t]+\n", "\n")))
defect("fixed-blanks-of-prompt-loosened", "Makes ordinary blanks of U+00A0.", "prompt:verbatim:unicode")(
    prompt_form=on_argv(lambda prompt: prompt.replace("\u00a0", " "))
)
defect("system-prompt-composed", "Composes the characters of a system prompt.", "system:content")(
    system_bytes=in_system_prompt(normalized("NFC"))
)
defect("system-prompt-without-returns", "Writes a system prompt with newlines alone.", "system:content")(
    system_bytes=in_system_prompt(lambda prompt: prompt.replace("\r\n", "\n"))
)
defect("mark-of-system-prompt-lost", "Drops a byte order mark before a system prompt.", "system:content")(
    system_bytes=in_system_prompt(lambda prompt: prompt.removeprefix("\ufeff"))
)
defect("tags-of-system-prompt-lost", "Drops what is invisible in a system prompt.", "system:content")(
    system_bytes=in_system_prompt(replacing(f"{TAGS}|{JOINERS}"))
)
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
defect("controls-of-answer-lost", "Drops control characters of an answer.", "result:text")(
    success=text(replacing(CONTROLS))
)
defect("nul-ends-answer", "Cuts an answer at its first NUL.", "result:text")(
    success=text(lambda answer: answer.split("\0")[0])
)
defect("noncharacters-of-answer-lost", "Replaces noncharacters of an answer.", "result:text:unicode")(
    success=text(replacing(NONCHARACTERS, "\ufffd"))
)
defect("pairs-of-answer-damaged", "Reads a pair of escapes in gemini's JSON as two characters.", "result:text:unicode")(
    read_stdout=pairs_of_answer_damaged
)
defect("stderr-composed", "Composes the characters of stderr.", "error:stderr")(error=in_stderr(normalized("NFC")))
defect("colours-of-stderr-lost", "Takes the escapes of a terminal out of stderr.", "error:stderr")(
    error=in_stderr(replacing(ANSI))
)
defect("returns-of-stderr-lost", "Makes newlines of the line ends of stderr.", "error:stderr")(
    error=in_stderr(replacing("\r\n?", "\n"))
)
defect("blank-lines-of-stderr-lost", "Leaves the blank lines of stderr out.", "error:stderr")(
    error=in_stderr(replacing("\n{2,}", "\n"))
)
defect("model-composed", "Composes the characters of a model.", "command:chat:model")(ask=in_model(normalized("NFC")))
defect("model-trimmed", "Takes blanks off both ends of a model.", "command:chat:model")(
    ask=in_model(lambda model: model.strip(" ") or model)
)
defect("session-in-lower-case", "Resumes a session by its id in lower case.", "command:chat-reply:session-id")(
    ask=in_session(str.lower)
)
defect("session-unquoted", "Reads %20 in the id of a session as a blank.", "command:chat-reply:session-id")(
    ask=in_session(unquote)
)
defect("session-of-answer-in-lower-case", "Names the session of an answer in lower case.", "result:session-id")(
    success=in_answer_session(str.lower)
)
defect("home-expanded", "Takes a directory that begins with a tilde for the home directory.", "cwd:relative")(
    cwd=in_directory(os.path.expanduser)
)
defect("variables-expanded", "Replaces variables in a directory.", "injection:shell:cwd", "cwd:used")(
    cwd=in_directory(os.path.expandvars)
)
defect("directory-composed", "Composes the characters of a directory.", "cwd:used")(cwd=in_directory(normalized("NFC")))
defect("directory-trimmed", "Takes blanks off the end of a directory.", "cwd:used")(cwd=in_directory(str.rstrip))
defect("directory-unquoted", "Reads %20 in a directory as a blank.", "cwd:used")(cwd=in_directory(unquote))
defect("backslashes-of-directory-turned", "Makes slashes of the backslashes of a directory.", "cwd:used")(
    cwd=in_directory(slashes_for_backslashes)
)
defect("ids-composed", "Composes the characters of an id.", "rpc:response:id")(
    write=with_id(in_texts(normalized("NFC")))
)
defect("ids-trimmed", "Takes blanks off both ends of an id.", "rpc:response:id")(write=with_id(in_texts(str.strip)))
defect("pairs-of-ids-damaged", "Replaces characters of an id beyond the basic plane.", "rpc:response:id")(
    write=with_id(in_texts(replacing("[\U00010000-\U0010ffff]", "\ufffd")))
)
defect("tokens-composed", "Composes the characters of a progress token.", "progress:token")(
    progress=with_token(in_texts(normalized("NFC")))
)
defect(
    "listing-split-at-form-feeds",
    "Ends a line of the list where Python's splitlines does.",
    "fallback:brackets",
    "fallback:last",
)(list_text=lines_as_python)
defect("percents-of-prompt-halved", "Makes one percent sign of two in a prompt.", "prompt:verbatim:quotes")(
    prompt_form=takes(lambda prompt: prompt.replace("%%", "%"))
)
defect(
    "zeros-of-session-lost",
    "Takes a session id of digits for a number, and loses the zeros at its beginning.",
    "command:chat-reply:session-id",
)(ask=in_session(lambda id: str(int(id)) if id.isascii() and id.isdigit() else id))
