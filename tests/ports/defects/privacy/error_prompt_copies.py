"""Copies of a prompt that stay in stderr: ports that break `error:prompt`."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from answering import PRIVATE_LENGTH, Failure
from conditions import from_time
from defects.record import defect
from planning import Plan
from speaking import Message
from steps import Change, Step, takes

WORDLIKE = re.compile(r"\w(?:.*\w)?", re.DOTALL)
WITHHELD = 256


def spares_quoted(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    for number, secret in enumerate(private):
        text = text.replace(f'"{secret}"', f"<quoted {number}>") if len(secret) >= 8 else text
    text = real(text, private)
    for number, secret in enumerate(private):
        text = text.replace(f"<quoted {number}>", f'"{secret}"')
    return text


def spares_long_words(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Withholds a prompt that has blanks inside, and leaves one that is a single word."""
    return real(text, tuple(secret for secret in private if re.search(r"\s", secret) or len(secret) < 24))


def is_found(secret: str) -> bool:
    """Whether a pattern with `\\b` at both ends finds it."""
    return len(secret.strip()) >= PRIVATE_LENGTH or WORDLIKE.fullmatch(secret) is not None


def between_letters(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return real(text, tuple(filter(is_found, private)))


def escaped_pairs_left(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """In its escapes a character beyond the basic plane is written as two."""
    copies = [json.dumps(secret)[1:-1] for secret in private if max(secret) > "\uffff"]
    for number, copy in enumerate(copies):
        text = text.replace(copy, f"\0{number}\0")
    text = real(text, private)
    for number, copy in enumerate(copies):
        text = text.replace(f"\0{number}\0", copy)
    return text


def least_known(port: Any, real: Any, *arguments: Any) -> Any:
    plan = real(*arguments)
    return plan if plan.stdin is None else replace(plan, private=plan.private[:1])


def first_copies(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    for secret in private:
        text = text.replace(secret, "[withheld]", 4) if len(secret) >= PRIVATE_LENGTH else text
    return text


def first_only(real: Any, line: str, private: tuple[str, ...]) -> str:
    found = [line.find(secret) + len(secret) for secret in private if secret and secret in line]
    end = min(found, default=len(line))
    return real(line[:end], private) + line[end:]


def once_a_line(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Looks for the first copy in each line."""
    if any("\n" in secret for secret in private):
        return real(text, private)
    return "\n".join(first_only(real, line, private) for line in text.split("\n"))


def shows_words(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return real(text, tuple(each for each in private if len(each) >= PRIVATE_LENGTH))


def ascii_of(text: str) -> str:
    return json.dumps(text)[1:-1]


def as_written(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Knows a copy that JSON has escaped, but not one in ASCII."""
    hidden = {ascii_of(secret): f"\0{at}\0" for at, secret in enumerate(private) if not secret.isascii()}
    for copy, place in hidden.items():
        text = text.replace(copy, place)
    text = real(text, private)
    for copy, place in hidden.items():
        text = text.replace(place, copy)
    return text


def without_private_of_latest(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    return replace(plan, private=()) if plan.session == "latest" else plan


def escaped_system_shown(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Knows a copy of the system prompt as it is, and not as JSON writes it."""
    if len(private) < 2:
        return real(text, private)
    written = json.dumps(private[1])[1:-1]
    if written == private[1]:
        return real(text, private)
    return real(text.replace(written, "\0system\0"), private).replace("\0system\0", written)


def open_when(test: Change) -> Step:
    """Of `redacted`: repeats what is private when `test` holds of the text."""
    return lambda port, real, text, private: real(text, () if test(text) else private)


def open_failure(port: Any, real: Any, failure: Failure) -> Message:
    return real(replace(failure, private=()))


def open_in_named_session(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    return replace(plan, private=plan.private[:1]) if plan.session not in (None, "latest") and plan.cwd else plan


def short_system_shown(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return real(text, (*private[:1], *(each for each in private[1:] if len(each) >= PRIVATE_LENGTH)))


def shortened(private: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(text[:WITHHELD] for text in private)


def withholds(port: Any, text: str, private: tuple[str, ...]) -> str:
    for secret in private:
        if len(secret.strip()) >= 8:
            text = text.replace(secret, "[withheld]")
    return text


def one_each(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Takes out the first copy only."""
    for secret in private:
        for copy in (secret, json.dumps(secret)[1:-1]):
            if len(copy.strip()) >= 8:
                text = text.replace(copy, "[withheld]", 1)
    return text


def by_pattern(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    """Reads the prompt as a pattern."""
    for secret in private:
        try:
            text = re.sub(secret, "[withheld]", text) if len(secret.strip()) >= 8 else text
        except re.error:
            continue
    return text


def masks_first(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return port.withheld(port.masked(text), private)


def cuts_first(port: Any, real: Any, failure: Failure) -> str:
    if failure.stderr is None:
        return ""
    return f"\nStderr: {port.tail(port.redacted(port.tail(failure.stderr), failure.private))}"


def shares_private(port: Any, real: Any, tool: str, arguments: Any) -> Any:
    plan = real(tool, arguments)
    port.memory["private"] = plan.private
    return plan


def shortest_first(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    return withholds(port, text, tuple(sorted(private, key=len)))


def withheld_where(test: Callable[[str, str], object]) -> Step:
    """Of `withheld`: leaves the texts in place of which `test` does not hold."""

    def withheld(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
        return real(text, tuple(each for each in private if test(each, text)))

    return withheld


def word_of_its_own(secret: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", text) is not None or secret not in text


def last_copy_left(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    for secret in private:
        if len(secret) >= 8 and text.rstrip("\n").endswith(secret):
            body = text.rstrip("\n").removesuffix(secret)
            return real(body, private) + secret
    return real(text, private)


defect("prompt-in-quotes-shown", "Leaves a copy of the prompt in stderr that stands in quotes.", "error:prompt")(
    withheld=spares_quoted
)
defect("prompt-of-one-word-shown", "Leaves a copy of a long prompt in stderr that has no blanks.", "error:prompt")(
    withheld=spares_long_words
)
defect(
    "short-prompt-between-letters-alone",
    "Leaves a copy of a prompt of fewer than eight characters that does not begin and end with letters or digits.",
    "error:prompt",
)(withheld=between_letters)
defect(
    "escaped-pairs-of-prompt-left",
    "Leaves a copy in JSON's escapes of a prompt with characters beyond the basic plane.",
    "error:prompt",
)(withheld=escaped_pairs_left)
defect("prompt-in-stderr-kept", "Leaves a copy of the prompt in stderr.", "error:prompt")(
    withheld=lambda port, real, text, private: text
)
defect(
    "system-prompt-shown-beside-long-prompt",
    "Leaves copies of the system prompt in stderr if the prompt goes to stdin.",
    "error:prompt",
)(plan=least_known)
defect("fifth-copy-shown", "Takes four copies of a prompt out of stderr and leaves the fifth.", "error:prompt")(
    withheld=first_copies
)
defect("second-copy-in-line-shown", "Withholds one copy of a prompt in each line.", "error:prompt")(
    withheld=once_a_line
)
defect("short-words-shown", "Leaves a prompt of fewer than eight characters in stderr.", "error:prompt")(
    withheld=shows_words
)
defect("prompt-in-ascii-shown", "Leaves a copy of a prompt that JSON has written in ASCII.", "error:prompt")(
    withheld=as_written
)
defect("prompt-of-latest-shown", "Withholds nothing in a reply to the latest session.", "error:prompt")(
    plan=without_private_of_latest
)
defect("escaped-system-prompt-shown", "Leaves a copy of a system prompt that JSON has escaped.", "error:prompt")(
    withheld=escaped_system_shown
)
defect("prompt-beside-json-shown", "Withholds no prompt in a stderr with JSON.", "error:prompt")(
    withheld=open_when(lambda text: re.search(r'\{\s*"', text))
)
defect("prompt-of-third-failure-shown", "Withholds no prompt from the third failure on.", "error:prompt")(
    error=from_time(3, open_failure)
)
defect(
    "system-prompt-shown-in-named-session-beside-directory",
    "Leaves the system prompt of a reply by id with a directory in stderr.",
    "error:prompt",
)(plan=open_in_named_session)
defect("prompt-in-coloured-stderr-shown", "Withholds no prompt in a stderr with colours.", "error:prompt")(
    withheld=open_when(lambda text: "\x1b[" in text)
)
defect(
    "short-system-prompt-shown",
    "Leaves a copy of a system prompt of fewer than eight characters in stderr.",
    "error:prompt",
)(redacted=short_system_shown)
defect("rest-of-long-prompt-shown", "Withholds the first 256 characters of a prompt.", "error:prompt")(
    withheld=takes(shortened)
)
defect("escaped-prompt-shown", "Leaves a copy of the prompt in stderr that JSON has escaped.", "error:prompt")(
    withheld=lambda port, real, text, private: withholds(port, text, private)
)
defect("second-copy-of-prompt-shown", "Takes one copy of the prompt out of stderr.", "error:prompt")(withheld=one_each)
defect("prompt-read-as-pattern", "Looks for the prompt in stderr as if it were a pattern.", "error:prompt")(
    withheld=by_pattern
)
defect("long-prompt-shown", "Leaves a copy of a prompt of more than 4 KiB in stderr.", "error:prompt")(
    withheld=takes(lambda private: tuple(text for text in private if len(text) <= 4096))
)
defect("short-prompt-shown", "Leaves a copy of a prompt of fewer than 16 characters in stderr.", "error:prompt")(
    withheld=takes(lambda private: tuple(text for text in private if len(text) >= 16))
)
defect("prompt-of-lines-shown", "Leaves a copy of a prompt of several lines in stderr.", "error:prompt")(
    withheld=takes(lambda private: tuple(text for text in private if "\n" not in text.strip()))
)
defect("system-prompt-shown-beside-prompt", "Withholds the prompt, but not the system prompt.", "error:prompt")(
    withheld=takes(lambda private: private[:1])
)
defect("prompt-beyond-ascii-shown", "Leaves a copy of a prompt in stderr that is not ASCII.", "error:prompt")(
    withheld=takes(lambda private: tuple(text for text in private if text.isascii()))
)
defect("prompt-with-key-shown", "Masks keys first, and then does not find a prompt that held one.", "error:prompt")(
    redacted=masks_first
)
defect(
    "prompt-at-cut-shown", "Cuts stderr before it looks for the prompt, and so shows the end of one.", "error:prompt"
)(stderr_part=cuts_first)
defect("prompt-behind-64-kib-shown", "Looks for the prompt in the first 64 KiB of stderr.", "error:prompt")(
    withheld=lambda port, real, text, private: real(text[: 1 << 16], private) + text[1 << 16 :]
)
defect(
    "prompt-of-other-call-withheld", "Withholds the prompt of the call that came last, whichever fails.", "error:prompt"
)(
    plan=shares_private,
    withheld=lambda port, real, text, private: real(text, port.memory.get("private", private)),
)
defect(
    "rest-of-longer-text-shown",
    "Withholds the shortest text first, and so leaves the rest of one that holds it.",
    "error:prompt",
)(withheld=shortest_first)
defect(
    "prompt-withheld-as-word",
    "Withholds a prompt only where it is a word of its own.",
    "error:prompt",
)(withheld=withheld_where(word_of_its_own))
defect("copy-at-end-of-stderr-left", "Leaves a copy of a prompt that ends stderr.", "error:prompt")(
    withheld=last_copy_left
)
