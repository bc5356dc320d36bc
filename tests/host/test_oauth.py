"""OAuth flows against a loopback authorization server."""

import json
import socket
import stat
import struct
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import anyio.to_thread
import httpx2
import pytest
from authorization_server import Provider, answering, free_port, listening, serving

from gemini_mcp.host.oauth import metadata
from gemini_mcp.host.oauth.authorization import Authorizer, Interaction, NotAuthorized
from gemini_mcp.host.oauth.callback import listen
from gemini_mcp.host.oauth.endpoints import InsecureEndpoint
from gemini_mcp.host.oauth.grants import Credentials, Token
from gemini_mcp.host.oauth.token_file import TokenFile
from gemini_mcp.host.rules.profiles import profiles
from gemini_mcp.host.servers.connection import Surroundings
from gemini_mcp.host.servers.discovery import Status
from gemini_mcp.host.servers.host import Plan, Server, open_host
from gemini_mcp.host.settings.loading import ServerConfig
from gemini_mcp.host.tools import execution
from gemini_mcp.host.tools.confirmation import AllowList, Outcome
from gemini_mcp.spec import Rules

DOCUMENTED = profiles()["documented"]
NOW = 1_000_000_000_000.0
TOKEN_FILE = ".gemini/mcp-oauth-tokens.json"


class Person:
    """Somebody at a terminal, whose browser follows where it is sent."""

    def __init__(self, has_terminal: bool = True, follows: bool = True, has_browser: bool = True) -> None:
        self.said: list[str] = []
        self.visited: list[str] = []
        self.has_terminal = has_terminal
        self._follows = follows
        self._has_browser = has_browser

    def interaction(self) -> Interaction:
        return Interaction(self.has_terminal, self._open, self.said.append)

    def _open(self, url: str) -> bool:
        self.visited.append(url)
        if self._follows:
            threading.Thread(target=visit, args=(url,), daemon=True).start()
        return self._has_browser


def visit(url: str) -> None:
    try:
        urllib.request.urlopen(url, timeout=10).read()
    except urllib.error.HTTPError as error:
        error.close()


def config_of(address: str, **oauth: Any) -> ServerConfig:
    key = "url" if address.endswith("/sse") else "httpUrl"
    redirect = f"http://127.0.0.1:{free_port()}/oauth/callback"
    return ServerConfig("guarded", {key: address, "timeout": 10000, "oauth": {"redirectUri": redirect, **oauth}})


def authorizer_of(
    folder: Path, person: Person, clock: Callable[[], float] = lambda: NOW, rules: Rules = DOCUMENTED
) -> Authorizer:
    return Authorizer(TokenFile(folder / TOKEN_FILE), rules, clock, person.interaction(), wait_seconds=5)


async def connected(config: ServerConfig, authorizer: Authorizer, is_interactive: bool = True) -> tuple[Server, str]:
    """The server as a session finds it, and what its tool says."""
    authenticate = authorizer.authenticate if is_interactive else None
    plan = Plan((config,), Surroundings({}), DOCUMENTED, authorizer.auth_for, authenticate)
    async with open_host(plan) as host:
        server = host.servers[config.name]
        if server.status is not Status.CONNECTED:
            return server, ""
        arguments = {"name": "you"}
        called = await execution.call(host, "greet", arguments, AllowList(), lambda asked: Outcome.PROCEED_ONCE)
        return server, called.rendered.display


def stored(folder: Path) -> Any:
    return json.loads((folder / TOKEN_FILE).read_text(encoding="utf-8"))


def credentials(token_url: str = "http://t/", **token: Any) -> Credentials:
    """What is stored for the server when its token is `AT`."""
    kept = Token(access_token="AT", **token)
    return Credentials(server_name="guarded", token=kept, client_id="cid", token_url=token_url)


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture
def config(provider: Provider) -> Generator[ServerConfig]:
    """A server that is running and that the provider guards."""
    with serving(provider) as address:
        yield config_of(address)


