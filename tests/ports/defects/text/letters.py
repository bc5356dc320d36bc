"""Defects in texts beside the prompt: what they lose of stderr, of warnings, of paths, of plain text."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Outcome
from defects.record import defect
from planning import Refusal
from steps import gives, on, takes

INVISIBLE = re.compile("[\u200b-\u200d\u2060\ufe0e\ufe0f\U000e0020-\U000e007f]")
PRIVATE_USE = re.compile("[\ue000-\uf8ff\U000f0000-\U000ffffd]")
ZERO_WIDTH = re.compile("[\\s\u200b\u2060]*")


def composed(value: Any) -> Any:
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def all_composed(warnings: Any) -> Any:
    return [composed(each) for each in warnings] if isinstance(warnings, list) else warnings  # pyright: ignore[reportUnknownVariableType]


def of_stderr(port: Any, real: Any, outcome: Outcome) -> Any:
    """What is left on a terminal of lines that begin anew with a carriage return."""
    stderr = re.sub(rb"[^\r\n]*\r(?!\n)", b"", outcome.stderr)
    return real(replace(outcome, stderr=stderr))


def nothing_seen(port: Any, real: Any, name: str, text: str) -> bool:
    return ZERO_WIDTH.fullmatch(text) is not None if name == "systemPrompt" else real(name, text)


def without_last_return(port: Any, real: Any, prompt: str) -> Any:
    return real(prompt.removesuffix("\r") or prompt)


def invisible_lost(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(INVISIBLE.sub("", word) for word in real(tool, texts))


defect("invisibles-of-stderr-lost", "Drops joiners, selectors and tags of stderr.", "error:stderr")(
    tail=takes(lambda text: INVISIBLE.sub("", text))
)
defect(
    "private-use-of-answer-lost",
    "Replaces characters for private use of an answer.",
    "result:text:unicode",
)(whole=takes(lambda text: PRIVATE_USE.sub("\ufffd", text)))
defect("last-return-of-answer-lost", "Takes a carriage return off the end of an answer.", "result:text:blanks")(
    whole=gives(lambda text: text.removesuffix("\r"))
)
defect("tabs-of-answer-expanded", "Makes blanks of the tabs of an answer.", "result:text:blanks", "result:text")(
    whole=gives(str.expandtabs)
)
defect("warnings-composed", "Composes the characters of warnings.", "result:warnings")(
    success=takes(lambda answer: replace(answer, warnings=all_composed(answer.warnings)))
)
defect(
    "message-in-ascii",
    "Replaces what is not ASCII in what gemini says of its failure.",
    "error:json-on-stderr",
)(message=gives(lambda said: said and said.encode("ascii", "replace").decode()))
defect("refused-path-composed", "Names a refused directory with its characters composed.", "cwd:reason")(
    check_cwd=on(Refusal, lambda port, refusal: Refusal(composed(str(refusal))))
)
defect("session-of-answer-composed", "Composes the characters of a session that gemini names.", "result:session-id")(
    success=takes(lambda answer: replace(answer, session=composed(answer.session)))
)
defect(
    "newlines-of-plain-text-translated",
    "Makes one kind of line end of all in a text without JSON.",
    "result:plain-text",
)(plain_text=takes(lambda text: text.replace("\r\n", "\n").replace("\r", "\n")))
defect(
    "last-newline-of-plain-text-lost",
    "Takes a newline off the end of a text without JSON.",
    "result:plain-text",
)(plain_text=takes(lambda text: text.removesuffix("\n")))
defect("mark-of-plain-text-lost", "Drops a byte order mark before a text without JSON.", "result:plain-text")(
    plain_text=takes(lambda text: text.removeprefix("\ufeff"))
)
defect(
    "last-return-of-prompt-lost",
    "Takes a carriage return off the end of a prompt.",
    "prompt:verbatim:newline",
    "prompt:verbatim:blanks",
)(prompt_form=without_last_return)
defect("overwritten-stderr-lost", "Drops what a carriage return overwrites in stderr.", "error:stderr")(read=of_stderr)
defect(
    "zero-width-system-prompt-absent",
    "Takes a system prompt of characters without width for a blank one.",
    "system:content",
)(is_absent=nothing_seen)
defect("invisibles-of-model-lost", "Drops joiners, selectors and tags of a model.", "command:chat:model")(
    model_option=invisible_lost
)
defect("tokens-trimmed", "Takes blanks off both ends of a progress token.", "progress:token")(
    token=gives(lambda token: token.strip() if isinstance(token, str) else token)
)
