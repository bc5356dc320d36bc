"""The HTTP transports, with real servers on loopback: who may come in, what is answered, and how it ends."""

import json
import signal
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse

import pytest
from client import (
    HANDSHAKE,
    META,
    PATIENCE,
    PREFIX,
    REVISION,
    STATELESS,
    Place,
    Server,
    answer,
    play,
    text,
    wait_until,
)

from gemini_mcp.spec.values import Json

TYPES = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@dataclass(frozen=True)
class Address:
    """A server that listens."""

    server: Server
    port: int

    @contextmanager
    def asking(self, body: Json, method: str = "POST", path: str = "/mcp", **headers: str) -> Generator[HTTPConnection]:
        """A connection of its own on which something has been asked."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request(method, path, data, {**TYPES, **named})
            yield connection

    @contextmanager
    def response(self, method: str, body: Json = None, path: str = "/mcp", **headers: str) -> Generator[HTTPResponse]:
        """The response to one request."""
        with self.asking(body, method, path, **headers) as connection:
            yield connection.getresponse()

    def post(self, body: Json, **headers: str) -> tuple[int, Json]:
        """The status and the message of a response."""
        with self.response("POST", body, **headers) as response:
            return response.status, message_in(response)

    def greet(self) -> dict[str, str]:
        """The headers of a session."""
        with self.response("POST", HANDSHAKE[0]) as response:
            response.read()
            session = response.headers["Mcp-Session-Id"]
        headers = {"Mcp_Session_Id": session, "MCP_Protocol_Version": REVISION}
        assert self.post(HANDSHAKE[1], **headers)[0] == 202
        return headers


def message_in(response: HTTPResponse) -> Json:
    """The message of a response, plain or in an event stream, or its text when it holds none."""
    data = response.read().decode("utf-8")
    lines = [line.removeprefix("data:") for line in data.splitlines() if line.startswith("data:")]
    return json.loads((lines or [data])[-1]) if data.strip()[:1] in "{ed:" and data else data


def chat(prompt: str, **arguments: str) -> Json:
    return request("tools/call", name="chat", arguments={"prompt": prompt, **arguments})


def request(method: str, **params: Json) -> Json:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def stateless(message: Json) -> tuple[Json, dict[str, str]]:
    """A request of the stateless revision, and its headers."""
    params: dict[str, Json] = {**message["params"], "_meta": META}
    headers: dict[str, str] = {"MCP_Protocol_Version": STATELESS, "Mcp_Method": message["method"]}
    if "name" in params:
        headers["Mcp_Name"] = params["name"]
    return {**message, "params": params}, headers


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    with Place(tmp_path_factory.mktemp("http")) as place, place.listening("http") as (server, port):
        yield Address(server, port)


def test_a_second_request_with_an_id_that_is_at_work_is_refused(http: Address) -> None:
    http.server.fake.load([play({"hang": True}, match="first"), play(answer("third"), match="third")])
    headers, others = http.greet(), http.greet()
    with http.asking(chat("first"), **headers):
        wait_until(lambda: len(http.server.fake.calls()) == 1)
        status, refused = http.post(chat("second"), **headers)
        assert (status, refused["id"], refused["error"]["code"]) == (400, 1, -32600)
        assert text(http.post(chat("third"), **others)[1]["result"]) == "third"
        assert text(http.post({**chat("third"), "id": "1"}, **headers)[1]["result"]) == "third"
    http.server.fake.load([play(answer("fourth"))])
    wait_until(lambda: http.post(chat("fourth"), **headers)[0] == 200)


def test_an_id_may_be_used_again_as_soon_as_its_request_is_answered(http: Address) -> None:
    headers = http.greet()
    for _ in range(50):
        with http.response("POST", request("tools/list"), **headers) as response:
            assert any(line.startswith(b"data: ") for line in response), response.status
            assert http.post(request("ping"), **headers)[0] == 200


@pytest.mark.requirement("http:equivalence", "http:content-type")
def test_a_call_over_http_gives_what_it_gives_on_stdio(http: Address) -> None:
    stdio = http.server.place.start()
    headers = http.greet()
    http.server.fake.load(
        [play({"stderr": "noise"}, answer("ü\r\n😀"), match="good"), play({"stderr": "no"}, {"exit": 41})]
    )
    for arguments in ({"prompt": "good"}, {"prompt": "bad"}, {"prompt": 1}, {}, {"prompt": "good", "cwd": "/nowhere"}):
        message = request("tools/call", name="chat", arguments=arguments)
        expected = stdio.call("chat", **arguments)
        status, handshake = http.post(message, **headers)
        assert (status, handshake["result"]) == (200, expected)
        body, more = stateless(message)
        status, without = http.post(body, **more)
        result = without["result"]
        assert (status, result.pop("resultType")) == (200, "complete")
        del result["_meta"][f"{PREFIX}serverInfo"]
        assert {**result, "_meta": result["_meta"] or None} == {**expected, "_meta": expected.get("_meta")}


@pytest.mark.requirement("http:notification", "http:get")
def test_a_notification_is_accepted_without_a_body(http: Address) -> None:
    headers = http.greet()
    with http.response("POST", {"jsonrpc": "2.0", "method": "notifications/x"}, **headers) as response:
        assert (response.status, response.read()) == (202, b"")
    with http.response("GET", **{**headers, "Accept": "text/event-stream"}) as response:
        assert response.status == 405 or response.headers["Content-Type"].startswith("text/event-stream")


@pytest.mark.requirement("http:version", "http:session:ended")
def test_a_session_can_be_ended_and_a_version_must_be_supported(http: Address) -> None:
    headers = http.greet()
    assert http.post(request("tools/list"), **{**headers, "MCP_Protocol_Version": "1999-01-01"})[0] == 400
    assert http.post(request("tools/list"), **headers)[0] == 200
    with http.response("DELETE", **headers) as response:
        assert response.status == 200
    assert http.post(request("tools/list"), **headers)[0] == 404


@pytest.mark.requirement("http:stateless:header", "http:stateless:version", "http:stateless:method")
def test_the_headers_of_a_stateless_request_must_match_it(http: Address) -> None:
    before = len(http.server.fake.calls())
    body, headers = stateless(chat("hello"))
    for name, other in (("Mcp_Method", "other"), ("Mcp_Name", "other"), ("MCP_Protocol_Version", REVISION)):
        for wrong in ({**headers, name: other}, {key: value for key, value in headers.items() if key != name}):
            status, response = http.post(body, **wrong)
            assert (status, response["error"]["code"]) == (400, -32020)
    assert len(http.server.fake.calls()) == before
    body, headers = stateless(request("no/such"))
    status, response = http.post(body, **headers)
    assert (status, response["error"]["code"]) == (404, -32601)


@pytest.mark.requirement("http:origin", "http:bind")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://127.0.0.1:{port}"}, 200),
        ({"Origin": "http://localhost:{port}"}, 200),
        ({"Host": "localhost:{port}"}, 200),
        ({"Host": "[::1]:{port}"}, 200),
        ({"Origin": "http://127.0.0.1"}, 403),
        ({"Origin": "http://127.0.0.1:{port}.evil.example"}, 403),
        ({"Origin": "https://127.0.0.1:{port}"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": "127.0.0.1:{port}.evil.example"}, 421),
        ({"Host": "127.0.0.1:{port}1"}, 421),
        ({"Host": "evil.example:{port}"}, 421),
        ({"Host": ""}, 421),
    ],
)
def test_host_and_origin_must_match_whole(http: Address, headers: Mapping[str, str], status: int) -> None:
    named = {name: value.format(port=http.port) for name, value in headers.items()}
    with http.response("POST", HANDSHAKE[0], **named) as response:
        assert response.status == status


def test_a_second_host_or_origin_does_not_hide_behind_the_first(http: Address) -> None:
    body = json.dumps(HANDSHAKE[0]).encode()
    for name, bad, good in (
        ("Origin", "http://evil.example", f"http://127.0.0.1:{http.port}"),
        ("Host", "evil.example", f"127.0.0.1:{http.port}"),
    ):
        for first, second in ((bad, good), (good, bad)):
            with closing(HTTPConnection("127.0.0.1", http.port, timeout=PATIENCE)) as connection:
                connection.putrequest("POST", "/mcp", skip_host=name == "Host")
                connection.putheader(name, first)
                connection.putheader(name, second)
                for other, value in (*TYPES.items(), ("Content-Length", str(len(body)))):
                    connection.putheader(other, value)
                connection.endheaders(body)
                assert connection.getresponse().status in (400, 403, 421)


def test_a_body_is_bounded_and_the_longest_prompt_fits(http: Address) -> None:
    headers = http.greet()
    http.server.fake.load([play(answer("a"))])
    status, response = http.post(chat("\u0416" * (4 << 20)), **headers)
    assert (status, text(response["result"])) == (200, "a")
    assert http.post(b" " * ((32 << 20) + 1), **headers)[0] == 413


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ("Bearer right-token", 200),
        ("bearer right-token", 200),
        ("Bearer wrong-token", 401),
        ("Bearer right-token2", 401),
        ("Bearer ", 401),
        ("right-token", 401),
        ("Basic right-token", 401),
        (None, 401),
        ("Bearer \xff", 401),
    ],
)
def test_only_who_has_the_token_may_come_in(guarded: Address, given: str | None, status: int) -> None:
    headers = {} if given is None else {"Authorization": given}
    with guarded.response("POST", HANDSHAKE[0], **headers) as response:
        assert response.status == status
        assert (response.headers["WWW-Authenticate"] == "Bearer") is (status == 401)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    flags = ("--host", "0.0.0.0", "--token", "right-token")
    with Place(tmp_path_factory.mktemp("guarded")) as place, place.listening("http", *flags) as (server, port):
        yield Address(server, port)


def test_an_address_in_use_is_told_in_one_sentence(http: Address) -> None:
    done = http.server.place.run("--transport", "http", "--port", str(http.port))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Address already in use" in done.stderr
    assert done.stderr.count(str(http.port)) == 1


@pytest.mark.parametrize("host", ["a..b", "é" * 80])
def test_a_name_that_is_no_host_is_told_in_one_sentence(place: Place, host: str) -> None:
    done = place.run("--transport", "http", "--host", host, "--token", "right-token")
    assert done.returncode == 2
    assert done.stderr.startswith(f"gemini-mcp-server: --host {host} --port 8765 cannot be listened on: ")
    assert done.stderr.count("\n") == 1
    assert "8765" not in done.stderr.partition("listened on")[2]


@pytest.mark.requirement("http:stateless:disconnect")
def test_the_end_of_a_stateless_connection_cancels_its_call(http: Address) -> None:
    http.server.fake.load([play({"hang": True})])
    before = len(http.server.fake.calls())
    body, headers = stateless(chat("never answered", systemPrompt="be brief"))
    with http.asking(body, **headers):
        call = http.server.fake.wait_for_calls(before + 1, PATIENCE)[before]
    http.server.fake.wait_for_end(call, PATIENCE)
    wait_until(lambda: http.server.place.left() == [])


@pytest.mark.requirement("cancel:child")
def test_a_notification_cancels_a_call_of_a_session(http: Address) -> None:
    http.server.fake.load([play({"hang": True})])
    before = len(http.server.fake.calls())
    headers = http.greet()
    with http.asking(chat("never answered"), **headers):
        call = http.server.fake.wait_for_calls(before + 1, PATIENCE)[before]
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        assert http.post(cancelled, **headers)[0] == 202
        http.server.fake.wait_for_end(call, PATIENCE)


@pytest.mark.requirement("cancel:others")
@pytest.mark.parametrize(("kept", "gone"), [("7", 7), (7, "7")])
@pytest.mark.parametrize("is_first_kept", [True, False])
def test_ids_that_look_the_same_are_two(http: Address, kept: Json, gone: Json, is_first_kept: bool) -> None:
    http.server.fake.load([play({"release": "kept"}, answer("kept"), match="kept"), play({"hang": True}, match="gone")])
    before = len(http.server.fake.calls())
    headers = http.greet()
    calls = {"kept": {**chat("kept"), "id": kept}, "gone": {**chat("gone"), "id": gone}}
    with ExitStack() as stack:
        connections: dict[str, HTTPConnection] = {}
        for number, name in enumerate(sorted(calls, reverse=is_first_kept), start=1):
            connections[name] = stack.enter_context(http.asking(calls[name], **headers))
            http.server.fake.wait_for_calls(before + number, PATIENCE)
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": gone}}
        assert http.post(cancelled, **headers)[0] == 202
        assert message_in(connections["gone"].getresponse())["id"] == gone
        http.server.fake.release("kept")
        answered = message_in(connections["kept"].getresponse())
        assert (answered["id"], text(answered["result"])) == (kept, "kept")


@pytest.mark.requirement("rpc:alive:surrogate", "arguments:surrogate", "result:text:surrogate")
def test_lone_surrogates_travel_as_on_stdio(http: Address) -> None:
    stdio = http.server.place.start()
    headers = http.greet()
    http.server.fake.load([play(answer("a\ud83db", session_id="half \ud83d"))])
    before = len(http.server.fake.calls())
    for arguments in ({"prompt": "a\ud83d"}, {"prompt": "good", "x\ud83d": "y"}, {"prompt": "good", "cwd": "\udc00"}):
        expected = stdio.call("chat", **arguments)
        asked = {**request("tools/call", name="chat", arguments=arguments), "id": "half \ud83d"}
        body, more = stateless(asked)
        for status, got in (http.post(asked, **headers), http.post(body, **more)):
            assert (status, got["id"]) == (200, "half \ud83d")
            assert got["result"]["content"] == expected["content"]
    assert len(http.server.fake.calls()) == before + 3


@pytest.mark.requirement("progress:token", "rpc:error:method", "rpc:response:id")
def test_lone_surrogates_in_tokens_and_methods_travel_as_on_stdio(http: Address) -> None:
    http.server.fake.load([play(answer("told"))])
    headers, token = http.greet(), "half \ud83d"
    status, unknown = http.post({**request(f"no/such/{token}"), "id": 7}, **headers)
    assert (status, unknown["id"], unknown["error"]["code"]) == (200, 7, -32601)
    told = request("tools/call", name="chat", arguments={"prompt": "Who tells?"}, _meta={"progressToken": token})
    with http.response("POST", told, **headers) as response:
        assert b'"progressToken":"half \\ud83d"' in response.read()


@pytest.mark.requirement("rpc:error:parse", "rpc:error:request")
@pytest.mark.parametrize(
    ("body", "code", "id"),
    [
        (b"no JSON", -32700, None),
        (b"\xff", -32700, None),
        (b"[]", -32600, None),
        (b'{"id":"x"}', -32600, "x"),
        (b'{"jsonrpc":"2.0","id":[],"method":"ping"}', -32600, None),
    ],
)
def test_what_is_no_message_is_a_bad_request(http: Address, body: bytes, code: int, id: Json) -> None:
    status, answered = http.post(body, **http.greet())
    assert (status, answered["error"]["code"], answered["id"]) == (400, code, id)


class Events:
    """The event stream of the older transport, and the posts that belong to it."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.connection = HTTPConnection("127.0.0.1", address.port, timeout=PATIENCE)
        self.connection.request("GET", "/sse")
        self.stream = self.connection.getresponse()
        self.posts = self.event()
        self.post(HANDSHAKE[0])
        self.event()
        self.post(HANDSHAKE[1])

    def event(self) -> str:
        """The data of the next event."""
        while not (line := self.stream.readline().decode("utf-8")).startswith("data:"):
            assert line, "The stream has ended."
        return line.removeprefix("data:").strip()

    def post(self, message: Json) -> None:
        with self.address.response("POST", message, self.posts) as response:
            assert response.status == 202

    def close(self) -> None:
        self.stream.close()
        self.connection.close()


