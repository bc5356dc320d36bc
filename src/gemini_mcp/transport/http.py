"""Serves clients over HTTP until a signal ends the server. Edge.

Streamable HTTP at `/mcp`, or the older SSE transport: an event stream at `/sse`; the client's messages to `/messages/`.
What a request means is decided in `server.py`, and who may send one in `guard.py`.
"""

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.sse import SseServerTransport
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from gemini_mcp.call import open_files
from gemini_mcp.call.calls import Calls
from gemini_mcp.operator.options import PATHS, Options, is_loopback
from gemini_mcp.spec import ServerSpec
from gemini_mcp.transport.connections import TooManyConnections, listen, protocol
from gemini_mcp.transport.guard import Application, Message, Receive, Send, access, guarded
from gemini_mcp.transport.pending import bounded
from gemini_mcp.transport.post_bodies import reading
from gemini_mcp.transport.server import build
from gemini_mcp.transport.stdio import SIGNALS, sweep

log = logging.getLogger(__name__)

MESSAGES = "/messages/"

MAX_BODY = 32 << 20
"""Bytes of the longest request: enough for the longest prompt with most of its characters escaped."""

LAST_CALLS = 1.5
"""Seconds that running calls get to end after a signal. Their gemini gets one second of it."""


def serve(spec: ServerSpec, options: Options) -> None:
    """Serve clients over HTTP until a signal ends the server."""
    sweep(spec)
    listener = listen(
        options.host, options.port, open_files.connections(options.max_connections, open_files.free() // 2)
    )
    host, port = listener.getsockname()[:2]  # `--port 0` lets the system choose
    calls = Calls(spec, options, os.environ)
    application = bounded(_application(build(spec, calls), options), options.max_pending_bytes, MAX_BODY)
    config = uvicorn.Config(
        _open_to(guarded(application, access(host, port, is_loopback(options.host), options)), options.allowed_origin),
        http=protocol(options.request_timeout),
        loop="asyncio",  # another loop would not ask `Listener` whether there is room
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=0,
    )
    name = f"[{host}]" if ":" in host else host
    _Uvicorn(config, calls, f"http://{name}:{port}{PATHS[options.transport]}").run(sockets=[listener])


class _Uvicorn(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, calls: Calls, address: str) -> None:
        super().__init__(config)
        self._calls = calls
        self._address = address

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(_note)
        await super().startup(sockets)
        print(f"Listening on {self._address}", file=sys.stderr, flush=True)

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
        # Nothing that ends now needs to be collected, and to look at thousands of sessions takes seconds.
        gc.disable()
        gc.freeze()
        # From here on connections are cut, and uvicorn would log a traceback for each.
        logging.disable(logging.ERROR)


def _note(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Say in one line that clients have to wait; asyncio would show a traceback each second."""
    error = context.get("exception")
    if isinstance(error, TooManyConnections):
        log.info("%s", error.strerror)
    else:
        loop.default_exception_handler(context)


def _open_to(application: Application, origins: Sequence[str]) -> Application:
    """The application, whose responses tell browsers that pages of these origins may read them."""
    if not origins:
        return application
    return CORSMiddleware(
        application,
        allow_origins=origins,
        allow_methods=("GET", "POST", "DELETE"),
        allow_headers=("*",),
        expose_headers=("mcp-session-id",),
    )


def _application(server: Server[Any], options: Options) -> Application:
    if options.transport == "sse":
        return _sse(server, options.max_sessions)
    application = server.streamable_http_app(
        streamable_http_path=PATHS["http"],
        max_request_body_size=MAX_BODY,
        max_sessions=options.max_sessions,
        session_idle_timeout=options.session_timeout,
        host="",  # so that the SDK adds no check of hosts and origins, which `guard.py` does
        transport_security=None,
    )
    return RequestBodyLimitMiddleware(reading(application), MAX_BODY)


class _EventStream:
    """The `/sse` endpoint. It is a class because Starlette gives a function a request, and the SDK needs `send`."""

    def __init__(self, server: Server[Any], transport: SseServerTransport, most: int) -> None:
        self._server = server
        self._transport = transport
        self._most = most
        self._open = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if self._open >= self._most:
            await PlainTextResponse("Too many open sessions.", 503)(scope, receive, send)
            return
        self._open += 1
        try:
            async with self._transport.connect_sse(scope, receive, send) as (incoming, outgoing):
                await self._server.run(incoming, outgoing, self._server.create_initialization_options())
        finally:
            self._open -= 1


def _sse(server: Server[Any], most: int) -> Starlette:
    transport = SseServerTransport(MESSAGES, max_request_body_size=MAX_BODY)
    return Starlette(
        routes=[
            Route(PATHS["sse"], endpoint=_EventStream(server, transport, most), methods=["GET"]),
            Mount(MESSAGES, app=transport.handle_post_message),
        ]
    )
