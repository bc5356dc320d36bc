"""Defects that show with the situation of a run: its client, its neighbours, what it leaves unread or holds open."""

import json
import os
import signal
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import REVISION, notes_method, speaks
from defects.record import defect
from planning import Plan
from port import SIGNALS, UNSUPPORTED_VERSION
from running import LIST, LISTING_TIMEOUT, Call, Cancelled
from speaking import INVALID_PARAMS, Message, RpcError, as_object
from steps import before, gives

PREPARATION = 0.05
"""Seconds in which a port makes a call ready before it starts gemini."""
PIECE = 64 * 1024

system_prompts = threading.Lock()


def forgets_start(port: Any, real: Any, prompt: str) -> bool:
    """A pattern of JavaScript with the flag `g` goes on, in the next text, where the last match has ended."""
    port.memory["goes on"] = found = real(prompt) and not port.memory.get("goes on")
    return found


def looks_in_discover(port: Any, real: Any, params: Mapping[str, Any]) -> None:
    try:
        real(params)
    except RpcError as error:
        if error.error["code"] != UNSUPPORTED_VERSION or port.memory["method"] == "server/discover":
            raise


def needs_true_id(port: Any, real: Any, method: str, params: Any) -> None:
    if method != "notifications/cancelled" or (as_object(params) or {}).get("requestId"):
        real(method, params)


def notes_preparation(port: Any, real: Any, *arguments: Any) -> Call:
    call = real(*arguments)
    port.memory.setdefault("preparing", set[Call]()).add(call)
    return call


def prepares(port: Any, call: Call, turn: str | None) -> None:
    time.sleep(PREPARATION)
    port.memory["preparing"].discard(call)


def cancels_prepared(port: Any, real: Any, call: Call) -> None:
    if call not in port.memory["preparing"]:
        real(call)


