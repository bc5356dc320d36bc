"""The HTTP side of authentication: puts the token on requests, renews it on a 401, remembers refusals. Effect.

It decides nothing about tokens: `grants` says what to do, and the functions that it is given do it.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable

import httpx2

from gemini_mcp.host.oauth.grants import with_token_parameter

Renew = Callable[[str], Awaitable[str | None]]


class BearerAuth(httpx2.Auth):
    """Puts one server's token on its requests; keeps the challenge of a 401 and the reason of a failure."""

    def __init__(self, token: str | None = None, renew: Renew | None = None, parameter: str | None = None) -> None:
        self.challenge: str | None = None
        self.failure: str | None = None
        self._token = token
        self._renew = renew
        self._parameter = parameter

    def address(self, url: str) -> str:
        """The SSE address, with the token in its query where the configuration asks for that."""
        if self._parameter is None or self._token is None:
            return url
        return with_token_parameter(url, self._parameter, self._token)

    def transport(self) -> httpx2.AsyncBaseTransport:
        """A transport that reports broken connections here."""
        return _RecordingTransport(self)

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        self._authorize(request)
        response = yield request
        if response.status_code != 401:
            return
        fresh = await self._renew(self._token) if self._renew is not None and self._token is not None else None
        if fresh is not None:
            self._token = fresh
            self._authorize(request)
            response = yield request
        if response.status_code == 401:
            self.challenge = response.headers.get("www-authenticate", "")

    def _authorize(self, request: httpx2.Request) -> None:
        if self._token is not None and self._parameter is None:
            request.headers["Authorization"] = f"Bearer {self._token}"


class _RecordingTransport(httpx2.AsyncBaseTransport):
    def __init__(self, auth: BearerAuth) -> None:
        self._auth = auth
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.ConnectError as error:
            port = request.url.port or {"http": 80, "https": 443}.get(request.url.scheme, 0)
            self._auth.failure = f"connect ECONNREFUSED {request.url.host}:{port} ({error})"
            raise
        except httpx2.TimeoutException:
            self._auth.failure = "MCP error -32001: Request timed out"
            raise
        if response.status_code >= 400 and response.status_code not in (401, 404, 405):
            url = request.url
            self._auth.failure = f"HTTP {response.status_code} from {url.scheme}://{url.host}{url.path}"
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()
