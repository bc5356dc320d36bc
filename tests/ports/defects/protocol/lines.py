"""Defects in single messages: lines that are damaged, halves of characters, eras and revisions of one request."""

import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from conditions import REVISION, asks, refused, speaks
from defects.record import defect
from planning import PROPERTIES
from running import Call
from speaking import INVALID_PARAMS, UNKNOWN_METHOD, Message, RpcError, as_object
from steps import only

PIECE = 65536
GOOD_SECONDS = 4
BEGAN = time.monotonic()
BEFORE_LAST = ("2024-11-05", "2025-03-26", "2025-06-18")
SURROGATE = re.compile("[\ud800-\udfff]")


def method_is_whole(request: Message) -> bool:
    return not SURROGATE.search(request["method"])


def token_is_whole(request: Message) -> bool:
    meta = as_object((as_object(request.get("params")) or {}).get("_meta")) or {}
    return not SURROGATE.search(str(meta.get("progressToken")))


def deaf_behind_damage(port: Any, real: Any, line: bytes) -> None:
    """The thread that reads ends with the line that it cannot decode."""
    if port.memory.get("is_deaf"):
        return
    try:
        line.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        port.memory["is_deaf"] = True
    real(line)


def rest_lost(port: Any, real: Any) -> Iterator[bytes]:
    """What follows two whole messages in one piece is taken for a part of them."""
    rest = b""
    while piece := os.read(sys.stdin.fileno(), PIECE):
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
        rest = b"" if len(lines) > 1 else rest


def good_for_a_while(port: Any, real: Any) -> Message:
    return {**real(), "ttlMs": int((GOOD_SECONDS - (time.monotonic() - BEGAN)) * 1000)}


def objects_to_arguments(port: Any, real: Any, call: Call, result: Message) -> None:
    """Older revisions let a server answer wrong arguments so."""
    if call.stateless or not refused(call, result) or port.memory.get("revision") not in BEFORE_LAST:
        real(call, result)
    elif not call.is_cancelled:
        port.send_error(call.id, INVALID_PARAMS, result["content"][0]["text"])
        call.is_answered = True


def unknown_as_method(port: Any, real: Any, identity: Any, params: Mapping[str, Any], stateless: bool) -> Call:
    is_unknown = isinstance(params.get("name"), str) and params["name"] not in PROPERTIES
    if is_unknown and not stateless and speaks(port, "2024-11-05"):
        raise RpcError(UNKNOWN_METHOD, f"The tool {params['name']!r} is unknown.")
    return real(identity, params, stateless)


def stateless_null_absent(port: Any, real: Any, call: Call) -> Message:
    if call.stateless:
        kept = {name: value for name, value in call.arguments.items() if value is not None or name == "prompt"}
        call.arguments = kept
    return real(call)


def is_stateless_on_stdin(call: Call, plan: Any) -> bool:
    return call.stateless and plan.stdin is not None


defect(
    "surrogate-in-method-unanswered",
    "Does not answer a request whose method holds a lone surrogate.",
    "rpc:alive:surrogate",
)(requested=only(method_is_whole))
defect(
    "surrogate-in-token-unanswered",
    "Does not answer a request whose progress token holds a lone surrogate.",
    "rpc:alive:surrogate",
)(requested=only(token_is_whole))
defect(
    "deaf-behind-damaged-line",
    "Reads nothing more behind a line that is not UTF-8, and lives on.",
    "rpc:alive:malformed",
)(receive=deaf_behind_damage)
defect(
    "beginning-behind-two-messages-lost",
    "Loses the beginning of a message that comes in one piece with two whole ones.",
    "rpc:alive:chunks",
)(lines=rest_lost)
defect(
    "caching-runs-out",
    "Says how long its list of tools is still good, which is less than nothing after some seconds.",
    "stateless:caching",
)(caching=good_for_a_while)
defect(
    "refusals-are-errors-in-older-revisions",
    "Answers a refused argument with a JSON-RPC error for clients of a revision before 2025-11-25.",
    "arguments:refused:is-error",
)(initialize=REVISION, answer=objects_to_arguments)
defect(
    "unknown-tool-is-unknown-method-in-2024-11-05",
    "Answers a call of an unknown tool as an unknown method for clients of 2024-11-05.",
    "tools:unknown:code",
)(initialize=REVISION, new_call=unknown_as_method)
defect(
    "stateless-null-is-absent",
    "Takes an optional argument that is null for an absent one in the stateless era.",
    "arguments:optional:null",
)(execute=stateless_null_absent)
defect(
    "stateless-directory-lost-on-stdin",
    "Runs a call of the stateless era in its own directory when the prompt is long.",
    "cwd:used",
)(ask=asks(is_stateless_on_stdin, lambda plan: replace(plan, cwd=None)))
defect(
    "stateless-text-ids-uncancellable",
    "Does not cancel a call of the stateless era whose id is a text.",
    "cancel:others",
    "stateless:cancelled",
)(cancel=only(lambda call: not (call.stateless and isinstance(call.id, str))))
