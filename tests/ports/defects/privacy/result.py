"""Answers that look empty and are mistaken: ports that break `result`."""

from collections.abc import Mapping
from typing import Any

from answering import Answer, Failure
from defects.record import defect
from speaking import Message
from steps import gives


def without_content(port: Any, real: Any, answer: Answer) -> Message:
    result = real(answer)
    return {**result, "content": []} if answer.warnings and not answer.text else result


def unasked_without_statistics(port: Any, real: Any, value: Mapping[str, Any]) -> Any:
    asked = real(value)
    return {} if asked is None else asked


def blank_is_unasked(port: Any, real: Any, value: Mapping[str, Any], stderr: str) -> Answer:
    text = value.get("response")
    if isinstance(text, str) and text and not text.strip() and port.asked(value) == {}:
        raise Failure("gemini asked no model.", stderr)
    return real(value, stderr)


defect("warned-answer-without-content", "Leaves the content out of an empty answer with warnings.", "result:content")(
    success=without_content
)
defect("unasked-without-statistics", "Calls an empty answer without statistics an error.", "result:empty")(
    asked=unasked_without_statistics
)
defect("null-word-is-no-answer", "Takes the answer `null` for none.", "result:text")(
    response=gives(lambda text: None if text == "null" else text)
)
defect("blank-answer-is-unasked", "Takes a blank answer for an empty one.", "result:text:blanks")(
    read_json=blank_is_unasked
)
