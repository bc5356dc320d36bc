"""Liberties of one clause: of MCP, of JSON-RPC, of JSON Schema, or of the specification."""

import os
import shutil
import signal
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

from jsonschema import Draft202012Validator

from answering import Failure
from odd.record import odd
from odd.surroundings import ends_calls
from planning import Refusal
from port import META
from running import Call
from speaking import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, Message, RpcError, as_object
from steps import adding, after, always, before, gives, takes

CHATTER_SECONDS = 0.1
SAFE = 2**53
MORE_ARGUMENTS: Message = {
    "timeoutSeconds": {"type": "number", "minimum": 0},
    "isVerbose": {"type": "boolean", "default": False},
    "tags": {"type": "array", "items": {"type": "string"}},
    "temperature": {"type": "integer"},
    "yolo": {"type": "string"},
}


def begins_chatter(port: Any, method: str, params: Any) -> None:
    if method == "notifications/initialized" and not port.memory.get("chatter"):
        port.memory["chatter"] = True
        threading.Thread(target=chatter, args=(port,), daemon=True).start()


def chatter(port: Any) -> None:
    log = {"level": "debug", "data": "The server is well."}
    number = 0
    while not port.is_ending:
        number += 1
        port.send({"jsonrpc": "2.0", "method": "notifications/message", "params": log})
        port.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        port.send({"jsonrpc": "2.0", "id": number, "method": "ping"})
        time.sleep(CHATTER_SECONDS)


def sets_level(port: Any, real: Any, request: Message, params: Any, stateless: bool) -> Message | None:
    return {} if request["method"] == "logging/setLevel" else real(request, params, stateless)


def behind_reference(tool: Message) -> Message:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$ref": "#/$defs/Arguments",
        "$defs": {"Arguments": tool["inputSchema"]},
    }
    return {**tool, "inputSchema": schema}


def checks_more(port: Any, tool: str, arguments: Any) -> None:
    for name, schema in MORE_ARGUMENTS.items():
        validator: Any = Draft202012Validator(schema)
        if name in arguments and not validator.is_valid(arguments[name]):
            raise Refusal(f"`{name}` is not what its schema asks for.")


def remembers_signal(port: Any, number: int, frame: Any) -> None:
    port.memory["code"] = 128 + number


def ends_with_code(port: Any, real: Any) -> None:
    code = port.memory.get("code", 1 if port.calls else 0)
    ends_calls(port)
    os._exit(code)


def closes_stderr(port: Any) -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    os.close(nothing)


