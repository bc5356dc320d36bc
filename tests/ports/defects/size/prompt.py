"""Prompts at a limit, of the port or of its own making: ports that break `prompt`."""

import json
import os
import select
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from conditions import stdin_changed
from defects.record import defect
from defects.size.shared import MIB, prompt_shortened_at
from planning import ARGUMENT_LIMIT, STDIN_LIMIT, Refusal
from steps import Step, before, refuses, takes

STDIN_SECONDS = 2.0


BLOCK = 65_536
Form = tuple[tuple[str, ...], str | None]
BEGINNING = 80
PIPE = 64 * 1024
PIECE = 8192


def on_argv_below(limit: int) -> Step:
    """Passes longer prompts than it should on the command line."""

    def prompt_form(port: Any, real: Any, prompt: str) -> Any:
        is_passed = ARGUMENT_LIMIT < len(prompt.encode()) <= limit
        return ((f"--prompt={prompt}",), None) if is_passed else real(prompt)

    return prompt_form


def counted_short(port: Any, real: Any, prompt: str) -> Any:
    length = sum(min(3, len(character.encode())) for character in prompt)
    return ((f"--prompt={prompt}",), None) if length <= ARGUMENT_LIMIT else real(prompt)


def blocks_by_themselves(text: str) -> str:
    """Each block of UTF-16 is encoded without a look at the next."""
    units = text.encode("utf-16-le")
    starts = range(0, len(units), 2 * BLOCK)
    return "".join(units[start : start + 2 * BLOCK].decode("utf-16-le", "replace") for start in starts)


def first_shortened(prompt: str) -> str:
    """As much as the command line would hold."""
    raw = prompt.encode()
    return raw[:-1].decode("utf-8", "ignore") if len(raw) == ARGUMENT_LIMIT + 1 else prompt


def begins_on_command_line(port: Any, real: Any, prompt: str) -> Form:
    """Says on the command line what the prompt on stdin is about; gemini joins both."""
    form, stdin = real(prompt)
    return (form, stdin) if stdin is None else ((f"--prompt={prompt[:BEGINNING]}",), stdin)


def refuses_at_limit(port: Any, tool: str, prompt: str) -> None:
    if len(prompt.encode()) == STDIN_LIMIT:
        raise Refusal("`prompt` is longer than gemini reads.")


def refuses_escaped(port: Any, real: Any, tool: str, prompt: str) -> None:
    real(tool, prompt)
    if len(json.dumps(prompt, ensure_ascii=False).encode()) - 2 > STDIN_LIMIT:
        raise Refusal("`prompt` is longer than the 8388608 bytes that gemini reads.")


def last_pipe_lost(port: Any, real: Any, text: str | None) -> Any:
    encoded = (text or "").encode()
    if not encoded or len(encoded) % PIPE:
        return real(text)
    return real(encoded[:-PIPE].decode("utf-8", "ignore"))


def joined_line_ends(text: str) -> str:
    """Puts `\\n` in the place of a `\\r\\n` that the end of a piece divides."""
    pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    pairs = zip(pieces, [*pieces[1:], ""], strict=True)
    return "".join(piece[:-1] if piece[-1] == "\r" and then[:1] == "\n" else piece for piece, then in pairs)


def counted(length: Callable[[str], int], limit: int) -> Step:
    """Refuses prompts by another length than that of their UTF-8."""

    def check_prompt(port: Any, real: Any, tool: str, prompt: str) -> None:
        if length(prompt) > limit:
            raise Refusal("`prompt` is too long.")
        real(tool, prompt[:1])

    return check_prompt


def refuses_at(length: int) -> None:
    if length == ARGUMENT_LIMIT:
        raise Refusal("`prompt` is too long.")


def first_lines(most: int) -> Step:
    return lambda port, real, prompt: real("\n".join(prompt.split("\n")[:most]))


def zero_is_no_prompt(port: Any, real: Any, tool: str, prompt: str) -> None:
    if prompt == "0":
        raise Refusal("`prompt` is empty, but should be the text for Gemini.")
    real(tool, prompt)


def fed(text: bytes, descriptor: int) -> None:
    """Writes the text for as long as somebody takes some of it."""
    os.set_blocking(descriptor, False)
    position = 0
    with suppress(BrokenPipeError):
        while position < len(text) and select.select([], [descriptor], [], STDIN_SECONDS)[1]:
            position += os.write(descriptor, text[position : position + 65_536])
    os.close(descriptor)


