"""What the specification leaves free is no fault: odd ports, on the requirements by which they were accused."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from command import SECONDS, suite
from test_http_run import serving

from gemini_mcp.spec.values import Json, inside
from gemini_mcp_conformance.play.http_exchange import target
from gemini_mcp_conformance.play.http_wire import HttpWire
from gemini_mcp_conformance.play.session import Session
from gemini_mcp_conformance.play.wire import OnLine
from gemini_mcp_conformance.see.attribution import Pending, is_overdue
from gemini_mcp_conformance.see.observation import Line
from gemini_mcp_conformance.talk.steps import Request

ODDITY = str(Path(__file__).parents[1] / "ports" / "oddity.py")


class Written:
    """A wire that keeps what is written to it."""

    def __init__(self) -> None:
        self.data = b""

    async def write(self, data: bytes, seconds: float) -> bool:
        self.data += data
        return True


@pytest.mark.parametrize(
    ("name", "only"), [("schema-behind-reference", "tools:*"), ("errno-words", "error:not-started:remedy")]
)
def test_an_odd_port_is_not_accused(tmp_path: Path, name: str, only: str) -> None:
    done = suite(tmp_path, "run", "--strict", "--only", only, to=(sys.executable, ODDITY, name))
    assert (done.code, done.out[:4]) == (0, "What")


def test_nothing_is_written_between_the_pieces_of_a_message() -> None:
    async def sent() -> bytes:
        wire = Written()
        session = Session(cast(Any, wire), "2025-06-18")
        await asyncio.gather(session.send_bytes((b'{"a', b'": ', b"1}\n"), pause=0), session.send_bytes((b"{}\n",)))
        return wire.data

    assert asyncio.run(sent()) == b'{"a": 1}\n{}\n'


class Batch:
    """A wire to a port that sends two messages as an array."""

    async def open(self, on_line: OnLine, on_end: Callable[[], None]) -> None:
        on_line(b'[{"id": 1, "result": {}}, {"method": "notifications/message"}]', True)


@pytest.mark.parametrize(("revision", "heard"), [("2025-03-26", 2), ("2025-06-18", 1)])
def test_an_array_is_several_messages_in_the_revision_of_batches_alone(revision: str, heard: int) -> None:
    session = Session(cast(Any, Batch()), revision)
    asyncio.run(session.open())
    assert (len(session.lines), len(session.responses)) == (heard, heard - 1)


def test_a_stream_that_is_closed_before_its_answer_is_come_back_to() -> None:
    initialize = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    call = {"name": "chat", "arguments": {"prompt": "Hello", "cwd": "/nowhere"}}

    async def answered(url: str) -> Json:
        session = Session(HttpWire(url), "2025-11-25")
        await session.open()
        for number, (method, params) in enumerate((("initialize", initialize), ("tools/call", call)), 1):
            await session.send(session.request(number, method, params))
            await session.wait(lambda: len(session.responses) == number, SECONDS, number)  # noqa: B023
        session.wire.kill()
        await session.wire.closed()
        return session.responses[-1].message

    with serving((sys.executable, ODDITY, "http-polls"), "stdout") as url:
        answer = asyncio.run(answered(url))
    assert inside(answer, "result", "isError") is True


def test_an_address_is_asked_for_with_its_query() -> None:
    assert target(urlsplit("http://localhost/mcp?tenant=1")) == "/mcp?tenant=1"
    assert target(urlsplit("http://localhost")) == "/"


def test_a_call_that_an_earlier_conversation_cancelled_in_vain_may_tell_its_progress() -> None:
    call: Json = {"id": 0, "params": {"_meta": {"progressToken": "t"}}}
    again = Pending(cast(Any, None), 0, Request("tools/call"), call, 0)
    told = Line(0, 0.0, False, b"", {"method": "notifications/progress", "params": {"progressToken": "t"}})
    assert is_overdue(told, [call], [])
    assert not is_overdue(told, [], [])
    assert not is_overdue(told, [call], [again])


def test_a_port_that_closes_a_connection_before_it_has_read_a_body_has_not_ended() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.transport.abort()

    async def ended() -> list[bool]:
        async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
            wire = HttpWire(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp")
            await wire.ask("POST", b"{}", {})
            before = wire.ended
        await wire.ask("POST", b"{}", {})
        return [before, wire.ended]

    assert asyncio.run(ended()) == [False, True]
