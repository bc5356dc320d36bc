"""Characters in other places: ports that break `arguments`, `injection`, `process`, `progress` or `stdio`."""

import json
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from answering import PREFIX, Answer, Failure, Outcome
from defects.record import defect
from defects.shared import with_token
from defects.text.shared import in_directory, in_texts, normalized, raw
from planning import Plan
from running import LISTING_TIMEOUT, Call
from speaking import Message, as_object
from steps import gives


def without_surrogates_in_session(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    session = arguments.get("sessionId")
    if isinstance(session, str):
        arguments = {**arguments, "sessionId": re.sub("[\ud800-\udfff]", "\ufffd", session)}
    return real(tool, arguments)


def low_halves_replaced(port: Any, real: Any, tool: str, name: str, value: Any) -> str:
    return real(tool, name, re.sub("[\udc00-\udfff]", "\ufffd", value) if isinstance(value, str) else value)


def listed_by_shell(port: Any, real: Any, call: Any, plan: Plan) -> Outcome | None:
    if plan.cwd is None:
        return real(call, plan)
    argv = ("sh", "-c", f'cd "{plan.cwd}" && exec gemini --list-sessions')
    with suppress(Failure):
        return port.run(call, argv, None, port.environment(None), None, LISTING_TIMEOUT)
    return None


def logs_what_breaks_off(port: Any, real: Any, stdout: str, stderr: str) -> Answer:
    try:
        return real(stdout, stderr)
    except Failure as failure:
        if "incomplete" in failure.sentence:
            print(f"{PREFIX}JSON expected: {stdout}", file=sys.stderr, flush=True)
        raise


def tells_who_waits(port: Any, real: Any, call: Call, turn: str | None) -> None:
    if turn is not None and port.turns.get(turn):
        print(f"{call.id!r} waits for its turn: {call.arguments['prompt'][:32]!r}", file=sys.stderr, flush=True)
    real(call, turn)


def cut_in_bytes(port: Any, real: Any, error: Any) -> str | None:
    message = real(error)
    return message and message.encode()[:1000].decode("utf-8", "surrogateescape")


def with_half_characters(port: Any, real: Any, message: Message) -> bytes:
    if not (as_object(message.get("result")) or {}).get("isError"):
        return real(message)
    try:
        return raw(message).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return real(message)


def logs_dropped(port: Any, real: Any, call: Call, turn: str | None) -> None:
    real(call, turn)
    if call.is_cancelled:
        print(f"dropped before its turn: {json.dumps(call.arguments)}", file=sys.stderr, flush=True)


defect("surrogates-of-session-replaced", "Replaces lone surrogates in a session.", "arguments:surrogate")(
    texts=without_surrogates_in_session
)
defect(
    "low-surrogates-replaced",
    "Refuses a high surrogate that is alone, but replaces a low one.",
    "arguments:surrogate",
)(text=low_halves_replaced)
defect("variables-expanded", "Replaces variables in a directory.", "injection:shell:cwd", "cwd:used")(
    cwd=in_directory(os.path.expandvars)
)
defect(
    "listing-through-shell",
    "Changes to the directory of the call by a shell, but only for the list of sessions.",
    "injection:shell:cwd",
)(list_sessions=listed_by_shell)
defect(
    "variables-of-lines-cut",
    "Hands on the first line of a variable, as the output of `env` is often read.",
    "process:environment",
)(environment=gives(lambda variables: {name: value.split("\n")[0] for name, value in variables.items()}))
defect("tokens-composed", "Composes the characters of a progress token.", "progress:token")(
    progress=with_token(in_texts(normalized("NFC")))
)
defect("tokens-trimmed", "Takes blanks off both ends of a progress token.", "progress:token")(
    token=gives(lambda token: token.strip() if isinstance(token, str) else token)
)
defect(
    "broken-json-in-log",
    "Writes what there is of an answer that breaks off to its own stderr.",
    "stdio:stderr:private",
)(read_stdout=logs_what_breaks_off)
defect(
    "prompt-of-waiting-reply-logged",
    "Logs the beginning of the prompt of a reply that has to wait for its session.",
    "stdio:stderr:private",
)(take_turn=tells_who_waits)
defect(
    "dropped-reply-logged",
    "Writes the arguments of a reply to its stderr that was cancelled while it waited for its turn.",
    "stdio:stderr:private",
)(take_turn=logs_dropped)
defect(
    "message-cut-in-character",
    "Cuts what gemini says of its failure after 1,000 bytes, and sends the half of a character.",
    "stdio:stdout",
    "stdio:encoding",
)(message=cut_in_bytes, encoded=with_half_characters)
