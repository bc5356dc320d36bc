"""Which transport a server's configuration asks for, and with what: a pure choice the connecting code obeys.

Only the choice belongs here; whether the configuration is well-formed is in `validation`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from gemini_mcp.host.rules.profiles import Profile
from gemini_mcp.host.rules.urls import Url, parse
from gemini_mcp.host.servers.environment import inherited
from gemini_mcp.host.settings.expansion import expand_late
from gemini_mcp.spec.values import JsonObject, table, texts_of

MISSING = "Invalid configuration: missing httpUrl (for Streamable HTTP), url (for SSE), and command (for stdio)."
ALLOWED_GOOGLE_HOSTS = ("googleapis.com", "luci.app")


class UnusableConfig(Exception):
    """No transport can be made of the configuration; the message is the one Gemini CLI gives."""


@dataclass(frozen=True)
class Stdio:
    """A process spoken to over its standard input and output."""

    command: str
    args: tuple[str, ...] = ()
    cwd: str | None = None


@dataclass(frozen=True)
class Remote:
    """An address spoken to over HTTP."""

    url: str
    headers: dict[str, str] = field(default_factory=dict[str, str])
    auth_provider: str | None = None


@dataclass(frozen=True)
class Sse(Remote):
    """Server-sent events and posts."""


@dataclass(frozen=True)
class StreamableHttp(Remote):
    """Streamable HTTP; `may_fall_back` when SSE is tried on the same address after a failure."""

    may_fall_back: bool = False


Transport: TypeAlias = Stdio | Sse | StreamableHttp


def choose(config: JsonObject, environment: Mapping[str, str], profile: Profile) -> Transport:
    """The transport of the configuration, in the order httpUrl, url, command; raises UnusableConfig or InvalidUrl."""
    provider = _auth_provider(config, profile)
    address = config.get("httpUrl") or config.get("url")
    if address:
        url = str(parse(str(address)))
        headers = _headers(config, environment, profile)
        if profile is Profile.DOCUMENTED:
            kind = StreamableHttp if config.get("httpUrl") else Sse
            return kind(url, headers, provider)
        if not config.get("httpUrl") and config.get("type") == "sse":
            return Sse(url, headers, provider)
        return StreamableHttp(url, headers, provider, not config.get("httpUrl") and not config.get("type"))
    if not config.get("command"):
        raise UnusableConfig(MISSING)
    return Stdio(str(config["command"]), texts_of(config.get("args")) or (), config.get("cwd"))


def _headers(config: JsonObject, environment: Mapping[str, str], profile: Profile) -> dict[str, str]:
    headers = {name: str(value) for name, value in table(config.get("headers")).items()}
    if profile is Profile.DOCUMENTED:
        return headers
    visible = inherited(environment, profile)
    return {name: expand_late(value, visible) for name, value in headers.items()}


def _auth_provider(config: JsonObject, profile: Profile) -> str | None:
    if config.get("authProviderType") != "google_credentials":
        return None
    if profile is Profile.DOCUMENTED:
        _require_scopes(config)
        if not config.get("url") and not config.get("httpUrl"):
            raise UnusableConfig("No URL configured for Google Credentials MCP server")
        return "GoogleCredentialProvider"
    address = config.get("url") or config.get("httpUrl")
    if not address:
        raise UnusableConfig("URL must be provided in the config for Google Credentials provider")
    _require_google_host(parse(str(address)))
    _require_scopes(config)
    return "GoogleCredentialProvider"


def _require_scopes(config: JsonObject) -> None:
    if not table(config.get("oauth")).get("scopes"):
        raise UnusableConfig("Scopes must be provided in the oauth config for Google Credentials provider")


def _require_google_host(url: Url) -> None:
    name = url.hostname
    if not any(name.endswith(f".{host}") or name == host == "luci.app" for host in ALLOWED_GOOGLE_HOSTS):
        raise UnusableConfig(f'Host "{name}" is not an allowed host for Google Credential provider.')
