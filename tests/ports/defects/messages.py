"""Defects in reading and writing messages."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping

from answering import Failure
from defects.record import breaks
from port import Port
from running import Call
from speaking import JSON, Message, RpcError, as_object


@breaks("rpc:jsonrpc")
class ErrorsWithoutJsonrpc(Port):
    """Leaves `jsonrpc` out of its errors."""

    def write(self, message: Message) -> None:
        bare = {name: value for name, value in message.items() if name != "jsonrpc"}
        super().write(bare if "error" in message else message)


@breaks("rpc:jsonrpc")
class ProgressWithoutJsonrpc(Port):
    """Leaves `jsonrpc` out of its notifications."""

    def progress(self, call: Call) -> Message:
        return {name: value for name, value in super().progress(call).items() if name != "jsonrpc"}


@breaks("rpc:response:id")
class IdsAsText(Port):
    """Answers with the id as a string."""

    def write(self, message: Message) -> None:
        identity = message.get("id")
        super().write({**message, "id": str(identity)} if isinstance(identity, int) else message)


@breaks("rpc:response:id")
class IdsAsNumbers(Port):
    """Answers with a number where the id is a string of digits."""

    def write(self, message: Message) -> None:
        identity = message.get("id")
        digits = isinstance(identity, str) and identity.isdecimal()
        super().write({**message, "id": int(str(identity))} if digits else message)


@breaks("rpc:response:id")
class FalsyIdsMissing(Port):
    """Takes a request whose id is 0 or empty for a notification."""

    def dispatch(self, message: JSON) -> None:
        if (as_object(message) or {}).get("id") not in (0, ""):
            super().dispatch(message)


@breaks("rpc:response:id")
class IdsIn32Bits(Port):
    """Keeps ids in 32 bits."""

    def write(self, message: Message) -> None:
        identity = message.get("id")
        super().write({**message, "id": identity & 0xFFFF_FFFF} if isinstance(identity, int) else message)


@breaks("rpc:response:either")
class NullErrorBesideResult(Port):
    """Adds `error: null` to every result, as JSON-RPC 1.0 did."""

    def write(self, message: Message) -> None:
        super().write({**message, "error": None} if "result" in message else message)


@breaks("rpc:response:either")
class NullResultBesideError(Port):
    """Adds `result: null` to every error."""

    def write(self, message: Message) -> None:
        super().write({**message, "result": None} if "error" in message else message)


@breaks("rpc:response:error")
class ErrorCodesAsText(Port):
    """Writes the code of an error as a string."""

    def write(self, message: Message) -> None:
        if error := message.get("error"):
            message = {**message, "error": {**error, "code": str(error["code"])}}
        super().write(message)


@breaks("rpc:response:error")
class ErrorsWithoutMessage(Port):
    """Leaves the message out of an error."""

    def write(self, message: Message) -> None:
        if error := message.get("error"):
            message = {**message, "error": {"code": error["code"]}}
        super().write(message)


@breaks("rpc:notification:unanswered")
class AnswersNotifications(Port):
    """Answers notifications with an empty result."""

    def notified(self, method: str, params: JSON) -> None:
        super().notified(method, params)
        self.send_result(None, {})


@breaks("rpc:notification:unanswered")
class AnswersUnknownNotifications(Port):
    """Answers a notification that it does not know with an error."""

    def notified(self, method: str, params: JSON) -> None:
        super().notified(method, params)
        if method not in ("notifications/initialized", "notifications/cancelled"):
            self.send_error(None, -32601, f"The notification {method!r} is unknown.")


@breaks("rpc:error:method")
class UnknownMethodIsEmpty(Port):
    """Answers an unknown method with an empty result."""

    def result(self, request: Message, params: Mapping[str, JSON], stateless: bool) -> Message | None:
        try:
            return super().result(request, params, stateless)
        except RpcError as error:
            if error.error["code"] == -32601:
                return {}
            raise


@breaks("rpc:error:params")
class BadParametersAreInternal(Port):
    """Answers parameters that are wrong as an internal error."""

    def new_call(self, identity: JSON, params: Mapping[str, JSON], stateless: bool) -> Call:
        if "name" not in params or as_object(params.get("arguments", {})) is None:
            raise RpcError(-32603, "Internal error.")
        return super().new_call(identity, params, stateless)


@breaks("rpc:error:parse")
class ParseErrorsAreInvalidRequests(Port):
    """Calls a line that is no JSON an invalid request."""

    def send_error(self, identity: JSON, code: int, message: str) -> None:
        super().send_error(identity, -32600 if code == -32700 else code, message)


@breaks("rpc:error:request")
class InvalidRequestsAreParseErrors(Port):
    """Calls JSON that is no valid request a line that is no JSON."""

    def send_error(self, identity: JSON, code: int, message: str) -> None:
        super().send_error(identity, -32700 if code == -32600 else code, message)


@breaks("rpc:alive:malformed")
class DeafAfterTwoMalformedLines(Port):
    """Gives up reading at the second line that is no JSON, and lives on."""

    complaints = 0

    def send_error(self, identity: JSON, code: int, message: str) -> None:
        super().send_error(identity, code, message)
        self.complaints += code == -32700

    def dispatch(self, message: JSON) -> None:
        if self.complaints < 2:
            super().dispatch(message)


@breaks("rpc:alive:malformed")
class DiesOfArrays(Port):
    """Falls over JSON that is no object."""

    def dispatch(self, message: JSON) -> None:
        if as_object(message) is None:
            os._exit(1)
        super().dispatch(message)


@breaks("rpc:alive:long-line")
class DeafAfterLongLine(Port):
    """Stops reading after a line of more than a megabyte."""

    def lines(self) -> Iterable[bytes]:
        for line in super().lines():
            if len(line) > 1 << 20:
                self.input_lost()
            yield line

    def input_lost(self) -> None:
        for _ in super().lines():
            pass


@breaks("prompt:verbatim:128000", "prompt:long:whole")
class LinesOver64KiBDropped(Port):
    """Passes over lines of more than 64 KiB, the limit of its reader."""

    def receive(self, line: bytes) -> None:
        if len(line) <= 64 * 1024:
            super().receive(line)


@breaks("rpc:alive:surrogate")
class SurrogatesUnanswered(Port):
    """Loses a request that cannot be written as UTF-8."""

    def dispatch(self, message: JSON) -> None:
        try:
            json.dumps(message, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return
        super().dispatch(message)


@breaks("rpc:alive:chunks")
class PiecesAreLines(Port):
    """Takes whatever one read gives for whole lines."""

    def lines(self) -> Iterable[bytes]:
        while piece := os.read(0, 1 << 16):
            yield from piece.split(b"\n")


@breaks("prompt:verbatim:unicode", "prompt:verbatim:newline")
class LineSeparatorsEndLines(Port):
    """Takes U+2028 in a message for the end of its line."""

    def lines(self) -> Iterable[bytes]:
        for line in super().lines():
            yield from line.replace("\u2028".encode(), b"\n").split(b"\n")


@breaks("stdio:framing")
class PrettyToolList(Port):
    """Writes the list of its tools over several lines."""

    def encoded(self, message: Message) -> bytes:
        if "tools" in (as_object(message.get("result")) or {}):
            return json.dumps(message, indent=2).encode() + b"\n"
        return super().encoded(message)


@breaks("stdio:stdout")
class HeadersBeforeMessages(Port):
    """Frames long messages with a Content-Length header, as language servers do."""

    def encoded(self, message: Message) -> bytes:
        line = super().encoded(message)
        return b"Content-Length: %d\r\n\r\n%b" % (len(line), line) if len(line) > 4096 else line


@breaks("stdio:stdout")
class BannerOnStdout(Port):
    """Greets on stdout."""

    def serve(self) -> None:
        print("Gemini MCP server running on stdio", flush=True)
        super().serve()


@breaks("stdio:stdout")
class FailuresLoggedToStdout(Port):
    """Logs to stdout, but only when gemini fails."""

    def error(self, failure: Failure, private: tuple[str, ...] = ()) -> Message:
        if failure.stderr is not None:
            with self.output:
                print("ERROR gemini failed", flush=True)
        return super().error(failure, private)


@breaks("stdio:encoding")
class Latin1Output(Port):
    """Writes its messages in the encoding of an old locale."""

    def encoded(self, message: Message) -> bytes:
        return json.dumps(message, ensure_ascii=False).encode("latin-1", "replace") + b"\n"


@breaks("stdio:encoding")
class RawSurrogates(Port):
    """Writes half characters of an answer as bytes that are no UTF-8."""

    def whole(self, text: str) -> str:
        return text

    def encoded(self, message: Message) -> bytes:
        return json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
