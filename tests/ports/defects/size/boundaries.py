"""Defects at a size that a buffer has, and with what is many or long in a line."""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from answering import Answer, Outcome
from conditions import every, from_time
from defects.record import defect
from planning import Plan, Refusal
from steps import Step, always, before, gives


def shortened_at(*sizes: int) -> Step:
    """Loses the last character of a text with so many bytes."""
    return gives(
        lambda text: text[:-1] if isinstance(text, str) and len(text.encode("utf-8", "replace")) in sizes else text
    )


def prompt_shortened_at(*sizes: int) -> Step:
    def prompt_form(port: Any, real: Any, prompt: str) -> Any:
        return real(prompt[:-1] if len(prompt.encode()) in sizes else prompt)

    return prompt_form


def system_shortened_at(*sizes: int) -> Step:
    return gives(lambda text: text[:-1] if len(text) in sizes else text)


def stderr_lost_at(size: int) -> Step:
    def read(port: Any, real: Any, outcome: Outcome) -> Answer:
        return real(replace(outcome, stderr=b"" if len(outcome.stderr) == size else outcome.stderr))

    return read


def broken_lines(width: int) -> Step:
    return gives(lambda text: re.sub(rf"([^\n]{{{width}}})(?=[^\n])", r"\1\n", text) if isinstance(text, str) else text)


def first_lines(most: int) -> Step:
    return lambda port, real, prompt: real("\n".join(prompt.split("\n")[:most]))


def refuses_many(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    if len(arguments) > 16:
        raise Refusal("`arguments` are too many.")


def short_lines_of_stderr(port: Any, real: Any, outcome: Outcome) -> Answer:
    lines = (line[:1024] for line in outcome.stderr.split(b"\n"))
    return real(replace(outcome, stderr=b"\n".join(lines)))


def single_overlooked(port: Any, real: Any, listing: Outcome) -> str | None:
    lines = map(port.entry_pattern().fullmatch, port.list_text(listing).split("\n"))
    return real(listing) if sum(map(bool, lines)) > 1 else None


def prompt_of_before(period: int) -> Step:
    """Of `plan`: every so many calls, runs the prompt of the one before."""
    numbers = count(1)

    def plan(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
        right, number = real(tool, arguments), next(numbers)
        before, port.memory["arguments"] = port.memory.get("arguments"), arguments
        return right if number % period or before is None else real(tool, {**arguments, "prompt": before["prompt"]})

    return plan


def opened_to_all(port: Any, real: Any, text: str) -> str:
    path = real(text)
    os.chmod(path, 0o644)
    return path


for size in (255, 4096, 65_536, 1 << 20):
    defect(f"answer-of-{size}-bytes-shortened", f"Loses the last character of {size} bytes.", "result:text")(
        response=shortened_at(size)
    )
defect("prompt-of-4096-bytes-shortened", "Loses the end of a prompt of 4,096 bytes.", "command:chat")(
    prompt_form=prompt_shortened_at(4096)
)
defect("prompt-of-65536-bytes-shortened", "Loses the end of a prompt of 65,536 bytes.", "command:chat")(
    prompt_form=prompt_shortened_at(65_535, 65_536)
)
defect("prompt-of-mebibyte-shortened", "Loses the end of a prompt of 1,048,575 bytes.", "prompt:long:whole")(
    prompt_form=prompt_shortened_at((1 << 20) - 1, (1 << 20) + 1)
)
defect("system-prompt-of-65535-bytes-shortened", "Loses the end of 65,535 bytes.", "system:content")(
    system_bytes=system_shortened_at(65_535)
)
defect("stderr-of-8192-bytes-lost", "Quotes nothing of a stderr of exactly 8,192 bytes.", "error:stderr")(
    read=stderr_lost_at(8192)
)
defect("long-lines-of-answer-broken", "Breaks the lines of an answer after 32,768 characters.", "result:text")(
    response=broken_lines(32_768)
)
defect("prompt-cut-after-1000-lines", "Cuts a prompt after a thousand lines.", "prompt:verbatim:newline")(
    prompt_form=first_lines(1000)
)
defect("seventeen-arguments-refused", "Refuses more than sixteen arguments.", "arguments:unknown")(
    texts=before(refuses_many)
)
defect("long-lines-of-stderr-cut", "Cuts the lines of stderr after 1,024 bytes.", "error:stderr")(
    read=short_lines_of_stderr
)
defect("single-entry-overlooked", "Knows no session in a list with one entry.", "fallback:list-sessions")(
    newest=single_overlooked
)
defect("fortieth-prompt-is-one-before", "Runs the prompt before at every fortieth call.", "command:chat")(
    plan=prompt_of_before(40)
)
defect("eleventh-system-file-readable", "Lets everybody read every eleventh system prompt.", "system:mode")(
    write_system=every(11, opened_to_all)
)
defect("list-elsewhere-from-third", "Asks for the third list and all later ones in its own directory.", "fallback:cwd")(
    listing_cwd=from_time(3, always(None))
)
defect("index-in-32-bits", "Keeps the numbers of a list in 32 bits.", "fallback:last")(
    newest_entry=lambda port, real, entries: max(entries, key=lambda entry: entry[0] & 0xFFFFFFFF)
)
