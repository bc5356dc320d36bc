"""A connection to one server: opens its transport, shakes hands, sends requests, answers the server's own. Effect.

What to ask and what the answers mean is in `discovery` and `handshake`; which transport to open is in `transport`, and
the words for what went wrong are in `failure`.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import MCPError
from mcp.shared.dispatcher import CallOptions
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

from gemini_mcp.host.oauth.bearer import BearerAuth
from gemini_mcp.host.rules.fetch import BLANKS
from gemini_mcp.host.servers import discovery, failure, sse, stdio, streamable
from gemini_mcp.host.servers.channel import Streams
from gemini_mcp.host.servers.discovery import METHOD_NOT_FOUND, Found, Interview, Refusal, Reply
from gemini_mcp.host.servers.environment import UnusableConfig, server_environment
from gemini_mcp.host.servers.failure import Failure
from gemini_mcp.host.servers.handshake import Greeting, greeting
from gemini_mcp.host.servers.secrecy import without_secrets
from gemini_mcp.host.servers.transport import Sse, Stdio, Transport, attempts, choose, refusal
from gemini_mcp.host.settings.loading import ServerConfig
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject

PROTOCOL_HEADER = "mcp-protocol-version"
WITHHELD = frozenset({PROTOCOL_HEADER})
NOT_CONNECTED = (
    "Client is not connected, must connect before interacting with the server. Current state is disconnected"
)
LAST_LIST = "resources/list"
"""After this Gemini CLI does not look whether it is still connected."""

TIMED_OUT, CLOSED = -32001, -32000


class Unreachable(Exception):
    """No connection came about: the reason as Gemini CLI words it, why, and the 401's header when that was it."""

    def __init__(self, reason: str, why: Failure, challenge: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.why = why
        self.challenge = challenge


def _ignore(server: str, line: str) -> None:
    """What becomes of a server's stderr, and of its notifications, where nobody reads them."""


@dataclass(frozen=True)
class Surroundings:
    """What a connection needs: the host's environment and directories, and who hears what a server says unasked."""

    environment: Mapping[str, str]
    on_stderr: Callable[[str, str], None] = _ignore
    on_notification: Callable[[str, str], None] = _ignore
    roots: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Connection:
    """A server that has answered `initialize`, and how to ask it more."""

    config: ServerConfig
    greeting: Greeting
    dispatcher: JSONRPCDispatcher = field(repr=False)
    hung_up: Callable[[], Failure | None] = field(default=lambda: None, repr=False)
    """Why Gemini CLI has hung up since the introduction."""
    unanswered: Callable[[str, Refusal], Failure | None] = field(default=lambda step, refusal: None, repr=False)
    """Why that request got no answer, where the server's end or its stderr tells it."""

    @property
    def capabilities(self) -> JsonObject:
        return self.greeting.capabilities

    async def request(self, method: str, params: JsonObject, timeout_ms: float | None = None) -> Json:
        """The result of a request as it came; raises Refusal."""
        timeout = (self.config.timeout_ms if timeout_ms is None else timeout_ms) / 1000
        headers = {PROTOCOL_HEADER: self.greeting.protocol_version}
        try:
            return await _ask(self.dispatcher, method, params, {"timeout": timeout, "headers": headers})
        except Refusal as refusal:
            refusal.why = refusal.why or self.unanswered(method, refusal)
            raise

    def check(self) -> None:
        """Raise Unreachable where Gemini CLI has hung up by now."""
        why = self.hung_up()
        if why is not None:
            raise Unreachable(NOT_CONNECTED, why)

    async def interview(self, interview: Interview) -> Found:
        """Send each request of the interview, and give it the answer; raises Refusal where the host has hung up."""
        reply: Reply | None = None
        asked = ""
        while True:
            why = self.hung_up() if asked != LAST_LIST else None
            if why is not None:
                raise Refusal(NOT_CONNECTED, why=why)
            try:
                ask = interview.send(reply)
            except StopIteration as end:
                return end.value
            asked = ask.method
            try:
                reply = await self.request(ask.method, ask.params)
            except Refusal as refusal:
                reply = refusal


@dataclass
class _Attempt:
    """What is known of a connection while it is made."""

    config: ServerConfig
    rules: Rules
    bearer: BearerAuth
    exit_code: int | None = None
    is_greeted: bool = False
    why_hung_up: Failure | None = None
    stderr: list[str] = field(default_factory=list[str])

    def hear(self, on_stderr: Callable[[str, str], None], line: str) -> None:
        line = without_secrets(line, self.config.values)
        self.stderr.append(line)
        on_stderr(self.config.name, line)

    def hang_up(self, why: Failure) -> None:
        """Before the server has answered `initialize`, Gemini CLI overlooks what it cannot read."""
        if self.is_greeted and self.rules.stray_ends_discovery and self.why_hung_up is None:
            self.why_hung_up = why

    def note_stray(self, text: str) -> None:
        self.hang_up(failure.stray(text))

    def hung_up(self) -> Failure | None:
        """Why Gemini CLI has hung up since the introduction."""
        return self.why_hung_up or self.bearer.refused_notice

    def note_exit(self, code: int) -> None:
        self.exit_code = code

    def unanswered(self, step: str, refusal: Refusal) -> Failure | None:
        """Why that request got no answer, where the server's end or its stderr tells it."""
        said = [*filter(None, self.stderr)]
        if refusal.code == TIMED_OUT:
            return failure.timed_out(step, self.config.timeout_ms / 1000, said)
        if refusal.code == CLOSED and self.exit_code is not None:
            return failure.exited(self.exit_code, step, said)
        return None


@asynccontextmanager
async def connect(
    config: ServerConfig,
    surroundings: Surroundings,
    rules: Rules,
    bearer: BearerAuth | None = None,
    introduction: JsonObject | None = None,
) -> AsyncGenerator[Connection]:
    """A connection to the server; raises Unreachable when it fails or breaks, and what `transport.choose` raises."""
    chosen = choose(config.values, {**surroundings.environment, **config.variables}, rules)
    attempt = _Attempt(config, rules, bearer or BearerAuth())
    try:
        async with AsyncExitStack() as stack:
            # The stack ends the process, and so notes its exit code, before `_unreachable` needs it.
            read, write = await _open(stack, chosen, attempt, surroundings)
            dispatcher = JSONRPCDispatcher(read, write)
            await stack.enter_async_context(_running(dispatcher, config.name, surroundings))
            yield await _initialize(dispatcher, attempt, introduction or rules.introduction)
    except Exception as error:
        raise _unreachable(error, chosen, attempt) from error


AuthFor = Callable[[ServerConfig], Awaitable[BearerAuth]]


@asynccontextmanager
async def reach(
    config: ServerConfig, surroundings: Surroundings, rules: Rules, auth_for: AuthFor | None = None
) -> AsyncGenerator[Connection]:
    """A connection by the first transport that the profile can use; raises the first Unreachable, but a 401 at once."""
    failed: Unreachable | None = None
    for attempt in attempts(config, rules):
        async with AsyncExitStack() as stack:
            try:
                auth = await auth_for(attempt) if auth_for is not None else None
                connection = await stack.enter_async_context(connect(attempt, surroundings, rules, auth))
            except Unreachable as error:
                # Gemini CLI tries the next transport after any failure but a 401.
                if error.challenge is not None:
                    raise
                failed = failed or error
                continue
            yield connection
            return
    assert failed is not None
    raise failed


@asynccontextmanager
async def _running(dispatcher: JSONRPCDispatcher, server: str, surroundings: Surroundings) -> AsyncGenerator[None]:
    """The dispatcher at work: it answers what a server asks of a host, and hands on what it notifies."""

    async def on_request(context: Any, method: str, params: Mapping[str, Any] | None) -> JsonObject:
        if method == "ping":
            return {}
        if method == "roots/list":
            return {"roots": [{"uri": root.as_uri(), "name": root.name} for root in surroundings.roots]}
        raise MCPError(code=METHOD_NOT_FOUND, message="Method not found")

    async def on_notify(context: Any, method: str, params: Mapping[str, Any] | None) -> None:
        surroundings.on_notification(server, method)

    async with anyio.create_task_group() as tasks:
        await tasks.start(dispatcher.run, on_request, on_notify)
        try:
            yield
        finally:
            tasks.cancel_scope.cancel()


async def _initialize(dispatcher: JSONRPCDispatcher, attempt: _Attempt, introduction: JsonObject) -> Connection:
    config = attempt.config
    # MCP, cancellation: "The `initialize` request MUST NOT be cancelled by clients".
    options: CallOptions = {"timeout": config.timeout_ms / 1000, "cancel_on_abandon": False}
    met = greeting(await _ask(dispatcher, "initialize", introduction, options), attempt.rules)
    attempt.is_greeted = True
    await dispatcher.notify("notifications/initialized", None, {"headers": {PROTOCOL_HEADER: met.protocol_version}})
    return Connection(config, met, dispatcher, attempt.hung_up, attempt.unanswered)


async def _ask(dispatcher: JSONRPCDispatcher, method: str, params: JsonObject, options: CallOptions) -> Json:
    try:
        return await dispatcher.send_raw_request(method, params, options)
    except MCPError as error:
        if isinstance(error.error.data, Failure):
            raise Refusal(error.error.message, why=error.error.data) from error
        code = error.error.code
        # The SDK of Gemini CLI words a timeout so; that of Python has another sentence.
        message = "Request timed out" if code == TIMED_OUT else error.error.message
        raise Refusal(f"MCP error {code}: {message}", code) from error


async def _open(stack: AsyncExitStack, chosen: Transport, attempt: _Attempt, surroundings: Surroundings) -> Streams:
    """Open the transport; the stack closes it."""
    config, bearer = attempt.config, attempt.bearer
    if isinstance(chosen, Stdio):
        environment = server_environment(config.env, surroundings.environment, attempt.rules, config.variables)
        hear = partial(attempt.hear, surroundings.on_stderr)
        return await stack.enter_async_context(
            stdio.streams(chosen, environment, hear, attempt.note_exit, attempt.note_stray, attempt.rules.stderr_limit)
        )
    refused = refusal(chosen)
    if refused is not None:
        raise Unreachable(*refused)
    seconds = config.timeout_ms / 1000
    carrier = bearer.transport(frozenset() if attempt.rules.sends_protocol_version else WITHHELD)
    client = httpx2.AsyncClient(headers=_latin(chosen.header_texts), timeout=seconds, auth=bearer, transport=carrier)
    http = await stack.enter_async_context(client)
    if isinstance(chosen, Sse):
        opened = sse.streams(bearer.address(chosen.url), http, seconds, attempt.hang_up)
    else:
        opened = streamable.streams(chosen.url, http, attempt.hang_up)
    return await stack.enter_async_context(opened)


def _latin(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """The headers in the bytes in which `fetch` sends them."""
    return [(name.encode("latin-1"), value.strip(BLANKS).encode("latin-1")) for name, value in headers.items()]


def _first(error: BaseException) -> BaseException:
    inner: Sequence[BaseException] = getattr(error, "exceptions", ())
    return _first(inner[0]) if inner else error


def _unreachable(error: BaseException, chosen: Transport, attempt: _Attempt) -> Unreachable:
    """The reason the way Gemini CLI's own libraries put it, and the cause."""
    config, bearer, first = attempt.config, attempt.bearer, _first(error)
    if bearer.challenge is not None:
        reason = attempt.rules.needs_authentication.format(server=config.name)
        return Unreachable(reason, failure.needs_authentication(config.name, bearer.challenge), bearer.challenge)
    if bearer.failure is not None:
        sentence = without_secrets(bearer.failure.sentence, config.values)
        return Unreachable(bearer.reason or str(first), replace(bearer.failure, sentence=sentence))
    reason = str(first) or type(first).__name__
    if isinstance(first, Unreachable):
        return first
    if isinstance(first, stdio.NotStarted | sse.NoStream):
        return Unreachable(reason, first.why)
    if isinstance(first, UnusableConfig):
        return Unreachable(reason, failure.unusable(first))
    if isinstance(first, stdio.Flooded):
        return Unreachable(reason, failure.flooded(first.limit))
    if isinstance(first, Refusal):
        return Unreachable(reason, _refused(first, attempt))
    return Unreachable(reason, failure.not_mcp(reason))


def _refused(refusal: Refusal, attempt: _Attempt) -> Failure:
    """Why the handshake failed."""
    why = attempt.unanswered("initialize", refusal) or discovery.cause_of("initialize", refusal, attempt.config)
    return replace(why, sentence=without_secrets(why.sentence, attempt.config.values))
