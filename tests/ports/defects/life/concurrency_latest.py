"""Replies to the latest session that overtake each other or wait in vain: ports that break `concurrency:latest`."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer
from defects.life.shared import turns_of
from defects.record import defect
from planning import Plan
from running import Call
from steps import before, takes


def default_named_alone(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    turn = real(tool, texts)
    return "latest" if turn and turn.startswith("latest in ") and "cwd" not in texts else turn


def by_written_path(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    turn = real(tool, texts)
    is_latest = turn is not None and turn.startswith("latest in ")
    return f"latest in {os.path.join(os.getcwd(), texts.get('cwd', ''))}" if is_latest else turn


def named_latest_apart(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    turn = real(tool, texts)
    return f"named {turn}" if texts.get("sessionId") == "latest" else turn


def empty_alone(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan = real(tool, arguments)
    return replace(plan, turn=f"{plan.turn} by name") if plan.turn and arguments.get("sessionId") == "" else plan


def last_link_only(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    turn, path = real(tool, texts), os.path.abspath(texts.get("cwd", "."))
    if turn is None or not turn.startswith("latest in "):
        return turn
    if os.path.islink(path):
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    return f"latest in {path}"


def ends_turn_before_list(port: Any, call: Call, plan: Plan, answer: Answer) -> None:
    port.end_turn(call, plan.turn)


def turn_of_default(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    turn = real(tool, texts)
    return "latest" if turn is not None and turn.startswith("latest in ") and "cwd" not in texts else turn


def await_or_leave(port: Any, real: Any, call: Call, turn: str) -> None:
    """One that is cancelled in the line unlocks what it never locked: the next does not wait."""
    line = port.turns[turn]
    port.turn_changed.wait_for(lambda: line[0] is call or call.is_cancelled or port.memory.get(turn, 0) > 0)
    if call.is_cancelled and line[0] is not call and turn.startswith("latest in "):
        port.memory[turn] = port.memory.get(turn, 0) + 1
    elif line[0] is not call and not call.is_cancelled:
        port.memory[turn] -= 1


defect(
    "latest-here-and-latest-named",
    "Lets a reply to the latest session without `cwd` run beside one that names the server's own directory.",
    "concurrency:latest",
)(turn=default_named_alone)
defect("latest-overlaps", "Runs replies in the latest session at the same time.", "concurrency:latest")(
    turn=lambda port, real, tool, texts: real(tool, texts) if "sessionId" in texts else None
)
defect(
    "latest-by-written-path",
    "Tells the latest sessions of directories apart by their paths as they are written.",
    "concurrency:latest",
)(turn=by_written_path)
defect(
    "named-latest-has-own-line",
    "Lets a reply that names the session `latest` run beside one in the same directory that names none.",
    "concurrency:latest",
)(turn=named_latest_apart)
defect(
    "latest-with-model-apart",
    "Lets a reply to the latest session that names a model overlap with one that does not.",
    "concurrency:latest",
)(
    **turns_of(
        lambda call, turn: (
            f"{turn} apart" if "model" in call.arguments and "sessionId" not in call.arguments and turn else turn
        )
    )
)
defect(
    "latest-line-collapses-dots",
    "Takes `..` out of a path before it follows links, so replies to latest in `link/..` and its target overlap.",
    "concurrency:latest",
)(turn=takes(lambda texts: {**texts, "cwd": os.path.normpath(texts.get("cwd", "."))}))
defect(
    "empty-id-waits-alone",
    "Runs a reply with an empty session id beside one without any in the latest session of the same directory.",
    "concurrency:latest",
)(plan=empty_alone)
defect(
    "link-on-the-way-unresolved",
    "Takes a directory behind a link for another one when the link is not the last part of the path.",
    "concurrency:latest",
)(turn=last_link_only)
defect(
    "turn-ends-before-list",
    "Lets the next reply to the latest session begin before it has asked for the list.",
    "concurrency:latest",
)(with_session=before(ends_turn_before_list))
defect(
    "latest-of-default-directory-apart",
    "Lets replies overlap when one names the directory in which the other runs without saying so.",
    "concurrency:latest",
)(turn=turn_of_default)
defect(
    "cancelled-waiter-unlocks",
    "Lets the next reply to the latest session start beside the running one when one was cancelled in the line.",
    "concurrency:latest",
)(await_turn=await_or_leave)