def piped_with_patience(port: Any, real: Any, text: str | None) -> IO[bytes]:
    if text is None:
        return real(text)
    reading, writing = os.pipe()
    threading.Thread(target=fed, args=(text.encode(), writing), daemon=True).start()
    return open(reading, "rb")


defect("prompt-limit-one-more", "Passes a prompt of one byte too many on the command line.", "prompt:long")(
    prompt_form=on_argv_below(ARGUMENT_LIMIT + 1)
)
defect("prompt-limit-higher", "Passes prompts of up to 130,000 bytes on the command line.", "prompt:long")(
    prompt_form=on_argv_below(130_000)
)
defect(
    "wide-characters-counted-short",
    "Counts three bytes for any character beyond the alphabets, and puts a longer prompt into an argument.",
    "prompt:long",
)(prompt_form=counted_short)
defect(
    "emoji-between-blocks-of-stdin-broken",
    "Breaks a character beyond the first plane that two blocks of 65536 UTF-16 units of a long prompt share.",
    "prompt:long",
)(prompt_form=stdin_changed(blocks_by_themselves))
defect(
    "first-size-on-stdin-shortened",
    "Loses the last character of a prompt of 128,001 bytes.",
    "prompt:long",
    "prompt:long:whole",
)(prompt_form=stdin_changed(first_shortened))
defect(
    "long-prompt-begins-on-command-line",
    "Passes the beginning of a long prompt on the command line, and all of it on stdin.",
    "prompt:long",
)(prompt_form=begins_on_command_line)
defect("prompt-refused-at-limit-of-stdin", "Refuses a prompt of exactly 8,388,608 bytes.", "prompt:long")(
    check_prompt=before(refuses_at_limit)
)
defect(
    "prompt-measured-with-escapes",
    "Refuses a prompt that has more than 8,388,608 bytes once JSON has escaped it.",
    "prompt:long",
)(check_prompt=refuses_escaped)
defect(
    "lines-over-16-mib-refused",
    "Takes no line of more than 16 MiB, though a prompt of 8 MiB can need more in escapes.",
    "prompt:long",
)(parse=refuses(ValueError("The line is too long."), lambda line: len(line) > 16 * MIB))
defect("prompt-of-mebibyte-shortened", "Loses the end of a prompt of 1,048,575 bytes.", "prompt:long:whole")(
    prompt_form=prompt_shortened_at((1 << 20) - 1, (1 << 20) + 1)
)
defect(
    "full-pipe-of-long-prompt-lost",
    "Loses the last 64 KiB of a prompt on stdin that is a multiple of them.",
    "prompt:long:whole",
)(input=last_pipe_lost)
defect(
    "line-end-parted",
    "Makes a line end of two characters into one where a piece of 8192 characters of a long prompt ends within it.",
    "prompt:long:whole",
)(prompt_form=stdin_changed(joined_line_ends))
defect("prompt-over-limit-by-one", "Passes on one byte more than gemini reads.", "prompt:over-limit")(
    check_prompt=counted(lambda text: len(text.encode()), STDIN_LIMIT + 1)
)
defect("prompt-limit-in-characters", "Counts characters where gemini counts bytes.", "prompt:over-limit")(
    check_prompt=counted(len, STDIN_LIMIT)
)
defect("prompt-limit-in-code-units", "Counts UTF-16 units where gemini counts bytes.", "prompt:over-limit")(
    check_prompt=counted(lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2, STDIN_LIMIT)
)
defect(
    "limit-counts-crlf-once",
    "Counts a carriage return and its newline as one byte where it looks for a prompt that is too long.",
    "prompt:over-limit",
)(check_prompt=takes(lambda prompt: prompt.replace("\r\n", "\n")))
defect(
    "argument-refused-at-limit",
    "Refuses a prompt of exactly 128,000 bytes.",
    "prompt:verbatim:128000",
)(check_prompt=lambda port, real, tool, text: refuses_at(len(text.encode())) or real(tool, text))
defect("prompt-cut-after-1000-lines", "Cuts a prompt after a thousand lines.", "prompt:verbatim:newline")(
    prompt_form=first_lines(1000)
)
defect("zero-prompt-is-empty", "Refuses the prompt `0` as empty.", "prompt:verbatim:number")(
    check_prompt=zero_is_no_prompt
)
defect(
    "stdin-given-up-after-two-seconds",
    "Ends the stdin of a gemini that has read nothing more of a long prompt for two seconds.",
    "prompt:long:whole",
)(input=piped_with_patience)