def writes_first(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """Nobody knows the process before it has taken the whole prompt."""
    process, writing = piped(real, argv, options)
    with suppress(OSError), open(writing, "wb") as pipe:
        pipe.write(options["stdin"].read())
    return process


def dies_of_closed_pipe(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """What nobody listens for ends a program of Node."""
    process, writing = piped(real, argv, options)
    threading.Thread(target=written_or_dead, args=(writing, options["stdin"].read()), daemon=True).start()
    return process


def written_or_dead(writing: int, text: bytes) -> None:
    try:
        with open(writing, "wb") as pipe:
            pipe.write(text)
    except OSError:
        os._exit(1)


def piped(real: Any, argv: tuple[str, ...], options: Mapping[str, Any]) -> tuple[Any, int]:
    """The process, and the end of the pipe from which it reads its stdin."""
    reading, writing = os.pipe()
    try:
        return real(argv, **{**options, "stdin": reading}), writing
    except Failure:
        os.close(writing)
        raise
    finally:
        os.close(reading)


def ends_turn_before_list(port: Any, call: Call, plan: Plan, answer: Answer) -> None:
    port.end_turn(call, plan.turn)


def notes_list(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = port.memory.setdefault("listing", set[Call]())
    listing.add(call)
    try:
        return real(call, plan)
    finally:
        listing.discard(call)


def spares_lists(port: Any) -> None:
    if port.ended_by_signal:
        port.calls = [call for call in port.calls if call not in port.memory.get("listing", ())]


def listens_to_signals(port: Any, params: Mapping[str, Any]) -> None:
    for number in SIGNALS:
        signal.signal(number, port.on_signal)


def list_inherits(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    return real(argv, **{**options, "stdin": None} if LIST in argv else options)


def list_through_pipe(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """Reads what a list prints until nobody holds its output."""
    if LIST not in argv:
        return real(argv, **options)
    reading, writing = os.pipe()
    try:
        process = real(argv, **{**options, "stdout": writing})
    finally:
        os.close(writing)
    port.memory[process] = reader = threading.Thread(target=copied, args=(reading, options["stdout"]), daemon=True)
    reader.start()
    return process


def copied(reading: int, file: Any) -> None:
    with open(reading, "rb") as pipe, suppress(ValueError):
        while piece := pipe.read1(PIECE):
            file.write(piece)


def waits_for_pipe(port: Any, real: Any, call: Call, process: Any) -> int:
    exit, reader = real(call, process), port.memory.pop(process, None)
    if reader is not None:
        reader.join(LISTING_TIMEOUT)
        if reader.is_alive():
            raise Failure("The list has no end.")
    return exit


def stderr_of_list_unread(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """Looks at the stderr of a list when it has ended."""
    if LIST not in argv:
        return real(argv, **options)
    reading, writing = os.pipe()
    try:
        process = real(argv, **{**options, "stderr": writing})
    finally:
        os.close(writing)
    port.memory[process] = reading, options["stderr"]
    return process


def reads_stderr_of_list(port: Any, real: Any, call: Call, process: Any) -> int:
    exit, (reading, file) = real(call, process), port.memory.pop(process, (None, None))
    if reading is not None:
        copied(reading, file)
    return exit


def one_at_a_time(port: Any, real: Any, call: Call, plan: Plan) -> Outcome:
    if plan.system is None:
        return real(call, plan)
    with system_prompts:
        return real(call, plan)


def turn_of_default(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    turn = real(tool, texts)
    return "latest" if turn is not None and turn.startswith("latest in ") and "cwd" not in texts else turn


def cancelled_by_143(port: Any, real: Any, *arguments: Any) -> Outcome:
    """128 + 15: so a shell says that somebody has sent SIGTERM, which this port does to cancel."""
    outcome = real(*arguments)
    if outcome.exit == 128 + signal.SIGTERM:
        raise Cancelled
    return outcome


def unnamed_in_oldest(port: Any, real: Any, answer: Answer) -> Message:
    """The oldest revision has no `_meta` in the result of a call."""
    result = real(answer)
    if speaks(port, "2024-11-05"):
        result.pop("_meta", None)
    return result


def knows_meta(port: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> None:
    if not stateless and set(as_object(params.get("_meta")) or ()) - {"progressToken"}:
        raise RpcError(INVALID_PARAMS, "`_meta` holds what is unknown.")


def strictly_encoded(port: Any, answer: Answer) -> None:
    json.dumps(answer.warnings, ensure_ascii=False).encode()


def decodable(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if not is_damaged(value)}


def is_damaged(value: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in value)


defect(
    "second-risky-prompt-positional",
    "Overlooks every second prompt in a row that gemini would take for an option, a command or a number.",
    "injection:option:prompt",
    "prompt:verbatim:command-word",
)(is_risky=forgets_start)
defect(
    "version-read-in-discover-only",
    "Looks at the version of a request in `server/discover` alone.",
    "stateless:version",
)(requested=before(notes_method), check_stateless=looks_in_discover)
defect("cancel-of-zero-overlooked", "Takes the ids 0 and '' of a cancellation for none.", "cancel:falsy-id")(
    notified=needs_true_id
)
defect(
    "cancel-before-start-lost",
    "Overlooks a cancellation in the moment before it starts gemini.",
    "cancel:child",
)(new_call=notes_preparation, take_turn=before(prepares), cancel=cancels_prepared)
defect(
    "cancel-waits-for-stdin",
    "Ends a gemini that should be cancelled only when it has read its long prompt.",
    "cancel:child",
)(start=writes_first)
defect("dies-of-unread-stdin", "Dies when gemini ends without reading a long prompt.", "concurrency:after-failure")(
    start=dies_of_closed_pipe
)
defect(
    "turn-ends-before-list",
    "Lets the next reply to the latest session begin before it has asked for the list.",
    "concurrency:latest",
)(with_session=before(ends_turn_before_list))
defect("signal-spares-lists", "Leaves a list of sessions running on a signal.", "shutdown:sigterm:group")(
    list_sessions=notes_list, shut_down=before(spares_lists)
)
defect(
    "signals-heard-after-handshake",
    "Looks after signals once there was a handshake.",
    "shutdown:sigterm:group",
)(signals=lambda port, real: (), initialize=before(listens_to_signals))
defect("list-inherits-stdin", "Lets a list of sessions read the server's stdin.", "process:stdin")(start=list_inherits)
defect(
    "held-list-given-up",
    "Gives a list of sessions up whose output a background process holds.",
    "process:held-output",
)(start=list_through_pipe, wait=waits_for_pipe)
defect(
    "list-stopped-by-its-stderr",
    "Reads the stderr of a list of sessions after it has ended, from a pipe that fills up before.",
    "fallback:list-sessions",
)(start=stderr_of_list_unread, wait=reads_stderr_of_list)
defect(
    "system-prompts-one-at-a-time",
    "Serves one call with a system prompt after the other.",
    "concurrency:calls",
)(run_prompt=one_at_a_time)
defect(
    "latest-of-default-directory-apart",
    "Lets replies overlap when one names the directory in which the other runs without saying so.",
    "concurrency:latest",
)(turn=turn_of_default)
defect("exit-143-is-cancelled", "Answers nothing when gemini exits with 143.", "error:exit")(outcome=cancelled_by_143)
defect(
    "session-unnamed-in-oldest-revision",
    "Names no session for clients of the revision 2024-11-05.",
    "result:session-id",
)(initialize=REVISION, success=unnamed_in_oldest)
defect("unknown-meta-refused", "Refuses a call whose `_meta` holds what it does not know.", "command:chat")(
    new_call=before(knows_meta)
)
defect("surrogate-in-warning-fails", "Fails when a warning holds a lone surrogate.", "result:success")(
    success=before(strictly_encoded)
)
defect(
    "variables-cut-at-equals",
    "Cuts a variable at the first equals sign of its value.",
    "process:environment",
)(environment=gives(lambda variables: {name: value.split("=")[0] for name, value in variables.items()}))
defect("undecodable-variables-lost", "Hands no variable on that is not UTF-8.", "process:environment")(
    environment=gives(decodable)
)
