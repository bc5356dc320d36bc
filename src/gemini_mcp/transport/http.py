"""Serves clients over HTTP until a signal ends the server. Edge.

Streamable HTTP at `/mcp`, or the older SSE transport: an event stream at `/sse`; the client's messages to `/messages/`.
What a request means is decided in `server.py`, and who may send one in `guard.py`.
"""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.sse import SseServerTransport
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.routing import Mount, Route

from gemini_mcp.call.calls import Calls
from gemini_mcp.errors import OperatorError
from gemini_mcp.operator.options import Options, is_loopback
from gemini_mcp.spec import ServerSpec
from gemini_mcp.transport.guard import Application, Message, Receive, Send, access, guarded
from gemini_mcp.transport.post_bodies import reading
from gemini_mcp.transport.server import build
from gemini_mcp.transport.stdio import SIGNALS, sweep

PATHS = {"http": "/mcp", "sse": "/sse"}
MESSAGES = "/messages/"

MAX_BODY = 32 << 20
"""Bytes of the longest request: enough for the longest prompt with most of its characters escaped."""

LAST_CALLS = 1.5
"""Seconds that running calls get to end after a signal. Their gemini gets one second of it."""


def serve(spec: ServerSpec, options: Options) -> None:
    """Serve clients over HTTP until a signal ends the server."""
    sweep(spec)
    listener = _listen(options.host, options.port)
    host, port = listener.getsockname()[:2]  # `--port 0` lets the system choose
    calls = Calls(spec, options, os.environ)
    application = _application(build(spec, calls), options.transport)
    allowed = access(host, port, is_loopback(options.host), options.token)
    config = uvicorn.Config(
        guarded(application, allowed), log_config=None, access_log=False, lifespan="on", timeout_graceful_shutdown=0
    )
    name = f"[{host}]" if ":" in host else host
    print(f"Listening on http://{name}:{port}{PATHS[options.transport]}", file=sys.stderr, flush=True)
    _Uvicorn(config, calls).run(sockets=[listener])


class _Uvicorn(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, calls: Calls) -> None:
        super().__init__(config)
        self._calls = calls

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Handle signals until the process ends.

        uvicorn restores the old handlers and raises the signal again: it would end the server before its calls end.
        """
        for number in SIGNALS:
            signal.signal(number, self.handle_exit)
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End, and wait for the tasks that uvicorn only cancels.

        When the event loop closes, it cancels them once more, and calls could not end their processes.
        """
        tasks = frozenset(self.server_state.tasks)
        await super().shutdown(sockets)
        if tasks:
            await asyncio.wait(tasks, timeout=LAST_CALLS)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._calls.close()
        self.should_exit = True
        # From here on connections are cut, and uvicorn would log a traceback for each.
        logging.disable(logging.ERROR)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise OperatorError(f"--host {host} --port {port} cannot be listened on: {error.strerror or error}.") from None


def _application(server: Server[Any], transport: str) -> Application:
    if transport == "http":
        # With an empty host the SDK adds no check of hosts and origins; `guard.py` does that.
        application = server.streamable_http_app(
            streamable_http_path=PATHS["http"], max_request_body_size=MAX_BODY, host="", transport_security=None
        )
        return RequestBodyLimitMiddleware(reading(application), MAX_BODY)
    return _sse(server)


class _EventStream:
    """The `/sse` endpoint. It is a class because Starlette gives a function a request, and the SDK needs `send`."""

    def __init__(self, server: Server[Any], transport: SseServerTransport) -> None:
        self._server = server
        self._transport = transport

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        async with self._transport.connect_sse(scope, receive, send) as (incoming, outgoing):
            await self._server.run(incoming, outgoing, self._server.create_initialization_options())


def _sse(server: Server[Any]) -> Starlette:
    transport = SseServerTransport(MESSAGES, max_request_body_size=MAX_BODY)
    return Starlette(
        routes=[
            Route(PATHS["sse"], endpoint=_EventStream(server, transport), methods=["GET"]),
            Mount(MESSAGES, app=transport.handle_post_message),
        ]
    )
