"""Session: one connection to a port, from its greeting to its end. Records every line in order; judges nothing. Effect.

What the protocol demands of any client is done here: ids, metadata of the stateless era, answers to requests.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile

from gemini_mcp.spec.values import Json, decode, items
from gemini_mcp_conformance.play.http_wire import HttpWire
from gemini_mcp_conformance.play.lateness import unhurried
from gemini_mcp_conformance.play.wire import Wire
from gemini_mcp_conformance.see.observation import Line
from gemini_mcp_conformance.talk.messages import UNKNOWN_METHOD, encode, notification, request, stateless_params

BATCHES = "2025-03-26"
"""The one revision in which either side may send several messages as an array; a client has to understand them."""
CANCELS: tuple[Json, ...] = (
    {},
    {"reason": "The suite cancels this call."},
    {"reason": "", "_meta": {"example.org/note": 1}},
    {"reason": 'Too slow:\n"서울" 👍'},
)
"""What a cancellation may hold beside the id, in turn: MCP demands none of it, so a port must understand each."""


class Session:
    """Lines to and from one port."""

    def __init__(self, wire: Wire, revision: str) -> None:
        self.wire = wire
        self.lines: list[Line] = []
        self.revision = revision
        self.is_stateless = False
        self.cancelled: list[Json] = []
        """The ids of cancelled requests, which may still be answered."""
        self.running_on: list[Mapping[str, Json]] = []
        """The cancelled requests whose gemini has not ended; the port may still tell their progress."""
        self._responses: list[Line] = []
        self._last_id = 0
        self._reserved: set[int] = set()
        self._news = asyncio.Event()
        self._began = time.monotonic()
        self._tasks: set[asyncio.Task[bool]] = set()
        self._in_pieces = asyncio.Lock()
        self._held: list[bytes] = []

    async def open(self) -> None:
        await self.wire.open(self._on_line, self._news.set)

    def next_id(self) -> int:
        self._last_id = next(id for id in itertools.count(self._last_id + 1) if id not in self._reserved)
        return self._last_id

    def reserve(self, ids: Iterable[Json]) -> None:
        """Give none of these ids to another request."""
        self._reserved |= {id for id in ids if type(id) is int}

    @property
    def unheeded(self) -> int:
        """The bytes that were sent since the port last wrote a line."""
        return sum(len(line.data) for line in takewhile(lambda line: line.sent, reversed(self.lines)))

    @property
    def responses(self) -> list[Line]:
        """Every response so far."""
        return self._responses

    @property
    def is_heard(self) -> bool:
        """Whether the port has said anything."""
        return any(not line.sent for line in self.lines)

    def now(self) -> float:
        return time.monotonic() - self._began

    def request(self, id: Json, method: str, params: Json, bare: bool = False) -> Mapping[str, Json]:
        """The message of a request in the era of this session."""
        is_bare = bare or not self.is_stateless
        return request(id, method, params if is_bare else stateless_params(params, self.revision))

    async def send(self, message: Json, seconds: float = 10, escaped: bool = False) -> Line:
        return await self.send_bytes((encode(message, escaped),), message, seconds)

    def hold(self, data: bytes, message: Json) -> Line:
        """Keep a line until the next one is sent, and then write both at once."""
        self._held.append(data)
        return self._record(data.removesuffix(b"\n"), True, True, message)

    async def send_bytes(
        self, pieces: Iterable[bytes], message: Json = None, seconds: float = 10, pause: float = 0.01
    ) -> Line:
        """Write the pieces with a pause between them; together they count as one line."""
        *begun, last = pieces
        # A port may ask something at any time, and an answer must not come between the pieces.
        async with self._in_pieces:
            line = self._record(b"".join((*begun, last)).removesuffix(b"\n"), True, True, message)
            if self._held:
                begun, last, self._held = [], b"".join((*self._held, *begun, last)), []
            for piece in begun:
                if not await self.wire.write(piece, seconds):
                    return line
                await asyncio.sleep(pause)
        await self.wire.write(last, seconds)
        return line

    async def cancel(self, id: Json) -> None:
        """Cancel a request as a client of this era and transport does."""
        self.cancelled.append(id)
        if self.is_stateless and isinstance(self.wire, HttpWire):
            await self.wire.abandon(id)
            return
        more = CANCELS[len(self.cancelled) % len(CANCELS)]
        params = {"requestId": id, **more}
        # The request has written its id as it is. In JSON both are the same id.
        await self.send(notification("notifications/cancelled", params), escaped=True)

    async def wait(self, condition: Callable[[], bool], seconds: float, id: Json = None) -> bool:
        """Whether the condition came true in time, and before the port ended or closed the request of that id.

        Only lines can change it.
        """
        deadline = time.monotonic() + unhurried(seconds)
        while not condition():
            left = deadline - time.monotonic()
            if self.wire.is_over(id) or left <= 0:
                return condition()
            self._news.clear()
            try:
                async with asyncio.timeout(left):
                    await self._news.wait()
            except TimeoutError:
                return condition()
        return True

    async def wait_for_end(self, seconds: float) -> bool:
        """Whether the port has ended in time."""
        return await self.wait(lambda: self.wire.ended, seconds)

    def _on_line(self, data: bytes, ended: bool) -> None:
        message = decode(data)
        batch = items(message) if self.revision == BATCHES else ()
        for each in batch:
            self._hear(self._record(encode(each).removesuffix(b"\n"), False, ended, each))
        if not batch:
            self._hear(self._record(data, False, ended, message))

    def _hear(self, line: Line) -> None:
        if line.is_response:
            self._responses.append(line)
        elif "method" in line.table and line.table.get("id") is not None:
            task = asyncio.ensure_future(self._reply(line))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._news.set()

    async def _reply(self, line: Line) -> bool:
        """Answer a ping; the suite offers nothing else."""
        reply: dict[str, Json] = {"jsonrpc": "2.0", "id": line.table["id"]}
        if line.table["method"] == "ping":
            reply["result"] = {}
        else:
            reply["error"] = {"code": UNKNOWN_METHOD, "message": "Method not found"}
        await self.send(reply)
        return True

    def _record(self, data: bytes, sent: bool, ended: bool, message: Json) -> Line:
        line = Line(len(self.lines), self.now(), sent, data, message, ended)
        self.lines.append(line)
        return line
