"""Defects at round numbers: of characters, of lines, of variables, of calls."""

import re
from typing import Any

from conditions import every, from_time
from defects.record import defect
from defects.text.spellings import of_answer
from speaking import Message
from steps import Step, gives, takes


def exactly(length: int) -> Step:
    return of_answer(lambda text: text[:-1] if len(text.encode("utf-8", "replace")) == length else text)


def characters(length: int) -> Step:
    return of_answer(lambda text: text[:-1] if len(text) == length else text)


def most_variables(port: Any, real: Any, path: str | None) -> dict[str, str]:
    environ = real(path)
    names = [name for name in environ if name != "GEMINI_SYSTEM_MD"]
    return {name: text for name, text in environ.items() if name not in names[64:]}


def short_numbers(port: Any, real: Any, prompt: str) -> bool:
    return real(prompt) and not (prompt.isdigit() and len(prompt) > 15)


def small_exponents(port: Any, real: Any, prompt: str) -> bool:
    return real(prompt) and re.fullmatch(r"[0-9.]+E[-+]?[0-9]+", prompt) is None


def unprefixed(port: Any, real: Any, sentence: str) -> Message:
    return {"content": port.content(sentence), "isError": True}


def large_variable_lost(port: Any, real: Any, path: str | None) -> dict[str, str]:
    return {name: text for name, text in real(path).items() if len(text) <= 8192}


def prompt_line_cut(port: Any, real: Any, prompt: str) -> Any:
    return real(re.sub(r"([^\n]{4096})[^\n]*", r"\1", prompt) if len(prompt) < 100_000 else prompt)


defect("answer-of-32-kib-cut", "Loses the last character of an answer of exactly 32,768 bytes.", "result:text")(
    whole=exactly(32768)
)
defect("answer-of-131072-cut", "Loses the last character of an answer of exactly 131,072 bytes.", "result:text")(
    whole=exactly(131072)
)
defect("answer-of-2048-cut", "Loses the last character of an answer of exactly 2,048 characters.", "result:text")(
    whole=characters(2048)
)
defect("answer-of-10000-cut", "Loses the last character of an answer of exactly 10,000 characters.", "result:text")(
    whole=characters(10000)
)
defect("system-prompt-of-500-lines-cut", "Cuts a system prompt after 500 lines.", "system:content")(
    system_bytes=takes(lambda text: "".join(text.splitlines(keepends=True)[:500]))
)
defect("lines-of-prompt-cut", "Cuts the lines of a prompt on the command line after 4,096 characters.", "command:chat")(
    prompt_form=prompt_line_cut
)
defect("variables-beyond-64-lost", "Hands no more than 64 variables on.", "process:environment")(
    environment=most_variables
)
defect("large-variables-lost", "Hands no variable on of more than 8 KiB.", "process:environment")(
    environment=large_variable_lost
)
defect("long-numbers-are-words", "Takes a number of more than fifteen digits for a word.", "prompt:verbatim:number")(
    is_risky=short_numbers
)
defect("capital-exponent-is-word", "Takes a number like `1E3` for a word.", "prompt:verbatim:number")(
    is_risky=small_exponents
)
defect("twentieth-refusal-unprefixed", "Leaves the prefix out of every twentieth refusal.", "arguments:refused:prefix")(
    refused=every(20, unprefixed)
)
defect(
    "sessions-named-thirty-times",
    "Names no session of a reply from the thirtieth answer on.",
    "result:session-id:chat-reply",
)(success=from_time(30, gives(lambda result: {name: value for name, value in result.items() if name != "_meta"})))
