"""What the specification leaves free is no fault: odd ports, on the requirements by which they were accused."""

import asyncio
import sys
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from command import suite

from gemini_mcp_conformance.play.http_exchange import target
from gemini_mcp_conformance.play.session import Session

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


def test_an_address_is_asked_for_with_its_query() -> None:
    assert target(urlsplit("http://localhost/mcp?tenant=1")) == "/mcp?tenant=1"
    assert target(urlsplit("http://localhost")) == "/"
