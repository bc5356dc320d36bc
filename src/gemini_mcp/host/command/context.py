"""What every subcommand is given: rules, environment, files, streams, and a host when it asks for one. Effect."""

import os
import sys
import time
import webbrowser
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TextIO

from gemini_mcp.host.oauth.authorization import Authorizer, Interaction
from gemini_mcp.host.oauth.token_file import TokenFile
from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.host.servers.connection import Surroundings
from gemini_mcp.host.servers.host import Host, Plan, Server, open_host
from gemini_mcp.host.settings.files import Places, circumstances, extensions, layers, places, policy_texts
from gemini_mcp.host.settings.loading import Layer, ServerConfig, Settings, load
from gemini_mcp.host.settings.merging import with_extensions
from gemini_mcp.host.settings.policies import policies
from gemini_mcp.host.settings.standing import NOT_TRUSTED, Circumstances, Placed, Standing, placed
from gemini_mcp.host.tools import hidden
from gemini_mcp.host.tools.policy import Policy
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json

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
    is_folder_trusted: bool = False
    is_comparing: bool = False
    named: tuple[str, ...] | None = None
    stderr_lines: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def say(self, *texts: str) -> None:
        """Print the texts to stdout, each on lines of its own."""
        self.out.writelines(map(_line, texts))

    def complain(self, *texts: str) -> None:
        """Print the texts to stderr, each on lines of its own."""
        self.err.writelines(map(_line, texts))
        self.err.flush()

    def show(self, value: Json, *texts: str) -> None:
        """Print what a subcommand found: as JSON for programs, or else as texts."""
        self.say(*((stringify(value, 2),) if self.is_json else texts))

    @property
    def has_terminal(self) -> bool:
        return sys.stdin.isatty() and self.err.isatty()

    def settings(self, is_quiet: bool = False) -> Settings:
        """The settings with the servers of extensions, after saying what is wrong with them."""
        is_trusted = self._circumstances().is_trusted
        files = layers(self.where)
        own = self._loaded(files)
        if self.rules.trust_needs_folder and not is_trusted:
            # Gemini CLI names the servers of such a folder, but its `mcp.excluded` and `mcp.allowed` do not count.
            own = replace(own, lists=self._loaded([file for file in files if file.scope != "project"]).lists)
        found = extensions(self.where, self.environment, self.rules, is_trusted)
        loaded = with_extensions(own, found, self.rules)
        if not is_quiet:
            self.complain(*map(str, loaded.problems), *loaded.warnings)
        return loaded

    def _loaded(self, files: Sequence[Layer]) -> Settings:
        return load(files, self.environment, self.rules, self.named)

    def placed(self, settings: Settings) -> tuple[Placed, ...]:
        """Every configured server, and whether it is started here."""
        return placed(settings, self._circumstances(), self.rules)

    def _circumstances(self) -> Circumstances:
        found = circumstances(self.where, self.environment)
        return replace(found, is_trusted=found.is_trusted or self.is_folder_trusted)

    def started(self, settings: Settings) -> tuple[ServerConfig, ...]:
        """The servers that are started here."""
        servers = (one.server for one in self.placed(settings) if one.standing is Standing.STARTED)
        return tuple(server for server in servers if server.has_transport)

    def authorizer(self) -> Authorizer:
        """What gets, renews and keeps tokens."""
        talk = Interaction(self.has_terminal, self._open_browser, self.complain)
        return Authorizer(TokenFile(self.where.tokens), self.rules, lambda: time.time() * 1000, talk)

    def plan(self, servers: Sequence[ServerConfig], is_interactive: bool = True, policy: Policy | None = None) -> Plan:
        """A host with these servers, and the policy about their calls."""
        authorizer = self.authorizer()
        more = {"trust": True} if self.is_trusting else {}
        return Plan(
            tuple(replace(server, values={**server.values, **more}) for server in servers),
            Surroundings(self.environment, self._hear, roots=(self.where.project,)),
            self.rules,
            authorizer.auth_for,
            authorizer.authenticate if is_interactive and self.has_terminal else None,
            self._progress if self.err.isatty() else None,
            policy,
        )

    def policy(self, settings: Settings, mode: str = "default", is_interactive: bool = True) -> Policy | None:
        """What decides about calls before anybody is asked, after saying what is wrong with its files."""
        found = policies(settings, policy_texts(self.where, self.rules), self.rules, mode, is_interactive)
        if found is None:
            return None
        self.complain(*found.warnings)
        return found.policy

    @asynccontextmanager
    async def host(self, tells_untrusted: bool = True) -> AsyncGenerator[tuple[Settings, Host]]:
        """The settings, and a running host with the servers that they use; says which wait for the folder's trust."""
        settings = self.settings()
        waiting = [one.server.name for one in self.placed(settings) if one.reason == NOT_TRUSTED]
        if waiting and tells_untrusted:
            self.complain(f"Not started: {', '.join(waiting)}: {NOT_TRUSTED}.")
        async with open_host(self.plan(self.started(settings), policy=self.policy(settings))) as host:
            yield settings, host

    def _progress(self, server: Server) -> None:
        self.complain(f"{server.config.name}: {server.status.name.lower()}")

    def _hear(self, server: str, line: str) -> None:
        self.stderr_lines.append((server, line))
        if self.is_debug:
            self.complain(f"[DEBUG] [MCP STDERR ({server})]: {line}")

    def show_stderr(self, server: str) -> None:
        """The last lines of stderr of a failed server, without those that only inform."""
        if not self.is_debug:
            lines = [line for name, line in self.stderr_lines if name == server and line and "INFO" not in line]
            self.complain(*(f"[MCP STDERR ({server})]: {line}" for line in lines[-10:]))

    def _open_browser(self, url: str) -> bool:
        # Without a display `webbrowser` may start a text browser in this terminal.
        has_display = self.environment.get("DISPLAY") or self.environment.get("BROWSER") or sys.platform == "darwin"
        return bool(has_display) and webbrowser.open(url)


def _line(text: str) -> str:
    # Whatever a server says may end up here.
    shown = hidden.printed(text)
    return shown if shown.endswith("\n") else f"{shown}\n"


def context(rules: Rules, **options: object) -> Context:
    """The context of this process."""
    environment = dict(os.environ)
    base = Context(rules, environment, places(environment), sys.stdout, sys.stderr)
    return replace(base, **options)  # pyright: ignore[reportArgumentType]
