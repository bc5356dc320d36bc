"""Prompts in the port's own words, or in what gemini says of itself: ports that break `error:prompt`."""

import json
import re
from dataclasses import replace
from typing import Any

from answering import PREFIX, Failure
from defects.privacy.shared import of_report
from defects.record import defect
from planning import Refusal
from running import Call
from speaking import Message
from steps import before

REPORT = "Gemini reported an error"


def quotes_around(port: Any, real: Any, name: str, text: str) -> None:
    try:
        real(name, text)
    except Refusal as refusal:
        at = re.search("[\0\ud800-\udfff]", text)
        start = at.start() if at else 0
        near = text[max(0, start - 40) : start].encode("utf-8", "replace").decode()
        raise Refusal(f"{refusal} It follows {near!r}.") from None


def length_quoted(port: Any, real: Any, tool: str, prompt: str) -> None:
    try:
        real(tool, prompt)
    except Refusal as refusal:
        raise Refusal(f"{refusal} It begins with {prompt[:60]!r}." if prompt else str(refusal)) from None


def echoes_prompt(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    text = result["content"][0]["text"]
    if not result.get("isError") or "\nStderr: " not in text:
        return result
    echo = f"{PREFIX}Command failed: gemini {call.arguments['prompt']}. "
    return {**result, "content": port.content(text.replace(PREFIX, echo))}


def copies_kept(port: Any, failure: Failure) -> str:
    return port.masked(failure.said)


def says_system_prompt(port: Any, real: Any, failure: Failure) -> Message:
    """What gemini says of its failure is searched for the prompt alone."""
    said = failure.said and port.redacted(failure.said, failure.private[:1])
    result = real(replace(failure, said=None))
    if not said:
        return result
    sentence, label, stderr = result["content"][0]["text"].partition("\nStderr: ")
    return {**result, "content": port.content(f"{sentence} Gemini CLI says: {said}{label}{stderr}")}


def message_of_stdout_shown(port: Any, real: Any, failure: Failure) -> Message:
    """What gemini says on stderr is cleaned with it, and what it says on stdout is shown as it is."""
    is_meant = failure.said and failure.stderr and not port.said(failure.stderr)
    if not is_meant or failure.sentence.startswith(REPORT):
        return real(failure)
    return real(Failure(f"{failure.sentence} Gemini CLI says: {failure.said}", failure.stderr, None, failure.private))


def quotes_wrong(port: Any, tool: str, name: str, value: Any) -> None:
    if isinstance(value, list | dict):
        raise Refusal(f"`{name}` is {json.dumps(value)}, but should be a string.")


def said_openly(port: Any, real: Any, failure: Failure) -> Message:
    """Puts gemini's own message into the sentence, where no prompt is taken out."""
    said = f" Gemini CLI says: {port.masked(failure.said)}" if failure.said else ""
    return real(replace(failure, sentence=failure.sentence + said, said=None))


def quotes_output(port: Any, real: Any, stdout: str, stderr: str) -> Any:
    try:
        return real(stdout, stderr)
    except Failure as failure:
        raise replace(failure, sentence=f"{failure.sentence} It printed: {stdout[:400]!r}.") from None


def quotes_command(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    try:
        return real(argv, **options)
    except Failure as failure:
        raise replace(failure, sentence=f"{failure.sentence} The command was {argv!r}.") from None


def quotes_arguments(port: Any, real: Any, tool: str, arguments: Any) -> Any:
    try:
        return real(tool, arguments)
    except Refusal as refusal:
        raise Refusal(f"{refusal} The arguments were {dict(arguments)!r}.") from None


defect("text-before-nul-quoted", "Quotes what stands before a character that it refuses.", "error:prompt")(
    check_characters=quotes_around
)
defect("long-prompt-quoted-in-refusal", "Quotes the beginning of a prompt that is too long.", "error:prompt")(
    check_prompt=length_quoted
)
defect("prompt-echoed", "Repeats the command line, and the prompt with it, in its error.", "error:prompt")(
    execute=echoes_prompt
)
defect(
    "prompt-of-report-shown",
    "Withholds no prompt in an error that gemini reports with exit code 0.",
    "error:prompt",
)(error=of_report(copies_kept))
defect("system-prompt-in-message-shown", "Leaves the system prompt in what gemini says.", "error:prompt")(
    error=says_system_prompt
)
defect(
    "message-of-stdout-shown",
    "Leaves the prompt in what a gemini that failed says on stdout.",
    "error:prompt",
)(error=message_of_stdout_shown)
defect("wrong-prompt-quoted", "Quotes a prompt that is an array or an object.", "error:prompt")(
    text=before(quotes_wrong)
)
defect("prompt-in-message-shown", "Leaves the prompt in the message of a JSON error.", "error:prompt")(
    error=said_openly
)
defect("output-quoted", "Quotes what gemini printed when there is no answer in it.", "error:prompt", "error:secrets")(
    read_stdout=quotes_output
)
defect("command-quoted", "Quotes the command line when gemini could not be started.", "error:prompt")(
    start=quotes_command
)
defect("arguments-quoted", "Quotes all arguments when it refuses one.", "error:prompt")(plan=quotes_arguments)
