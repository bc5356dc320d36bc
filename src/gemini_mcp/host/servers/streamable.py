"""A server over streamable HTTP: a POST for each message, and a stream of the server's own. Effect.

It follows the SDK inside Gemini CLI in what it takes for an answer. Only what concerns requests and responses of HTTP
belongs here; who a request is from is in `bearer`.
"""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio
import httpx2
from mcp_types import JSONRPCMessage

from gemini_mcp.host.servers import failure, posting, traffic
from gemini_mcp.host.servers.channel import Outgoing, Streams, channel
from gemini_mcp.host.servers.failure import Failure
from gemini_mcp.host.servers.posting import (
    JSON_TYPE,
    LONGEST_EVENT,
    STREAM_TYPE,
    Remote,
    Unanswered,
    outgoing,
    posted,
    told,
)
from gemini_mcp.host.servers.traffic import SHOWN
from gemini_mcp.spec.values import Json, JsonObject, is_array

SESSION_HEADER = "mcp-session-id"
ACCEPTED, NO_STREAM = 202, 405
"""What answers a notification, and how a server says that it has no stream of its own."""

RETRIES, RETRY_SECONDS = 2, 1.0
"""How often a stream that ended is asked for again in vain, and how long after its end."""

STREAM_SECONDS = 0.5
"""How long a server may take to open its own stream, or to refuse it, before it is asked for its lists."""

PAUSE = 0.02
"""Seconds between two looks for an answer."""

END_SECONDS = 2.0
"""How long a server may take to forget a session."""


@asynccontextmanager
async def streams(url: str, http: httpx2.AsyncClient, hang_up: Callable[[Failure], None]) -> AsyncGenerator[Streams]:
    """The two streams of a server at an address; leaving the context ends its session.

    A request without an answer gets an error, whose data is the Failure. `hang_up` is told why Gemini CLI would not go
    on with the server.
    """
    async with channel() as own, anyio.create_task_group() as tasks:
        server = _Server(url, http, hang_up, own.incoming, tasks)
        tasks.start_soon(server.write, own.outgoing)
        try:
            yield own.session
        finally:
            tasks.cancel_scope.cancel()
            with anyio.move_on_after(END_SECONDS, shield=True), suppress(httpx2.HTTPError):
                await server.end()


