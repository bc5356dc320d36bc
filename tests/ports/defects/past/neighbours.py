"""Defects in what a port does while something else runs, ends or waits: calls side by side, and a slow reader."""

import os
import select
import tempfile
import time
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from answering import Answer, Failure
from conditions import altering, failed
from defects.life.encounters import directory_named
from defects.privacy.channels import logs
from defects.record import defect
from planning import Plan
from running import Call
from speaking import Message, RpcError
from steps import before, gives

PIECE = 4096
STALL_SECONDS = 0.5
MOMENT = 0.1
INTERNAL = -32603


def others(port: Any, call: Call) -> list[Call]:
    """The calls that run beside this one."""
    return [other for other in port.calls if other is not call]


def warned_meanwhile(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Takes the warnings from a place that all calls share."""
    began = time.monotonic()
    answer = real(call, plan)
    at, warnings = port.memory.get("warnings", (0.0, None))
    if answer.warnings:
        port.memory["warnings"] = (time.monotonic(), answer.warnings)
    return replace(answer, warnings=warnings) if at > began and not answer.warnings else answer


def stderr_meanwhile(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Takes stderr from a place that all calls share."""
    began = time.monotonic()
    try:
        return real(call, plan)
    except Failure as failure:
        at, stderr = port.memory.get("stderr", (0.0, None))
        if failure.stderr:
            port.memory["stderr"] = (time.monotonic(), failure.stderr)
        if at > began and failure.stderr is not None:
            raise replace(failure, stderr=stderr) from None
        raise


def model_of_first(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    """Keeps the options of gemini in a place that all calls share, until the last of them has ended."""
    models = [other.arguments["model"] for other in others(port, call) if other.arguments.get("model")]
    return real(call, altering("-m", lambda model: models[0])(plan) if models else plan)


def tools_while_replying(port: Any, real: Any) -> list[Message]:
    return [tool for tool in real() if tool["name"] not in {call.tool for call in port.calls} - {"chat"}]


def logs_siblings(port: Any, real: Any, call: Call) -> Message:
    result = real(call)
    if failed(call, result):
        for other in others(port, call):
            logs(f"still running: {other.tool} {other.arguments.get('prompt')}")
    return result


def when_idle(port: Any) -> None:
    end = time.monotonic() + 60
    while port.calls and time.monotonic() < end:
        time.sleep(0.01)


def caching_while_busy(port: Any, real: Any) -> Message:
    return {} if port.calls else real()


def turn_by_directory(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    turn = real(tool, texts)
    return turn and f"{turn} in {texts.get('cwd')}"


def by_last_name(turn: str | None) -> str | None:
    return f"latest in {os.path.basename(turn)}" if turn and turn.startswith("latest in ") else turn


def begun_anew(port: Any, real: Any, message: Message) -> None:
    """Begins a line again when the client has made it wait in the middle."""
    line = rest = memoryview(port.encoded(message))
    has_waited = False
    while rest:
        if not has_waited and not select.select([], [1], [], STALL_SECONDS)[1]:
            has_waited, rest = True, line
        rest = rest[os.write(1, rest[:PIECE]) :]


def internal_while_busy(port: Any, real: Any, request: Message, params: Any, stateless: bool) -> Message | None:
    try:
        return real(request, params, stateless)
    except RpcError as error:
        if port.calls and error.error["code"] == -32601:
            raise RpcError(INTERNAL, error.error["message"]) from None
        raise


def in_one_file(port: Any, real: Any, text: str | None) -> IO[bytes]:
    """Puts every long prompt into the same file, a moment before gemini reads it."""
    if text is None:
        return real(text)
    path = Path(tempfile.gettempdir(), f".gemini-stdin-{os.getpid()}")
    path.write_bytes(text.encode())
    time.sleep(MOMENT)
    return open(path, "rb")


defect(
    "warnings-crossed",
    "Reports the warnings of a call that has ended meanwhile with an answer that has none.",
    "result:warnings",
)(ask=warned_meanwhile)
defect(
    "stderr-crossed",
    "Quotes the stderr of a call that has failed meanwhile.",
    "error:stderr",
)(ask=stderr_meanwhile)
defect(
    "models-crossed",
    "Passes the model of a call that runs to one that names another.",
    "command:chat:model",
)(ask=model_of_first)
defect(
    "files-named-by-beginning",
    "Names the directory of a system prompt by the first sixteen characters of the text.",
    "system:isolation",
)(**directory_named("beginning", lambda call: str(call.arguments.get("systemPrompt"))[:16]))
defect(
    "reply-unlisted-while-it-runs",
    "Lists its tools without `chat-reply` while a reply runs.",
    "tools:order",
    "concurrency:list",
)(tools=tools_while_replying)
defect(
    "siblings-logged-on-failure",
    "Logs the prompts of the calls that run beside one that fails.",
    "stdio:stderr:private",
)(execute=logs_siblings)
defect(
    "discovered-when-idle",
    "Answers `server/discover` when no call runs.",
    "stateless:discover",
)(discover=before(when_idle))
defect(
    "caching-lost-while-busy",
    "Says nothing of how long its list of tools is good while a call runs.",
    "stateless:caching",
)(caching=caching_while_busy)
defect(
    "turns-by-session-and-directory",
    "Lets replies in the same session overlap when they write its directory differently.",
    "concurrency:same-session",
)(turn=turn_by_directory)
defect(
    "line-begun-anew-for-slow-reader",
    "Begins a long line again when the client has not read for half a second in the middle of it.",
    "stdio:stdout",
    "stdio:framing",
)(write=begun_anew)
defect(
    "unknown-method-while-busy-is-internal",
    "Answers an unknown method as an internal error while a call runs.",
    "rpc:error:method",
)(result=internal_while_busy)
defect(
    "stdin-file-shared",
    "Puts long prompts into one file, so that one of two at once reads that of the other.",
    "prompt:long:whole",
    "concurrency:crossed",
)(input=in_one_file)
defect(
    "turns-by-normal-form",
    "Lets replies wait for each other in sessions whose ids differ in their normal form alone.",
    "concurrency:other-session",
)(turn=gives(lambda turn: turn and unicodedata.normalize("NFKC", turn)))
defect(
    "turns-by-name-of-directory",
    "Lets replies to the latest sessions of two directories of the same name wait for each other.",
    "concurrency:other-session",
)(turn=gives(by_last_name))
