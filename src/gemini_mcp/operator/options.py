"""The operator's options as a frozen record, and what they mean for gemini and for results. Pure.

An option is a field here and a row in `flags.py`, which fills it.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gemini_mcp.call.invocation import Extras, inheritable
from gemini_mcp.call.outcome import View

PATHS = {"http": "/mcp", "sse": "/sse"}
"""Where the server is reached, by transport."""

EVERYWHERE = ("0.0.0.0", "::")
"""Addresses on which a server listens and which nobody can ask."""


@dataclass(frozen=True)
class Options:
    """What the operator has set."""

    command: str | None = None
    json: bool = False
    probe: bool = False
    fix: bool = False
    print_config: str | None = None
    gemini: str | None = None
    timeout: float = 600.0
    kill_grace: float = 2.0
    max_concurrency: int = 16
    default_model: str | None = None
    approval_mode: str | None = None
    sandbox: bool = False
    include_directories: tuple[str, ...] = ()
    trust_workspace: bool = False
    withhold: tuple[str, ...] = ()
    no_fast_start: bool = False
    allow_nested: bool = False
    allow_cwd: tuple[str, ...] = ()
    max_output_bytes: int | None = None
    max_response_chars: int | None = None
    expose_session: str = "meta"
    live: bool = False
    locale: str | None = None
    spec: str | None = None
    transport: str = "stdio"
    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = None
    allowed_host: tuple[str, ...] = ()
    allowed_origin: tuple[str, ...] = ()
    max_sessions: int = 1000
    session_timeout: float = 1800.0
    max_connections: int = 500
    request_timeout: float = 60.0
    max_pending_bytes: int = 256 << 20
    log_level: str = "warning"
    log_file: str | None = None

    @property
    def extras(self) -> Extras:
        """What is added to gemini's command line."""
        flags = [f"--approval-mode={self.approval_mode}"] if self.approval_mode else []
        flags += ["--sandbox"] if self.sandbox else []
        flags += [f"--include-directories={directory}" for directory in self.include_directories]
        return Extras(tuple(flags), {"default-model": self.default_model} if self.default_model else {})

    @property
    def view(self) -> View:
        """How an answer is shown to the client."""
        return View(self.expose_session, self.max_response_chars)

    @property
    def url(self) -> str | None:
        """Where a client on this machine reaches the server, if not on stdio."""
        if self.transport not in PATHS:
            return None
        host = "127.0.0.1" if self.host in EVERYWHERE else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}{PATHS[self.transport]}"

    def environment(self, inherited: Mapping[str, str], withhold: Sequence[str] = ()) -> dict[str, str]:
        """The variables of gemini, without those that fit a pattern. A fast start replaces none of the operator's."""
        wanted = {} if self.no_fast_start else _fast_start(inherited)
        trust = {"GEMINI_CLI_TRUST_WORKSPACE": "true"} if self.trust_workspace else {}
        return inheritable({**wanted, **inherited, **trust}, (*withhold, *self.withhold))


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    return host.lower() in ("localhost", "::1") or (host.startswith("127.") and host.replace(".", "").isdigit())


def _fast_start(environ: Mapping[str, str]) -> dict[str, str]:
    """Gemini CLI starts itself again, with a heap-size argument, unless told not to; Node can cache compiled code."""
    wanted = {"GEMINI_CLI_NO_RELAUNCH": "true"}
    home = environ.get("HOME")
    cache = environ.get("XDG_CACHE_HOME") or (os.path.join(home, ".cache") if home else None)
    if cache:
        wanted["NODE_COMPILE_CACHE"] = os.path.join(cache, "gemini-mcp-server", "node")
    return wanted
