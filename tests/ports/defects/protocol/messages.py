"""Defects in reading and writing messages."""

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from answering import Failure
from defects.record import defect
from speaking import INVALID_PARAMS, Message, RpcError, as_object
from steps import Change, Step, adding, after, before, gives, on, only, refuses, takes, without


def first_of_line(port: Any, error: json.JSONDecodeError) -> Any:
    return json.JSONDecoder().raw_decode(error.doc.lstrip())[0]


def where(key: str, change: Change) -> Change:
    """Changes the messages that have such an entry."""
    return lambda message: change(message) if key in message else message


def identity(kind: type, change: Change) -> Step:
    """Answers with another id where it is of this type."""
    return takes(
        lambda message: {**message, "id": change(message["id"])} if isinstance(message.get("id"), kind) else message
    )


def answers_unknown(port: Any, method: str, params: Any) -> None:
    if method not in ("notifications/initialized", "notifications/cancelled"):
        port.send_error(None, -32601, f"The notification {method!r} is unknown.")


def lacks_parameters(identity: Any, params: Any, stateless: bool) -> bool:
    return "name" not in params or as_object(params.get("arguments", {})) is None


def counts_parse_errors(port: Any, identity: Any, code: int, message: str) -> None:
    port.memory["complaints"] = port.memory.get("complaints", 0) + (code == -32700)


def with_code(wrong: int, right: int) -> Step:
    """Sends one code of an error in the place of another."""
    return lambda port, real, identity, code, message: real(identity, wrong if code == right else code, message)


def lost_after_long_line(port: Any, real: Any) -> Iterator[bytes]:
    for line in real():
        if len(line) > 1 << 20:
            list(real())
        yield line


def pieces(port: Any, real: Any) -> Iterator[bytes]:
    while piece := os.read(0, 1 << 16):
        yield from piece.split(b"\n")


def lines_of_lines(port: Any, real: Any) -> Iterator[bytes]:
    for line in real():
        yield from line.replace("\u2028".encode(), b"\n").split(b"\n")


def pretty_list(port: Any, real: Any, message: Message) -> bytes:
    is_list = "tools" in (as_object(message.get("result")) or {})
    return json.dumps(message, indent=2).encode() + b"\n" if is_list else real(message)


def logs_failure(port: Any, failure: Failure) -> None:
    if failure.stderr is not None:
        with port.output:
            print("ERROR gemini failed", flush=True)


def encoded_as(encoding: str, errors: str) -> Step:
    return lambda port, real, message: json.dumps(message, ensure_ascii=False).encode(encoding, errors) + b"\n"


defect("errors-without-jsonrpc", "Leaves `jsonrpc` out of its errors.", "rpc:jsonrpc")(
    write=takes(where("error", without("jsonrpc")))
)
defect("progress-without-jsonrpc", "Leaves `jsonrpc` out of its notifications.", "rpc:jsonrpc")(
    progress=gives(without("jsonrpc"))
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
defect("answers-notifications", "Answers notifications with an empty result.", "rpc:notification:unanswered")(
    notified=after(lambda port, method, params: port.send_result(None, {}))
)
defect(
    "answers-unknown-notifications",
    "Answers a notification that it does not know with an error.",
    "rpc:notification:unanswered",
)(notified=after(answers_unknown))
defect("unknown-method-is-empty", "Answers an unknown method with an empty result.", "rpc:error:method")(
    result=on(RpcError, lambda port, error: {} if error.error["code"] == -32601 else error)
)
defect("bad-parameters-are-internal", "Answers parameters that are wrong as an internal error.", "rpc:error:params")(
    new_call=refuses(RpcError(-32603, "Internal error."), lacks_parameters)
)
defect("parse-errors-are-invalid-requests", "Calls a line that is no JSON an invalid request.", "rpc:error:parse")(
    send_error=with_code(-32600, right=-32700)
)
defect(
    "invalid-requests-are-parse-errors",
    "Calls JSON that is no valid request a line that is no JSON.",
    "rpc:error:request",
)(send_error=with_code(-32700, right=-32600))
defect(
    "deaf-after-two-malformed-lines",
    "Gives up reading at the second line that is no JSON, and lives on.",
    "rpc:alive:malformed",
)(
    send_error=after(counts_parse_errors),
    dispatch=lambda port, real, message: real(message) if port.memory.get("complaints", 0) < 2 else None,
)
defect("dies-of-arrays", "Falls over JSON that is no object.", "rpc:alive:malformed")(
    dispatch=lambda port, real, message: os._exit(1) if as_object(message) is None else real(message)
)
defect("deaf-after-long-line", "Stops reading after a line of more than a megabyte.", "rpc:alive:long-line")(
    lines=lost_after_long_line
)
defect(
    "lines-over64-ki-bdropped",
    "Passes over lines of more than 64 KiB, the limit of its reader.",
    "prompt:verbatim:128000",
    "prompt:long:whole",
)(receive=only(lambda line: len(line) <= 64 * 1024))
defect("surrogates-unanswered", "Loses a request that cannot be written as UTF-8.", "rpc:alive:surrogate")(
    dispatch=only(lambda message: not re.search("[\ud800-\udfff]", json.dumps(message, ensure_ascii=False)))
)
defect("pieces-are-lines", "Takes whatever one read gives for whole lines.", "rpc:alive:chunks")(lines=pieces)
defect(
    "line-separators-end-lines",
    "Takes U+2028 in a message for the end of its line.",
    "prompt:verbatim:unicode",
    "prompt:verbatim:newline",
)(lines=lines_of_lines)
defect("pretty-tool-list", "Writes the list of its tools over several lines.", "stdio:framing")(encoded=pretty_list)
defect(
    "headers-before-messages",
    "Frames long messages with a Content-Length header, as language servers do.",
    "stdio:stdout",
)(encoded=gives(lambda line: b"Content-Length: %d\r\n\r\n%b" % (len(line), line) if len(line) > 4096 else line))
defect("banner-on-stdout", "Greets on stdout.", "stdio:stdout")(
    serve=before(lambda port: print("Gemini MCP server running on stdio", flush=True))
)
defect("failures-logged-to-stdout", "Logs to stdout, but only when gemini fails.", "stdio:stdout")(
    error=before(logs_failure)
)
defect("latin1-output", "Writes its messages in the encoding of an old locale.", "stdio:encoding")(
    encoded=encoded_as("latin-1", "replace")
)
defect("raw-surrogates", "Writes half characters of an answer as bytes that are no UTF-8.", "stdio:encoding")(
    whole=lambda port, real, text: text, encoded=encoded_as("utf-8", "surrogatepass")
)
defect("request-without-id-answered", "Answers a request for the tools that has no id.", "rpc:notification:unanswered")(
    notified=before(
        lambda port, method, params: method == "tools/list" and port.send_result(None, {"tools": port.tools()})
    )
)
defect("false-arguments-are-none", "Takes arguments that count as false for no arguments.", "rpc:error:params")(
    new_call=lambda port, real, identity, params, stateless: real(
        identity, params if params.get("arguments") else without("arguments")(params), stateless
    )
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
defect("rest-of-line-ignored", "Reads the first JSON of a line and ignores the rest.", "rpc:error:parse")(
    parse=on(json.JSONDecodeError, first_of_line)
)
