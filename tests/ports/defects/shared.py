"""What several rooms use: changes of one step that any kind of fault may need."""

import os
import re
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from answering import KEYS, Failure, Outcome
from conditions import STDERR, wanted
from planning import Plan
from port import META, Port
from running import GRACE, Call
from speaking import Message
from steps import Change, Step, after, gives, takes


def text(change: Change) -> Step:
    """Changes the text of an answer."""
    return takes(lambda answer: replace(answer, text=change(answer.text)))


def reads(change: Change) -> Step:
    """Reads the JSON object as if it were another."""
    return lambda port, real, value, stderr: real(change(value), stderr)


def retries(test: Callable[[Outcome], bool]) -> Step:
    """Runs the prompt again after an outcome of which `test` holds."""

    def run_prompt(port: Any, real: Any, call: Any, plan: Any) -> Any:
        outcome = real(call, plan)
        return real(call, plan) if test(outcome) else outcome

    return run_prompt


def through_shell(quoted: Callable[[str, str], str | None]) -> Step:
    """Starts gemini through a shell; `quoted` quotes some words wrongly. It is given the word before, too."""

    def spawn(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
        words = [quoted(before, word) or shlex.quote(word) for before, word in zip(("", *argv), argv, strict=False)]
        return real(("/bin/sh", "-c", " ".join(words)), **options)

    return spawn


def in_double_quotes(text: str) -> str:
    return '"{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"'))


def prompt_in_double_quotes(before: str, word: str) -> str | None:
    is_bare = word not in ("gemini", "json") and not word.startswith("-")
    return in_double_quotes(word) if is_bare and before not in ("-r", "-m") else None


def keeps(test: Callable[[Any, Call, Outcome | None], bool]) -> Step:
    """Keeps the file of the calls of which `test` holds."""

    def remove_system(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
        if not test(port, call, outcome):
            real(path, call, outcome)

    return remove_system


def only_asks(test: Callable[[Port, Call], bool]) -> Step:
    """Of `stop`: sends SIGTERM and leaves it at that, for the calls of which `test` holds."""

    def stop(port: Any, real: Any, call: Call) -> None:
        process = call.process
        if process is not None and test(port, call):
            port.signal_group(process.pid, signal.SIGTERM)
        else:
            real(call)

    return stop


def stops_leader(test: Callable[[Port, Call], bool]) -> Step:
    """Of `stop`: ends gemini but not what it has started, for the calls of which `test` holds."""

    def stop(port: Any, real: Any, call: Call) -> None:
        process = call.process
        if process is None or not test(port, call):
            real(call)
            return
        port.memory.setdefault("spared", set[int]()).add(process.pid)
        process.terminate()
        if not call.ended.wait(GRACE):
            process.kill()

    return stop


def spares_group(port: Any, real: Any, leader: int, number: signal.Signals) -> None:
    """Signals no group whose leader is remembered as `spared`."""
    if leader not in port.memory.get("spared", ()):
        real(leader, number)


def cancelled_answered(stateless: bool) -> Step:
    """Answers the cancelled calls of one era."""

    def answer(port: Any, call: Call) -> None:
        if call.is_cancelled and not port.is_ending and call.stateless == stateless:
            port.send_result(call.id, port.finished(port.error(Failure("The call was cancelled.")), stateless))

    return after(answer)


def is_unknown(port: Any, method: str, params: Any) -> bool:
    """Whether the notification cancels a call that does not run."""
    return method == "notifications/cancelled" and wanted(method, params) not in [call.id for call in port.calls]


def spares_old(port: Any, real: Any, call: Call) -> None:
    """A call that has run for three seconds is no more among those that can be cancelled."""
    if call.deadline is None or call.deadline - time.monotonic() > 597:
        real(call)


def directory_named(word: str, key: Change) -> dict[str, Step]:
    """Steps that name the directory of a system prompt after something of its call."""

    def run_prompt(port: Any, real: Any, call: Call, plan: Plan) -> Any:
        port.memory[threading.get_ident()] = sha256(f"{word}{key(call)}".encode("utf-8", "replace")).hexdigest()[:6]
        return real(call, plan)

    def new_directory(port: Any, real: Any) -> str:
        path = os.path.join(os.path.dirname(made := real()), f"gemini-mcp-{port.memory[threading.get_ident()]}")
        os.rmdir(made)
        os.makedirs(path, 0o700, exist_ok=True)
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(path, port.system_name()))
        return path

    return {"run_prompt": run_prompt, "new_directory": new_directory}


def names(*arguments: str) -> Callable[..., bool]:
    """Whether a call gives all of these arguments."""

    def holds(call: Call, *others: object) -> bool:
        return all(call.arguments.get(name) for name in arguments)

    return holds


def sparing(is_spared: Callable[[re.Match[str]], object]) -> Step:
    """Of `masked`: leaves such keys."""
    return lambda port, real, text: KEYS.sub(lambda key: key[0] if is_spared(key) else "[masked]", text)


def log_bare(text: object) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def log(text: str) -> None:
    with open(2, "w", encoding="utf-8", closefd=False) as file:
        print(f"[gemini-mcp] {text}", file=file)


def without_stderr(result: Message) -> Message:
    text = result["content"][0]["text"].partition(STDERR)[0] + STDERR
    return {**result, "content": [{"type": "text", "text": text}]}


def where(key: str, change: Change) -> Change:
    """Changes the messages that have such an entry."""
    return lambda message: change(message) if key in message else message


def without_server(result: Message) -> Message:
    return {**result, "_meta": {name: value for name, value in result["_meta"].items() if not name.startswith(META)}}


def with_id(change: Change) -> Step:
    return takes(where("id", lambda message: {**message, "id": change(message["id"])}))


def with_token(change: Change) -> Step:
    return gives(
        lambda message: {
            **message,
            "params": {**message["params"], "progressToken": change(message["params"]["progressToken"])},
        }
    )


def unless_noted(port: Any, real: Any, call: Call) -> None:
    """Does nothing about a call that the port has remembered for it."""
    if call not in port.memory:
        real(call)


def input_has_ended(port: Port) -> bool:
    return port.is_ending and not port.ended_by_signal


def in_latest_era(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    return real(result, port.memory["era"])


def of_stderr(change: Change) -> Step:
    return takes(lambda outcome: replace(outcome, stderr=change(outcome.stderr)))


def decoded_in_pieces(size: int) -> Change:
    def decoded(raw: bytes) -> bytes:
        pieces = (raw[start : start + size] for start in range(0, len(raw), size))
        return "".join(piece.decode("utf-8", "replace") for piece in pieces).encode()

    return decoded


def members(leader: int) -> Mapping[int, int]:
    """The processes of a group that have not ended, each with the one that started it."""
    found: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, parent, group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(group) == leader and state not in "ZX":
                found[int(folder.name)] = int(parent)
    return found


def lines_by(read: Callable[[bytes], tuple[bytes, bytes]]) -> Iterator[bytes]:
    """The lines of the input; `read` is given what has come of the next one, and gives what is left of it and more."""
    held = b""
    while True:
        held, piece = read(held)
        if not piece:
            break
        *lines, held = (held + piece).split(b"\n")
        yield from lines
    yield held
