"""Responses that miss their request, or come under another id: ports that break `rpc:response`."""

import json
import select
from typing import Any

from defects.protocol.shared import receiving
from defects.record import defect
from defects.shared import where
from http_port import HEADER_MISMATCH, HttpPort
from posting import LENGTH, Post
from running import Call
from speaking import INVALID_PARAMS, PARSE_ERROR, Message, as_object
from steps import Change, Step, adding, before, only, takes

LONGEST_ID = 255

PATIENCE = 0.02
PIECE = 64 * 1024


def identity(kind: type, change: Change) -> Step:
    """Answers with another id where it is of this type."""
    return takes(
        lambda message: {**message, "id": change(message["id"])} if isinstance(message.get("id"), kind) else message
    )


def mismatch_without_id(port: Any, real: Any, message: Message) -> None:
    is_mismatch = message.get("error", {}).get("code") == HEADER_MISMATCH
    real({**message, "id": None} if is_mismatch else message)


def id_of_c(port: Any, real: Any, call: Call, result: Message) -> None:
    if isinstance(call.id, str):
        call.id = call.id.partition("\0")[0]
    real(call, result)


def text_null_is_none(port: Any, real: Any, request: Message) -> None:
    if request["id"] not in ("null", "undefined"):
        real(request)


def ids_in_48_bits(port: Any, real: Any, line: bytes) -> Any:
    message = real(line)
    identity = (as_object(message) or {}).get("id")
    return {**message, "id": identity & (1 << 48) - 1} if type(identity) is int and identity > 0 else message


def in_32_bits(port: Any, real: Any, message: Message) -> None:
    identity = message.get("id")
    if "error" in message and type(identity) is int:
        message = {**message, "id": (identity + 2**31) % 2**32 - 2**31}
    real(message)


def null_for_falsy(port: Any, real: Any, message: Message) -> None:
    real({**message, "id": message["id"] or None} if "error" in message else message)


def newline_alone(port: Any, real: Any, line: bytes) -> None:
    if line.endswith(b"\r\n") and line.strip():
        port.send_error(None, PARSE_ERROR, "The line is no JSON.")
    else:
        real(line)


def notes_lists(port: Any, real: Any, request: Message) -> None:
    if request["method"] == "tools/list":
        port.memory.setdefault("lists", []).append(request["id"])
    real(request)


def answers_cancelled_list(port: Any, real: Any, method: str, params: Any) -> None:
    wanted = (as_object(params) or {}).get("requestId")
    if method == "notifications/cancelled" and wanted in port.memory.get("lists", ()):
        port.send_error(wanted, -32800, "The request was cancelled.")
    real(method, params)


def backslashes_raw(port: Any, real: Any, message: Message) -> bytes:
    """Writes errors by hand, and escapes all but the backslashes of a text that is the id."""
    line = real(message)
    if "error" not in message or not isinstance(message["id"], str):
        return line
    right = json.dumps(message["id"]).encode()
    return line.replace(right, right.replace(rb"\\", b"\\"), 1)


def notes_id(port: Any, real: Any, identity: Any, *others: Any) -> Call:
    call = real(identity, *others)
    port.memory.setdefault("ids", {})[str(identity)] = identity
    return call


def id_by_its_text(port: Any, call: Call, result: Message) -> None:
    call.id = port.memory["ids"][str(call.id)]


class ReadsWhatHasCome(Post):
    """Takes what has come of a body for the whole."""

    def body(self) -> bytes:
        length, body = int(self.headers.get(LENGTH, 0)), b""
        while len(body) < length and (not body or select.select([self.connection], [], [], PATIENCE)[0]):
            body += self.rfile.read1(min(PIECE, length - len(body)))
        return body


def error_of_counted_letters(port: Any, real: Any, message: Message) -> bytes:
    """Counts the letters of a text that is sent as bytes."""
    if "error" not in message:
        return real(message)
    text = json.dumps(message, ensure_ascii=False)
    return text.encode("utf-8", "replace")[: len(text)]


def short_column(port: Any, real: Any, call: Call, result: Message) -> None:
    if call.tool == "chat-reply" and result.get("isError") and isinstance(call.id, str):
        call.id = call.id[:LONGEST_ID]
    real(call, result)


