"""A running host: discovers all servers at the same time, and sends requests to them until it ends. Effect.

Each server has a task of its own, from its connection to the end of the host; pure modules decide about it.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

import anyio
import anyio.abc

from gemini_mcp.host.prompts import resources
from gemini_mcp.host.prompts.prompts import Prompt, prompts_by_name
from gemini_mcp.host.rules.urls import InvalidUrl
from gemini_mcp.host.servers import discovery, failure
from gemini_mcp.host.servers.changes import CHANGED, Changes
from gemini_mcp.host.servers.connection import AuthFor, Connection, Surroundings, Unreachable, reach
from gemini_mcp.host.servers.discovery import Found, Refusal, State, Status
from gemini_mcp.host.servers.environment import UnusableConfig
from gemini_mcp.host.servers.failure import Failure
from gemini_mcp.host.servers.handshake import context
from gemini_mcp.host.settings.loading import ServerConfig
from gemini_mcp.host.tools import registry
from gemini_mcp.host.tools.policy import Policy
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject

TIMED_OUT = "MCP error -32001: Request timed out"

Authenticate = Callable[[ServerConfig, str], Awaitable[bool]]

RENEWAL_PAUSE_SECONDS = 0.5
"""How long Gemini CLI waits before it asks again for a list that has not changed: some servers notify too early."""


@dataclass(frozen=True)
class Server:
    """One server as it stands."""

    config: ServerConfig
    status: Status = Status.DISCONNECTED
    found: Found = field(default_factory=Found)
    messages: tuple[str, ...] = ()
    error: str | None = None
    why: Failure | None = None
    connection: Connection | None = field(default=None, repr=False)
    needs_authentication: bool = False
    instructions: str = ""


@dataclass(frozen=True)
class Plan:
    """What a host is made of."""

    servers: tuple[ServerConfig, ...]
    surroundings: Surroundings
    rules: Rules
    auth_for: AuthFor | None = None
    authenticate: Authenticate | None = None
    on_change: Callable[[Server], None] | None = None
    policy: Policy | None = None


class Host:
    """The state of a running host; `open_host` makes it."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.state = State.NOT_STARTED
        self.servers = {config.name: Server(config) for config in plan.servers}
        self.registry = registry.build(plan.rules.builtin_tools, (), plan.rules)
        self.withheld: tuple[registry.RegisteredTool, ...] = ()
        self._ended = anyio.Event()
        self._changes = {config.name: Changes() for config in plan.servers}
        self._is_discovered = {config.name: anyio.Event() for config in plan.servers}

    async def discover(self, tasks: anyio.abc.TaskGroup) -> None:
        """Connect to all servers at once and register what they offer, in configuration order."""
        self.state = State.IN_PROGRESS
        for config in self.plan.servers:
            self._update(Server(config, Status.CONNECTING))
            tasks.start_soon(self._run_server, config)
        for is_discovered in self._is_discovered.values():
            await is_discovered.wait()
        self._register()
        self.state = State.COMPLETED

    def end(self) -> None:
        """Let every server's task come to its end."""
        self._ended.set()
        for changes in self._changes.values():
            changes.end()

    async def settled(self) -> None:
        """Wait until what servers have said of their lists is followed."""
        for changes in self._changes.values():
            await changes.settled.wait()

    def prompts(self) -> dict[str, Prompt]:
        """The prompts by the name they are stored under."""
        return prompts_by_name(prompt for server in self.servers.values() for prompt in server.found.prompts)

    def resources(self) -> tuple[resources.Resource, ...]:
        """All listed resources."""
        return tuple(resource for server in self.servers.values() for resource in server.found.resources)

    def context(self) -> str:
        """What the model is told of the servers, besides the conversation."""
        return context({name: server.instructions for name, server in self.servers.items()}, self.plan.rules)

    def messages(self) -> tuple[str, ...]:
        """Everything said of the servers and of the registration, in order."""
        log = self.registry.log
        said = ((*log.get(name, ()), *server.messages) for name, server in self.servers.items())
        return tuple(message for messages in said for message in messages)

    async def request(self, server: str, method: str, params: JsonObject) -> JsonObject:
        """Ask a connected server, and read the answer as the SDK does; raises Refusal."""
        return discovery.read(method, await self.ask(server, method, params), self.plan.rules)

    async def ask(self, server: str, method: str, params: JsonObject) -> Json:
        """The answer of a connected server as it came; raises Refusal."""
        connection = self.servers[server].connection
        if connection is None:
            raise Refusal(f"MCP client for server '{server}' is not available or not connected.")
        return await connection.request(method, params)

    def _register(self) -> None:
        # Gemini CLI registers in the order in which servers answer, which changes from start to start.
        offers = [tool for server in self.servers.values() for tool in server.found.tools]
        built = registry.build(self.plan.rules.builtin_tools, offers, self.plan.rules)
        self.registry = built if self.plan.policy is None else self.plan.policy.declared(built)
        self.withheld = tuple(tool for tool in built.tools if tool not in self.registry.tools)

    def _hear(self, server: str, method: str) -> None:
        """Note what a server notifies; the host's owner hears it too."""
        self.plan.surroundings.on_notification(server, method)
        kind = CHANGED.get(method)
        if kind is not None and self.plan.rules.follows_changes:
            self._changes[server].note(kind)

    def _update(self, server: Server) -> None:
        self.servers[server.config.name] = server
        if self.plan.on_change is not None:
            self.plan.on_change(server)

    async def _run_server(self, config: ServerConfig) -> None:
        try:
            challenge = await self._connect(config)
            authenticate = self.plan.authenticate
            if challenge is not None and authenticate is not None and await authenticate(config, challenge):
                await self._connect(config)
        finally:
            self._is_discovered[config.name].set()

    async def _connect(self, config: ServerConfig) -> str | None:
        """Connect, interview, and stay until the end; the value is a 401's challenge."""
        plan = self.plan
        with anyio.CancelScope(deadline=anyio.current_time() + config.timeout_ms / 1000) as scope:
            try:
                surroundings = replace(plan.surroundings, on_notification=self._hear)
                async with reach(config, surroundings, plan.rules, plan.auth_for) as connection:
                    # From here on `timeout` bounds each request, not the connection.
                    scope.deadline = float("inf")
                    await self._discover_and_wait(connection)
            except Unreachable as error:
                self._fail(config, error.reason, error.why, error.challenge is not None)
                return error.challenge
            except (UnusableConfig, InvalidUrl) as error:
                self._fail(config, str(error), failure.unusable(error))
        if scope.cancelled_caught:
            self._fail(config, TIMED_OUT, failure.timed_out("initialize", config.timeout_ms / 1000))
        return None

    async def _discover_and_wait(self, connection: Connection) -> None:
        config, rules = connection.config, self.plan.rules
        try:
            found = await connection.interview(discovery.interview(config, connection.capabilities, rules))
        except Refusal as refusal:
            found = discovery.Found(failure=refusal.message, why=refusal.why)
        ended = discovery.conclude(config.name, found, rules)
        is_open = ended.status is Status.CONNECTED
        error = ended.messages[-1] if found.is_empty and ended.messages else None
        why = (found.why or failure.nothing_offered()) if error is not None else None
        said = connection.greeting.instructions or ""
        kept = connection if is_open else None
        self._update(Server(config, ended.status, found, ended.messages, error, why, kept, instructions=said))
        if is_open:
            self._is_discovered[config.name].set()
            async for kind in self._changes[config.name]:
                # Gemini CLI follows the lists of declared capabilities, with or without `listChanged`.
                if connection.capabilities.get(kind) is not None:
                    await self._renew(connection, kind)
            self._update(replace(self.servers[config.name], connection=None))

    async def _renew(self, connection: Connection, kind: str) -> None:
        """Ask for a list again; where it is refused, what was known stays."""
        config, rules = connection.config, self.plan.rules
        before = self.servers[config.name].found
        with suppress(Refusal):
            found = await connection.interview(discovery.renewed(kind, before, config, rules))
            # Gemini CLI compares names alone, so a list whose descriptions have changed is asked for twice.
            if _names(kind, found) == _names(kind, before):
                await anyio.sleep(RENEWAL_PAUSE_SECONDS)
                found = await connection.interview(discovery.renewed(kind, before, config, rules))
            self._update(replace(self.servers[config.name], found=found))
            self._register()

    def _fail(self, config: ServerConfig, reason: str, why: Failure, needs_authentication: bool = False) -> None:
        said = discovery.connection_failure(config.name, reason, self.plan.rules)
        needs = needs_authentication
        self._update(Server(config, messages=(said,), error=reason, why=why, needs_authentication=needs))


def _names(kind: str, found: Found) -> frozenset[str]:
    """What is on a list."""
    if kind == "resources":
        return frozenset(resource.uri for resource in found.resources)
    return frozenset(item.name for item in (found.tools if kind == "tools" else found.prompts))


@asynccontextmanager
async def open_host(plan: Plan) -> AsyncGenerator[Host]:
    """A host whose discovery is complete; leaving the context closes every connection and ends every process."""
    host = Host(plan)
    async with anyio.create_task_group() as tasks:
        try:
            await host.discover(tasks)
            yield host
        finally:
            host.end()
            # A server that does not end by itself is given the time to be killed, and no more.
            tasks.cancel_scope.deadline = anyio.current_time() + 10
