"""What one client of an HTTP server may take, with real servers on loopback: the others go on, and nothing is lost."""

import json
import signal
import socket
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection, HTTPException

import pytest
from client import COMMAND, HANDSHAKE, PATIENCE, Place, Server, answer, play, text, wait_until
from test_http import Address, Events, chat, request, stateless

from gemini_mcp.operator.options import Options
from gemini_mcp.spec.values import Json
from gemini_mcp.transport.connections import listen
from gemini_mcp.transport.guard import access, rejection

FEW_FILES = ("sh", "-c", 'ulimit -n 64; exec "$@"', "sh", *COMMAND)


@contextmanager
def listening(place: Place, *flags: str) -> Generator[Address]:
    with place.listening("http", *flags) as (server, port):
        yield Address(server, port)


def connect(address: Address) -> socket.socket:
    return socket.create_connection(("127.0.0.1", address.port), PATIENCE)


def test_a_connection_sends_each_packet_at_once() -> None:
    with (
        listen("127.0.0.1", 0, 1) as listener,
        socket.create_connection(listener.getsockname()),
        closing(listener.accept()[0]) as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_one_session_too_many_is_refused_until_another_ends(place: Place) -> None:
    with listening(place, "--max-sessions", "2") as address:
        first, second = address.greet(), address.greet()
        assert address.post(HANDSHAKE[0])[0] == 503
        assert address.post(request("tools/list"), **second)[0] == 200
        with address.response("DELETE", **first) as response:
            assert response.status == 200
        assert address.post(request("tools/list"), **address.greet())[0] == 200


def test_one_event_stream_too_many_is_refused_until_another_ends(place: Place) -> None:
    with place.listening("sse", "--max-sessions", "1") as (server, port):
        address = Address(server, port)
        with closing(Events(address)), address.response("GET", path="/sse") as response:
            assert response.status == 503

        def is_free() -> bool:
            with address.response("GET", path="/sse") as response:
                return response.status == 200

        wait_until(is_free)


def test_a_session_that_nobody_uses_ends(place: Place) -> None:
    with listening(place, "--session-timeout", "0.1", "--max-sessions", "1") as address:
        headers = address.greet()
        wait_until(lambda: address.post(HANDSHAKE[0])[0] == 200)
        assert address.post(request("tools/list"), **headers)[0] == 404


HALF = {
    "nothing": b"",
    "headers": b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n",
    "body": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 99\r\n\r\n{",
}


@pytest.mark.parametrize("half", HALF.values(), ids=HALF)
def test_a_request_that_never_comes_is_not_waited_for(place: Place, half: bytes) -> None:
    with listening(place, "--request-timeout", "0.2") as address, closing(connect(address)) as connection:
        connection.sendall(half % address.port if b"%d" in half else half)
        assert connection.recv(1) == b""


def test_a_call_may_take_longer_than_its_request(place: Place) -> None:
    place.fake.load([play({"wait": 0.6}, answer("late"))])
    with listening(place, "--request-timeout", "0.2") as address:
        body, headers = stateless(chat("hello"))
        assert text(address.post(body, **headers)[1]["result"]) == "late"


def test_a_client_that_reads_nothing_is_cut_off(place: Place) -> None:
    place.fake.load([play(answer("x" * (20 << 20)))])
    with listening(place, "--request-timeout", "0.2") as address:
        body, headers = stateless(chat("hello"))
        with address.asking(body, **headers) as connection:
            place.fake.wait_for_calls(1, PATIENCE)
            wait_until(lambda: open_connections(address) == 0)
            with pytest.raises((ConnectionError, HTTPException)):
                connection.getresponse().read()


def open_connections(address: Address) -> int:
    """How many connections the server holds, by the kernel's table."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table]
    return sum(row[1].endswith(f":{address.port:04X}") and row[3] == "01" for row in rows)


def test_a_connection_too_many_waits_for_another_to_end(place: Place) -> None:
    with listening(place, "--max-connections", "2", "--log-level", "info") as address, ExitStack() as stack:
        held = [stack.enter_context(closing(connect(address))) for _ in range(2)]
        with address.asking(HANDSHAKE[0]) as waiting:
            wait_until(lambda: "As many connections as are allowed are open" in address.server.stderr())
            held[0].close()
            assert waiting.getresponse().status == 200
        assert "Traceback" not in address.server.stderr()


def test_requests_that_are_too_much_together_are_refused(place: Place) -> None:
    place.fake.load([play({"release": "go"}, answer("a"))])
    with listening(place, "--max-pending-bytes", "2000") as address:
        body, headers = stateless(chat("x" * 1200))
        with address.asking(body, **headers) as first:
            place.fake.wait_for_calls(1, PATIENCE)
            with address.response("POST", body, **headers) as response:
                assert (response.status, response.headers["Retry-After"]) == (503, "5")
            place.fake.release("go")
            assert first.getresponse().status == 200
        assert address.post(body, **headers)[0] == 200


MANY = 64


def with_few_files(place: Place, *flags: str) -> Server:
    """A server on stdio or HTTP that may open 64 files."""
    server = Server(place, (*FEW_FILES, *flags), place.environ(), place.root / "few")
    place.servers.append(server)
    return server


def test_64_calls_with_64_descriptors_wait_for_each_other(place: Place) -> None:
    place.fake.load([play({"wait": 0.05}, answer("a"))])
    server = with_few_files(place, "--max-concurrency", str(MANY))
    server.greet()
    calls = [server.start("chat", prompt=str(number), systemPrompt="be brief") for number in range(MANY)]
    assert [text(server.answer(call)["result"]) for call in calls] == ["a"] * MANY


def test_64_connections_with_64_descriptors_wait_for_each_other(place: Place) -> None:
    place.fake.load([play({"wait": 0.05}, answer("a"))])
    server = with_few_files(place, "--max-concurrency", str(MANY), "--transport", "http", "--port", "0")
    wait_until(lambda: "Listening" in server.stderr())
    address = Address(server, int(server.stderr().partition("127.0.0.1:")[2].partition("/")[0]))

    def call(number: int) -> str:
        body, headers = stateless(chat(str(number), systemPrompt="be brief"))
        return text(address.post(body, **headers)[1]["result"])

    with ThreadPoolExecutor(MANY) as threads:
        assert list(threads.map(call, range(MANY))) == ["a"] * MANY


def test_a_server_with_many_sessions_ends_at_a_signal(place: Place) -> None:
    place.fake.load([play({"hang": True})])
    with listening(place) as address, closing(HTTPConnection("127.0.0.1", address.port, timeout=PATIENCE)) as kept:
        for _ in range(200):
            kept.request("POST", "/mcp", json.dumps(HANDSHAKE[0]), {**JSON_TYPES})
            kept.getresponse().read()
        with address.asking(chat("never answered"), **address.greet()):
            (called,) = place.fake.wait_for_calls(1, PATIENCE)
            assert address.server.kill(signal.SIGTERM) == 0
        assert not place.fake.alive(called)


JSON_TYPES = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.mark.parametrize(
    ("flags", "headers", "status"),
    [
        ((), {"Host": "mcp.example"}, 421),
        (("--allowed-host", "mcp.example"), {"Host": "mcp.example"}, 200),
        (("--allowed-host", "MCP.example"), {"Host": "mcp.EXAMPLE"}, 200),
        (("--allowed-host", "mcp.example"), {"Host": "127.0.0.1:{port}"}, 200),
        (("--allowed-host", "mcp.example"), {"Host": "mcp.example.evil"}, 421),
        (("--allowed-host", "mcp.example"), {"Host": "mcp.example:80"}, 421),
        (("--host", "0.0.0.0", "--token", "t", "--allowed-host", "mcp.example"), {"Host": "evil.example"}, 421),
        (("--host", "0.0.0.0", "--token", "t", "--allowed-host", "mcp.example"), {"Host": "mcp.example"}, 401),
        (("--allowed-origin", "https://app.example"), {"Origin": "https://app.example"}, 200),
        (("--allowed-origin", "https://app.example"), {"Origin": "https://app.example.evil"}, 403),
        (("--allowed-origin", "https://app.example"), {"Origin": "http://app.example"}, 403),
    ],
)
def test_names_and_origins_can_be_allowed(
    place: Place, flags: tuple[str, ...], headers: dict[str, str], status: int
) -> None:
    with listening(place, *flags) as address:
        named = {name: value.format(port=address.port) for name, value in headers.items()}
        with address.response("POST", HANDSHAKE[0], **named) as response:
            assert response.status == status


def test_a_browser_learns_that_an_allowed_page_may_read(place: Place) -> None:
    page, asks = "https://app.example", {"Access_Control_Request_Method": "POST"}
    wanted = {"Access_Control_Request_Headers": "authorization,mcp-session-id"}
    with listening(place, "--allowed-origin", page, "--token", "right") as address:
        with address.response("OPTIONS", Origin=page, **asks, **wanted) as response:
            assert (response.status, response.headers["Access-Control-Allow-Origin"]) == (200, page)
            assert "mcp-session-id" in response.headers["Access-Control-Allow-Headers"]
        with address.response("OPTIONS", Origin="https://evil.example", **asks) as response:
            assert response.status == 400
            assert response.headers["Access-Control-Allow-Origin"] is None
        with address.response("POST", HANDSHAKE[0], Origin=page, Authorization="Bearer right") as response:
            assert response.headers["Access-Control-Expose-Headers"] == "mcp-session-id"
            assert response.status == 200


def test_behind_a_proxy_the_public_name_is_allowed(place: Place) -> None:
    """The proxy passes the public name on, as the examples in docs/http.md do."""
    place.fake.load([play(answer("a"))])
    body: Json
    with listening(place, "--allowed-host", "mcp.example", "--token", "right") as address:
        body, headers = stateless(chat("hello"))
        status, answered = address.post(body, **headers, Host="mcp.example", Authorization="Bearer right")
        assert (status, text(answered["result"])) == (200, "a")


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "127.0.0.1:80"])
def test_port_80_is_left_out_of_the_name(name: str) -> None:
    allowed = access("127.0.0.1", 80, True, Options())
    assert rejection({b"host": name.encode()}, allowed) is None
    assert rejection({b"host": name.encode(), b"origin": b"http://localhost"}, allowed) is None
    assert rejection({b"host": name.encode()}, access("127.0.0.1", 8765, True, Options())) is not None
