"""The streams that a server is started with, whatever state they are in."""

import fcntl
import json
import os
import sys
import termios
from collections.abc import Sequence

import anyio
import anyio.to_thread
import pytest
from client import COMMAND, HANDSHAKE, PATIENCE, Place, Server, answer, play, text, wait_until

from gemini_mcp.transport import descriptors
from gemini_mcp.transport.descriptors import MOST_UNSENT, Receiver, Sender

CROWD = """
import os, resource, sys
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
for _ in range(1100):
    os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)
os.execv(sys.argv[1], sys.argv[1:])
"""


def started_by(place: Place, *starter: str, flags: Sequence[str] = ()) -> Server:
    """A server that another program starts."""
    server = Server(place, (*starter, *COMMAND, *flags), place.environ(), place.root / "log")
    place.servers.append(server)
    return server


def test_a_server_with_many_inherited_descriptors_serves(place: Place) -> None:
    place.fake.load([play(answer("x" * 100_000))])
    server = started_by(place, sys.executable, "-c", CROWD)
    server.greet()
    assert text(server.chat()) == "x" * 100_000
    assert server.end() == 0


@pytest.mark.parametrize("flags", [(), ("--transport", "http", "--port", "0")])
def test_a_server_that_may_open_no_file_says_so(place: Place, flags: Sequence[str]) -> None:
    server = started_by(place, "/bin/sh", "-c", 'ulimit -n 7; exec "$@"', "-", flags=flags)
    assert server.exit() == 2
    assert server.stderr().splitlines()[-1].startswith("gemini-mcp-server: No more files can be opened.")


@pytest.mark.parametrize(("closed", "name"), [("<&-", "stdin"), (">&-", "stdout")])
def test_a_closed_stream_is_told(place: Place, closed: str, name: str) -> None:
    server = started_by(place, "/bin/sh", "-c", f'exec "$@" {closed}', "-")
    assert server.exit() == 2
    assert server.stderr().startswith(f"gemini-mcp-server: {name} is closed")


def test_a_closed_stderr_changes_nothing(place: Place) -> None:
    place.fake.load([play({"stderr": "noise"}, answer("a"))])
    server = started_by(place, "/bin/sh", "-c", 'exec "$@" 2>&-', "-", flags=("--log-level", "debug"))
    server.greet()
    assert text(server.chat()) == "a"
    assert server.end() == 0


def test_where_stderr_is_closed_the_client_is_sent_no_error_of_the_operator(place: Place) -> None:
    server = started_by(place, "/bin/sh", "-c", 'exec "$@" 2>&-', "-", flags=("--port", "1"))
    assert (server.exit(), server.unread()) == (2, [])


@pytest.mark.parametrize(
    ("redirected", "told"),
    [
        (">/dev/full", "stdout cannot be written: No space left on device"),
        ("1</dev/null", "stdout cannot be written: Bad file descriptor"),
        ("0>/dev/null", "stdin cannot be read: Bad file descriptor"),
    ],
)
def test_a_stream_that_fails_is_told_in_one_sentence(place: Place, redirected: str, told: str) -> None:
    server = started_by(place, "/bin/sh", "-c", f'exec "$@" {redirected}', "-")
    if "stdout" in told:
        server.request("ping")
    assert server.exit() == 2
    assert server.stderr() == f"gemini-mcp-server: {told}.\n"


def test_streams_may_be_files(place: Place) -> None:
    requests, answers = place.root / "requests", place.root / "answers"
    hello = [*HANDSHAKE, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    requests.write_text("".join(json.dumps(message) + "\n" for message in hello), encoding="utf-8")
    server = started_by(place, "/bin/sh", "-c", f'exec "$@" <{requests} >{answers}', "-")
    assert (server.exit(), server.stderr()) == (0, "")
    assert [json.loads(line)["id"] for line in answers.read_text(encoding="utf-8").splitlines()] == [1, 2]


async def test_what_nobody_takes_is_left_to_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptors, "BACKLOG", 2)
    monkeypatch.setattr(descriptors, "CHUNK", 1)
    reading, writing = os.pipe()
    os.write(writing, b"0123456789")
    receiver = Receiver(reading)
    with anyio.fail_after(PATIENCE):
        for number, left in enumerate((8, 7, 6)):
            await anyio.to_thread.run_sync(wait_until, lambda left=left: unread(reading) == left)
            assert await receiver.chunk() == b"%d" % number
        os.close(writing)
        while await receiver.chunk():
            pass
    os.close(reading)


async def test_a_sender_is_full_until_the_client_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptors, "MOST_UNSENT", 1000)
    reading, writing = os.pipe()
    sender = Sender(writing)
    sender.send(b"x" * (1 << 20))
    assert sender.is_full
    with anyio.fail_after(PATIENCE):
        left = 1 << 20
        while left:
            left -= len(await anyio.to_thread.run_sync(os.read, reading, left))
        await anyio.to_thread.run_sync(wait_until, lambda: not sender.is_full)
    os.close(reading)


def test_a_client_that_only_asks_and_never_reads_can_leave(place: Place) -> None:
    server = place.start()
    size = len(json.dumps(server.ask("tools/list")))
    server.write(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n' * (MOST_UNSENT // size + 2000))
    assert server.end() == 0


def unread(pipe: int) -> int:
    """How many bytes are in a pipe."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)