defect("null-error-beside-result", "Adds `error: null` to every result, as JSON-RPC 1.0 did.", "rpc:response:either")(
    write=takes(where("result", adding(error=None)))
)
defect("null-result-beside-error", "Adds `result: null` to every error.", "rpc:response:either")(
    write=takes(where("error", adding(result=None)))
)
defect("error-codes-as-text", "Writes the code of an error as a string.", "rpc:response:error")(
    write=takes(where("error", lambda sent: {**sent, "error": {**sent["error"], "code": str(sent["error"]["code"])}}))
)
defect("errors-without-message", "Leaves the message out of an error.", "rpc:response:error")(
    write=takes(where("error", lambda sent: {**sent, "error": {"code": sent["error"]["code"]}}))
)
defect("ids-as-text", "Answers with the id as a string.", "rpc:response:id")(write=identity(int, str))
defect("ids-as-numbers", "Answers with a number where the id is a string of digits.", "rpc:response:id")(
    write=identity(str, lambda text: int(text) if text.isdecimal() else text)
)
defect("falsy-ids-missing", "Takes a request whose id is 0 or empty for a notification.", "rpc:response:id")(
    dispatch=only(lambda message: (as_object(message) or {}).get("id") not in (0, ""))
)
defect("ids-in32-bits", "Keeps ids in 32 bits.", "rpc:response:id")(
    write=identity(int, lambda number: number & 0xFFFF_FFFF)
)
defect(
    "zero-lost-in-wrong-params",
    "Answers a request whose parameters are wrong under null if its id is 0.",
    "rpc:response:id",
)(
    send=lambda port, real, message: real(
        {**message, "id": message["id"] or None} if message.get("error", {}).get("code") == INVALID_PARAMS else message
    )
)
defect(
    "header-mismatch-under-null",
    "Answers a request whose headers differ from its body under null.",
    "rpc:response:id",
)(HttpPort, send=mismatch_without_id)
defect(
    "id-of-call-ends-at-nul",
    "Answers a call with its id cut at the first NUL.",
    "rpc:response:id",
)(answer=id_of_c)
defect("text-null-is-no-id", "Does not answer a request whose id is the text `null`.", "rpc:response:id")(
    requested=text_null_is_none
)
defect("ids-in-48-bits", "Keeps ids in 48 bits.", "rpc:response:id")(parse=ids_in_48_bits)
defect(
    "error-id-in-32-bits",
    "Writes the id of an error response as a number of 32 bits.",
    "rpc:response:id",
)(send=in_32_bits)
defect(
    "falsy-id-null-in-errors",
    "Answers a request whose id is 0 or an empty text with a null id when the answer is a JSON-RPC error.",
    "rpc:response:id",
)(send=null_for_falsy)
defect(
    "returns-before-newline-unread",
    "Takes a line that ends in CRLF for no JSON.",
    "rpc:response:id",
    "rpc:alive:chunks",
)(receive=newline_alone)
defect("empty-id-lost-in-errors", "Answers an error under null if the id is empty or 0.", "rpc:response:id")(
    write=null_for_falsy
)
defect(
    "late-cancel-of-list-answered",
    "Answers the cancellation of a list of tools that it has sent.",
    "rpc:response:id",
    "rpc:notification:unanswered",
)(requested=notes_lists, notified=answers_cancelled_list)
defect(
    "backslashes-of-ids-raw",
    "Writes the backslashes of an id unescaped in an error.",
    "rpc:response:id",
)(encoded=backslashes_raw)
defect(
    "look-alike-ids-mixed",
    "Answers two calls that run at the same time with one id, when the ids are 7 and the text of it.",
    "rpc:response:id",
)(new_call=notes_id, answer=before(id_by_its_text))
defect("body-ends-at-pause", "Takes what has come of a body for the whole.", "rpc:response:id")(
    HttpPort, serve=receiving(ReadsWhatHasCome)
)
defect(
    "errors-cut-by-letters",
    "Cuts a JSON-RPC error over HTTP short by a byte for each that its letters beyond ASCII have more than one.",
    "rpc:response:id",
    "rpc:error:method",
)(HttpPort, encoded=error_of_counted_letters)
defect(
    "long-id-cut-in-failed-reply",
    "Cuts an id of more than 255 characters in the answer to a reply that failed or was refused.",
    "rpc:response:id",
)(answer=short_column)
