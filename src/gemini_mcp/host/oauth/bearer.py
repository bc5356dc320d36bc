"""The HTTP side of authentication: puts the token on requests, renews it on a 401, remembers refusals. Effect.

It decides nothing about tokens: `grants` says what to do, and the functions that it is given do it.
"""

import json
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

import httpx2

from gemini_mcp.host.oauth.grants import with_token_parameter
from gemini_mcp.host.servers import failure
from gemini_mcp.host.servers.failure import Failure
from gemini_mcp.spec.values import table

MOST_REDIRECTS = 20
"""As many as the Fetch Standard allows."""

Renew = Callable[[str], Awaitable[str | None]]


class BearerAuth(httpx2.Auth):
    """Puts one server's token on its requests; keeps a 401's challenge, and why it failed."""

    def __init__(self, token: str | None = None, renew: Renew | None = None, parameter: str | None = None) -> None:
        self.challenge: str | None = None
        self.reason: str | None = None
        self.failure: Failure | None = None
        self.refused_notice: Failure | None = None
        self._token = token
        self._renew = renew
        self._parameter = parameter

    def address(self, url: str) -> str:
        """The SSE address, with the token in its query where the configuration asks for that."""
        if self._parameter is None or self._token is None:
            return url
        return with_token_parameter(url, self._parameter, self._token)

    def transport(self, withheld: frozenset[str] = frozenset()) -> httpx2.AsyncBaseTransport:
        """A transport that reports broken connections here, and withholds those headers."""
        return _RecordingTransport(self, withheld)

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
    def __init__(self, auth: BearerAuth, withheld: frozenset[str]) -> None:
        self._auth = auth
        self._withheld = withheld
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await self._follow(request)
        except httpx2.ConnectError as error:
            self._note_unconnected(request, error)
            raise
        except httpx2.TimeoutException:
            seconds = request.extensions.get("timeout", {}).get("connect") or 0
            self._note("MCP error -32001: Request timed out", failure.timed_out("initialize", seconds))
            raise
        if response.status_code != 401:
            await self._judge(request, response)
        return response

    async def _follow(self, request: httpx2.Request) -> httpx2.Response:
        """The response, after redirects that keep method and body, as Node's `fetch` follows them."""
        request = _copied(request, request.url, self._withheld)
        response = await self._inner.handle_async_request(request)
        for _ in range(MOST_REDIRECTS):
            location = response.headers.get("location")
            if response.status_code not in (307, 308) or location is None:
                break
            await response.aclose()
            request = _redirected(request, request.url.join(location))
            response = await self._inner.handle_async_request(request)
        return response

    async def _judge(self, request: httpx2.Request, response: httpx2.Response) -> None:
        """Remember a response that no connection comes of."""
        code, is_sse = response.status_code, _is_sse(request)
        # A GET for the optional stream of streamable HTTP may fail without harm.
        if request.method != "POST" and not is_sse:
            return
        if code >= 400:
            await response.aread()
            text = response.text
            # The sentences are those of the MCP SDK that Gemini CLI uses.
            posted = f"Error POSTing to endpoint (HTTP {code}): {text}"
            reason = f"SSE error: Non-200 status code ({code})" if is_sse else posted
            self._note(reason, failure.http_status(code, text))
            if request.method == "POST" and "id" not in table(json.loads(request.content)):
                self._auth.refused_notice = self._auth.failure

    def _note(self, reason: str, why: Failure) -> None:
        self._auth.reason, self._auth.failure = reason, why

    def _note_unconnected(self, request: httpx2.Request, error: httpx2.ConnectError) -> None:
        port = request.url.port or {"http": 80, "https": 443}.get(request.url.scheme, 0)
        where = f"{request.url.host}:{port}"
        detail = "" if not _is_sse(request) else f"SSE error: TypeError: fetch failed: connect ECONNREFUSED {where}"
        causes = [str(error), *(str(cause) for cause in _causes(error))]
        if any("SSL" in text or "certificate" in text for text in causes):
            why = failure.tls(causes[-1])
        elif any(isinstance(cause, socket.gaierror) for cause in _causes(error)) or "Name or service" in causes[0]:
            why = failure.no_host(request.url.host)
        elif any(isinstance(cause, ConnectionRefusedError) for cause in _causes(error)) or "refused" in causes[0]:
            why = failure.refused(where)
        else:
            why = failure.broken(causes[0])
        self._note(detail or "fetch failed", why)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _is_sse(request: httpx2.Request) -> bool:
    """Whether the request opens the stream of the older transport; a streamable one has said hello before."""
    return request.method == "GET" and "mcp-protocol-version" not in request.headers


def _redirected(request: httpx2.Request, url: httpx2.URL) -> httpx2.Request:
    # The Fetch Standard takes credentials off a request that is redirected to another origin.
    is_same = (url.scheme, url.host, url.port) == (request.url.scheme, request.url.host, request.url.port)
    return _copied(request, url, frozenset() if is_same else frozenset({"authorization", "cookie"}))


def _copied(request: httpx2.Request, url: httpx2.URL, dropped: frozenset[str]) -> httpx2.Request:
    """The request to that address, without the dropped headers."""
    left_out = {name.encode() for name in ("host", *dropped)}
    # As bytes: httpx would take texts for ASCII.
    kept = [(name, value) for name, value in request.headers.raw if name.lower() not in left_out]
    headers = [(b"host", url.netloc), *kept]
    return httpx2.Request(
        request.method, url, headers=headers, stream=request.stream, extensions=dict(request.extensions)
    )


def _causes(error: BaseException) -> Sequence[BaseException]:
    """The errors that led to an error, the nearest first."""
    inner = error.__cause__ or error.__context__
    grouped: Sequence[BaseException] = getattr(error, "exceptions", ())
    found = (*grouped, *(() if inner is None else (inner,)))
    return tuple(deeper for one in found for deeper in (one, *_causes(one)))
