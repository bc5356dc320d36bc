"""The protocol as a client sees it on stdio: both eras, every kind of damage, and nothing on stdout but messages."""

import json
from collections.abc import Mapping

import pytest
from client import HANDSHAKE, META, PATIENCE, PREFIX, STATELESS, Place, Server, answer, play, text
from jsonschema import Draft202012Validator

from gemini_mcp.spec import default_root, load_manifest, read
from gemini_mcp.spec.values import Json

REVISIONS = load_manifest().handshake_revisions
PING = b'{"jsonrpc":"2.0","id":"p","method":"ping"}\n'


@pytest.mark.requirement(
    "lifecycle:initialize",
    "lifecycle:version:supported",
    "lifecycle:capabilities:tools",
    "identity:name",
    "identity:version",
)
@pytest.mark.parametrize("revision", REVISIONS)
def test_the_handshake_agrees_on_the_revision_of_the_client(place: Place, revision: str) -> None:
    server = place.launch()
    result = server.greet(revision)
    assert result["protocolVersion"] == revision
    assert "tools" in result["capabilities"]
    assert {key: result["serverInfo"][key] for key in ("name", "version")} == {
        "name": "gemini-mcp-server",
        "version": "1.0.0",
    }
    assert "`chat-reply`" in result["instructions"]
    place.fake.load([play(answer("a"))])
    assert text(server.chat()) == "a"


@pytest.mark.requirement("lifecycle:version:unsupported")
def test_the_handshake_offers_a_revision_of_ours_for_an_unknown_one(place: Place) -> None:
    assert place.launch().greet("1999-01-01")["protocolVersion"] in REVISIONS


@pytest.mark.requirement(
    "tools:chat",
    "tools:chat:prompt",
    "tools:chat:model",
    "tools:chat:system-prompt",
    "tools:chat:cwd",
    "tools:chat:required",
    "tools:chat-reply",
    "tools:chat-reply:prompt",
    "tools:chat-reply:session-id",
    "tools:chat-reply:model",
    "tools:chat-reply:system-prompt",
    "tools:chat-reply:cwd",
    "tools:chat-reply:required",
    "tools:unique",
    "tools:order",
    "tools:removed",
)
def test_the_tools_are_exactly_those_of_the_specification(server: Server) -> None:
    listed = server.ask("tools/list")["result"]
    assert listed["tools"] == [read(default_root() / f"server/tools/{name}.json") for name in ("chat", "chat-reply")]
    assert server.ask("tools/list", {})["result"] == listed


@pytest.mark.requirement("tools:schema")
def test_the_input_of_every_tool_has_a_valid_schema(server: Server) -> None:
    for tool in server.ask("tools/list")["result"]["tools"]:
        Draft202012Validator.check_schema(tool["inputSchema"])
        assert tool["inputSchema"]["type"] == "object"


@pytest.mark.requirement(
    "rpc:error:method", "rpc:error:params", "rpc:response:error", "tools:unknown:code", "tools:cursor"
)
@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("no/such", None, -32601),
        ("tools/call", None, -32602),
        ("tools/call", {}, -32602),
        ("tools/call", {"name": 1}, -32602),
        ("tools/call", {"name": "chat", "arguments": []}, -32602),
        ("tools/call", {"name": "chat", "arguments": "prompt"}, -32602),
        ("tools/call", {"name": "nope", "arguments": {}}, -32602),
        ("tools/call", {"name": "CHAT", "arguments": {"prompt": "hello"}}, -32602),
        ("tools/list", {"cursor": "x"}, -32602),
    ],
)
def test_a_request_that_cannot_be_served_gets_its_error_code(
    server: Server, method: str, params: Json, code: int
) -> None:
    response = server.ask(method, params)
    assert response["error"]["code"] == code
    assert isinstance(response["error"]["message"], str)
    assert "result" not in response
    assert server.fake.calls() == ()


@pytest.mark.requirement("rpc:response:id")
@pytest.mark.parametrize("id", [0, -1, 1 << 53, "", "1", "ü\u2028"])
def test_a_response_has_the_id_of_its_request(server: Server, id: Json) -> None:
    assert server.answer(server.request("ping", id=id))["id"] == id


@pytest.mark.requirement("rpc:notification:unanswered")
@pytest.mark.parametrize("method", ["notifications/unknown", "tools/list", "notifications/progress", "x"])
def test_a_notification_is_not_answered(server: Server, method: str) -> None:
    server.notify(method)
    server.notify(method, nonsense=[1])
    server.request("ping", id="after")
    assert server.read() == {"jsonrpc": "2.0", "id": "after", "result": {}}


PARSE, INVALID = -32700, -32600

