"""What every subcommand is given: rules, environment, files, streams, and a host when it asks for one. Effect."""

import os
import sys
import time
import webbrowser
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TextIO

from gemini_mcp.host.oauth.authorization import Authorizer, Interaction
from gemini_mcp.host.oauth.token_file import TokenFile
from gemini_mcp.host.servers.connection import Surroundings
from gemini_mcp.host.servers.host import Host, Plan, Server, open_host
from gemini_mcp.host.settings.files import Places, layers, places
from gemini_mcp.host.settings.loading import ServerConfig, Settings, load
from gemini_mcp.spec import Rules

OK, FINDING, USAGE, SERVER_FAILED = 0, 1, 2, 4


@dataclass(frozen=True)
class Context:
    """One invocation."""

    rules: Rules
    environment: Mapping[str, str]
    where: Places
    out: TextIO
    err: TextIO
    is_debug: bool = False
    is_verbose: bool = False
    is_json: bool = False
    is_yes: bool = False
    is_trusting: bool = False
    named: tuple[str, ...] | None = None
    stderr_lines: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def say(self, text: str) -> None:
        self.out.write(text if text.endswith("\n") else f"{text}\n")

    def complain(self, text: str) -> None:
        self.err.write(text if text.endswith("\n") else f"{text}\n")
        self.err.flush()

    def complain_all(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.complain(text)

    @property
    def has_terminal(self) -> bool:
        return sys.stdin.isatty() and self.err.isatty()

    def settings(self) -> Settings:
        """The settings, after saying what is wrong with them."""
        loaded = load(layers(self.where), self.environment, self.rules, self.named)
        self.complain_all((*map(str, loaded.problems), *loaded.warnings))
        return loaded

    def authorizer(self) -> Authorizer:
        """What gets, renews and keeps tokens."""
        talk = Interaction(self.has_terminal, self._open_browser, self.complain)
        return Authorizer(TokenFile(self.where.tokens), self.rules, lambda: time.time() * 1000, talk)

    def plan(self, servers: Sequence[ServerConfig], is_interactive: bool = True) -> Plan:
        """A host with these servers."""
        authorizer = self.authorizer()
        chosen = tuple(self._trusted(server) for server in servers) if self.is_trusting else tuple(servers)
        return Plan(
            chosen,
            Surroundings(self.environment, self._hear),
            self.rules,
            authorizer.watch,
            authorizer.authenticate if is_interactive and self.has_terminal else None,
            self._progress if self.err.isatty() else None,
        )

    @asynccontextmanager
    async def host(self) -> AsyncGenerator[tuple[Settings, Host]]:
        """The settings, and a running host with the servers that they use."""
        settings = self.settings()
        async with open_host(self.plan(settings.used(self.rules))) as host:
            yield settings, host

    def _trusted(self, server: ServerConfig) -> ServerConfig:
        return replace(server, values={**server.values, "trust": True})

    def _progress(self, server: Server) -> None:
        self.complain(f"{server.config.name}: {server.status.name.lower()}")

    def _hear(self, server: str, line: str) -> None:
        self.stderr_lines.append((server, line))
        if self.is_debug:
            self.complain(f"[DEBUG] [MCP STDERR ({server})]: {line}")

    def show_stderr(self, server: str) -> None:
        """What a failed server wrote, without INFO lines."""
        if not self.is_debug:
            lines = [line for name, line in self.stderr_lines if name == server and line and "INFO" not in line]
            for line in lines[-10:]:
                self.complain(f"[MCP STDERR ({server})]: {line}")

    def _open_browser(self, url: str) -> bool:
        if not (self.environment.get("DISPLAY") or self.environment.get("BROWSER") or sys.platform == "darwin"):
            return False
        return webbrowser.open(url)


def context(rules: Rules, **options: object) -> Context:
    """The context of this process."""
    environment = dict(os.environ)
    base = Context(rules, environment, places(environment), sys.stdout, sys.stderr)
    return replace(base, **options)  # pyright: ignore[reportArgumentType]