def found(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise FileNotFoundError
    return os.path.abspath(path)


def under_shell(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    return real(("/bin/sh", "-c", '"$0" "$@"; exit $?', found(argv[0]), *argv[1:]), **options)


def lists_in_camel_case(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    is_list = argv[1:] == ("--list-sessions",)
    return real((argv[0], "--listSessions", "--no-debug") if is_list else argv, **options)


def lists_by_value(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    is_list = argv[1:] == ("--list-sessions",)
    return real((argv[0], "--list-sessions=true", "--output-format=json") if is_list else argv, **options)


def in_node_words(port: Any, cwd: str) -> None:
    if not os.path.exists(cwd):
        raise Refusal(f"cwd: ENOENT: no such file or directory, stat '{cwd}'")
    if not os.path.isdir(cwd):
        raise Refusal(f"cwd: ENOTDIR: not a directory, scandir '{cwd}'")


def get_it(failure: Failure) -> Failure:
    if failure.sentence.startswith("gemini was not found"):
        return replace(failure, sentence="spawn gemini ENOENT (npm i -g @google/gemini-cli)")
    return failure


def with_null_id(port: Any, real: Any, identity: Any, code: int, message: str) -> None:
    real(None if code in (INVALID_REQUEST, PARSE_ERROR) else identity, code, message)


def invalid_params(port: Any, real: Any, request: Message) -> Any:
    if as_object(request.get("params", {})) is None:
        raise RpcError(INVALID_REQUEST, "`params` should be an object.")
    return real(request)


def is_whole(port: Any, real: Any, value: Any) -> bool:
    return real(value) and (isinstance(value, str) or (value == int(value) and abs(value) < SAFE))


def once(port: Any, params: Any) -> None:
    if port.memory.get("is_initialized"):
        raise RpcError(INVALID_REQUEST, "The server is initialized already.")
    port.memory["is_initialized"] = True


def waits_for_all(port: Any, call: Call, turn: str | None) -> None:
    """`latest` may be any session of its directory."""
    if call.tool != "chat-reply":
        return
    place = os.path.realpath(call.arguments.get("cwd") or ".")
    is_latest = str(turn).startswith("latest in ")
    with port.turn_changed:
        line = port.memory.setdefault(place, [])
        line.append((call, is_latest))
        while not call.is_cancelled:
            before_us = line[: line.index((call, is_latest))]
            if not any(is_latest or other for _, other in before_us):
                return
            port.turn_changed.wait()


def leaves_all(port: Any, call: Call, turn: str | None) -> None:
    if call.tool == "chat-reply":
        place = os.path.realpath(call.arguments.get("cwd") or ".")
        with port.turn_changed:
            line = port.memory.get(place, [])
            line[:] = [each for each in line if each[0] is not call]
            port.turn_changed.notify_all()


def in_batch(port: Any, real: Any, message: Message) -> bytes:
    line = real(message)
    return b"[" + line[:-1] + b"]\n" if "method" in message else line


def looks_at_version(port: Any) -> None:
    threading.Thread(target=version, args=(port,), daemon=True).start()


def version(port: Any) -> None:
    with suppress(OSError):
        process = port.memory["looking"] = subprocess.Popen(
            ("gemini", "--version"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        process.wait()


def ends_looking(port: Any) -> None:
    process = port.memory.get("looking")
    if process is not None and process.poll() is None:
        port.signal_group(process.pid, signal.SIGKILL)


def remembers_stdout(port: Any, real: Any, call: Call, plan: Any) -> Any:
    began = time.monotonic()
    outcome = real(call, plan)
    took = time.monotonic() - began
    told = [argument for argument in plan.argv if plan.private[0] not in argument or not plan.private[0]]
    port.memory[threading.get_ident()] = (told, took, outcome)
    return outcome


def with_stdout(port: Any, real: Any, failure: Failure) -> str:
    part = real(failure)
    told, took, outcome = port.memory.pop(threading.get_ident(), ((), 0, None))
    if outcome is None or not part:
        return part
    command = port.redacted(" ".join(told), failure.private)
    stdout = port.tail(port.redacted(port.decode(outcome.stdout), failure.private)).replace("\nStderr:", "\n Stderr:")
    return f"\nCommand: {command}\nSeconds: {took:.1f}\nStdout: {stdout}{part}"


def used_once(port: Any, request: Message) -> None:
    used, identity = port.memory.setdefault("used", set()), request["id"]
    key = (isinstance(identity, str), identity)
    meta = as_object((as_object(request.get("params")) or {}).get("_meta")) or {}
    if f"{META}protocolVersion" in meta:
        return
    if key in used:
        raise RpcError(INVALID_REQUEST, "The id has been used already.")
    used.add(key)


def in_use_once(port: Any, real: Any, identity: Any, params: Any, stateless: bool) -> Call:
    call = real(identity, params, stateless)
    if call.token is not None and any(same(other.token, call.token) for other in port.calls if not other.is_answered):
        raise RpcError(INVALID_PARAMS, "The progress token is in use.")
    return call


def same(one: Any, other: Any) -> bool:
    return isinstance(one, str) == isinstance(other, str) and one == other


odd("chatters", "Pings its client, logs, and says that its tools have changed, ten times a second.")(
    is_stateless=always(False),
    capabilities=always({"logging": {}, "tools": {"listChanged": True}}),
    result=sets_level,
    notified=after(begins_chatter),
)
odd("schema-behind-reference", "Has the whole of its schemas behind a reference, as libraries for schemas write it.")(
    tool=gives(behind_reference)
)
odd("more-arguments", "Declares arguments of many types, refuses what they do not allow, and does nothing with them.")(
    properties=gives(adding(**MORE_ARGUMENTS)), texts=before(checks_more)
)
odd("exits-with-codes", "Exits with 128 and the signal's number, and with 1 where its end has interrupted a call.")(
    on_signal=before(remembers_signal), shut_down=ends_with_code
)
odd("closes-stderr", "Closes its stderr before it serves.")(serve=before(closes_stderr))
odd("shell-stays", "Starts gemini through a shell that stays its parent and reads no argument.")(spawn=under_shell)
odd("list-in-camel-case", "Asks for the list by `--listSessions --no-debug`.")(spawn=lists_in_camel_case)
odd("list-by-value", "Asks for the list by `--list-sessions=true`, and in JSON.")(spawn=lists_by_value)
odd("errno-words", "Says what is wrong with a directory, or that gemini is missing, in the words of Node.")(
    check_cwd=lambda port, real, cwd: in_node_words(port, cwd), error=takes(get_it)
)
odd("null-ids", "Answers what is no valid request with a null id, and params that are an array likewise by -32600.")(
    send_error=with_null_id, params=invalid_params
)
odd("whole-ids-only", "Takes an id that is neither a text nor a whole number for no valid request.")(is_id=is_whole)
odd("initialized-once", "Refuses a second `initialize`.")(initialize=before(once))
odd(
    "latest-waits-for-all", "Lets a reply to the latest session wait for all replies in its directory, and they for it."
)(take_turn=after(waits_for_all), end_turn=before(leaves_all))
odd("notifications-in-batches", "Speaks 2025-03-26, and sends each notification in a batch.")(
    is_stateless=always(False), versions=always(("2025-03-26",)), encoded=in_batch
)
odd("version-at-start", "Asks gemini for its version beside its start.")(
    serve=before(looks_at_version), shut_down=before(ends_looking)
)
odd("stdout-in-errors", "Tells in errors what was run, for how long, and what gemini wrote to stdout.")(
    run_prompt=remembers_stdout, stderr_part=with_stdout
)
odd("ids-used-once", "Refuses an id that its client has used already, and a progress token that is in use.")(
    params=before(used_once), new_call=in_use_once
)
