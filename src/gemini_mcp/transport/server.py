"""Builds the SDK's low-level server for HTTP, which passes requests to `Calls` and results back. Edge.

Nothing is decided here. `eras.py` is its counterpart for stdio, and a test keeps the two in step.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, cast

import anyio
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, PaginatedRequestParams

from gemini_mcp.call.calls import Calls
from gemini_mcp.call.encoded import whole
from gemini_mcp.call.progress import Progress
from gemini_mcp.errors import Code, ProtocolError
from gemini_mcp.spec import ServerSpec
from gemini_mcp.spec.values import Json
from gemini_mcp.transport.eras import COMPLETE, LIST_FRESH_FOR, ONE_PAGE
from gemini_mcp.transport.post_bodies import AS_SENT

Context = ServerRequestContext[Any, Any]


def build(spec: ServerSpec, calls: Calls) -> Server[Any]:
    """A server for HTTP and SSE."""
    server = Server[Any](
        spec.manifest.server_name,
        version=spec.manifest.server_version,
        instructions=spec.manifest.instructions,
        cache_hints={"tools/list": CacheHint(ttl_ms=LIST_FRESH_FOR, scope="public")},
    )
    # The SDK's only middleware opens an OpenTelemetry span for each message. Nobody collects them, and they cost time.
    server.middleware.clear()
    tools = [dict(tool.definition) for tool in spec.tools]

    async def list_tools(context: Context, params: PaginatedRequestParams) -> dict[str, Json]:
        if params.cursor is not None:
            raise MCPError(Code.INVALID_PARAMS, ONE_PAGE)
        return {"tools": tools, **COMPLETE}  # the SDK removes this in the other era

    async def call_tool(context: Context, params: CallToolRequestParams) -> dict[str, Json]:
        try:
            name, arguments = _as_sent(context, params)
            answer = await _cancelled_once(calls.call(name, arguments, _progress(context)))
            return {**whole(answer), **COMPLETE}
        except ProtocolError as error:
            raise MCPError(error.code, str(error), error.data) from None

    server.add_request_handler("tools/list", PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)
    return server


async def _cancelled_once(call: Coroutine[Any, Any, Json]) -> Json:
    """What a call answers. anyio cancels what it waits for again and again, and a call has its gemini to end."""
    task = asyncio.create_task(call)
    try:
        await asyncio.wait((task,))
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait((task,))
        raise
    return task.result()


def _as_sent(context: Context, params: CallToolRequestParams) -> tuple[str, Mapping[str, Json]]:
    """The tool and its arguments as the client sent them; over HTTP the SDK is given none of their lone surrogates."""
    sent = context.request.scope.get(AS_SENT) if context.request is not None else None
    return (sent["name"], sent.get("arguments") or {}) if sent else (params.name, params.arguments or {})


def _progress(context: Context) -> Progress:
    meta = cast("Mapping[str, Json]", context.meta or {})  # the SDK renames `progressToken`
    return Progress(context.session.report_progress if meta.get("progress_token") is not None else None)
