"""Odd ways to speak MCP."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections.abc import Mapping

from answering import Failure
from odd.record import odd
from planning import PROPERTIES, Plan, Refusal
from port import Port
from running import Call, Cancelled
from speaking import INVALID_PARAMS, INVALID_REQUEST, JSON, PARSE_ERROR, UNKNOWN_METHOD, Message, RpcError


class HandshakeOnly(Port):
    """A port that does not know the era without a handshake."""

    def is_stateless(self, params: Mapping[str, JSON]) -> bool:
        return False


@odd
class OldestRevisionOnly(HandshakeOnly):
    """Speaks 2024-11-05 and nothing newer."""

    def versions(self) -> tuple[str, ...]:
        return ("2024-11-05",)


@odd
class HandshakeInTwoRevisions(HandshakeOnly):
    """Speaks two revisions of the handshake, and answers every other one with the older of them."""

    def versions(self) -> tuple[str, ...]:
        return ("2025-06-18", "2025-03-26")


@odd
class NoHandshake(Port):
    """Speaks the era without a handshake and no other."""

    def versions(self) -> tuple[str, ...]:
        return ()

    def result(self, request: Message, params: Mapping[str, JSON], stateless: bool) -> Message | None:
        if request["method"] in ("initialize", "ping"):
            raise RpcError(UNKNOWN_METHOD, "Method not found")
        if not stateless:
            raise RpcError(INVALID_PARAMS, "The request has no `_meta` that names a protocol version.")
        return super().result(request, params, stateless)


@odd
class StrictLifecycle(Port):
    """Serves nothing but ping before it has been initialized, except what needs no handshake."""

    is_initialized = False

    def result(self, request: Message, params: Mapping[str, JSON], stateless: bool) -> Message | None:
        if not (stateless or self.is_initialized or request["method"] in ("initialize", "ping")):
            raise RpcError(INVALID_REQUEST, "The server is not initialized.")
        return super().result(request, params, stateless)

    def notified(self, method: str, params: JSON) -> None:
        self.is_initialized = self.is_initialized or method == "notifications/initialized"
        super().notified(method, params)


@odd
class ToolsInPages(Port):
    """Lists one tool a page."""

    def list_tools(self, params: Mapping[str, JSON], stateless: bool) -> Message:
        cursor = str(params.get("cursor", "page-0"))
        pages = {f"page-{number}": number for number in range(len(PROPERTIES))}
        if cursor not in pages:
            raise RpcError(-32602, "The cursor is not one of this server.")
        page = pages[cursor]
        following = {} if page + 1 == len(pages) else {"nextCursor": f"page-{page + 1}"}
        return {**super().list_tools({}, stateless), "tools": [self.tools()[page]], **following}


@odd
class MoreTools(Port):
    """Offers a tool, a capability and a method beyond those of the specification."""

    def capabilities(self) -> Message:
        return {"experimental": {"x": {}}, "prompts": {}, "tools": {"listChanged": False}}

    def tools(self) -> list[Message]:
        schema = {
            "type": "object",
            "properties": {"topic": {"enum": ["models", "flags"]}},
            "additionalProperties": False,
        }
        return [{"name": "Help", "title": "Help", "inputSchema": schema}, *super().tools()]

    def result(self, request: Message, params: Mapping[str, JSON], stateless: bool) -> Message | None:
        if request["method"] == "prompts/list":
            return {"prompts": [], **(self.caching() if stateless else {})}
        if request["method"] == "tools/call" and params.get("name") == "Help":
            return {"content": self.content("Ask away.")}
        return super().result(request, params, stateless)


@odd
class LogsAsNotifications(HandshakeOnly):
    """Logs in notifications before and after each call."""

    def capabilities(self) -> Message:
        return {**super().capabilities(), "logging": {}}

    def result(self, request: Message, params: Mapping[str, JSON], stateless: bool) -> Message | None:
        return {} if request["method"] == "logging/setLevel" else super().result(request, params, stateless)

    def log(self, text: str) -> None:
        params = {"level": "info", "logger": "gemini", "data": {"text": text}}
        self.send({"jsonrpc": "2.0", "method": "notifications/message", "params": params})

    def run_prompt(self, call: Call, plan: Plan) -> JSON:
        self.log("gemini begins")
        try:
            return super().run_prompt(call, plan)
        finally:
            self.log("gemini has ended")


@odd
class PingsClient(HandshakeOnly):
    """Sends a ping to the client and waits for its answer before it answers a call."""

    def __init__(self) -> None:
        super().__init__()
        self.pongs: dict[str, threading.Event] = {}

    def answer(self, call: Call, result: Message) -> None:
        identity = f"ping-{random.randrange(1 << 30)}"
        self.pongs[identity] = threading.Event()
        self.send({"jsonrpc": "2.0", "id": identity, "method": "ping"})
        if self.pongs[identity].wait(10):
            super().answer(call, result)

    def dispatch(self, message: JSON) -> None:
        super().dispatch(message)
        if self.is_valid(message) and "method" not in message and str(message["id"]) in self.pongs:
            self.pongs[message["id"]].set()


@odd
class SilentOnMalformed(Port):
    """Passes over malformed lines in silence."""

    def send_error(self, identity: JSON, code: int, message: str) -> None:
        if code not in (PARSE_ERROR, INVALID_REQUEST):
            super().send_error(identity, code, message)


@odd
class WrongArgumentsAreRpcErrors(Port):
    """Answers wrong arguments with JSON-RPC error -32602."""

    def begin_call(self, identity: JSON, params: Mapping[str, JSON], stateless: bool) -> Message | None:
        call = self.new_call(identity, params, stateless)
        try:
            self.plan(call.tool, call.arguments)
        except Refusal as refusal:
            raise RpcError(-32602, f"Error executing gemini: {refusal}") from None
        return super().begin_call(identity, params, stateless)


@odd
class UnknownToolIsResult(Port):
    """Answers a call of an unknown tool with an isError result."""

    def begin_call(self, identity: JSON, params: Mapping[str, JSON], stateless: bool) -> Message | None:
        name = params.get("name")
        if isinstance(name, str) and name not in PROPERTIES:
            return self.error(Failure(f"The tool {name!r} is unknown."))
        return super().begin_call(identity, params, stateless)


@odd
class SpacedAndSorted(Port):
    """Writes its keys in another order, with blanks around them, and characters as they are."""

    def encoded(self, message: Message) -> bytes:
        ordered = dict(sorted(message.items(), key=lambda item: item[0], reverse=True))
        line = json.dumps(ordered, ensure_ascii=False, separators=(" , ", " : "))
        try:
            return line.encode() + b" \n"
        except UnicodeEncodeError:
            return super().encoded(message)


@odd
class ErrorsWithData(Port):
    """Adds data to every JSON-RPC error."""

    def write(self, message: Message) -> None:
        if error := message.get("error"):
            message = {**message, "error": {"data": {"trace": []}, **error}}
        super().write(message)


@odd
class SlowStart(Port):
    """Takes half a second before it reads its first message."""

    def serve(self) -> None:
        time.sleep(0.5)
        super().serve()


@odd
class AnswersLate(Port):
    """Takes its time before it sends an answer, now more and now less."""

    def answer(self, call: Call, result: Message) -> None:
        time.sleep(random.random() * 0.1)
        super().answer(call, result)


@odd
class TalkativeStderr(Port):
    """Writes a megabyte of log lines to stderr before it serves, and a line for each call."""

    def serve(self) -> None:
        sys.stderr.write("[debug] starting\n" * 60_000)
        super().serve()

    def run_prompt(self, call: Call, plan: Plan) -> JSON:
        sys.stderr.write("[info] a call begins\n")
        return super().run_prompt(call, plan)


@odd
class AnswersWhenEnding(Port):
    """Answers the calls that its end interrupts with a JSON-RPC error."""

    def execute(self, call: Call) -> Message:
        try:
            return super().execute(call)
        except Cancelled:
            if self.is_ending:
                self.send_error(call.id, -32000, "The server has ended.")
            raise


@odd
class ProgressInFractions(Port):
    """Tells progress in fractions that grow more and more slowly, with a total and often."""

    def report_progress(self, call: Call) -> None:
        super().report_progress(call)
        call.next_progress = time.monotonic() + 0.5

    def progress(self, call: Call) -> Message:
        message = super().progress(call)
        return {**message, "params": {**message["params"], "progress": 1 - 1 / (call.progress + 1), "total": 1}}
