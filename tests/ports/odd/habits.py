"""Habits of other languages and their libraries: how they spell JSON, start programs, log, and fill optional keys."""

import json
import os
import re
import shutil
import sys
from typing import Any

from odd.record import odd
from running import Call
from speaking import Message, as_object
from steps import adding, after, always, before, gives

LONG = 200_000
TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
"""A text in JSON."""


def as_php(port: Any, real: Any, message: Message) -> bytes:
    """Slashes, angle brackets and ampersands are escaped as well."""
    line = real(message).replace(b"/", b"\\/")
    for letter in b"<>&'":
        line = line.replace(bytes([letter]), b"\\u%04X" % letter)
    return line


def as_characters(port: Any, real: Any, message: Message) -> bytes:
    """Characters as they are, and the escapes that nobody needs are spelled in capitals."""
    try:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:
        return real(message)


def keys_reversed(port: Any, real: Any, message: Message) -> bytes:
    turned = json.loads(real(message), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    return json.dumps(turned).encode("ascii") + b"\n"


def with_returns(port: Any, real: Any, message: Message) -> bytes:
    return real(message).removesuffix(b"\n") + b"\r\n"


def through_exec(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """A shell that is replaced by gemini; it reads no argument."""
    found = shutil.which(argv[0])
    if found is None:
        raise FileNotFoundError
    return real(("/bin/sh", "-c", 'exec "$0" "$@"', found, *argv[1:]), **options)


def prompt_behind_flag(port: Any, real: Any, prompt: str) -> Any:
    form, stdin = real(prompt)
    is_plain = stdin is None and form == (prompt,)
    return (("-p", prompt), None) if is_plain else (form, stdin)


def read_only(path: str) -> str:
    os.chmod(path, 0o400)
    return path


def logs_letters(port: Any, *arguments: Any) -> None:
    sys.stderr.write("x" * 70_000 + "\n")
    sys.stderr.flush()


def logs_lines(port: Any, real: Any) -> Any:
    for line in real():
        for size in (len(line) - 1, len(line), len(line) + 1):
            print(f"Read a line of {size} bytes, with its end or without.", file=sys.stderr, flush=True)
        yield line


def logs_turn(port: Any, *arguments: Any) -> None:
    print("Progress of chat: begun. The list of chat sessions comes later. No warnings of chat.", file=sys.stderr)


def logs_refusal(port: Any, *arguments: Any) -> None:
    print("Refused for cwd, refused for model or refused for systemPrompt.", file=sys.stderr, flush=True)


def logs_arguments(port: Any, call: Call, plan: Any) -> None:
    named = {name: call.arguments.get(name) for name in ("model", "sessionId", "cwd")}
    known = {"id": call.id, "tool": call.tool, **named, "bytes": len(plan.private[0].encode())}
    sys.stderr.write(json.dumps(known) + "\n")
    sys.stderr.flush()


def logs_message(port: Any, message: Any) -> None:
    method = (as_object(message) or {}).get("method")
    sys.stderr.write(f'{{"level":"debug","component":"rpc","method":{json.dumps(method)}}}\n' * 20)
    sys.stderr.flush()


def announces_tools(port: Any, method: str, params: Any) -> None:
    if method == "notifications/initialized":
        port.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})


def told_twice(port: Any, call: Call) -> None:
    """Says at once how far it is, and that it has a long way to go."""
    if call.token is not None and call.progress == 1 and not call.is_answered and not call.is_cancelled:
        port.report_progress(call)


def only_what_must_be(port: Any, real: Any, call: Call) -> Message:
    params = real(call)["params"]
    wanted = {name: params[name] for name in ("progressToken", "progress")}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": wanted}


def escaped_throughout(port: Any, real: Any, message: Message) -> bytes:
    """Every character of a short message is an escape, those of its keys too."""
    line = json.dumps(message)
    return (TEXT.sub(in_escapes, line) if len(line) < LONG else line).encode() + b"\n"


