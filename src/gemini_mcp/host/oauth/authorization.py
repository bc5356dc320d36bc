"""OAuth over the network: gets tokens before a connection, after a 401, or with a browser. Effect.

What is sent and what it means is decided in `grants` and `metadata`; files are in `token_file`, the listener in
`callback`.
"""

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import httpx2

from gemini_mcp.host.oauth import grants, impersonation, metadata
from gemini_mcp.host.oauth.bearer import BearerAuth
from gemini_mcp.host.oauth.callback import Refused, listen
from gemini_mcp.host.oauth.google import google_token
from gemini_mcp.host.oauth.token_file import TokenFile
from gemini_mcp.host.rules.urls import InvalidUrl, encode_form
from gemini_mcp.host.settings.loading import ServerConfig
from gemini_mcp.spec import Rules
from gemini_mcp.spec.values import Json, JsonObject, object_of

HTTP_SECONDS = 15.0
"""How long a request for metadata or a token may take; nobody at a browser waits in it."""


class NotAuthorized(Exception):
    """The flow failed; the message says why and never holds a token."""


@dataclass(frozen=True)
class Interaction:
    """The user: whether one is at a terminal, how to open a browser, how to say something."""

    has_terminal: bool
    open_browser: Callable[[str], bool]
    say: Callable[[str], None]


@dataclass(frozen=True)
class Authorizer:
    """Gets, renews and keeps the tokens of one host."""

    tokens: TokenFile
    rules: Rules
    clock_ms: Callable[[], float]
    interaction: Interaction
    wait_seconds: float = 300.0
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    google: Callable[[Sequence[str]], Awaitable[str]] = google_token
    iam: str = impersonation.IAM

    async def auth_for(self, config: ServerConfig) -> BearerAuth:
        """What a connection to the server carries."""
        if config.address is None:
            return BearerAuth()
        settings = grants.config_of(config.oauth)
        if config.values.get("authProviderType") == "google_credentials":
            return BearerAuth(await self.google(settings.scopes))
        if impersonation.is_wanted(config.values) and self.rules.impersonation_checks:
            return BearerAuth(await self._impersonated(config), lambda used: self._impersonated(config))
        # The guide has `tokenParamName` for SSE; no code of 0.1.18 or 0.61.0 reads it.
        parameter = settings.token_param_name if not config.values.get("httpUrl") else None
        return BearerAuth(await self.valid_token(config), partial(self._renew, config), parameter)

    async def _impersonated(self, config: ServerConfig) -> str | None:
        """The ID token that IAM gives for the account and the audience of the server."""
        path, body = impersonation.token_request(config.values)
        headers = {"Authorization": f"Bearer {await self.google(impersonation.SCOPES)}"}
        token = None
        with suppress(httpx2.HTTPError):
            async with httpx2.AsyncClient(timeout=HTTP_SECONDS) as http:
                token = impersonation.token_of(_object_in(await http.post(self.iam + path, json=body, headers=headers)))
        if token is None:
            self.interaction.say(f"{config.name}: {impersonation.FAILED}")
        return token

    async def valid_token(self, config: ServerConfig) -> str | None:
        """The server's token, refreshed when it is about to expire, forgotten when it is of no use."""
        stored = self.tokens.load().get(config.name)
        if stored is None or not stored.token.is_expired(self.clock_ms()):
            return stored and stored.token.access_token
        return await self._refreshed(config, stored)

    async def authenticate(self, config: ServerConfig, challenge: str) -> bool:
        """Run the flow after a 401, unless the profile waits for the user to ask; tell whether there is a token now."""
        if not self.rules.authenticates_unasked and config.oauth.get("enabled") is not True:
            self.interaction.say(f"{config.name}: requires authentication: gemini-mcp-host auth {config.name}")
            return False
        try:
            await self.obtain(config, challenge)
        except NotAuthorized as error:
            self.interaction.say(f"{config.name}: not authenticated: {error}")
            return False
        return True

    async def obtain(self, config: ServerConfig, challenge: str | None = None) -> None:
        """Obtain and store a token by the browser's flow, whatever is stored; raises NotAuthorized."""
        if config.address is None:
            raise NotAuthorized("it is no remote server; OAuth is for `url` and `httpUrl`")
        if not self.interaction.has_terminal:
            raise NotAuthorized("there is no terminal, and the flow needs somebody at a browser")
        try:
            async with httpx2.AsyncClient(timeout=HTTP_SECONDS) as http:
                await self._flow(config, config.address, challenge, http)
        except TimeoutError:
            raise NotAuthorized(f"nobody came back within {self.wait_seconds:.0f} seconds") from None
        except (httpx2.HTTPError, InvalidUrl, *metadata.REFUSALS, Refused, OSError, KeyError) as error:
            said = f"the answer lacks {error}" if isinstance(error, KeyError) else str(error)
            raise NotAuthorized(said or type(error).__name__) from None

    async def _flow(self, config: ServerConfig, address: str, challenge: str | None, http: httpx2.AsyncClient) -> None:
        settings = grants.config_of(config.oauth)
        if challenge is None:
            challenge = await _challenge(http, address)
        found = await self._endpoints(settings, address, challenge, http)
        for endpoint in (found.authorization_url, found.token_url):
            metadata.allowed(endpoint, address, self.rules.oauth_address)
        settings = replace(
            settings,
            authorization_url=found.authorization_url,
            token_url=found.token_url,
            scopes=settings.scopes or found.scopes,
        )
        settings = await self._client(settings, found, address, http)
        flow = grants.pkce(secrets.token_bytes(self.rules.verifier_bytes), secrets.token_bytes(16))
        url = grants.authorization_url(settings, flow, address, self.rules)
        async with listen(settings.redirect_uri, flow.state) as listener:
            has_opened = self.interaction.open_browser(url)
            advice = "a browser was opened; if it was not, visit" if has_opened else "no browser could be opened; visit"
            self.interaction.say(f"{config.name}: {advice}:\n{url}")
            await listener.wait(self.wait_seconds)
        answer = listener.answer()
        # RFC 9207: another issuer means that one authorization server passes for another.
        if found.issuer is not None and answer.get("iss", found.issuer) != found.issuer:
            raise Refused("the answer names another issuer than the metadata")
        form = grants.exchange_form(settings, answer["code"], flow, address, self.rules)
        token = grants.token_of(await _post(http, found.token_url, form), self.clock_ms())
        credentials = grants.Credentials(
            server_name=config.name,
            token=token,
            client_id=settings.client_id,
            token_url=found.token_url,
            mcp_server_url=address,
            updated_at=int(self.clock_ms()),
        )
        self.tokens.save(credentials)
        self.interaction.say(f"{config.name}: authenticated")

    async def _endpoints(
        self, settings: grants.OAuthConfig, address: str, challenge: str, http: httpx2.AsyncClient
    ) -> metadata.Endpoints:
        if settings.authorization_url and settings.token_url:
            return metadata.Endpoints(settings.authorization_url, settings.token_url, settings.scopes)
        way = self.rules.oauth_address
        document = metadata.metadata_url(challenge, self.rules)
        found = None if document is None else await _fetched(metadata.challenged(document, address, way), http)
        for place in (way, "path"):
            found = found or await _fetched(metadata.discover(address, place), http)
        if found is None:
            raise Refused("the server publishes no OAuth metadata; give `oauth.authorizationUrl` and `oauth.tokenUrl`")
        return replace(
            found,
            authorization_url=settings.authorization_url or found.authorization_url,
            token_url=settings.token_url or found.token_url,
        )

    async def _client(
        self, settings: grants.OAuthConfig, found: metadata.Endpoints, server_url: str, http: httpx2.AsyncClient
    ) -> grants.OAuthConfig:
        if settings.client_id:
            return settings
        way, address = self.rules.oauth_address, found.registration_url
        if address is None:
            # Endpoints of the settings come without metadata, which may still name where clients are registered.
            server, is_strict = found.authorization_url, way == "path"
            steps = metadata.published(server, server_url, way) if is_strict else metadata.discover(server, way)
            other = await _fetched(steps, http)
            address = other.registration_url if other is not None else None
        if address is None:
            raise Refused("the server registers no clients; give `oauth.clientId`")
        address = metadata.allowed(address, server_url, way)
        response = await http.post(address, json=grants.registration(settings, self.rules))
        client = _object_in(response)
        if client is None or not client.get("client_id"):
            raise Refused(f"the registration of this client was answered with HTTP {response.status_code}")
        return replace(settings, client_id=client["client_id"], client_secret=client.get("client_secret"))

    async def _renew(self, config: ServerConfig, used: str) -> str | None:
        """Another token after a 401: one that was stored meanwhile, or a refreshed one."""
        stored = self.tokens.load().get(config.name)
        if stored is None:
            return None
        # Another request of this server has refreshed the token while this one was on its way.
        if stored.token.access_token != used:
            return stored.token.access_token
        return await self._refreshed(config, stored)

    async def _refreshed(self, config: ServerConfig, stored: grants.Credentials) -> str | None:
        """The token that a refresh gives; one that the token endpoint refuses is deleted."""
        step = grants.refresh_of(stored, grants.config_of(config.oauth), self.rules)
        if step is None:
            if not self.rules.keeps_spent_tokens:
                self.tokens.delete(config.name)
            return None
        try:
            async with httpx2.AsyncClient(timeout=HTTP_SECONDS) as http:
                answer = await _post(http, step.token_url, step.form)
        except Refused:
            self.tokens.delete(config.name)
            return None
        except httpx2.HTTPError:
            return None
        token = grants.token_of(answer, self.clock_ms(), stored.token)
        self.tokens.save(stored.model_copy(update={"token": token, "updated_at": int(self.clock_ms())}))
        return token.access_token


