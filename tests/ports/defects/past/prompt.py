"""Prompts that hold a rest of earlier ones, or are refused for their sake: ports that break `prompt`."""

import os
import tempfile
import time
from pathlib import Path
from typing import IO, Any

from answering import Outcome
from defects.past.shared import MOMENT
from defects.record import defect
from planning import STDIN_LIMIT, Refusal
from running import Call, Cancelled

LONG_LINE = 1024 * 1024


def long_ones_refused(port: Any, real: Any, tool: str, prompt: str) -> None:
    if port.memory.get("too long") and len(prompt.encode()) > 128_000:
        raise Refusal("`prompt` is too long.")
    try:
        real(tool, prompt)
    except Refusal:
        port.memory["too long"] = len(prompt.encode()) > STDIN_LIMIT
        raise


def notes_unread(port: Any, real: Any, *given: Any) -> Any:
    """Stops writing to stdin for good when a gemini has ended without reading it."""
    *others, stdin, limit = given
    text = "" if stdin is not None and port.memory.get("broken") else stdin
    outcome = real(*others, text, limit)
    if stdin is not None and outcome.exit != 0:
        port.memory["broken"] = True
    return outcome


def keeps_stdin_of_cancelled(port: Any, real: Any, call: Call, *options: Any) -> Outcome:
    try:
        return real(call, *options)
    except Cancelled:
        _argv, _cwd, _env, stdin, _timeout = options
        port.memory["left"] = stdin or ""
        raise


def writes_over_left(port: Any, real: Any, text: str | None) -> IO[bytes]:
    """As into a file that is not made empty first."""
    return real(text if text is None else text + port.memory.pop("left", "")[len(text) :])


def stdin_over_the_one_before(port: Any, real: Any, prompt: str) -> Any:
    form, stdin = real(prompt)
    if stdin is None:
        return form, stdin
    kept = port.memory.get("stdin", "")
    port.memory["stdin"] = stdin + kept[len(stdin) :]
    return form, port.memory["stdin"]


def cut_to_first(port: Any, real: Any, prompt: str) -> Any:
    """The buffer for stdin is as long as the first long prompt."""
    form, stdin = real(prompt)
    if stdin is None:
        return form, stdin
    size = port.memory.setdefault("size", len(stdin))
    return form, stdin[:size]


def in_one_file(port: Any, real: Any, text: str | None) -> IO[bytes]:
    """Puts every long prompt into the same file, a moment before gemini reads it."""
    if text is None:
        return real(text)
    path = Path(tempfile.gettempdir(), f".gemini-stdin-{os.getpid()}")
    path.write_bytes(text.encode())
    time.sleep(MOMENT)
    return open(path, "rb")


def risky_in_any_case(port: Any, real: Any, prompt: str) -> bool:
    return port.memory.setdefault(prompt.casefold(), real(prompt))


def misread_behind_long(port: Any, real: Any, line: bytes) -> None:
    """Looks for a message in the encoding of an old locale when its buffer has grown."""
    is_behind = port.memory.pop("long", False)
    if len(line) > LONG_LINE:
        port.memory["long"] = True
    real(line.decode("latin-1").encode() if is_behind else line)


def risky_between_blanks(port: Any, real: Any, prompt: str) -> bool:
    return port.memory.setdefault(prompt.strip(), real(prompt))


defect(
    "long-prompts-refused-after-too-long-one",
    "Refuses every long prompt once one was longer than gemini reads.",
    "prompt:long",
)(check_prompt=long_ones_refused)
defect(
    "stdin-broken-by-failure",
    "Writes no long prompt any more once a gemini has failed that had one.",
    "prompt:long",
    "prompt:long:whole",
)(run=notes_unread)
defect(
    "rest-of-cancelled-stdin",
    "Ends a long prompt with the rest of a longer one if the call of that one was cancelled.",
    "prompt:long",
)(run=keeps_stdin_of_cancelled, input=writes_over_left)
defect(
    "stdin-keeps-end-of-longer-one",
    "Writes a long prompt over the one before, whose end stays when it was longer.",
    "prompt:long",
)(prompt_form=stdin_over_the_one_before)
defect(
    "later-long-prompt-cut-to-first",
    "Cuts a long prompt to the length of the first one.",
    "prompt:long:whole",
)(prompt_form=cut_to_first)
defect(
    "stdin-file-shared",
    "Puts long prompts into one file, so that one of two at once reads that of the other.",
    "prompt:long:whole",
    "concurrency:crossed",
)(input=in_one_file)
defect(
    "form-kept-for-any-case",
    "Gives a prompt the form that one with other capitals had before, so that `mcp` after `MCP` is a command.",
    "prompt:verbatim:command-word",
    "prompt:verbatim:number",
)(is_risky=risky_in_any_case)
defect(
    "text-misread-behind-long-line",
    "Reads the line behind one of more than a megabyte as Latin-1.",
    "prompt:verbatim:unicode",
)(receive=misread_behind_long)
defect(
    "form-kept-for-blanks-around",
    "Gives a prompt the form that one with blanks around it had before, so that `1e3` after ` 1e3 ` is a number.",
    "prompt:verbatim:number",
    "prompt:verbatim:command-word",
)(is_risky=risky_between_blanks)