@pytest.mark.parametrize("over", ["http", "sse"])
async def test_a_401_starts_the_flow_and_the_connection_succeeds(tmp_path: Path, over: str) -> None:
    provider, person = Provider(), Person()
    with serving(provider, over) as address:
        server, said = await connected(config_of(address), authorizer_of(tmp_path, person))
    assert (server.status, said) == (Status.CONNECTED, "hello you")
    assert provider.log == ["register", "authorize", "exchange"]
    assert stat.S_IMODE((tmp_path / TOKEN_FILE).stat().st_mode) == 0o600
    [entry] = stored(tmp_path)
    assert set(entry) == {"serverName", "token", "clientId", "tokenUrl", "mcpServerUrl", "updatedAt"}
    assert entry["token"]["expiresAt"] == NOW + 3600 * 1000
    assert entry["mcpServerUrl"] == address


async def test_a_stored_token_is_used_without_a_browser(
    tmp_path: Path, provider: Provider, config: ServerConfig
) -> None:
    await connected(config, authorizer_of(tmp_path, Person()))
    _, said = await connected(config, authorizer_of(tmp_path, Person(has_terminal=False)))
    assert said == "hello you"
    assert provider.log.count("authorize") == 1


async def test_an_expired_token_is_refreshed_after_a_restart(
    tmp_path: Path, provider: Provider, config: ServerConfig
) -> None:
    await connected(config, authorizer_of(tmp_path, Person()))
    old = stored(tmp_path)[0]["token"]["accessToken"]
    later = authorizer_of(tmp_path, Person(has_terminal=False), lambda: NOW + 3_500_000)
    _, said = await connected(config, later)
    assert said == "hello you"
    assert provider.log[-1] == "refresh"
    assert stored(tmp_path)[0]["token"]["accessToken"] != old


async def test_a_revoked_access_token_is_refreshed_on_the_401(
    tmp_path: Path, provider: Provider, config: ServerConfig
) -> None:
    await connected(config, authorizer_of(tmp_path, Person()))
    provider.access.clear()
    _, said = await connected(config, authorizer_of(tmp_path, Person(has_terminal=False)))
    assert said == "hello you"
    assert provider.log[-1] == "refresh"


async def test_a_rejected_refresh_deletes_the_token(tmp_path: Path, provider: Provider, config: ServerConfig) -> None:
    await connected(config, authorizer_of(tmp_path, Person()))
    provider.access.clear()
    provider.refresh.clear()
    server, _ = await connected(config, authorizer_of(tmp_path, Person()), is_interactive=False)
    assert server.status is Status.DISCONNECTED
    assert server.needs_authentication
    assert not (tmp_path / TOKEN_FILE).exists()


async def test_an_expired_token_without_refresh_token_is_deleted(tmp_path: Path) -> None:
    authorizer = authorizer_of(tmp_path, Person())
    authorizer.tokens.save(credentials(expires_at=5))
    assert await authorizer.valid_token(ServerConfig("guarded", {"httpUrl": "http://s/"})) is None
    assert authorizer.tokens.load() == {}


async def test_auth_starts_afresh_with_a_valid_token(tmp_path: Path, provider: Provider, config: ServerConfig) -> None:
    authorizer = authorizer_of(tmp_path, Person())
    await connected(config, authorizer)
    await authorizer.obtain(config)
    assert provider.log.count("authorize") == 2


@pytest.mark.parametrize("profile", profiles())
async def test_auth_obtains_a_token_in_every_profile(tmp_path: Path, config: ServerConfig, profile: str) -> None:
    await authorizer_of(tmp_path, Person(), rules=profiles()[profile]).obtain(config)
    assert stored(tmp_path)[0]["token"]["accessToken"]


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        ("https://elsewhere.example/meta", "does not match expected origin"),
        ("http://h.example/meta", "Insecure HTTP"),
        ("http://10.0.0.1/meta", "Insecure HTTP"),
    ],
)
def test_a_challenge_leads_to_the_servers_own_documents_only(document: str, fault: str) -> None:
    with pytest.raises(InsecureEndpoint, match=fault):
        next(metadata.challenged(document, "https://h.example/mcp", "path"))


