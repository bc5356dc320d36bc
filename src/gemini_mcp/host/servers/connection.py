"""A connection to one server: opens its transport, shakes hands, sends requests, asks for the lists. Effect.

What to ask and what the answers mean is in `discovery`; which transport to open is in `transport`.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import httpx2
from mcp import ClientSession, MCPError
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.dispatcher import CallOptions
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import Implementation, InitializedNotification, InitializeResult

from gemini_mcp.host.oauth.bearer import BearerAuth
from gemini_mcp.host.servers import stdio
from gemini_mcp.host.servers.discovery import Found, Interview, Refusal, Reply
from gemini_mcp.host.servers.environment import server_environment
from gemini_mcp.host.servers.transport import Sse, Stdio, Transport, choose
from gemini_mcp.host.settings.loading import ServerConfig
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, table

PROTOCOL_HEADER = "mcp-protocol-version"

Streams = tuple[Json, Json]
"""What a transport reads from and writes to; the SDK has no public name for their types."""


class Unreachable(Exception):
    """No connection came about; `challenge` is the 401's header when that was the reason."""

    def __init__(self, reason: str, challenge: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.challenge = challenge


def _ignore(server: str, line: str) -> None:
    """What becomes of a server's stderr where nobody reads it."""


@dataclass(frozen=True)
class Surroundings:
    """What a connection needs: the host's environment, and what gets each line of a server's stderr."""

    environment: Mapping[str, str]
    on_stderr: Callable[[str, str], None] = _ignore


@dataclass(frozen=True)
class Connection:
    """A server that has answered `initialize`, and how to ask it more."""

    config: ServerConfig
    capabilities: JsonObject
    protocol_version: str
    dispatcher: JSONRPCDispatcher = field(repr=False)

    async def request(self, method: str, params: JsonObject, timeout_ms: float | None = None) -> JsonObject:
        """The result of a request; raises Refusal."""
        timeout = (self.config.timeout_ms if timeout_ms is None else timeout_ms) / 1000
        options: CallOptions = {"timeout": timeout, "headers": {PROTOCOL_HEADER: self.protocol_version}}
        return await _ask(self.dispatcher, method, params, options)

    async def interview(self, interview: Interview) -> Found:
        """Send each request of the interview, and give it the answer."""
        reply: Reply | None = None
        while True:
            try:
                ask = interview.send(reply)
            except StopIteration as end:
                return end.value
            try:
                reply = await self.request(ask.method, ask.params)
            except Refusal as refusal:
                reply = refusal


@asynccontextmanager
async def connect(
    config: ServerConfig, surroundings: Surroundings, rules: Rules, bearer: BearerAuth | None = None
) -> AsyncGenerator[Connection]:
    """A connection to the server; raises Unreachable when it fails or breaks, and what `transport.choose` raises."""
    chosen = choose(config.values, surroundings.environment, rules)
    seen = bearer or BearerAuth()
    try:
        async with AsyncExitStack() as stack:
            read, write = await _open(stack, chosen, config, surroundings, rules, seen)
            dispatcher = JSONRPCDispatcher(read, write)
            client = Implementation(**rules.introduction["clientInfo"])
            session = await stack.enter_async_context(ClientSession(dispatcher=dispatcher, client_info=client))
            yield await _initialize(session, dispatcher, config, rules)
    except Exception as error:
        raise Unreachable(_reason(error, seen), seen.challenge) from error


async def _initialize(
    session: ClientSession, dispatcher: JSONRPCDispatcher, config: ServerConfig, rules: Rules
) -> Connection:
    options: CallOptions = {"timeout": config.timeout_ms / 1000, "cancel_on_abandon": False}
    result = await _ask(dispatcher, "initialize", rules.introduction, options)
    session.adopt(InitializeResult.model_validate(result, by_name=False))
    await session.send_notification(InitializedNotification())
    return Connection(config, dict(table(result.get("capabilities"))), str(result.get("protocolVersion")), dispatcher)


async def _ask(dispatcher: JSONRPCDispatcher, method: str, params: JsonObject, options: CallOptions) -> JsonObject:
    try:
        return await dispatcher.send_raw_request(method, params, options)
    except MCPError as error:
        message = "Request timed out" if error.error.code == -32001 else error.error.message
        raise Refusal(f"MCP error {error.error.code}: {message}", error.error.code) from error


async def _open(
    stack: AsyncExitStack,
    chosen: Transport,
    config: ServerConfig,
    surroundings: Surroundings,
    rules: Rules,
    bearer: BearerAuth,
) -> Streams:
    """Open the transport; the stack closes it."""
    if isinstance(chosen, Stdio):
        environment = server_environment(config.env, surroundings.environment, rules)
        on_stderr = partial(surroundings.on_stderr, config.name)
        return await stack.enter_async_context(stdio.streams(chosen, environment, on_stderr))
    seconds = config.timeout_ms / 1000

    def client(
        headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        limit = timeout or httpx2.Timeout(seconds)
        return httpx2.AsyncClient(headers=headers, timeout=limit, auth=auth, transport=bearer.transport())

    if isinstance(chosen, Sse):
        address = bearer.address(chosen.url)
        opened = sse_client(address, dict(chosen.headers), seconds, httpx_client_factory=client, auth=bearer)
        return await stack.enter_async_context(opened)
    http = await stack.enter_async_context(client(chosen.headers, auth=bearer))
    return await stack.enter_async_context(streamable_http_client(chosen.url, http_client=http))


def _first(error: BaseException) -> BaseException:
    inner: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    return _first(inner[0]) if inner else error


def _reason(error: BaseException, bearer: BearerAuth) -> str:
    """The sentence for what went wrong, the way Gemini CLI's own libraries put it."""
    if bearer.challenge is not None:
        return "HTTP 401: the server asks for authentication"
    if bearer.failure is not None:
        return bearer.failure
    first = _first(error)
    if isinstance(first, httpx2.HTTPStatusError):
        return f"HTTP {first.response.status_code}"
    return str(first) or type(first).__name__
