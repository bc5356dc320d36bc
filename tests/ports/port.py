"""A port of the server profile over stdio: a second implementation, made of the standard library alone.

It shares no line with the reference and none with the suite. This module knows MCP; speaking.py reads and writes its
messages, planning.py decides what is run, running.py runs it, answering.py reads what came of it. Every step is a
method that a defective port can replace.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from types import FrameType
from typing import Any

from answering import Answer, Answers, Failure
from planning import PROPERTIES, Plan, Plans, Refusal
from running import Call, Cancelled, Runs
from speaking import INVALID_PARAMS, UNKNOWN_METHOD, Message, RpcError, Speaks, as_object

JSON = Any

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS = ("2026-07-28",)
META = "io.modelcontextprotocol/"
DESCRIPTIONS = {"chat": "Starts a new Gemini session.", "chat-reply": "Continues an existing Gemini session."}
UNSUPPORTED_VERSION = -32022
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PROGRESS_SECONDS = 5.0
"""Half of the ten seconds in which progress should be told."""
TICK_SECONDS = 0.25
EXIT_SECONDS = 1.5
"""Seconds for calls to end; the server itself should exit within two."""


class Stop(BaseException):
    """A signal asked the server to end. No handler of exceptions may pass over it."""


class Port(Speaks, Plans, Answers, Runs):
    """The server."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.threads: list[threading.Thread] = []
        self.endings: list[threading.Thread] = []
        self.is_ending = False
        self.ended_by_signal = False

    def serve(self) -> None:
        for number in self.signals():
            signal.signal(number, self.on_signal)
        # Python hears a signal that comes right before a read only when the read has ended. An alarm interrupts it.
        signal.signal(signal.SIGALRM, lambda number, frame: None)
        signal.setitimer(signal.ITIMER_REAL, TICK_SECONDS, TICK_SECONDS)
        threading.Thread(target=self.watch, daemon=True).start()
        with suppress(Stop):
            for line in self.lines():
                self.receive(line)
            self.input_ended()
        self.shut_down()

    def input_ended(self) -> None:
        """Nothing keeps the server any longer."""

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        # A second signal must not interrupt the end of the processes.
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        self.ended_by_signal = True
        # One that follows the end of stdin must not interrupt it either.
        if not self.is_ending:
            raise Stop

    def signals(self) -> tuple[signal.Signals, ...]:
        return SIGNALS

    def shut_down(self) -> None:
        self.is_ending = True
        for call in list(self.calls):
            self.end(call)
        deadline = time.monotonic() + EXIT_SECONDS
        for thread in [*self.threads, *self.endings]:
            if thread.is_alive():  # a signal can come before it has started
                thread.join(max(0.0, deadline - time.monotonic()))
        os._exit(0)

    def watch(self) -> None:
        """Look after the calls that run, for as long as the server lives."""
        while True:
            time.sleep(TICK_SECONDS)
            now = time.monotonic()
            for call in list(self.calls):
                self.check_deadline(call, now)
                if now >= call.next_progress:
                    self.report_progress(call)

    def check_deadline(self, call: Call, now: float) -> None:
        if call.deadline is not None and now >= call.deadline and not call.is_timed_out:
            call.is_timed_out = True
            threading.Thread(target=self.stop, args=(call,), daemon=True).start()

    def requested(self, request: Message) -> None:
        try:
            params = self.params(request)
            stateless = self.is_stateless(params)
            if stateless:
                self.check_stateless(params)
            result = self.result(request, params, stateless)
        except RpcError as error:
            self.send({"jsonrpc": "2.0", "id": request["id"], "error": error.error})
        else:
            if result is not None:
                self.send_result(request["id"], self.finished(result, stateless))

    def result(self, request: Message, params: Mapping[str, JSON], stateless: bool) -> Message | None:
        """What answers the request; None when a thread will answer."""
        match request["method"], stateless:
            case "initialize", False:
                return self.initialize(params)
            case "server/discover", True:
                return self.discover()
            case "ping", False:
                return self.ping()
            case "tools/list", _:
                return self.list_tools(params, stateless)
            case "tools/call", _:
                return self.begin_call(request["id"], params, stateless)
            case method, _:
                raise RpcError(UNKNOWN_METHOD, f"The method {method!r} is unknown.")

    def notified(self, method: str, params: JSON) -> None:
        if method == "notifications/cancelled":
            wanted = (as_object(params) or {}).get("requestId")
            for call in list(self.calls):
                # In Python 1 equals True and 1.0.
                if type(call.id) is type(wanted) and call.id == wanted:
                    self.cancel(call)

    def initialize(self, params: Mapping[str, JSON]) -> Message:
        version = params.get("protocolVersion")
        if not isinstance(version, str):
            raise RpcError(INVALID_PARAMS, "`protocolVersion` should be a string.")
        return {
            "protocolVersion": version if version in self.versions() else self.versions()[-1],
            "capabilities": self.capabilities(),
            "serverInfo": self.server_info(),
        }

    def versions(self) -> tuple[str, ...]:
        return HANDSHAKE

    def capabilities(self) -> Message:
        return {"tools": {}}

    def server_info(self) -> Message:
        return {"name": "gemini-mcp-server", "version": "1.0.0"}

    def ping(self) -> Message:
        return {}

    def is_stateless(self, params: Mapping[str, JSON]) -> bool:
        return f"{META}protocolVersion" in (as_object(params.get("_meta")) or {})

    def check_stateless(self, params: Mapping[str, JSON]) -> None:
        meta = params["_meta"]
        if not isinstance(meta.get(f"{META}clientCapabilities"), dict):
            raise RpcError(INVALID_PARAMS, f"`_meta` lacks `{META}clientCapabilities`.")
        version = meta[f"{META}protocolVersion"]
        if not isinstance(version, str):
            raise RpcError(INVALID_PARAMS, f"`{META}protocolVersion` should be a string.")
        if version not in STATELESS:
            data = {"supported": list(STATELESS), "requested": version}
            raise RpcError(UNSUPPORTED_VERSION, f"The protocol version {version!r} is not supported.", data)

    def discover(self) -> Message:
        return {"supportedVersions": list(STATELESS), "capabilities": self.capabilities(), **self.caching()}

    def caching(self) -> Message:
        return {"ttlMs": 0, "cacheScope": "private"}

    def finished(self, result: Message, stateless: bool) -> Message:
        """The result as the era of its request wants it."""
        if not stateless:
            return result
        meta = {**result.get("_meta", {}), f"{META}serverInfo": self.server_info()}
        return {**result, "resultType": "complete", "_meta": meta}

    def list_tools(self, params: Mapping[str, JSON], stateless: bool) -> Message:
        if params.get("cursor") is not None:
            raise RpcError(INVALID_PARAMS, "The cursor is not one of this server.")
        return {"tools": self.tools(), **(self.caching() if stateless else {})}

    def tools(self) -> list[Message]:
        return [self.tool(name) for name in PROPERTIES]

    def tool(self, name: str) -> Message:
        schema = {"type": "object", "properties": self.properties(name), "required": self.required(name)}
        return {"name": name, "description": DESCRIPTIONS[name], "inputSchema": schema}

    def properties(self, name: str) -> Message:
        return dict(PROPERTIES[name])

    def required(self, name: str) -> list[str]:
        return ["prompt"]

    def begin_call(self, identity: JSON, params: Mapping[str, JSON], stateless: bool) -> Message | None:
        call = self.new_call(identity, params, stateless)
        self.calls.append(call)
        thread = threading.Thread(target=self.serve_call, args=(call,), daemon=True)
        self.threads = [each for each in self.threads if each.is_alive()] + [thread]
        thread.start()
        return None

    def new_call(self, identity: JSON, params: Mapping[str, JSON], stateless: bool) -> Call:
        tool, arguments = params.get("name"), as_object(params.get("arguments", {}))
        if not isinstance(tool, str):
            raise RpcError(INVALID_PARAMS, "`name` should be the name of a tool.")
        if tool not in PROPERTIES:
            raise RpcError(INVALID_PARAMS, f"The tool {tool!r} is unknown.")
        if arguments is None:
            raise RpcError(INVALID_PARAMS, "`arguments` should be an object.")
        return Call(identity, tool, arguments, stateless, self.token(params))

    def token(self, params: Mapping[str, JSON]) -> JSON:
        token = (as_object(params.get("_meta")) or {}).get("progressToken")
        return token if self.is_id(token) else None

    def serve_call(self, call: Call) -> None:
        try:
            self.report_progress(call)
            result = self.execute(call)
        except Cancelled:
            result = None
        except Exception as fault:
            result = self.error(Failure(f"The server failed in a way its author did not foresee ({fault!r})."))
        if result is not None:
            self.answer(call, result)
        self.calls.remove(call)

    def execute(self, call: Call) -> Message:
        try:
            plan = self.plan(call.tool, call.arguments)
        except Refusal as refusal:
            return self.refused(str(refusal))
        self.take_turn(call, plan.turn)
        try:
            return self.success(self.ask(call, plan))
        except Failure as failure:
            return self.error(replace(failure, private=plan.private))
        finally:
            self.end_turn(call, plan.turn)

    def refused(self, sentence: str) -> Message:
        return self.error(Failure(sentence))

    def ask(self, call: Call, plan: Plan) -> Answer:
        answer = self.read(self.run_prompt(call, plan))
        return answer if answer.session else self.with_session(call, plan, answer)

    def with_session(self, call: Call, plan: Plan, answer: Answer) -> Answer:
        """Newer Gemini CLIs name the session; for the others, the list does."""
        if plan.session not in (None, "latest"):
            return Answer(answer.text, plan.session, answer.warnings)
        listing = self.list_sessions(call, plan)
        return Answer(answer.text, self.newest(listing) if listing else None, answer.warnings)

    def answer(self, call: Call, result: Message) -> None:
        with self.output:
            # Under the lock: nothing may be said of a call after its answer, and a cancelled call gets none.
            if not call.is_cancelled:
                call.is_answered = True
                self.write({"jsonrpc": "2.0", "id": call.id, "result": self.finished(result, call.stateless)})

    def report_progress(self, call: Call) -> None:
        with self.output:
            call.next_progress = time.monotonic() + PROGRESS_SECONDS
            if call.token is not None and not call.is_answered and not call.is_cancelled:
                call.progress += 1
                self.write(self.progress(call))

    def progress(self, call: Call) -> Message:
        params = {"progressToken": call.token, "progress": call.progress, "message": "gemini is at work"}
        return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}

    def cancel(self, call: Call) -> None:
        with self.output:
            if call.is_answered:
                return
            call.is_cancelled = True
        self.end(call)

    def end(self, call: Call) -> None:
        """Stop what the call does; nobody waits for its answer. It waits for no output that a client does not read."""
        call.is_cancelled = True
        with self.turn_changed:
            self.turn_changed.notify_all()
        # A port that ends waits for this thread too: the call may be over before its last process is killed.
        ending = threading.Thread(target=self.stop, args=(call,), daemon=True)
        ending.start()
        self.endings.append(ending)


if __name__ == "__main__":
    Port().serve()