@dataclass
class _Server(Remote):
    """What is known of the server while it is talked to."""

    is_listening: bool = False
    """Whether the server's own stream is open, or may yet be."""
    is_followed: anyio.Event = field(default_factory=anyio.Event)
    """Whether it is known if the server has a stream of its own."""
    retry_seconds: float = RETRY_SECONDS

    async def write(self, messages: Outgoing) -> None:
        """Send each message. A request does not keep the next ones waiting, anything else does."""
        async for sent in outgoing(messages, self.known, self.headers):
            if "method" in sent and "id" in sent:
                self.tasks.start_soon(self._request, sent)
            else:
                await self._notify(sent)

    async def end(self) -> None:
        """Let the server forget the session."""
        if SESSION_HEADER in self.headers:
            await self.http.delete(self.url, headers=self.headers)

    async def _request(self, message: JsonObject) -> None:
        try:
            await self._ask(message)
        except Unanswered as error:
            if self.known.is_waiting(message["id"]):
                await self.send(error.instead(message["id"]))

    async def _ask(self, message: JsonObject) -> None:
        """Send a request and hand on what comes back; raises Unanswered."""
        last_event: str | None = None
        async with self._sent(message) as response:
            kind = response.headers.get("content-type", "")
            if not response.is_success:
                raise await posting.refused(response)
            if response.status_code == ACCEPTED:
                pass
            elif STREAM_TYPE in kind:
                last_event = await self._read(response)
            elif JSON_TYPE in kind:
                await self._take_body(await response.aread())
            else:
                reason = f"Streamable HTTP error: Unexpected content type: {kind or 'null'}"
                raise Unanswered(reason, failure.not_mcp(f"it came as {kind or 'nothing'}"))
        if last_event:
            await self._resume(last_event, lambda: self.known.is_waiting(message["id"]))
        # What was only accepted may come in the stream of the server's own.
        while self.is_listening and self.known.is_waiting(message["id"]):  # noqa: ASYNC110
            await anyio.sleep(PAUSE)
        if self.known.is_waiting(message["id"]):
            raise Unanswered("MCP error -32001: Request timed out", failure.unanswered(message["method"]))

    async def _notify(self, message: JsonObject) -> None:
        with suppress(Unanswered):
            async with self._sent(message) as response:
                is_taken = response.status_code == ACCEPTED
            if is_taken and message.get("method") == "notifications/initialized":
                self.tasks.start_soon(self._listen)
                with anyio.move_on_after(STREAM_SECONDS):
                    await self.is_followed.wait()

    @asynccontextmanager
    async def _sent(self, message: JsonObject) -> AsyncGenerator[httpx2.Response]:
        headers = {**self.headers, "accept": f"{JSON_TYPE}, {STREAM_TYPE}"}
        async with posted(self.http, self.url, headers, message) as response:
            session = response.headers.get(SESSION_HEADER)
            if session:
                self.headers[SESSION_HEADER] = session
            yield response

    async def _listen(self) -> None:
        """Follow the stream of the server's own, if it has one."""
        self.is_listening = True
        last_event = await self._follow("")
        if last_event is not None:
            await self._resume(last_event, lambda: True)
        self.is_listening = False

    async def _resume(self, last_event: str, is_wanted: Callable[[], bool]) -> None:
        """Ask for what comes after an event, again whenever that stream ends."""
        tries = 0
        while tries < RETRIES and is_wanted():
            await anyio.sleep(self.retry_seconds)
            came = await self._follow(last_event)
            tries, last_event = (tries + 1, last_event) if came is None else (0, came)

    async def _follow(self, last_event: str) -> str | None:
        """Read a stream that nothing was posted for; the id of its last event, or None where there is no stream."""
        headers = {**self.headers, "accept": STREAM_TYPE, **({"last-event-id": last_event} if last_event else {})}
        try:
            async with self.http.stream("GET", self.url, headers=headers, timeout=None) as response:
                if response.is_success:
                    self.is_followed.set()
                    return await self._read(response, last_event)
                if response.status_code != NO_STREAM:
                    self.hang_up(failure.no_stream(f"answered HTTP {response.status_code} to"))
        except httpx2.HTTPError as error:
            self.hang_up(failure.no_stream(f"broke off ({told(error)}) at"))
        finally:
            self.is_followed.set()
        return None

    async def _read(self, response: httpx2.Response, last_event: str = "") -> str:
        """Hand on the messages of a stream until it ends; the id of its last event."""
        with suppress(httpx2.HTTPError, httpx2.SSEError):
            async for event in httpx2.EventSource(response, max_event_size=LONGEST_EVENT):
                self.retry_seconds = self.retry_seconds if event.retry is None else event.retry / 1000
                # The SDK inside Gemini CLI does not see an event without data.
                last_event = (event.data and event.id) or last_event
                if event.data and event.event == "message":
                    await self.take(event.data)
        return last_event

    async def _take_body(self, body: bytes) -> None:
        """Hand on what answers a request: a message or a list of them; raises Unanswered."""
        text = body.decode("utf-8", "replace")
        try:
            data: Json = json.loads(text)
            messages = [traffic.message_of(each) for each in (data if is_array(data) else [data])]
            whole = [traffic.parsed(each) for each in messages]
        except (ValueError, RecursionError) as error:
            why = failure.not_mcp(f"{text[:SHOWN]!r} is no message")
            self.hang_up(why)
            raise Unanswered(str(error), why) from error
        for message, parsed in zip(messages, whole, strict=True):
            await self._hand_on(message, parsed)

    async def _hand_on(self, message: JsonObject, parsed: JSONRPCMessage) -> None:
        if self.known.is_stray(message):
            self.stray(json.dumps(message)[:SHOWN])
        await self.send(parsed)
