"""Defects that need a count, a process, an end or a post besides something else."""

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from conditions import every, from_time
from defects.life.cancelling import only_asks
from defects.record import defect
from http_port import HttpPort
from planning import ARGUMENT_LIMIT
from running import Call
from speaking import UNKNOWN_METHOD
from steps import always, before, gives, only, without

PAUSE, LONG = 0.05, 60.0


def end_oldest(port: Any, real: Any, call: Call) -> None:
    if not port.ended_by_signal or call is port.calls[0]:
        real(call)


def end_chats(port: Any, real: Any, call: Call) -> None:
    if port.ended_by_signal or not port.is_ending or call.tool == "chat":
        real(call)


def waits_for_group(port: Any, real: Any, call: Call, process: Any) -> int:
    exit, end = real(call, process), time.monotonic() + LONG
    is_long = len(str(call.arguments["prompt"]).encode("utf-8", "replace")) > ARGUMENT_LIMIT
    with suppress(ProcessLookupError):
        while is_long and not call.is_cancelled and time.monotonic() < end:
            os.killpg(process.pid, 0)
            time.sleep(PAUSE)
    return exit


def with_system_alone(port: Any, real: Any, path: str | None) -> dict[str, str]:
    environment = real(path)
    if path is None:
        return environment
    return {name: environment[name] for name in ("HOME", "PATH", "GEMINI_SYSTEM_MD") if name in environment}


def stdin_beside_directory(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    is_named = options["cwd"] is not None and options["stdin"].name == os.devnull
    return real(argv, **{**options, "stdin": None} if is_named else options)


def answered(port: Any, real: Any, method: str, params: Any) -> None:
    port.send_error(None, UNKNOWN_METHOD, f"The method {method!r} is unknown.")
    real(method, params)


def notes_late(port: Any, *arguments: Any) -> None:
    port.memory["late"] = True


def cancels_all(port: Any, real: Any, call: Call) -> None:
    for each in list(port.calls):
        real(each)


def name_forgiven(port: Any, real: Any, method: str, params: Mapping[str, Any]) -> None:
    if method != "tools/call" or port.current.post.header("Mcp-Name") is not None:
        real(method, params)


def warnings_lost(port: Any, real: Any, answer: Any) -> Any:
    result = real(answer)
    return {**result, **({"_meta": without("warnings")(result["_meta"])} if "_meta" in result else {})}


def trimmed(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    texts = real(tool, arguments)
    return {**texts, "prompt": texts["prompt"].rstrip("\n") or texts["prompt"]}


defect("signal-ends-oldest-alone", "Ends the oldest of several calls on a signal.", "shutdown:sigterm:group")(
    end=end_oldest
)
defect("end-spares-replies", "Leaves the gemini of a reply running when its input ends.", "shutdown:stdin-end:group")(
    end=end_chats
)
defect(
    "held-output-awaited-on-stdin",
    "Waits for what gemini has left in the background when the prompt was long.",
    "process:held-output",
)(wait=waits_for_group)
defect(
    "cancel-only-asks-beside-token",
    "Sends SIGTERM to a cancelled call that asks for progress, and leaves it at that.",
    "cancel:ignored-term",
)(stop=only_asks(lambda port, call: call.token is not None and not port.is_ending))
defect(
    "environment-lost-beside-system-prompt",
    "Passes HOME and PATH alone to gemini when there is a system prompt.",
    "process:environment",
)(environment=with_system_alone)
defect("variables-trimmed", "Takes blanks off the values of variables.", "process:environment")(
    environment=gives(lambda variables: {name: value.strip() for name, value in variables.items()})
)
defect("temporary-directory-withheld", "Does not hand TMPDIR on.", "process:environment")(
    environment=gives(without("TMPDIR"))
)
defect(
    "stdin-inherited-beside-directory", "Lets gemini read the server's stdin in a named directory.", "process:stdin"
)(spawn=stdin_beside_directory)
defect("sixty-fourth-notification-answered", "Answers every 64th notification.", "rpc:notification:unanswered")(
    notified=every(64, answered)
)
defect("every-200th-message-lost", "Overlooks every 200th message.", "lifecycle:ping")(receive=every(200, always(None)))
defect("twentieth-system-prompt-lost", "Hands every twentieth system prompt over as none.", "system:content")(
    write_system=every(20, lambda port, real, text: real(""))
)
defect("sixth-cancel-ends-all", "Ends all calls at every sixth cancellation.", "cancel:others")(
    cancel=every(6, cancels_all)
)
defect("fiftieth-answer-in-capitals", "Writes every fiftieth answer in capitals.", "result:text")(
    whole=every(50, lambda port, real, text: real(text).upper())
)
defect("deaf-to-cancel-from-fortieth-call", "Cancels no call behind the fortieth.", "cancel:child")(
    new_call=from_time(40, before(notes_late)),
    cancel=lambda port, real, call: None if port.memory.get("late") else real(call),
)
defect("missing-name-forgiven", "Serves a call without the header that names its tool.", "http:stateless:header")(
    HttpPort, check_headers=name_forgiven
)
defect("warnings-lost-over-http", "Reports no warnings, which the port over stdio does.", "result:warnings")(
    HttpPort, success=warnings_lost
)
defect(
    "replies-outlive-disconnection",
    "Lets the gemini of a reply run on for a client that has closed its connection.",
    "http:stateless:disconnect",
)(HttpPort, disconnected=only(lambda call: call.tool == "chat"))
defect(
    "newline-of-posted-prompt-lost",
    "Takes newlines off the end of a prompt that comes by a post.",
    "prompt:verbatim:newline",
    "http:equivalence",
)(HttpPort, texts=trimmed)
