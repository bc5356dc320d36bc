"""HTTP wire: sends each message to a port as a POST, and reads the answers as JSON or as events. Effect.

Every request is kept with its answer as a Web record, so that checks can judge statuses and headers. Only what HTTP
demands of any MCP client belongs here; the session interprets the messages.
"""

from __future__ import annotations

import asyncio
import json
import socket
from base64 import b64encode
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from functools import partial
from urllib.parse import urlsplit

import h11

from gemini_mcp.spec.values import Json, inside, table
from gemini_mcp_conformance.play.http_exchange import Asking, Exchanges
from gemini_mcp_conformance.play.wire import OnLine
from gemini_mcp_conformance.see.attribution import same_id
from gemini_mcp_conformance.see.events import Events
from gemini_mcp_conformance.see.observation import Web
from gemini_mcp_conformance.talk.clients import is_of_another, marked, plain
from gemini_mcp_conformance.talk.messages import SESSION, VERSION, encode
from gemini_mcp_conformance.talk.steps import AUTHORITY, OTHER_SESSION, PORT

ACCEPTED = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
NAMED_SINCE = "2025-06-18"
"""The revision of MCP that has brought the header of the revision."""


class Answer:
    """Whether the answer to a message has come among what was heard."""

    def __init__(self, message: Json, heard: Callable[[bytes], None]) -> None:
        request = table(message)
        self.id, self._heard = request.get("id"), heard
        self.is_awaited = {"method", "id"} <= set(request)
        self.is_given_up = False

    def heard(self, data: bytes) -> None:
        said = table(decoded(data))
        if "method" not in said and same_id(said.get("id"), self.id):
            self.is_awaited = False
        self._heard(data)