def test_the_older_transport_serves_and_its_end_cancels(place: Place) -> None:
    with place.listening("sse") as (server, port):
        events = Events(Address(server, port))
        place.fake.load([play(answer("a")), play({"hang": True})])
        events.post(chat("hello"))
        assert text(json.loads(events.event())["result"]) == "a"
        events.post(chat("never answered", systemPrompt="be brief"))
        call = place.fake.wait_for_calls(2, PATIENCE)[1]
        events.close()
        place.fake.wait_for_end(call, PATIENCE)
        wait_until(lambda: place.left() == [])
        with Address(server, port).response("GET", path="/sse", Origin="http://evil.example") as response:
            assert response.status == 403


@pytest.mark.requirement("shutdown:sigterm:group", "shutdown:prompt")
@pytest.mark.parametrize("transport", ["http", "sse"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_an_http_server_with_nothing_left(place: Place, transport: str, number: signal.Signals) -> None:
    stubborn = ({"ignore": ["TERM"]}, {"child": {"seconds": 60, "holds": "stdout", "ignore": ["TERM"]}}, {"hang": True})
    place.fake.load([play(*stubborn)])
    message = chat("never answered", systemPrompt="be brief")
    with place.listening(transport, "--kill-grace", "1000") as (server, port), ExitStack() as stack:
        address = Address(server, port)
        if transport == "sse":
            stack.enter_context(closing(Events(address))).post(message)
        else:
            stack.enter_context(address.asking(message, **address.greet()))
        (call,) = place.fake.wait_for_calls(1, PATIENCE)
        wait_until(lambda: len(place.fake.call(1).children) == 1)
        server.process.send_signal(number)
        assert server.kill(number) == 0
        assert not place.fake.alive(call)
        assert place.left() == []
        assert "Traceback" not in server.stderr()


def test_a_server_that_has_said_where_it_listens_ends_at_a_signal(place: Place) -> None:
    with place.listening("http") as (server, _):
        assert server.kill(signal.SIGTERM) == 0