async def _challenge(http: httpx2.AsyncClient, address: str) -> str:
    """What the server says when it is asked without a token."""
    async with http.stream("GET", address, headers={"Accept": "text/event-stream, application/json"}) as response:
        return response.headers.get("www-authenticate", "") if response.status_code == 401 else ""


async def _fetched(steps: metadata.Fetch, http: httpx2.AsyncClient) -> metadata.Endpoints | None:
    """What comes of a search once each document that it wants is fetched."""
    document: Json = None
    while True:
        try:
            url = steps.send(document)
        except StopIteration as end:
            return end.value
        document = await _get(http, url)


async def _get(http: httpx2.AsyncClient, url: str) -> Json:
    try:
        response = await http.get(url, headers={"Accept": "application/json"})
        return response.json() if response.is_success else None
    except (httpx2.HTTPError, ValueError):
        return None


async def _post(http: httpx2.AsyncClient, url: str, form: grants.Form) -> JsonObject:
    """The tokens in the answer; raises Refused, and HTTPError where the server could not decide."""
    response = await http.post(
        url, content=encode_form(list(form.items())), headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    # A server in trouble has not judged the grant: its error must not delete the stored token.
    if response.is_server_error:
        response.raise_for_status()
    answer = _object_in(response)
    if answer is None or not answer.get("access_token"):
        raise Refused(f"the token endpoint answered with HTTP {response.status_code}")
    return answer


def _object_in(response: httpx2.Response) -> JsonObject | None:
    try:
        return object_of(response.json()) if response.is_success else None
    except ValueError:
        return None
