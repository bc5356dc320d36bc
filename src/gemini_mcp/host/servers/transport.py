"""Which transport a server's configuration asks for, and with what. Pure.

Only the choice belongs here; `connection` opens the transport.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from gemini_mcp.host.rules import fetch
from gemini_mcp.host.rules.javascript import PROTOTYPE, entries, template, truthy
from gemini_mcp.host.rules.urls import parse
from gemini_mcp.host.servers import failure
from gemini_mcp.host.servers.environment import UnusableConfig, expanded, inherited, server_environment
from gemini_mcp.host.servers.failure import Failure
from gemini_mcp.host.servers.secrecy import shown_address
from gemini_mcp.host.settings.loading import ServerConfig
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, inside, table

MISSING = "Invalid configuration: missing httpUrl (for Streamable HTTP), url (for SSE), and command (for stdio)."
ALLOWED_GOOGLE_HOSTS = ("googleapis.com", "luci.app")
"""Gemini CLI since 0.21 sends credentials of Google to these and no others, though the guide has `run.app`."""


GOOGLE = "GoogleCredentialProvider"
USER_PROJECT = "x-goog-user-project"


@dataclass(frozen=True)
class Stdio:
    """A process; messages go over its standard input and output."""

    command: Json
    args: Json = ()
    cwd: Json = None


@dataclass(frozen=True)
class Remote:
    """An address; messages go over HTTP."""

    url: str
    headers: JsonObject = field(default_factory=dict[str, Json])
    auth_provider: str | None = None

    @property
    def header_texts(self) -> dict[str, str]:
        """The headers as `fetch` writes them."""
        return {name: template(value) for name, value in self.headers.items()}


@dataclass(frozen=True)
class Sse(Remote):
    """The older transport over HTTP: server-sent events one way, POST bodies the other."""


@dataclass(frozen=True)
class StreamableHttp(Remote):
    """Streamable HTTP."""


Transport: TypeAlias = Stdio | Sse | StreamableHttp


def choose(config: JsonObject, environment: Mapping[str, str], rules: Rules, has_google: bool = True) -> Transport:
    """The transport of the configuration, in the order httpUrl, url, command; raises UnusableConfig or InvalidUrl.

    `has_google` is whether there may be credentials of Google.
    """
    provider = auth_provider(config, rules, has_google)
    address = next((config[key] for key in ("httpUrl", "url") if truthy(config.get(key))), None)
    if address is not None:
        # `httpUrl` is deprecated since 0.21, and wins all the same.
        is_sse = not truthy(config.get("httpUrl")) and url_transports(config, rules)[0] == "sse"
        # Gemini CLI puts the headers together first, and so complains of them first.
        headers = request_headers(config, environment, rules, provider)
        url = str(parse(template(address)))
        return Sse(url, headers, provider) if is_sse else StreamableHttp(url, headers, provider)
    if not truthy(config.get("command")):
        raise UnusableConfig(MISSING)
    # Gemini CLI puts the environment together here, and fails at what is no text.
    server_environment(entries(config.get("env")), environment, rules)
    args = config.get("args")
    return Stdio(config["command"], args if truthy(args) else [], config.get("cwd"))


def refusal(chosen: Remote) -> tuple[str, Failure] | None:
    """Why Gemini CLI does not connect to the address, in its words and in ours, without what it keeps secret."""
    shown = shown_address(chosen.url)
    refused = fetch.refused_headers(chosen.header_texts, lambda value: "***") or fetch.refused(parse(chosen.url))
    if refused is None:
        return None
    said = f"SSE error: {refused.said_by_sse}" if isinstance(chosen, Sse) else refused.said
    return said.format(url=shown), failure.blocked(shown, refused.remedy)


def url_transports(config: JsonObject, rules: Rules) -> tuple[str, ...]:
    """The transports that are tried on the server's `url`, in order."""
    # A bare `url` means SSE in 0.1 and streamable HTTP since 0.21, which then falls back to SSE.
    return (template(config["type"]),) if rules.reads_type and truthy(config.get("type")) else rules.url_transports


def attempts(config: ServerConfig, rules: Rules) -> Sequence[ServerConfig]:
    """The configuration with each transport that the profile tries, in order."""
    values, kinds = config.values, url_transports(config.values, rules)
    # Only the `url` of a server without `type` may mean either transport.
    if not values.get("url") or values.get("httpUrl") or len(kinds) < 2:
        return (config,)
    return (config, *(replace(config, values={**values, "type": kind}) for kind in kinds[1:]))


def request_headers(
    config: JsonObject, environment: Mapping[str, str], rules: Rules, provider: str | None
) -> JsonObject:
    """The headers that the configuration has sent; raises UnusableConfig."""
    headers = entries(config.get("headers"))
    if rules.environment is None:
        # 0.1.18 made the transport of Google's credentials without them.
        return {} if provider == GOOGLE else headers
    visible = inherited(environment, rules)
    # The provider reads the name of the project from the configuration, where its variables are not put in.
    kept = _user_project(config) if provider == GOOGLE else None
    return {
        name: value if name == kept else expanded(value, visible)
        for name, value in headers.items()
        if name != PROTOTYPE
    }


def _user_project(config: JsonObject) -> str | None:
    """The header that names the project whose quota is used, as it is written."""
    names = (name for name in table(config.get("headers")) if name.lower() == USER_PROJECT)
    return next(names, None)


def auth_provider(config: JsonObject, rules: Rules, has_google: bool) -> str | None:
    """Who gives the token for the server; raises UnusableConfig or InvalidUrl."""
    if config.get("authProviderType") == "service_account_impersonation" and rules.impersonation_checks:
        return _impersonation(config, rules)
    if config.get("authProviderType") != "google_credentials":
        return None
    address = str(config.get("url") or config.get("httpUrl") or "")
    for required in rules.google_checks:
        if not _GOOGLE_CHECKS[required["check"]](config, address, has_google):
            host = parse(address).hostname if "{host}" in required["message"] else ""
            raise UnusableConfig(required["message"].format(host=host))
    return GOOGLE


def _impersonation(config: JsonObject, rules: Rules) -> str:
    given = {**config, "url": config.get("url") or config.get("httpUrl")}
    for required in rules.impersonation_checks:
        if not given.get(required["setting"]):
            raise UnusableConfig(required["message"])
    return "ServiceAccountImpersonationProvider"


def _is_google_host(address: str) -> bool:
    name = parse(address).hostname
    return any(name.endswith(f".{host}") or name == host == "luci.app" for host in ALLOWED_GOOGLE_HOSTS)


_GOOGLE_CHECKS: Mapping[str, Callable[[JsonObject, str, bool], bool]] = {
    "scopes": lambda config, address, has_google: bool(inside(config, "oauth", "scopes")),
    "address": lambda config, address, has_google: bool(address),
    "host": lambda config, address, has_google: _is_google_host(address),
    # Gemini CLI looks for credentials so early only to ask them for the project, unless a header names it.
    "credentials": lambda config, address, has_google: has_google or _user_project(config) is not None,
}