class HttpWire:
    """One session with a port at an address."""

    transport = "http"

    def __init__(self, url: str) -> None:
        self.url = url
        self._exchanges = Exchanges(url)
        self.web: list[Web] = []
        self._session: str | None = None
        self._other_session: str | None = None
        self._greeting: Json = None
        self._revision: str | None = None
        self._stateless: str | None = None
        self._pending: dict[str, asyncio.Task[Web]] = {}
        self._tasks: set[asyncio.Task[Web]] = set()
        """All that is under way; `_pending` knows only the latest request of an id."""
        self._answers: dict[str, Answer] = {}
        self._over = False
        self.fault: str | None = None
        """Why the latest request had no answer, as the system says it."""
        self._on_line: OnLine = lambda data, ended: None
        self._on_end: Callable[[], None] = lambda: None

    @property
    def ended(self) -> bool:
        """Whether the port has stopped taking connections."""
        return self._over

    @property
    def code(self) -> int | None:
        return None

    @property
    def pid(self) -> int | None:
        return None

    def is_over(self, id: Json) -> bool:
        """Whether no answer to the request of that id can come any more: its response has ended."""
        task = self._pending.get(_key(id))
        return self._over or (task is not None and task.done())

    async def open(self, on_line: OnLine, on_end: Callable[[], None]) -> None:
        self._on_line, self._on_end = on_line, on_end

    async def write(self, data: bytes, seconds: float) -> bool:
        """Post a message. A notification is waited for by those who read, so that the next message comes after it."""
        message = json.loads(data)
        if inside(message, "method") == "notifications/cancelled":
            self._give_up(inside(message, "params", "requestId"))
        is_theirs = is_of_another(message)
        said = plain(message) if is_theirs else message
        body = (encode(said) if is_theirs else data).strip()
        laid_out = _laid_out(body) if inside(message, "method") == "tools/call" else body
        headers = self.headers(said, self._other_session if is_theirs else self._session)
        answer = Answer(said, partial(self._heard, is_theirs))
        if answer.is_awaited:
            self._answers[_key(message["id"])] = answer
        task = self.begin(self.ask("POST", laid_out, headers, answer))
        if is_request := {"method", "id"} <= set(table(message)):
            self._pending[_key(message["id"])] = task
            task.add_done_callback(lambda _: self._on_end())
        if is_request or not self._exchanges.listens.is_set():
            await asyncio.sleep(0)
            return True
        done, _ = await asyncio.wait((task,), timeout=seconds)
        return bool(done)

    @property
    def tells_clients_apart(self) -> bool:
        """Whether another client can call: it needs no session, or has one."""
        return self._stateless is not None or self._other_session is not None

    def _kept(self, session: str | None) -> dict[str, str]:
        """What a session adds to each request: its id, and the revision, which clients of older ones do not name."""
        named = self._revision if self._revision is not None and self._revision >= NAMED_SINCE else None
        kept = {SESSION: session, "mcp-protocol-version": named}
        return {name: value for name, value in kept.items() if value is not None}

    def usual(self, message: Json) -> dict[str, str]:
        """The headers that we send with this message."""
        return self.headers(message, self._session)

    def headers(self, message: Json, session: str | None) -> dict[str, str]:
        """What a client sends with this message."""
        version = inside(message, "params", "_meta", VERSION)
        headers = dict(ACCEPTED)
        if isinstance(version, str):
            self._stateless = version
        # Messages without metadata, such as notifications, are still of the era of the requests before them.
        if version is None and self._stateless is not None and "method" in table(message):
            version = self._stateless
        if version is None:
            return {**headers, **self._kept(session)}
        headers |= {"mcp-protocol-version": str(version), "mcp-method": str(inside(message, "method"))}
        name = inside(message, "params", "name")
        return {**headers, "mcp-name": _header(name)} if isinstance(name, str) else headers

    def filled(self, headers: Mapping[str, str | None]) -> dict[str, str]:
        """The headers, with what their words stand for; one that stands for nothing is left out."""
        place = urlsplit(self.url)
        words = {AUTHORITY: place.netloc, PORT: str(place.port or ""), OTHER_SESSION: self._other_session}
        given = {name: value for name, value in headers.items() if value and words.get(value, "") is not None}
        for word, meant in words.items():
            given = {name: value.replace(word, meant or "") for name, value in given.items()}
        return given

    def begin(self, asking: Coroutine[None, None, Web]) -> asyncio.Task[Web]:
        """Go on with what asks, as long as anybody waits for it or the wire is there."""
        task = asyncio.create_task(asking)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def ask(
        self,
        verb: str,
        body: bytes,
        headers: Mapping[str, str],
        answer: Answer | None = None,
        host: str | None = None,
        stays: bool = False,
    ) -> Web:
        """Send one request and read its whole answer; whoever waits for it hears each message.

        Who stays also reads a stream that has no end.
        """
        record = Web(verb, dict(headers), decoded(body), elsewhere=host is not None)
        number = len(self.web)
        self.web.append(record)
        events, answer = Events(), answer or Answer(record.message, lambda data: None)

        def is_wanted() -> bool:
            """A port may close the connections of a session that is ended, and that of a request that is cancelled."""
            return not answer.is_given_up and all(web.verb != "DELETE" for web in self.web[number + 1 :])

        try:
            asking = Asking(record, body, events, answer.heard, is_wanted, host, stays)
            async for known in self._exchanges.of(asking):
                self.web[number] = known
                self._note(known)
            await self._resume(events, headers, answer)
        except (OSError, ValueError, h11.ProtocolError) as error:
            self.fault = _reason(error)
        if self.web[number].status is None and host is None and is_wanted():
            # A port that refuses a long body may close the connection before it has read it, and its answer is lost.
            self._over = not await self._exchanges.takes_connections()
        self._on_end()
        return self.web[number]

    async def _resume(self, events: Events, headers: Mapping[str, str], answer: Answer) -> None:
        """Come back to a stream that the port has closed before its answer, as the handshake's latest revision lets it.

        The suite looks for the answer for as long as it waits for it; whoever waits no more cancels this.
        """
        is_stream = True
        while is_stream and events.last_id and answer.is_awaited and "mcp-method" not in headers:
            await asyncio.sleep(events.retry)
            if not answer.is_awaited:
                return
            again = Web("GET", {**headers, "last-event-id": events.last_id.decode("latin-1")}, None)
            asking = Asking(again, b"", events, answer.heard, lambda: answer.is_awaited)
            async for known in self._exchanges.of(asking):
                is_stream = known.is_stream

    def _give_up(self, id: Json) -> None:
        """Come back for no answer to the request of that id, which is cancelled."""
        if (answer := self._answers.get(_key(id))) is not None:
            answer.is_awaited, answer.is_given_up = False, True

    async def abandon(self, id: Json) -> None:
        """Close the connection of a request, which cancels it in the stateless era."""
        task = self._pending.pop(_key(id), None)
        if task is not None:
            task.cancel()
            await asyncio.wait((task,), timeout=1)

    def listen(self, on: bool) -> None:
        """Stop reading on every connection, or go on."""
        if on:
            self._exchanges.listens.set()
        else:
            self._exchanges.listens.clear()

    def leave(self) -> None:
        """Nothing: there is no pipe."""

    async def end(self, how: str) -> None:
        """Do nothing: the suite did not start the port."""

    def stderr(self) -> bytes:
        return b""

    def kill(self) -> None:
        self._exchanges.listens.set()
        for task in self._tasks:
            task.cancel()

    async def closed(self) -> None:
        if self._session is not None:
            # MCP asks a client to end the session that it needs no more.
            with suppress(TimeoutError):
                await asyncio.wait_for(self.ask("DELETE", b"", self._kept(self._session)), 1)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._exchanges.close()

    def _heard(self, is_theirs: bool, data: bytes) -> None:
        message = decoded(data)
        if is_theirs and message is not None:
            self._on_line(encode(marked(message)).strip(), True)
            return
        spoken = inside(message, "result", "protocolVersion")
        self._revision = spoken if isinstance(spoken, str) else self._revision
        self._on_line(data, True)

    def _note(self, record: Web) -> None:
        """Keep the session that begins: the first is our own, if we need one. Each part of its answer is noted."""
        given = record.answered.get(SESSION)
        if inside(record.message, "method") != "initialize" or given is None:
            return
        if self._session is None and self._stateless is None:
            self._session, self._greeting = given, record.message
        elif record.message != self._greeting:
            self._other_session = given


def elsewhere() -> str | None:
    """An address of this machine other than loopback; nothing is sent to find it."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # RFC 5737 keeps this address for documentation. To connect a datagram socket only chooses the own address.
        probe.connect(("192.0.2.1", 9))
        address = str(probe.getsockname()[0])
        return None if address.startswith("127.") else address
    return None


def _reason(error: Exception) -> str:
    """Why a connection failed. Where a name has several addresses, asyncio tells their errors in its text only."""
    if isinstance(error, ConnectionRefusedError) or "Connect call failed" in str(error):
        return "the connection was refused"
    return str(error) or type(error).__name__


def _header(text: str) -> str:
    """A text as a header can carry it."""
    plain = text.isascii() and text.isprintable() and text == text.strip()
    return text if plain else f"=?base64?{b64encode(text.encode('utf-8', 'surrogatepass')).decode('ascii')}?="


def _laid_out(message: bytes) -> bytes:
    """The same JSON on several lines, which only stdio forbids."""
    return b"{\n" + message[1:-1] + b"\n}"


def decoded(data: bytes) -> Json:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _key(id: Json) -> str:
    return json.dumps(id)
