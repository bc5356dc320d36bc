"""Liberties of one clause: of MCP, of JSON-RPC, of JSON Schema, or of the specification."""

import json
import os
import random
import re
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
from port import HANDSHAKE, META, STATELESS
from running import Call, Cancelled
from speaking import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, Message, RpcError, as_object
from steps import adding, after, always, before, gives, takes

CHATTER_SECONDS = 0.1
SAFE = 2**53
PLACES = 16
CAT_SECONDS = 0.3
LINE = 12
TRACE = {"example.com/traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
MORE_ARGUMENTS: Message = {
    "timeoutSeconds": {"type": "number", "minimum": 0},
    "isVerbose": {"type": "boolean", "default": False},
    "tags": {"type": "array", "items": {"type": "string"}},
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


def traced(message: Message) -> Message:
    key = "params" if "method" in message else "result"
    if key not in message:
        return message
    return {**message, key: {**message[key], "_meta": {**TRACE, **message[key].get("_meta", {})}}}


def in_arrays(tool: Message) -> Message:
    schema = tool["inputSchema"]
    properties = {name: {**kind, "type": [kind["type"]]} for name, kind in schema["properties"].items()}
    return {**tool, "inputSchema": {**schema, "properties": properties}}


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


def nicely(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    return real((found("nice"), "-n", "19", found(argv[0]), *argv[1:]), **options)


def lists_in_camel_case(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    is_list = argv[1:] == ("--list-sessions",)
    return real((argv[0], "--listSessions", "--no-debug") if is_list else argv, **options)


def with_longer_path(env: dict[str, str]) -> dict[str, str]:
    return {**env, "PATH": f"{env.get('PATH', os.defpath)}:/usr/local/bin:/opt/homebrew/bin"}


def as_issues(port: Any, real: Any, tool: str, arguments: Any) -> Any:
    try:
        return real(tool, arguments)
    except Refusal as refusal:
        name = re.findall("`(.*?)`", str(refusal))[0]
        received = {"received": arguments[name]} if name in ("model", "sessionId") and name in arguments else {}
        issue = {"code": "invalid", "path": [name], "message": str(refusal).replace("`", ""), **received}
        raise Refusal(json.dumps([issue], indent=2)) from None


def in_node_words(port: Any, cwd: str) -> None:
    if not os.path.exists(cwd):
        raise Refusal(f"cwd: ENOENT: no such file or directory, stat '{cwd}'")
    if not os.path.isdir(cwd):
        raise Refusal(f"cwd: ENOTDIR: not a directory, scandir '{cwd}'")


def get_it(failure: Failure) -> Failure:
    if failure.sentence.startswith("gemini was not found"):
        return replace(failure, sentence="spawn gemini ENOENT (npm i -g @google/gemini-cli)")
    return failure


def with_line(port: Any, real: Any, failure: Failure) -> str:
    part = real(failure)
    return f"{part}\n--- end of stderr ---" if part else part


def by_lines(port: Any, real: Any, text: str, private: tuple[str, ...]) -> str:
    lines = (line.strip() for secret in private for line in secret.splitlines())
    return real(text, (*private, *(line for line in lines if len(line) >= LINE)))


def with_null_id(port: Any, real: Any, identity: Any, code: int, message: str) -> None:
    real(None if code in (INVALID_REQUEST, PARSE_ERROR) else identity, code, message)


def invalid_params(port: Any, real: Any, request: Message) -> Any:
    if as_object(request.get("params", {})) is None:
        raise RpcError(INVALID_REQUEST, "`params` should be an object.")
    return real(request)


def is_whole(port: Any, real: Any, value: Any) -> bool:
    return real(value) and (isinstance(value, str) or (value == int(value) and abs(value) < SAFE))


def token_with_point(port: Any, real: Any, call: Call) -> Message:
    message = real(call)
    token: Any = call.token
    if type(token) is int and abs(token) < SAFE:
        message["params"]["progressToken"] = float(token)
    return message


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


def in_place(port: Any, real: Any, call: Call) -> Message:
    places = port.memory.setdefault("places", threading.Semaphore(PLACES))
    while not places.acquire(timeout=0.05):
        if call.is_cancelled:
            raise Cancelled
    try:
        return real(call)
    finally:
        places.release()


def through_cat(port: Any) -> None:
    cat: Any = subprocess.Popen(("cat",), stdin=subprocess.PIPE, start_new_session=True)
    port.memory["cat"] = cat
    os.dup2(cat.stdin.fileno(), 1)
    cat.stdin.close()


def ends_cat(port: Any, real: Any) -> None:
    """The `cat` ends once all is read, or, if nobody reads, is ended."""
    ends_calls(port)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    with suppress(subprocess.TimeoutExpired):
        port.memory["cat"].wait(CAT_SECONDS)
    port.memory["cat"].kill()
    os._exit(0)


def in_one_era(port: Any, real: Any, params: Any) -> bool:
    stateless = real(params)
    if port.memory.setdefault("era", stateless) != stateless:
        raise RpcError(INVALID_REQUEST, "This connection speaks another era of MCP.")
    return stateless


def nested(levels: int) -> Any:
    return {"next": nested(levels - 1)} if levels else "x" * 200_000


def weighed(message: Message) -> Message:
    if "content" not in message.get("result", {}):
        return message
    result = message["result"]
    return {**message, "result": {**result, "_meta": {"example.com/heavy": nested(60), **result.get("_meta", {})}}}


def timed(port: Any, real: Any, call: Call) -> Message:
    began = time.monotonic()
    result = real(call)
    meta = {"durationMs": round(1000 * (time.monotonic() - began)), "requestId": f"{random.getrandbits(64):x}"}
    return {**result, "_meta": {**result.get("_meta", {}), **meta}}


def in_batch(port: Any, real: Any, message: Message) -> bytes:
    line = real(message)
    return b"[" + line[:-1] + b"]\n" if "method" in message else line


def names_prompt(port: Any, real: Any, call: Call) -> Message:
    message = real(call)
    prompt = call.arguments.get("prompt")
    message["params"]["message"] = f"gemini works on {prompt[:100] if isinstance(prompt, str) else 'nothing'}"
    return message


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


def pages_once(port: Any, real: Any, params: Any, stateless: bool) -> Message:
    cursor, known = params.get("cursor"), port.memory.setdefault("cursors", set())
    if cursor is None:
        known.add(following := f"{random.getrandbits(128):032x}")
        return {**real({}, stateless), "tools": port.tools()[:1], "nextCursor": following}
    if not isinstance(cursor, str) or cursor not in known:
        raise RpcError(INVALID_PARAMS, "The cursor is not one of this server, or has been used.")
    known.remove(cursor)
    return {**real({}, stateless), "tools": port.tools()[1:]}


def names_all(port: Any, real: Any) -> Message:
    return {**real(), "supportedVersions": [*STATELESS, *HANDSHAKE]}


def supports_all(port: Any, real: Any, params: Any) -> None:
    try:
        real(params)
    except RpcError as error:
        if "supported" in error.error.get("data", {}):
            error.error["data"]["supported"] = [*STATELESS, *HANDSHAKE]
        raise


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


def demands_client(port: Any, params: Any) -> None:
    client = as_object(params.get("clientInfo")) or {}
    if as_object(params.get("capabilities")) is None or not {"name", "version"} <= client.keys():
        raise RpcError(INVALID_PARAMS, "`capabilities` and `clientInfo` are required.")


odd("chatters", "Pings its client, logs, and says that its tools have changed, ten times a second.")(
    is_stateless=always(False),
    capabilities=always({"logging": {}, "tools": {"listChanged": True}}),
    result=sets_level,
    notified=after(begins_chatter),
)
odd("traces-everything", "Adds `_meta` to every result, that of a ping too, and to every notification.")(
    write=takes(traced)
)
odd("types-in-arrays", "Writes the type of each property as an array of one.")(tool=gives(in_arrays))
odd("schema-behind-reference", "Has the whole of its schemas behind a reference, as libraries for schemas write it.")(
    tool=gives(behind_reference)
)
odd("more-arguments", "Declares a number, a flag and an array as further arguments, and does nothing with them.")(
    properties=gives(adding(**MORE_ARGUMENTS)), texts=before(checks_more)
)
odd("exits-with-codes", "Exits with 128 and the signal's number, and with 1 where its end has interrupted a call.")(
    on_signal=before(remembers_signal), shut_down=ends_with_code
)
odd("closes-stderr", "Closes its stderr before it serves.")(serve=before(closes_stderr))
odd("shell-stays", "Starts gemini through a shell that stays its parent and reads no argument.")(spawn=under_shell)
odd("lowest-priority", "Gives gemini the lowest priority.")(spawn=nicely)
odd("list-in-camel-case", "Asks for the list by `--listSessions --no-debug`.")(spawn=lists_in_camel_case)
odd("path-extended", "Adds directories at the end of gemini's PATH.")(environment=gives(with_longer_path))
odd("issues-as-json", "Refuses arguments by a list of issues in JSON, which repeats a refused model.")(texts=as_issues)
odd("errno-words", "Says what is wrong with a directory, or that gemini is missing, in the words of Node.")(
    check_cwd=lambda port, real, cwd: in_node_words(port, cwd), error=takes(get_it)
)
odd("line-behind-stderr", "Ends an error by a line of its own behind stderr.")(stderr_part=with_line)
odd("withholds-lines", "Withholds single lines of a prompt as well.")(withheld=by_lines)
odd("null-ids", "Answers what is no valid request with a null id, and params that are an array likewise by -32600.")(
    send_error=with_null_id, params=invalid_params
)
odd("whole-ids-only", "Takes an id that is neither a text nor a whole number for no valid request.")(is_id=is_whole)
odd("tokens-with-point", "Tells progress for the token 7 with the token 7.0.")(progress=token_with_point)
odd("initialized-once", "Refuses a second `initialize`.")(initialize=before(once))
odd(
    "latest-waits-for-all", "Lets a reply to the latest session wait for all replies in its directory, and they for it."
)(take_turn=after(waits_for_all), end_turn=before(leaves_all))
odd("sixteen-places", "Serves sixteen calls at once; one that waits for its session is one of them.")(execute=in_place)
odd("writes-through-cat", "Lets a `cat` carry what it writes.")(serve=before(through_cat), shut_down=ends_cat)
odd("era-of-first-message", "Refuses requests of another era of MCP than that of the first one.")(
    is_stateless=in_one_era
)
odd("heavy-meta", "Adds 200 KB at the depth of sixty to the `_meta` of each result of a call.")(write=takes(weighed))
odd("tells-duration", "Adds the duration and a random number to the `_meta` of each result of a call.")(execute=timed)
odd("newest-handshake-only", "Speaks 2025-11-25 and nothing else.")(
    is_stateless=always(False), versions=always(("2025-11-25",))
)
odd("notifications-in-batches", "Speaks 2025-03-26, and sends each notification in a batch.")(
    is_stateless=always(False), versions=always(("2025-03-26",)), encoded=in_batch
)
odd("progress-names-prompt", "Tells in progress how the prompt begins.")(progress=names_prompt)
odd("version-at-start", "Asks gemini for its version beside its start.")(
    serve=before(looks_at_version), shut_down=before(ends_looking)
)
odd("stdout-in-errors", "Tells in errors what was run, for how long, and what gemini wrote to stdout.")(
    run_prompt=remembers_stdout, stderr_part=with_stdout
)
odd("cursors-once", "Lists its tools in two pages, by random cursors that can be used once.")(list_tools=pages_once)
odd("all-revisions-listed", "Names the revisions of the handshake too where it lists what it supports.")(
    discover=names_all, check_stateless=supports_all
)
odd("ids-used-once", "Refuses an id that its client has used already, and a progress token that is in use.")(
    params=before(used_once), new_call=in_use_once
)
odd("client-demanded", "Refuses an `initialize` that does not say who its client is.")(
    initialize=before(demands_client)
)
