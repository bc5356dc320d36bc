"""Defects in the lines in which replies wait, and in what calls share that run at the same time."""

import os
import tempfile
import time
from itertools import count
from typing import Any

from defects.record import defect
from running import Call
from speaking import Message
from steps import before, gives

FILE_NAMES = 8
PAUSE = 0.02
LONG = 64


def clears_line(port: Any, call: Call) -> None:
    for line in list(port.turns.values()):
        if call in line[1:]:
            for other in line[1:]:
                port.end(other)


def opens_line(port: Any, call: Call) -> None:
    for line in list(port.turns.values()):
        if line and line[0] is call:
            port.memory.update(dict.fromkeys(line, "open"))


def waits_loosely(port: Any, real: Any, call: Call, turn: str) -> None:
    line = port.turns[turn]
    port.turn_changed.wait_for(lambda: line[0] is call or call.is_cancelled or call in port.memory)


def frees_turn(port: Any, call: Call) -> None:
    with port.turn_changed:
        for line in port.turns.values():
            if call in line:
                line.remove(call)
        port.turn_changed.notify_all()


def in_few_names(port: Any, real: Any, text: str) -> str:
    number = next(port.memory.setdefault("number", count())) % FILE_NAMES
    folder = os.path.join(tempfile.gettempdir(), f"gemini-mcp-{number:06d}")
    os.makedirs(folder, 0o700, exist_ok=True)
    path = os.path.join(folder, port.system_name())
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(port.system_bytes(text))
    return path


def in_order(port: Any, real: Any, call: Call, result: Message) -> None:
    earlier = [each for each in port.calls[: port.calls.index(call)] if each.tool == call.tool == "chat-reply"]
    while any(each in port.calls and not each.is_cancelled for each in earlier):
        time.sleep(PAUSE)
    real(call, result)


def unless_stateless(port: Any, real: Any, call: Call, turn: str | None) -> None:
    if not call.stateless:
        real(call, turn)


defect(
    "cancel-clears-line",
    "Cancels all replies that wait in a line when one of them is cancelled.",
    "cancel:others",
)(cancel=before(clears_line))
defect(
    "cancel-opens-line",
    "Begins all replies that wait for another in the same session when that one is cancelled.",
    "concurrency:same-session",
)(cancel=before(opens_line), await_turn=waits_loosely)
defect(
    "turn-freed-before-death",
    "Begins the next reply in a session while the gemini of a cancelled one still ends.",
    "concurrency:same-session",
)(cancel=before(frees_turn))
defect(
    "eight-file-names",
    "Has eight names for the files of system prompts, and overwrites one that is in use.",
    "system:life",
    "system:isolation",
)(write_system=in_few_names)
defect(
    "replies-answered-in-order",
    "Holds the answer to a reply back until all earlier replies have theirs.",
    "concurrency:other-session",
)(answer=in_order)
defect(
    "one-line-for-all-latest",
    "Lets replies to the latest sessions of different directories wait for each other.",
    "concurrency:other-session",
)(turn=gives(lambda turn: turn and ("latest" if turn.startswith("latest in ") else turn)))
defect(
    "stateless-replies-overlap",
    "Runs replies in the same session at the same time when there was no handshake.",
    "concurrency:same-session",
)(take_turn=unless_stateless)
defect(
    "long-sessions-overlap",
    "Runs replies at the same time in a session whose id has more than 64 characters.",
    "concurrency:same-session",
)(turn=gives(lambda turn: turn if turn and (len(turn) <= LONG or turn.startswith("latest in ")) else None))
