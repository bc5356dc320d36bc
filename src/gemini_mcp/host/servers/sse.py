"""A server over the older transport of HTTP: one stream from it, which says where to post. Effect.

It follows the SDK inside Gemini CLI in what it takes for a message. Who a request is from is in `bearer`.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2

from gemini_mcp.host.servers import failure, posting
from gemini_mcp.host.servers.channel import Outgoing, Streams, channel
from gemini_mcp.host.servers.failure import Failure
from gemini_mcp.host.servers.posting import LONGEST_EVENT, STREAM_TYPE, Remote, Unanswered, outgoing, posted
from gemini_mcp.spec.values import JsonObject


class NoStream(Exception):
    """The server gives no stream, or none that says where to post: in the words of Gemini CLI, and why."""

    def __init__(self, reason: str, why: Failure) -> None:
        super().__init__(reason)
        self.why = why


@asynccontextmanager
async def streams(
    url: str, http: httpx2.AsyncClient, seconds: float, hang_up: Callable[[Failure], None]
) -> AsyncGenerator[Streams]:
    """The two streams of a server at an address; raises NoStream.

    The server has so many seconds to say where to post. `hang_up` is told why Gemini CLI would not go on with it.
    """
    headers, limits = {"accept": STREAM_TYPE}, httpx2.Timeout(seconds, read=None)
    async with channel() as own, http.stream("GET", url, headers=headers, timeout=limits) as response:
        _check(response)
        async with anyio.create_task_group() as tasks:
            server = _Server(url, http, hang_up, own.incoming, tasks)
            tasks.start_soon(server.read, response)
            tasks.start_soon(server.write, own.outgoing)
            await server.be_ready(seconds)
            try:
                yield own.session
            finally:
                tasks.cancel_scope.cancel()


def _check(response: httpx2.Response) -> None:
    """Raise NoStream where the response is none."""
    kind = response.headers.get("content-type", "")
    if response.status_code != 200:
        raise NoStream(
            f"SSE error: Non-200 status code ({response.status_code})", failure.http_status(response.status_code, "")
        )
    if not kind.startswith(STREAM_TYPE):
        reason = f'SSE error: Invalid content type, expected "{STREAM_TYPE}"'
        raise NoStream(reason, failure.not_mcp(f"it came as {kind or 'nothing'}"))


@dataclass
class _Server(Remote):
    """What is known of the server while it is talked to."""

    endpoint: str = ""
    is_ready: anyio.Event = field(default_factory=anyio.Event)
    """Whether the server has said where to post, or will not say it any more."""

    async def be_ready(self, seconds: float) -> None:
        """Wait until the server has said where to post; raises NoStream."""
        with anyio.move_on_after(seconds):
            await self.is_ready.wait()
        if not self.is_ready.is_set():
            raise NoStream("MCP error -32001: Request timed out", failure.timed_out("GET", seconds))
        if not self.endpoint:
            raise NoStream("SSE error: undefined", failure.stream_ended())

    async def read(self, response: httpx2.Response) -> None:
        """Hand on the messages of the stream until it ends."""
        async with self.out:
            with suppress(httpx2.HTTPError, httpx2.SSEError):
                async for event in httpx2.EventSource(response, max_event_size=LONGEST_EVENT):
                    if event.event == "endpoint":
                        self._post_to(urljoin(self.url, event.data))
                    elif event.event == "message" and event.data:
                        await self.take(event.data)
            self.hang_up(failure.stream_ended())
            self.is_ready.set()

    async def write(self, messages: Outgoing) -> None:
        """Post each message; none keeps the next ones waiting."""
        await self.is_ready.wait()
        async for sent in outgoing(messages, self.known, self.headers):
            self.tasks.start_soon(self._post, sent)

    def _post_to(self, address: str) -> None:
        origin, own = (urlsplit(each)[:2] for each in (address, self.url))
        if origin != own:
            shown = "://".join(origin)
            why = failure.not_mcp(f"it says to post to {shown}, another origin")
            raise NoStream(f"Endpoint origin does not match connection origin: {shown}", why)
        self.endpoint = address
        self.is_ready.set()

    async def _post(self, message: JsonObject) -> None:
        try:
            async with posted(self.http, self.endpoint, self.headers, message) as response:
                if not response.is_success:
                    raise await posting.refused(response)
        except Unanswered as error:
            if self.known.is_waiting(message.get("id")):
                await self.send(error.instead(message["id"]))
