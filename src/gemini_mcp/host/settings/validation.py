"""What is wrong with a settings file, in the words of each profile; pure.

Every rule about a single file belongs here; merging files is in `settings`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gemini_mcp.host.rules.javascript import stringify
from gemini_mcp.host.rules.urls import InvalidUrl, parse
from gemini_mcp.spec.values import Json, JsonObject, items, number_of, object_of, type_of

TRANSPORT_KEYS = ("command", "url", "httpUrl")
OAUTH_TYPES = {
    "enabled": "boolean",
    "clientId": "string",
    "clientSecret": "string",
    "authorizationUrl": "string",
    "tokenUrl": "string",
    "scopes": "strings",
    "redirectUri": "string",
    "tokenParamName": "string",
    "audiences": "strings",
}
SERVER_TYPES = {
    "command": "string",
    "args": "strings",
    "env": "string map",
    "cwd": "string",
    "url": "string",
    "httpUrl": "string",
    "headers": "string map",
    "timeout": "number",
    "trust": "boolean",
    "description": "string",
    "includeTools": "strings",
    "excludeTools": "strings",
    "oauth": "object",
    "authProviderType": "string",
}
MCP_TYPES = {"serverCommand": "string", "allowed": "strings", "excluded": "strings"}
AUTH_PROVIDERS = ("dynamic_discovery", "google_credentials")

_SECRET_KEYS = frozenset({"clientSecret", "env", "headers"})
_WORDS = {
    "strings": "an array of strings",
    "string map": "an object whose values are strings",
    "object": "an object",
    "string": "a string",
    "boolean": "true or false",
    "number": "a number of milliseconds",
}


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and what to do about it; a fatal one costs its server."""

    path: tuple[str, ...]
    value: Json
    complaint: str
    fix: str
    file: str = ""
    is_fatal: bool = True

    @property
    def server(self) -> str | None:
        return self.path[1] if len(self.path) > 1 and self.path[0] == "mcpServers" else None

    @property
    def key(self) -> str:
        return ".".join(self.path[2:]) if self.server else ".".join(self.path)

    def __str__(self) -> str:
        who = f"server {self.server!r}: " if self.server else ""
        what = f"`{self.key}` is {_short(self.value, self.path)}, " if self.key else ""
        return f"{self.file}: {who}{what}{self.complaint}. {self.fix}"


def problems(settings: Json, file: str = "") -> tuple[Problem, ...]:
    """Everything wrong with one file's `mcp` and `mcpServers` by the documented rules."""
    root = object_of(settings)
    if root is None:
        complaint = "settings should be an object"
        return (Problem((), settings, complaint, 'Write `{"mcpServers": {}}`.', file),)
    found = [*_mcp_problems(root.get("mcp", {})), *_servers_problems(root.get("mcpServers", {}))]
    return tuple(_in_file(problem, file) for problem in found)


def _in_file(problem: Problem, file: str) -> Problem:
    return Problem(problem.path, problem.value, problem.complaint, problem.fix, file, problem.is_fatal)


def _mcp_problems(mcp: Json) -> Iterator[Problem]:
    members = object_of(mcp)
    if members is None:
        yield Problem(("mcp",), mcp, "it should be an object", "Make it an object or remove it.")
        return
    yield from _type_problems(("mcp",), members, MCP_TYPES)


def _servers_problems(servers: Json) -> Iterator[Problem]:
    members = object_of(servers)
    if members is None:
        yield Problem(("mcpServers",), servers, "it should be an object of servers", "Name each server with a key.")
        return
    for name, config in members.items():
        yield from server_problems(name, config)


def server_problems(name: str, config: Json) -> Iterator[Problem]:
    """Everything wrong with one server's configuration."""
    place = ("mcpServers", name)
    members = object_of(config)
    if members is None:
        complaint = f"its configuration is {_short(config, place)}, it should be an object"
        yield Problem(place, config, complaint, 'Write `{"command": …}`, `{"url": …}` or `{"httpUrl": …}`.')
        return
    yield from _type_problems(place, members, SERVER_TYPES)
    yield from _transport_problems(place, members)
    yield from _value_problems(place, members)
    oauth = object_of(members.get("oauth"))
    if oauth is not None:
        yield from _type_problems((*place, "oauth"), oauth, OAUTH_TYPES)
    yield from _google_problems(place, members, oauth or {})


def _type_problems(place: tuple[str, ...], members: JsonObject, types: dict[str, str]) -> Iterator[Problem]:
    for key, value in members.items():
        if key in types and not _has_type(value, types[key]):
            words = _WORDS[types[key]]
            yield Problem((*place, key), value, f"it should be {words}", f"Make `{key}` {words}.")
        elif key not in types and place[0] == "mcpServers":
            known = ", ".join(types)
            yield Problem((*place, key), value, "it is not known and has no effect", f"Known are {known}.", "", False)


def _has_type(value: Json, expected: str) -> bool:
    if expected == "strings":
        return all(isinstance(item, str) for item in items(value)) and isinstance(value, list)
    if expected == "string map":
        members = object_of(value)
        return members is not None and all(isinstance(member, str) for member in members.values())
    return type_of(value) == expected


def _transport_problems(place: tuple[str, ...], members: JsonObject) -> Iterator[Problem]:
    given = [key for key in TRANSPORT_KEYS if members.get(key)]
    if len(given) == 1:
        return
    several = " and ".join(f"`{key}`" for key in given)
    complaint = f"it has {several}, and only one may be there" if given else "it has no transport"
    fix = "Keep one of" if given else "Add one of"
    yield Problem(place, members, complaint, f"{fix} `command` (stdio), `url` (SSE) and `httpUrl` (streamable HTTP).")


def _value_problems(place: tuple[str, ...], members: JsonObject) -> Iterator[Problem]:
    timeout = number_of(members.get("timeout"))
    if timeout is not None and timeout < 0:
        yield Problem((*place, "timeout"), timeout, "it should not be negative", "Give milliseconds, such as 30000.")
    provider = members.get("authProviderType")
    if isinstance(provider, str) and provider not in AUTH_PROVIDERS:
        choices = " or ".join(AUTH_PROVIDERS)
        yield Problem((*place, "authProviderType"), provider, f"it should be {choices}", "Choose one of the two.")
    for key in ("url", "httpUrl"):
        address = members.get(key)
        if isinstance(address, str) and address and not _is_address(address):
            yield Problem((*place, key), address, "it should be an http or https URL", "Write it with its scheme.")


def _is_address(text: str) -> bool:
    try:
        return parse(text).scheme in ("http", "https")
    except InvalidUrl:
        return False


def _google_problems(place: tuple[str, ...], members: JsonObject, oauth: JsonObject) -> Iterator[Problem]:
    if members.get("authProviderType") != "google_credentials":
        return
    if not oauth.get("scopes"):
        complaint = "google_credentials needs scopes"
        yield Problem((*place, "oauth", "scopes"), oauth.get("scopes"), complaint, "List the scopes in `oauth.scopes`.")
    if not members.get("url") and not members.get("httpUrl"):
        complaint = "google_credentials needs a remote server"
        yield Problem((*place, "authProviderType"), "google_credentials", complaint, "Add `url` or `httpUrl`.")


def _short(value: Json, path: Sequence[str]) -> str:
    if _SECRET_KEYS & set(path[2:]):
        return "a value not shown here"
    text = stringify(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