def test_a_challenge_may_be_relative_and_must_be_about_the_server() -> None:
    steps = metadata.challenged("/meta", "https://h.example/mcp", "path")
    assert next(steps) == "https://h.example/meta"
    with pytest.raises(metadata.Mismatch):
        steps.send({"resource": "https://h.example/other", "authorization_servers": ["https://as.example"]})


def test_a_challenge_does_not_lead_into_a_private_network() -> None:
    steps = metadata.challenged("/meta", "https://h.example/mcp", "path")
    next(steps)
    with pytest.raises(InsecureEndpoint, match="private or reserved"):
        steps.send({"resource": "https://h.example/mcp", "authorization_servers": ["https://10.0.0.1/"]})


async def test_nothing_is_sent_to_an_endpoint_in_a_private_network(tmp_path: Path) -> None:
    endpoints = {"authorizationUrl": "https://as.example/a", "tokenUrl": "https://10.0.0.1/t", "clientId": "cid"}
    config, person = config_of("https://h.example/mcp", **endpoints), Person()
    with pytest.raises(NotAuthorized, match="private or reserved"):
        await authorizer_of(tmp_path, person, rules=profiles()["current"]).obtain(config, challenge="Bearer")
    assert person.visited == []


@pytest.mark.parametrize("what", ["state", "issuer"])
async def test_another_state_or_issuer_is_refused(tmp_path: Path, what: str) -> None:
    providers = {"state": Provider(state_sent_back="x"), "issuer": Provider(issuer_sent_back="https://evil.example")}
    provider = providers[what]
    with serving(provider) as address, pytest.raises(NotAuthorized, match=what):
        await authorizer_of(tmp_path, Person()).obtain(config_of(address))
    assert "exchange" not in provider.log


async def test_no_terminal_fails_at_once(tmp_path: Path, config: ServerConfig) -> None:
    with pytest.raises(NotAuthorized, match="terminal"):
        await authorizer_of(tmp_path, Person(has_terminal=False)).obtain(config)


async def test_without_a_browser_the_address_is_printed(tmp_path: Path, config: ServerConfig) -> None:
    person = Person(has_browser=False)
    await authorizer_of(tmp_path, person).obtain(config)
    assert any(person.visited[0] in line for line in person.said)


async def test_nobody_coming_back_ends_the_wait(tmp_path: Path, config: ServerConfig) -> None:
    authorizer = replace(authorizer_of(tmp_path, Person(follows=False)), wait_seconds=0.3)
    with pytest.raises(NotAuthorized, match="nobody came back"):
        await authorizer.obtain(config)


async def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken, serving(Provider()) as address:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        redirect = f"http://127.0.0.1:{taken.getsockname()[1]}/oauth/callback"
        with pytest.raises(NotAuthorized):
            await authorizer_of(tmp_path, Person()).obtain(config_of(address, redirectUri=redirect))


async def test_audiences_scopes_and_pkce_are_sent(tmp_path: Path) -> None:
    person = Person()
    with serving(Provider()) as address:
        await authorizer_of(tmp_path, person).obtain(config_of(address, audiences=["u1", "u2"]))
    assert "audience=u1+u2" in person.visited[0]
    assert "code_challenge_method=S256" in person.visited[0]


async def test_tokens_never_show(tmp_path: Path, config: ServerConfig, capfd: pytest.CaptureFixture[str]) -> None:
    person = Person()
    server, _ = await connected(config, authorizer_of(tmp_path, person))
    token = stored(tmp_path)[0]["token"]
    shown = "".join(capfd.readouterr()) + "".join(person.said) + repr(server)
    assert token["accessToken"] not in shown
    assert token["refreshToken"] not in shown


async def test_the_token_parameter_puts_the_token_into_the_address(tmp_path: Path) -> None:
    authorizer = authorizer_of(tmp_path, Person())
    authorizer.tokens.save(credentials())
    config = ServerConfig("guarded", {"url": "http://127.0.0.1:1/sse", "oauth": {"tokenParamName": "key"}})
    auth = await authorizer.auth_for(config)
    assert auth.address("http://127.0.0.1:1/sse") == "http://127.0.0.1:1/sse?key=AT"