MALFORMED: Mapping[str, tuple[bytes, int, Json]] = {
    "no JSON": (b"hello", PARSE, None),
    "half a message": (b'{"jsonrpc":"2.0","id":1,"method":"pi', PARSE, None),
    "damaged UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', PARSE, None),
    "a NUL": (b"\0", PARSE, None),
    "NaN": (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', PARSE, None),
    "too deep": (b"[" * 200_000, PARSE, None),
    "a number too long": (b"9" * 5000, PARSE, None),
    "a number": (b"1", INVALID, None),
    "null": (b"null", INVALID, None),
    "a batch": (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', INVALID, None),
    "nothing": (b"{}", INVALID, None),
    "another version": (b'{"jsonrpc":"1.0","id":5,"method":"ping"}', INVALID, 5),
    "no method": (b'{"jsonrpc":"2.0","id":"x"}', INVALID, "x"),
    "params that are text": (b'{"jsonrpc":"2.0","id":6,"method":"ping","params":"x"}', INVALID, 6),
    "a method that is a number": (b'{"jsonrpc":"2.0","id":7,"method":1}', INVALID, 7),
    "a null id": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID, None),
    "a fraction as id": (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', INVALID, None),
    "a list as id": (b'{"jsonrpc":"2.0","id":[],"method":"ping"}', INVALID, None),
    "ten megabytes": (b"x" * 10_000_000, PARSE, None),
}


@pytest.mark.requirement("rpc:error:parse", "rpc:error:request", "rpc:alive:malformed", "rpc:jsonrpc")
@pytest.mark.parametrize(("line", "code", "id"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_line_is_answered_and_survived(server: Server, line: bytes, code: int, id: Json) -> None:
    server.write(line + b"\n" + PING)
    first, second = server.read(), server.read()
    assert (first["jsonrpc"], first["error"]["code"], first["id"]) == ("2.0", code, id)
    assert second == {"jsonrpc": "2.0", "id": "p", "result": {}}


@pytest.mark.requirement("rpc:alive:malformed")
@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"  \r",
        b'{"jsonrpc":"2.0","id":99,"result":{}}',
        b'{"jsonrpc":"2.0","id":"z","error":{"code":1,"message":""}}',
    ],
)
def test_a_line_that_asks_nothing_is_not_answered(server: Server, line: bytes) -> None:
    server.write(line + b"\n" + PING)
    assert server.read()["id"] == "p"


@pytest.mark.requirement("rpc:alive:long-line", "rpc:alive:surrogate", "stdio:encoding", "stdio:framing")
def test_what_cannot_be_said_in_utf_8_or_in_little_is_answered(server: Server) -> None:
    server.fake.load([play(answer("half \ud83d and \u2028 whole 😀"))])
    unknown = server.call("chat", prompt="hello", more="x" * 10_000_000)
    assert text(unknown) == "half \ufffd and \u2028 whole 😀"
    assert server.ask("tools/call", {"name": "\ud800", "arguments": {}})["error"]["code"] == -32602
    assert server.answer(server.request("ping", id="\ud800"))["id"] == "\ud800"
    assert server.ask("no/\udfff")["error"]["code"] == -32601


@pytest.mark.requirement("stdio:stdout", "stdio:framing", "rpc:jsonrpc", "rpc:response:either", "stdio:stderr:private")
@pytest.mark.parametrize("level", ["debug", "info", "warning"])
def test_stdout_carries_messages_alone_and_no_log_holds_what_was_said(place: Place, level: str) -> None:
    server = place.start("--log-level", level)
    secrets = ("my-prompt", "my-system", "my-answer", "my-stderr", "my-unknown", "AIzaSyA-0123456789abcdefghijklmnop")
    prompt, system, said, stderr, unknown, key = secrets
    place.fake.load(
        [play({"stderr": f"{stderr} {key}"}, answer(said)), play({"stderr": f"{stderr} {key}"}, {"exit": 1})]
    )
    for _ in range(2):
        server.chat(prompt, systemPrompt=system, model=unknown, cwd=".")
    server.chat("x" + prompt + "\0")
    server.chat(prompt, cwd=f"/{unknown}")
    server.ask("tools/call", {"name": unknown, "arguments": {"prompt": prompt}})
    server.ask("tools/call", {"name": "chat", "arguments": [prompt]})
    server.write(f'{{"prompt": "{prompt}"\n'.encode())
    server.read()
    server.write(f'{{"jsonrpc": "2.0", "id": 1.5, "method": "{prompt}"}}\n'.encode())
    server.read()
    server.notify("notifications/cancelled", requestId=prompt, reason=said)
    assert server.end() == 0
    messages = [*map(json.loads, server.lines), *server.unread()]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    assert all(("result" in message) != ("error" in message) for message in messages if "id" in message)
    assert [secret for secret in secrets if secret in server.stderr()] == []
    assert (server.stderr() == "") is (level == "warning")


def test_a_log_file_takes_what_would_go_to_stderr(place: Place) -> None:
    server = place.start("--log-level", "info", "--log-file", "log")
    place.fake.load([play(answer("a"))])
    server.chat()
    server.end()
    assert server.stderr() == ""
    assert "chat: Answer after" in (place.cwd / "log").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def stateless(shared: Place) -> Server:
    """A server that has never been greeted."""
    return shared.launch()


def ask(server: Server, method: str, meta: Json = META, **params: Json) -> Json:
    return server.ask(method, {**params, "_meta": meta})


@pytest.mark.requirement("stateless:discover", "stateless:server-info", "stateless:result-type")
def test_a_server_that_was_not_greeted_can_be_discovered(stateless: Server) -> None:
    result = ask(stateless, "server/discover")["result"]
    assert STATELESS in result["supportedVersions"]
    assert "tools" in result["capabilities"]
    assert result["resultType"] == "complete"
    assert result["_meta"][f"{PREFIX}serverInfo"] == {"name": "gemini-mcp-server", "version": "1.0.0"}


@pytest.mark.requirement(
    "stateless:no-handshake", "stateless:result-type", "stateless:server-info", "stateless:caching"
)
def test_requests_are_served_without_a_handshake(stateless: Server) -> None:
    stateless.fake.load([play(answer("a"))])
    listed = ask(stateless, "tools/list")["result"]
    called = ask(stateless, "tools/call", name="chat", arguments={"prompt": "hello"})["result"]
    failed = ask(stateless, "tools/call", name="chat", arguments={})["result"]
    assert [tool["name"] for tool in listed["tools"]] == ["chat", "chat-reply"]
    assert listed["ttlMs"] >= 0
    assert listed["cacheScope"] in ("public", "private")
    assert (text(called), called["_meta"]["sessionId"]) == ("a", "5b3b6b48-99e7-4be4-906c-9b1f2f76c7bc")
    assert failed["isError"] is True
    for result in (listed, called, failed):
        assert result["resultType"] == "complete"
        assert result["_meta"][f"{PREFIX}serverInfo"]["name"] == "gemini-mcp-server"


@pytest.mark.requirement("stateless:meta")
def test_a_request_that_lacks_a_required_field_is_refused(stateless: Server) -> None:
    meta = {name: value for name, value in META.items() if name != f"{PREFIX}clientCapabilities"}
    assert ask(stateless, "tools/list", meta)["error"]["code"] == -32602


@pytest.mark.requirement("stateless:version")
def test_an_unsupported_revision_is_refused_with_those_that_are_not(stateless: Server) -> None:
    error = ask(stateless, "tools/list", {**META, f"{PREFIX}protocolVersion": "2099-01-01"})["error"]
    assert error["code"] == -32022
    assert STATELESS in error["data"]["supported"]


@pytest.mark.requirement("stateless:cancelled", "cancel:child")
def test_nothing_more_is_sent_for_a_cancelled_stateless_request(stateless: Server) -> None:
    stateless.fake.reset()
    stateless.fake.load([play({"hang": True})])
    params = {"name": "chat", "arguments": {"prompt": "hello"}, "_meta": {**META, "progressToken": 1}}
    id = stateless.request("tools/call", params)
    (call,) = stateless.fake.wait_for_calls(1, PATIENCE)
    stateless.cancel(id)
    stateless.fake.wait_for_end(call, PATIENCE)
    stateless.lines.clear()
    ask(stateless, "server/discover")
    assert [json.loads(line).get("id") for line in stateless.lines if b"progress" not in line] == [id + 1]


@pytest.mark.requirement("lifecycle:ping")
def test_ping_has_an_empty_result(server: Server) -> None:
    assert server.ask("ping")["result"] == {}
    assert server.ask("ping", {})["result"] == {}


def test_a_client_may_greet_and_ask_in_one_breath(place: Place) -> None:
    server = place.launch()
    messages = [*HANDSHAKE, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    server.write("".join(json.dumps(message) + "\n" for message in messages).encode())
    assert [server.read()["id"] for _ in range(2)] == [1, 2]


def test_a_stream_may_begin_with_a_byte_order_mark(place: Place) -> None:
    server = place.launch()
    server.write(b"\xef\xbb\xbf" + json.dumps(HANDSHAKE[0]).encode() + b"\n")
    assert server.read()["id"] == 1