def in_escapes(text: re.Match[str]) -> str:
    units = json.loads(text[0]).encode("utf-16-be", "surrogatepass").hex()
    escapes = ("\\u" + units[at : at + 4] for at in range(0, len(units), 4))
    return '"' + "".join(escapes) + '"'


def relative_to_directory(port: Any, real: Any, call: Call, argv: Any, cwd: str | None, env: Any, *others: Any) -> Any:
    """Names the file of the system prompt by its path from the directory in which gemini runs."""
    path, start = env.get("GEMINI_SYSTEM_MD", ""), os.path.realpath(cwd or ".")
    relative = {"GEMINI_SYSTEM_MD": os.path.relpath(path, start)} if os.path.exists(path) else {}
    return real(call, argv, cwd, {**env, **relative}, *others)


def with_empty_directory(port: Any, real: Any, call: Call, plan: Any) -> Any:
    path = port.new_directory()
    try:
        return real(call, plan)
    finally:
        os.rmdir(path)


def from_below_zero(port: Any, real: Any, call: Call) -> Message:
    message = real(call)
    return {**message, "params": {**message["params"], "progress": call.progress / 2 - 3, "total": 10}}


odd("escapes-like-php", "Escapes slashes, angle brackets and ampersands in JSON.")(encoded=as_php)
odd("characters-as-they-are", "Writes all characters as they are.")(encoded=as_characters)
odd("keys-reversed", "Writes the keys of every object in the opposite order.")(encoded=keys_reversed)
odd("lines-end-in-crlf", "Ends its messages with a carriage return and a newline.")(encoded=with_returns)
odd("through-exec", "Starts gemini through a shell that gemini replaces, with arguments that the shell does not read.")(
    spawn=through_exec
)
odd("prompt-behind-flag", "Passes an ordinary prompt in the argument behind `-p`.")(prompt_form=prompt_behind_flag)
odd("read-only-system-prompt", "Lets nobody write to the file of the system prompt, not even gemini.")(
    write_system=gives(read_only)
)
odd("logs-every-message", "Logs twenty lines of JSON to stderr for each message it reads.")(
    dispatch=before(logs_message)
)
odd("logs-plain-words", "Logs how many bytes a line has, and what becomes of a call, in words that are not its own.")(
    lines=logs_lines, take_turn=before(logs_turn), refused=before(logs_refusal)
)
odd("logs-arguments", "Logs the id, the model, the session and the directory of a call, and how long its prompt is.")(
    run_prompt=before(logs_arguments)
)
odd("floods-stderr", "Writes one letter 70,000 times to stderr for each message it reads.")(
    dispatch=before(logs_letters)
)
odd("announces-its-tools", "Says after the handshake that its tools have changed.")(
    is_stateless=always(False),
    capabilities=always({"tools": {"listChanged": True}}),
    notified=after(announces_tools),
)
odd("instructs-client", "Adds instructions and empty capabilities to the handshake.")(
    initialize=gives(adding(instructions="Use `chat` first.\n그다음 `chat-reply`.", _meta={"example.com/build": 7})),
    capabilities=gives(adding(experimental={})),
)
odd("empty-extras", "Adds empty objects and arrays wherever it may.")(
    success=gives(lambda result: {"_meta": {}, **result}),
    content=gives(lambda content: [{**part, "_meta": {}} for part in content]),
    tool=gives(adding(annotations={}, icons=[])),
)
odd("progress-said-tersely", "Tells progress without a word, and twice at the start.")(
    progress=only_what_must_be, report_progress=after(told_twice)
)
odd("escapes-everything", "Writes every character of its texts and keys as an escape.")(encoded=escaped_throughout)
odd("relative-system-path", "Names the file of the system prompt by a relative path.")(run=relative_to_directory)
odd("directory-for-every-call", "Makes a temporary directory for every call, though nothing be put into it.")(
    run_prompt=with_empty_directory
)
odd("progress-below-zero", "Begins progress below zero, and tells it once more right before the answer.")(
    progress=from_below_zero, answer=before(lambda port, call, result: port.report_progress(call))
)
