"""What the suite reads in a stream of server-sent events, which a port may write in many ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_mcp_conformance.see.events import Events

WHOLE = b'{"a": 1,\n"b": 2}'


def heard(*pieces: bytes) -> list[bytes]:
    events = Events()
    return [data for piece in pieces for data in events.feed(piece)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@given(size=st.integers(1, 60))
def test_every_end_of_a_line_is_read_wherever_a_stream_is_cut(end: bytes, size: int) -> None:
    lines = (b": comment", b"id: 7", b'data: {"a": 1,', b'data:"b": 2}', b"", b"data:", b"", b"data: {}", b"", b"")
    stream = end.join(lines)
    assert heard(*(stream[at : at + size] for at in range(0, len(stream), size))) == [WHOLE, b"{}"]


def test_a_byte_order_mark_at_the_start_is_passed_over() -> None:
    assert heard(b"\xef\xbb\xbfdata: {}\n\n") == [b"{}"]


def test_an_event_of_another_name_is_no_message() -> None:
    assert heard(b"event: heartbeat\ndata: well\n\nevent: message\ndata: {}\n\ndata: []\n\n") == [b"{}", b"[]"]


def test_an_event_that_does_not_end_is_none() -> None:
    assert heard(b"data: {}\n") == []
