"""Defects in what becomes of a text that is damaged, or that is no UTF-8."""

from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from defects.record import defect
from planning import Refusal
from steps import before


def refuses_damaged(port: Any, name: str, text: str) -> None:
    if name == "prompt" and "\ufffd" in text:
        raise Refusal("`prompt` was damaged on its way.")


def refuses_damaged_answer(port: Any, text: str) -> None:
    if "\ufffd" in text:
        raise Failure("The answer was damaged on its way.", "")


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


defect("damaged-prompt-refused", "Refuses a prompt that holds U+FFFD.", "prompt:verbatim:unicode")(
    check_characters=before(refuses_damaged)
)
defect("damaged-answer-refused", "Calls an answer that holds U+FFFD an error.", "result:text:unicode")(
    whole=before(refuses_damaged_answer)
)
defect("stderr-read-as-latin", "Reads all of a stderr that is not UTF-8 as Latin-1.", "error:stderr")(
    read=stderr_as_latin
)
defect("stdout-read-as-latin", "Reads all of a stdout that is not UTF-8 as Latin-1.", "result:json:encoding")(
    read=stdout_as_latin
)
