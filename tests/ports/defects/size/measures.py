"""Defects at a size, a number or a value: one more, one less, exactly so much."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import ends
from defects.record import defect
from defects.size.thresholds import cut_text, decoded_in_pieces, of_stderr, of_stdout
from planning import Refusal
from steps import Step, gives, takes

PAGE, MEBIBYTE = 4096, 1 << 20
INDEX_BITS = 16


def full_page_is_cut(port: Any, real: Any, outcome: Outcome) -> Answer:
    """Takes an output that fills its last page for one that goes on."""
    if outcome.exit == 0 and outcome.stdout and len(outcome.stdout) % PAGE == 0:
        raise Failure("gemini ended in the middle of its answer.", port.decode(outcome.stderr))
    return real(outcome)


def much_stderr_fails(port: Any, real: Any, outcome: Outcome) -> Answer:
    if len(outcome.stderr) > MEBIBYTE:
        raise Failure("gemini wrote more than the buffer takes.", port.decode(outcome.stderr))
    return real(outcome)


def in_bits(port: Any, real: Any, entries: list[tuple[int, str]]) -> tuple[int, str]:
    return real([(index % (1 << INDEX_BITS), session) for index, session in entries])


def zero_is_false(port: Any, real: Any, name: str, text: str) -> bool:
    return real(name, text) or text == "0"


def zero_is_no_prompt(port: Any, real: Any, tool: str, prompt: str) -> None:
    if prompt == "0":
        raise Refusal("`prompt` is empty, but should be the text for Gemini.")
    real(tool, prompt)


def refuses_length(name: str, test: Callable[[int], bool]) -> Step:
    """Of `check_word`: refuses one argument by its length in bytes."""

    def check_word(port: Any, real: Any, argument: str, text: str) -> None:
        if argument == name and test(len(text.encode())):
            raise Refusal(f"`{name}` is too long.")
        real(argument, text)

    return check_word


def short_tokens(port: Any, real: Any, params: Any) -> Any:
    token = real(params)
    return None if isinstance(token, str) and len(token) > 256 else token


def swallows(number: int) -> Step:
    """Of `run_prompt`: takes an exit code beside an answer for success."""
    return ends(lambda call, run: run.exit == number and b'"response"' in run.stdout, lambda run: replace(run, exit=0))


def cut_after(length: int) -> Callable[[Answer], Answer]:
    """Loses the last character of a text that is as long as this."""
    return lambda answer: replace(answer, text=answer.text[:-1]) if len(answer.text) == length else answer


def cut_warnings(warnings: Any) -> Any:
    return [cut_text(256)(each) for each in warnings] if isinstance(warnings, list) else warnings  # pyright: ignore[reportUnknownVariableType]


def system_limit(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    system = real(tool, texts)
    if system is not None and len(system.encode()) > 128_000:
        raise Refusal("`systemPrompt` is too long.")
    return system


def reads_last_hundred(port: Any, real: Any, listing: Outcome) -> str | None:
    """Reads a list of many lines from its end, where it expects one entry a line."""
    entries = [line for line in port.list_text(listing).split("\n") if line.strip()]
    return real(replace(listing, stdout="\n".join(entries[-100:]).encode(), stderr=b""))


defect(
    "output-of-full-pages-is-cut",
    "Takes JSON for broken off whose length is a multiple of 4,096 bytes.",
    "result:text",
)(read=full_page_is_cut)
defect(
    "stderr-over-mebibyte-fails",
    "Fails a call that succeeded when gemini has written more than 1 MiB to stderr.",
    "result:stderr",
    "result:large-stderr",
)(read=much_stderr_fails)
defect("stdout-decoded-by-4-kib", "Decodes each 4 KiB of the output by itself.", "result:text:unicode", "result:text")(
    read=of_stdout(decoded_in_pieces(PAGE))
)
defect("stderr-decoded-by-kibibytes", "Decodes each KiB of stderr by itself.", "error:stderr")(
    read=of_stderr(decoded_in_pieces(1024))
)
defect("index-in-sixteen-bits", "Keeps the numbers of a list in sixteen bits.", "fallback:last")(newest_entry=in_bits)
defect("zero-text-is-absent", "Takes an optional argument that is the text `0` for absent.", "command:chat:model")(
    is_absent=zero_is_false
)
defect("zero-prompt-is-empty", "Refuses the prompt `0` as empty.", "prompt:verbatim:number")(
    check_prompt=zero_is_no_prompt
)
defect("model-over-255-refused", "Refuses a model of more than 255 bytes.", "command:chat:model")(
    check_word=refuses_length("model", lambda length: length > 255)
)
defect("one-letter-session-refused", "Refuses a session of a single character.", "command:chat-reply:session-id")(
    check_word=refuses_length("sessionId", lambda length: length == 1)
)
defect("tokens-over-256-overlooked", "Tells no progress to a token of more than 256 characters.", "progress:start")(
    token=short_tokens
)
defect("exit-75-is-success", "Takes exit code 75 beside an answer for a success.", "error:exit")(
    run_prompt=swallows(75)
)
defect("exit-255-is-success", "Takes exit code 255 beside an answer for a success.", "error:exit")(
    run_prompt=swallows(255)
)
defect("alarm-is-success", "Takes the answer of a gemini that died of SIGALRM.", "error:signal")(
    run_prompt=swallows(-14)
)
defect("hangup-is-success", "Takes the answer of a gemini that died of SIGHUP.", "error:signal")(
    run_prompt=swallows(-1)
)
defect("stderr-of-64-lines-shown", "Quotes the last 64 lines of stderr at most.", "error:stderr:tail", "error:stderr")(
    tail=gives(lambda text: "\n".join(text.split("\n")[-64:]))
)
defect("answer-of-1000-characters-shortened", "Loses the last of exactly 1,000 characters.", "result:text")(
    read_json=gives(cut_after(1000))
)
defect("answer-of-16-kib-shortened", "Loses the last of exactly 16,384 characters.", "result:text")(
    read_json=gives(cut_after(1 << 14))
)
defect("answer-of-one-character-empty", "Loses an answer of a single character.", "result:text")(
    read_json=gives(cut_after(1))
)
defect("system-prompt-over-128000-refused", "Refuses a system prompt of more than 128,000 bytes.", "system:content")(
    system=system_limit
)
defect("newest-in-last-hundred", "Reads the last hundred entries of a list of sessions.", "fallback:last")(
    newest=reads_last_hundred
)
defect("titles-of-many-words-hide", "Reads no entry of a list with more than eight words.", "fallback:list-sessions")(
    entry_pattern=gives(lambda pattern: re.compile(r"\s*([0-9]+)\.\s(?:\S+\s+){0,8}\[([^\[\]\s]+)\][^\[\]]*"))
)
defect("warnings-cut-at-256", "Cuts a warning after 256 characters.", "result:warnings")(
    success=takes(lambda answer: replace(answer, warnings=cut_warnings(answer.warnings)))
)
