"""Odd choices: how gemini's command line is spelled, what an error says, whose turn it is, when gemini is asked."""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

from answering import Failure
from odd.record import odd
from planning import PROPERTIES, Refusal
from running import Call, Cancelled
from steps import before, gives, takes

EIGHT = threading.Semaphore(8)
MANY = 50
WHILE = 0.3
ADVICE = """

What to do now:

 1. Read what gemini says below.
 2. Ask again, or ask for something else.
"""


def in_words(port: Any, real: Any, prompt: str) -> Any:
    """gemini joins the words again. Only words that begin with a letter and are no command are left to that."""
    form, stdin = real(prompt)
    words = prompt.split(" ")
    is_plain = all(word[:1].isalpha() and not port.is_risky(word) for word in words)
    return (tuple(words), None) if is_plain and form == (prompt,) and len(words) <= MANY else (form, stdin)


def before_options(port: Any, real: Any, tool: str, texts: Any, form: tuple[str, ...]) -> tuple[str, ...]:
    """The flag stands before another one, which is not taken for its value."""
    resume = port.resume_option(texts) if tool == "chat-reply" else ()
    return ("gemini", *form, *resume, *port.format_option(tool), *port.model_option(tool, texts))


def without_latest(port: Any, real: Any, texts: Any) -> tuple[str, ...]:
    session = port.resumed(texts)
    return ("-r",) if session == "latest" else ("-r", session)


def in_camel_case(argv: tuple[str, ...]) -> tuple[str, ...]:
    at = argv.index("--output-format")
    return (*argv[:at], "--outputFormat=json", *argv[at + 2 :])


def every_fault(port: Any, real: Any, tool: str, arguments: Any) -> Any:
    checks: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (port.text, (tool, name, arguments[name])) for name in PROPERTIES[tool] if name in arguments
    ]
    cwd = arguments.get("cwd")
    if isinstance(cwd, str) and cwd and cwd.isprintable():
        checks.append((port.check_cwd, (cwd,)))
    faults = ["`prompt` is missing, but should be a string."] if "prompt" not in arguments else []
    for check, given in checks:
        try:
            check(*given)
        except Refusal as refusal:
            faults.append(str(refusal))
    if len(faults) > 1:
        raise Refusal(" ".join(faults))
    return real(tool, arguments)


def with_advice(failure: Failure) -> Failure:
    return replace(failure, sentence=failure.sentence + ADVICE, stderr=failure.stderr or "")


def newest_next(port: Any, real: Any, call: Call, turn: str | None) -> None:
    """Of the replies that wait for this one, the last is next."""
    with port.turn_changed:
        line = port.turns.get(turn or "", [])
        was_first = bool(line) and line[0] is call
        real(call, turn)
        if was_first and line:
            line.insert(0, line.pop())


def looks_in_turn(port: Any, real: Any, call: Call) -> Any:
    given = {name: text for name, text in call.arguments.items() if isinstance(text, str) and text.isprintable()}
    turn = port.turn(call.tool, {name: text for name, text in given.items() if text})
    port.take_turn(call, turn)
    try:
        return real(call)
    finally:
        port.end_turn(call, turn)


def one_of_eight(port: Any, real: Any, call: Call) -> Any:
    while not EIGHT.acquire(timeout=0.05):
        if call.is_cancelled:
            raise Cancelled
    try:
        return real(call)
    finally:
        EIGHT.release()


def with_id(argv: tuple[str, ...]) -> tuple[str, ...]:
    """gemini takes an id for a session that it begins, and for no other."""
    return argv if "-r" in argv else (argv[0], f"--session-id={uuid4()}", *argv[1:])


def asked_again(port: Any, real: Any, call: Call, plan: Any) -> Any:
    """A list that names no session is asked for once more; one that hangs is not."""
    listing = real(call, plan)
    return real(call, plan) if listing is not None and port.newest(listing) is None else listing


def considers(port: Any, call: Call, plan: Any) -> None:
    time.sleep(WHILE)


def by_detour(path: str | None) -> str | None:
    """The same file by a path that is not in its shortest form."""
    if path is None:
        return None
    directory, name = os.path.split(path)
    above, last = os.path.split(directory)
    return f"{above}/.//{last}/../{last}/./{name}"


def closed(path: str) -> str:
    os.chmod(os.path.dirname(path), 0o500)
    return path


def opens_again(port: Any, path: str, call: Call, outcome: Any) -> None:
    os.chmod(os.path.dirname(path), 0o700)


odd("prompt-in-words", "Passes an ordinary prompt word by word, which gemini joins again by blanks.")(
    prompt_form=in_words
)
odd("bare-resume", "Resumes the latest session by `-r` without a value.")(
    argv=before_options, resume_option=without_latest
)
odd("options-in-camel-case", "Writes `--outputFormat=json`, and says what is off anyway by `--no-debug`.")(
    argv=gives(lambda argv: (*in_camel_case(argv), "--no-debug"))
)
odd("all-faults-at-once", "Says in one sentence after the other all that is wrong with the arguments of a call.")(
    texts=every_fault
)
odd("one-form-of-errors", "Gives advice in every error, over several lines, and ends every one with `Stderr: `.")(
    error=takes(with_advice)
)
odd("last-come-first-served", "Of replies in the same session that wait, serves the newest first.")(
    end_turn=newest_next
)
odd("refuses-in-turn", "Looks at the arguments of a reply when its turn in its session has come.")(
    execute=looks_in_turn
)
odd("eight-at-once", "Serves eight calls at a time, those that it refuses among them.")(execute=one_of_eight)
odd("chooses-session-ids", "Gives gemini the id of each session that it begins.")(argv=gives(with_id))
odd("asks-for-list-again", "Asks for the list of sessions a second time when the first names none.")(
    list_sessions=asked_again
)
odd("starts-late", "Waits 0.3 seconds before it starts gemini.")(run_prompt=before(considers))
odd("system-path-by-detour", "Names the file of the system prompt by a path with `.`, `..` and doubled slashes.")(
    environment=takes(by_detour)
)
odd("read-only-directory", "Lets nobody write into the directory of the system prompt while gemini runs.")(
    write_system=gives(closed), remove_system=before(opens_again)
)
