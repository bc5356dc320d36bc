"""Defects that show when calls overlap, or follow a failure."""

import hashlib
import os
import tempfile
import threading
import time
from dataclasses import replace
from typing import Any

from answering import Failure
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message
from steps import after, always, before, for_tool, takes

ONE_AT_A_TIME = threading.Lock()


def file_by_text(port: Any, real: Any, text: str) -> str:
    named = hashlib.sha256(text.encode()).hexdigest()[:6]
    directory = os.path.join(tempfile.gettempdir(), f"gemini-mcp-{named}")
    os.makedirs(directory, 0o700, exist_ok=True)
    path = os.path.join(directory, port.system_name())
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(port.system_bytes(text))
    return path


def runs_alone(port: Any, real: Any, call: Call, plan: Any) -> Any:
    with ONE_AT_A_TIME:
        return real(call, plan)


def when_idle(port: Any, real: Any, *arguments: Any) -> Any:
    """Waits until no call runs."""
    for thread in port.threads:
        thread.join()
    return real(*arguments)


def answers_shared(port: Any, real: Any, call: Call, result: Message) -> None:
    port.memory["result"] = result
    time.sleep(0.05)
    real(call, port.memory["result"])


def ids_crossed(port: Any, real: Any, call: Call, result: Message) -> None:
    with port.output:
        waiting = [each for each in port.calls if not each.is_answered and not each.is_cancelled]
    if call in waiting and waiting[-1] is not call:
        call.id, waiting[-1].id = waiting[-1].id, call.id
    real(call, result)


def sessions_shared(port: Any, real: Any, call: Call, plan: Any) -> Any:
    answer = real(call, plan)
    port.memory["session"] = answer.session
    time.sleep(0.05)
    return replace(answer, session=port.memory["session"])


def busy(port: Any, real: Any, *arguments: Any) -> Any:
    return port.error(Failure("The server is busy.")) if len(port.calls) >= 8 else real(*arguments)


def repeats_failure(port: Any, real: Any, call: Call) -> Message:
    if earlier := port.memory.pop("failure", None):
        return earlier
    result = real(call)
    if "\nStderr: " in str(result["content"][0]["text"]):
        port.memory["failure"] = result
    return result


def notes_failure(port: Any, failure: Failure) -> None:
    port.memory["is_stuck"] = port.memory.get("is_stuck") or failure.stderr is not None


def under_lock(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    with port.output:
        return real(call, plan)


def by_written_path(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    turn = real(tool, texts)
    is_latest = turn is not None and turn.startswith("latest in ")
    return f"latest in {os.path.join(os.getcwd(), texts.get('cwd', ''))}" if is_latest else turn


defect("sessions-cut-short", "Takes sessions for one that begin alike.", "concurrency:other-session")(
    take_turn=takes(lambda turn: turn and turn[:-1]), end_turn=takes(lambda turn: turn and turn[:-1])
)
defect("one-call-at-atime", "Serves one call after the other.", "concurrency:calls")(run_prompt=runs_alone)
defect("one-call-per-directory", "Serves one call after the other in the same directory.", "concurrency:calls")(
    turn=lambda port, real, tool, texts: f"directory {texts.get('cwd')}"
)
defect("ping-waits", "Answers ping when no call runs.", "concurrency:ping")(ping=when_idle)
defect("list-waits", "Lists its tools when no call runs.", "concurrency:list")(list_tools=when_idle)
defect(
    "reads-nothing-meanwhile",
    "Reads no message while a call runs.",
    "concurrency:ping",
    "concurrency:calls",
    "concurrency:list",
    "cancel:child",
)(begin_call=after(lambda port, identity, params, stateless: port.threads[-1].join()))
defect(
    "answers-crossed", "Keeps the answer that is being sent in a place that all calls share.", "concurrency:crossed"
)(answer=answers_shared)
defect("ids-crossed", "Answers the call that came last, whichever has ended.", "concurrency:crossed")(
    answer=ids_crossed
)
defect(
    "sessions-crossed",
    "Keeps the session of an answer in a place that all calls share.",
    "concurrency:crossed",
    "result:session-id",
)(ask=sessions_shared)
defect("ninth-call-lost", "Forgets the calls beyond eight.", "concurrency:lost")(
    begin_call=lambda port, real, identity, params, stateless: (
        real(identity, params, stateless) if len(port.calls) < 8 else None
    )
)
defect("ninth-call-refused", "Is too busy for more than eight calls.", "concurrency:lost")(begin_call=busy)
defect("failure-repeated", "Fails the call that follows a failure with the same error.", "concurrency:after-failure")(
    execute=repeats_failure
)
defect("failure-keeps-turn", "Lets the replies behind one that failed wait for ever.", "concurrency:after-failure")(
    error=before(notes_failure),
    end_turn=lambda port, real, call, turn: port.memory.get("is_stuck") or real(call, turn),
)
defect("replies-overlap", "Runs replies in the same session at the same time.", "concurrency:same-session")(
    turn=lambda port, real, tool, texts: None if "sessionId" in texts else real(tool, texts)
)
defect("latest-overlaps", "Runs replies in the latest session at the same time.", "concurrency:latest")(
    turn=lambda port, real, tool, texts: real(tool, texts) if "sessionId" in texts else None
)
defect("all-replies-in-line", "Runs one reply after the other, whatever their session.", "concurrency:other-session")(
    turn=for_tool("chat-reply", always("any"))
)
defect(
    "equal-system-prompts-share-a-file",
    "Keeps a system prompt in a file named after its text, and removes it when the first of two calls has ended.",
    "system:life",
)(write_system=file_by_text)
defect(
    "turns-by-session-and-model",
    "Lets replies in the same session overlap when they name different models.",
    "concurrency:same-session",
)(turn=lambda port, real, tool, texts: (found := real(tool, texts)) and f"{found} with {texts.get('model')}")
defect("list-stops-all", "Answers nothing while gemini lists sessions.", "concurrency:ping")(list_sessions=under_lock)
defect(
    "latest-by-written-path",
    "Tells the latest sessions of directories apart by their paths as they are written.",
    "concurrency:latest",
)(turn=by_written_path)