async def test_a_connection_that_the_browser_breaks_off_does_not_end_the_wait() -> None:
    redirect = f"http://127.0.0.1:{free_port()}/oauth/callback"
    address = ("127.0.0.1", int(redirect.split(":")[2].split("/")[0]))
    async with listen(redirect, "s") as listener:
        with socket.create_connection(address, 5) as broken:
            broken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await anyio.to_thread.run_sync(visit, f"{redirect}?code=c&state=s")
        await listener.wait(5)
    assert listener.answer()["code"] == "c"


@pytest.mark.parametrize(("status", "kept"), [(503, ["guarded"]), (200, [])])
async def test_a_token_survives_a_server_that_is_down_but_not_one_that_refuses(
    tmp_path: Path, status: int, kept: list[str]
) -> None:
    authorizer = authorizer_of(tmp_path, Person())
    with answering(status) as address:
        authorizer.tokens.save(credentials(address, refresh_token="RT", expires_at=5))
        assert await authorizer.valid_token(ServerConfig("guarded", {"httpUrl": "http://s/"})) is None
    assert list(authorizer.tokens.load()) == kept


def test_what_another_program_stored_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / TOKEN_FILE
    file.parent.mkdir()
    other = {"token": {"expiresAt": None, "extra": [1], "accessToken": "x"}, "serverName": "other", "updatedAt": 1}
    file.write_text(json.dumps([other]), encoding="utf-8")
    tokens = TokenFile(file)
    tokens.save(Credentials(server_name="s", token=Token(access_token="AT")))
    tokens.delete("s")
    assert json.dumps(json.loads(file.read_text(encoding="utf-8"))) == json.dumps([other])


class Iam(BaseHTTPRequestHandler):
    """Google's IAM, which answers these with the next token of the list, and an error when there are no more."""

    tokens: ClassVar[list[str]]
    asked: ClassVar[list[tuple[str, str, Any]]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append((self.path, self.headers["authorization"], body))
        answer = json.dumps({"token": self.tokens.pop(0)} if self.tokens else {"error": {}}).encode()
        self.send_response(200 if "token" in json.loads(answer) else 403)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


async def access_token(scopes: Sequence[str]) -> str:
    return f"of {','.join(scopes)}"


async def test_a_service_account_is_impersonated_with_the_id_token_that_iam_gives(tmp_path: Path) -> None:
    class Here(Iam):
        tokens: ClassVar[list[str]] = ["first", "second"]
        asked: ClassVar[list[tuple[str, str, Any]]] = []

    person = Person()
    values = {
        "url": "http://127.0.0.1:9/mcp",
        "authProviderType": "service_account_impersonation",
        "targetAudience": "aud",
        "targetServiceAccount": "a@p",
    }
    with listening(Here) as iam:
        authorizer = replace(authorizer_of(tmp_path, person, rules=profiles()["current"]), google=access_token, iam=iam)
        auth = await authorizer.auth_for(ServerConfig("s", values))
        flow = auth.async_auth_flow(request := httpx2.Request("POST", "http://127.0.0.1:9/mcp"))
        await anext(flow)
        assert request.headers["authorization"] == "Bearer first"
        await flow.asend(httpx2.Response(401))
        assert request.headers["authorization"] == "Bearer second"
        without = await authorizer.auth_for(ServerConfig("s", values))
        await anext(without.async_auth_flow(bare := httpx2.Request("POST", "http://127.0.0.1:9/mcp")))
    assert "authorization" not in bare.headers
    assert (
        Here.asked
        == [
            (
                "/v1/projects/-/serviceAccounts/a%40p:generateIdToken",
                "Bearer of https://www.googleapis.com/auth/cloud-platform",
                {"audience": "aud", "includeEmail": True},
            )
        ]
        * 3
    )
    assert person.said == ["s: Failed to obtain authentication token."]
