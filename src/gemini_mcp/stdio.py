"""Serves stdio: a specification and options in; returns when the client has left or a signal came. Edge.

Nothing is decided here; only the parts are joined.
"""

import asyncio
import os
import threading

from gemini_mcp import temporary
from gemini_mcp.calls import Calls
from gemini_mcp.options import Options
from gemini_mcp.server import build
from gemini_mcp.spec import ServerSpec
from gemini_mcp.transport import stdio


def serve(spec: ServerSpec, options: Options) -> None:
    """Serve the client on stdin and stdout until it leaves or a signal ends the server."""
    threading.Thread(target=temporary.sweep, args=(spec.invocation.temporary,), daemon=True).start()
    asyncio.run(_serve(spec, options))


async def _serve(spec: ServerSpec, options: Options) -> None:
    calls = Calls(spec, options, os.environ)
    server = build(spec, calls)
    async with stdio(calls.close) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
