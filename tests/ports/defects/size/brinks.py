"""Defects at the sizes at which a prompt begins to travel in another way, or in none."""

from typing import Any

from conditions import stdin_changed
from defects.record import defect
from planning import ARGUMENT_LIMIT, STDIN_LIMIT, Refusal
from steps import before

BEGINNING = 80

Form = tuple[tuple[str, ...], str | None]


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
