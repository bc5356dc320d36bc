"""What a call does, with a real server and a fake gemini: the cases of the specification, and what they cannot say."""

import json
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from client import SESSION, Place, Server, answer, places, play, stderr_of, text
from gemini_mcp.spec import load_documents, written_out
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.play.fake import Call

PARIS = "The capital of France is Paris."

CASES: Mapping[str, Json] = {name: written_out(case) for name, case in load_documents("server/cases").items()}
PLAYED = {
    name: case for name, case in CASES.items() if "outcome" not in case or {"exit", "signal"} & case["outcome"].keys()
}
"""The others need a server of their own; they have tests of their own below and in `test_life.py`."""


def steps(outcome: Json) -> Sequence[Json]:
    end = {"exit": outcome["exit"]} if "exit" in outcome else {"signal": signal.Signals(outcome["signal"]).name[3:]}
    return ({"stdout": outcome["stdout"]}, {"stderr": outcome["stderr"]}, end)


def load(server: Server, case: Json) -> None:
    listing = steps(case["listing"]) if "listing" in case else None
    server.fake.load([play(*steps(case["outcome"]), listing=listing)] if case.get("outcome") else [])


def seen(call: Call, case: Json) -> Json:
    """What gemini saw of a call, as a case writes it."""
    env = {"GEMINI_SYSTEM_MD": "{files}/SYSTEM.md"} if call.file.path else {}
    parts = {
        "argv": ["gemini", *(os.fsdecode(element) for element in call.argv)],
        "env": env,
        "files": {"SYSTEM.md": (call.file.content or b"").decode()} if env else {},
        "stdin": (call.stdin or b"").decode(),
        "cwd": case["invocation"].get("cwd") and call.cwd,
    }
    return {name: part for name, part in parts.items() if part}


@pytest.mark.parametrize("case", PLAYED.values(), ids=PLAYED)
def test_a_call_goes_as_its_case_says(server: Server, case: Json) -> None:
    load(server, case)
    if case["invocation"] and (cwd := case["invocation"].get("cwd")):
        case = json.loads(json.dumps(case).replace(cwd, str(server.place.cwd)))
    response = server.answer(server.request("tools/call", case["call"]))
    if "error" in case:
        assert response["error"]["code"] == case["error"]["code"]
    elif "wording" in case:
        assert stderr_of(response["result"]) == stderr_of(case["result"])
    else:
        assert response["result"] == case["result"]
    started = server.fake.calls()
    assert [seen(call, case) for call in started if call.kind == "call"] == [case["invocation"]] * bool(
        case["invocation"]
    )
    assert [call.kind for call in started if call.kind == "list"] == ["list"] * ("listing" in case)
    assert server.place.left() == []


@pytest.mark.requirement("command:chat", "command:chat-reply:session-id", "command:once")
def test_arguments_follow_the_order_of_the_tool_specification(server: Server) -> None:
    server.fake.load([play(answer(PARIS))])
    server.chat("Where?", model="pro")
    server.call("chat-reply", prompt="Why?", sessionId=SESSION, model="pro")
    first, second = (call.argv for call in server.fake.calls())
    assert first == (b"Where?", b"--output-format", b"json", b"-m", b"pro")
    assert second == (b"-r", SESSION.encode(), b"Why?", b"--output-format", b"json", b"-m", b"pro")


@pytest.mark.requirement("process:stdin", "process:stdin:ended")
@pytest.mark.parametrize(
    ("prompt", "kind", "stdin"), [("short", "null", None), ("x" * 128_001, "pipe", b"x" * 128_001)]
)
def test_gemini_never_has_the_stdin_of_the_server(server: Server, prompt: str, kind: str, stdin: bytes | None) -> None:
    server.fake.load([play(answer(PARIS))])
    assert text(server.chat(prompt)) == PARIS
    (call,) = server.fake.calls()
    assert (call.stdin_kind, call.stdin) == (kind, stdin)
    assert call.stdin_eof or kind == "null"


VARIABLES = {
    "KEPT": "kept ü\n=",
    "GEMINI_MCPX": "kept",
    "GEMINI_SYSTEM_MD": "/operator.md",
    "GEMINI_API_KEY": "no-key-at-all",
}


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose environment holds much."""
    for place in places(tmp_path_factory.mktemp("furnished")):
        yield place.start(GEMINI_MCP_TOKEN="ours", **VARIABLES)


@pytest.mark.requirement("process:environment")
def test_gemini_inherits_the_environment_but_for_our_own_variables(furnished: Server) -> None:
    furnished.fake.load([play(answer(PARIS))])
    furnished.chat()
    environ = furnished.fake.calls()[-1].environ
    inherited = furnished.place.environ(**VARIABLES)
    assert {name: environ.get(name) for name in inherited} == inherited
    assert [name for name in environ if name.startswith("GEMINI_MCP_")] == []


def test_a_system_prompt_replaces_that_of_the_operator_for_its_call_only(furnished: Server) -> None:
    furnished.fake.load([play(answer(PARIS))])
    furnished.chat(systemPrompt="be brief")
    furnished.chat()
    first, second = furnished.fake.calls()[-2:]
    assert first.file.content == b"be brief"
    assert second.file.path == "/operator.md"


@pytest.mark.requirement("error:secrets", "error:prompt", "error:stderr", "error:session-id")
def test_neither_the_prompt_nor_the_keys_of_the_operator_are_echoed(furnished: Server) -> None:
    echo = {"stderr": "asked 'my private words' with no-key-at-all\n"}
    furnished.fake.load([play(echo, {"exit": 1})])
    result = furnished.chat("my private words")
    assert stderr_of(result) == "asked '[withheld]' with [masked]\n"
    assert result.keys() == {"content", "isError"}


@pytest.mark.requirement("cwd:used", "cwd:chat-reply", "cwd:default", "cwd:relative")
@pytest.mark.parametrize("tool", ["chat", "chat-reply"])
@pytest.mark.parametrize(
    ("cwd", "expected"),
    [({}, "."), ({"cwd": ""}, "."), ({"cwd": "below/ü $(x)"}, "below/ü $(x)"), ({"cwd": ".."}, "..")],
)
def test_gemini_runs_in_the_directory_of_the_call(server: Server, tool: str, cwd: Json, expected: str) -> None:
    server.fake.load([play(answer(PARIS))])
    (server.place.cwd / "below/ü $(x)").mkdir(parents=True, exist_ok=True)
    server.call(tool, prompt="hello", **cwd)
    (call,) = server.fake.calls()
    assert Path(call.cwd) == (server.place.cwd / expected).resolve()


@pytest.mark.requirement("cwd:missing", "cwd:file", "cwd:reason")
@pytest.mark.parametrize(
    ("cwd", "reason"),
    [
        ("/nowhere", "does not exist"),
        ("file", "is not a directory"),
        ("file/below", "is not a directory"),
        ("x" * 5000, "does not exist"),
        ("loop", "does not exist"),
        ("~", "does not exist"),
    ],
)
def test_a_directory_that_is_none_is_refused_before_anything_starts(server: Server, cwd: str, reason: str) -> None:
    (server.place.cwd / "file").touch()
    if not (loop := server.place.cwd / "loop").is_symlink():
        loop.symlink_to("loop")
    result = server.chat(cwd=cwd)
    assert text(result).startswith(f"Error executing gemini: `cwd` {cwd!r} {reason}.")
    assert server.fake.calls() == ()


@pytest.mark.requirement("system:content", "system:mode", "system:directory", "system:file-name", "system:life")
@pytest.mark.parametrize("tool", ["chat", "chat-reply"])
def test_a_system_prompt_lies_in_a_private_file_while_gemini_runs(server: Server, tool: str) -> None:
    server.fake.load([play({"release": "end"}, answer(PARIS))])
    call_id = server.start(tool, prompt="hello", systemPrompt="a\r\nb ü \ufeff\n ")
    (call,) = server.fake.wait_for_calls(1, 10)
    assert call.file.path
    path = Path(call.file.path)
    assert path.read_bytes() == call.file.content == "a\r\nb ü \ufeff\n ".encode()
    assert (call.file.mode, call.file.directory_mode) == (0o600, 0o700)
    assert (path.name, path.parent.parent) == ("SYSTEM.md", server.place.tmp)
    assert len(path.parent.name) == len("gemini-mcp-XXXXXX")
    server.fake.release("end")
    server.answer(call_id)
    assert server.place.left() == []


@pytest.mark.requirement("system:isolation", "system:leak", "system:absent")
def test_no_call_sees_the_system_prompt_of_another(server: Server) -> None:
    server.fake.load([play({"release": "end"}, answer(PARIS))])
    ids = [server.start("chat", prompt=name, systemPrompt=f"be {name}") for name in "ab"]
    ids.append(server.start("chat", prompt="c"))
    calls = {call.argv[0]: call for call in server.fake.wait_for_calls(3, 10)}
    assert {prompt: call.file.content for prompt, call in calls.items()} == {b"a": b"be a", b"b": b"be b", b"c": None}
    assert len({call.file.path for call in calls.values()}) == 3
    assert calls[b"c"].file.path == ""
    server.fake.release("end")
    for id in ids:
        server.answer(id)


@pytest.mark.requirement("error:not-started", "error:not-started:remedy")
def test_a_gemini_is_looked_for_in_absolute_folders_only(place: Place) -> None:
    (place.cwd / "gemini").symlink_to(place.fake.program)
    server = place.start(PATH=".:/nowhere:")
    assert server.chat(cwd=str(place.cwd)) == CASES["gemini-not-found"]["result"]
    assert place.fake.starts() == ()


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose gemini is still to be made."""
    for place in places(tmp_path_factory.mktemp("broken")):
        yield place.start("--gemini", "./program")


@pytest.mark.requirement("error:not-started")
@pytest.mark.parametrize(
    ("content", "mode", "reason"),
    [
        (b"#!/bin/sh", 0o644, "Permission denied"),
        (b"#!/no/interpreter\n", 0o755, "its interpreter was not found"),
        (b"\x7fELF\0", 0o755, "Exec format error"),
    ],
)
def test_a_gemini_that_cannot_be_executed_is_an_error(broken: Server, content: bytes, mode: int, reason: str) -> None:
    program = broken.place.cwd / "program"
    program.write_bytes(content)
    program.chmod(mode)
    told = f"Error executing gemini: gemini at {str(program)!r} cannot be executed: {reason}."
    assert text(broken.chat(systemPrompt="be brief")).startswith(told)
    program.unlink()
    assert broken.place.left() == []


def test_a_file_for_a_system_prompt_that_cannot_be_written_is_an_error(place: Place) -> None:
    server = place.start()
    place.tmp.rmdir()
    result = server.chat(systemPrompt="be brief")
    assert text(result).startswith(
        "Error executing gemini: The file for the system prompt could not be written: No such"
    )
    assert "isError" in result
    assert place.fake.calls() == ()


@pytest.mark.requirement("fallback:cwd", "fallback:unneeded", "fallback:by-id", "fallback:list-sessions")
def test_sessions_are_listed_where_the_call_ran_and_only_then(server: Server) -> None:
    below = server.place.cwd / "listed"
    below.mkdir()
    listing = [{"stderr": f"  1. a [b] (now) [{SESSION}]\n"}]
    server.fake.load([play(answer(PARIS, session=None), listing=listing)])
    assert server.chat(cwd="listed", systemPrompt="be brief")["_meta"] == {"sessionId": SESSION}
    assert server.call("chat-reply", prompt="b", sessionId="other")["_meta"] == {"sessionId": "other"}
    chat, listed, _ = server.fake.calls()
    assert (listed.argv, listed.cwd, listed.environ["PATH"]) == (
        (b"--list-sessions",),
        str(below),
        chat.environ["PATH"],
    )
    assert [call.kind for call in server.fake.calls()] == ["call", "list", "call"]


@pytest.mark.requirement("fallback:failure", "fallback:none")
def test_a_list_that_hangs_leaves_the_answer_without_a_session(place: Place) -> None:
    server = place.start("--timeout", "0.5", "--kill-grace", "0.1")
    place.fake.load([play(answer(PARIS, session=None), listing=[{"ignore": ["TERM"]}, {"hang": True}])])
    assert server.chat() == {"content": [{"type": "text", "text": PARIS}]}
    _, listing = place.fake.calls()
    assert not place.fake.alive(listing)


@pytest.mark.requirement("process:held-output")
@pytest.mark.parametrize("ignored", [[], ["TERM"]])
def test_a_background_process_neither_holds_the_answer_nor_stays(server: Server, ignored: list[str]) -> None:
    held = {"child": {"seconds": 60, "holds": "stdout", "ignore": ignored}}
    server.fake.load([play(held, answer(PARIS))])
    assert text(server.chat()) == PARIS
    (call,) = server.fake.calls()
    assert not server.fake.alive(call)


@pytest.mark.requirement("arguments:nul", "arguments:surrogate", "rpc:alive:surrogate", "arguments:refused:not-started")
@pytest.mark.parametrize("name", ["prompt", "model", "sessionId", "cwd", "systemPrompt"])
@pytest.mark.parametrize("value", ["a\0b", "a\ud800b"])
def test_a_string_that_cannot_be_passed_whole_is_refused(server: Server, name: str, value: str) -> None:
    result = server.call("chat-reply", **{"prompt": "hello", name: value})
    assert text(result).startswith(f"Error executing gemini: `{name}` holds a ")
    assert result["isError"] is True
    assert server.fake.calls() == ()


@pytest.mark.requirement("concurrency:after-failure")
@pytest.mark.parametrize(
    "noise", ["{", '{"', "{\n", '\n{"a":1,', "-----BEGIN PRIVATE KEY-----\n", "eyJaaaaaaaa-", "key=", "-----BEGIN "]
)
def test_no_noise_holds_the_server_for_long(server: Server, noise: str) -> None:
    fill = [{"fill": {"stream": stream, "text": noise, "bytes": 1 << 18}} for stream in ("stdout", "stderr")]
    server.fake.load([play(*fill, {"exit": 1})])
    assert server.chat()["isError"] is True


@pytest.mark.requirement("result:warnings", "stdio:stdout", "stdio:encoding")
def test_warnings_that_no_json_can_say_do_not_lose_the_answer(server: Server) -> None:
    said = '{"response": "a", "warnings": ["half \\ud83d", NaN, {"b": 1e999, "c": [2.5, -Infinity]}]}'
    server.fake.load([play({"stdout": said}, listing=[])])
    server.call("chat-reply", prompt="hello", sessionId=SESSION)
    sent = json.loads(server.lines[-1], parse_constant=pytest.fail)
    assert sent["result"]["_meta"]["warnings"] == ["half \ufffd", None, {"b": None, "c": [2.5, None]}]


@pytest.mark.requirement("error:secrets", "error:stderr:tail")
def test_a_key_at_the_edge_of_what_is_shown_is_masked_first(server: Server) -> None:
    key = "AIza" + "k" * 35
    server.fake.load([play({"stderr": "x" * 9000 + key + "y" * 8180}, {"exit": 1})])
    shown = stderr_of(server.chat())
    assert "kkkk" not in shown
    assert len(shown) <= 8192


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        ("text", {"content": [{"type": "text", "text": "ü😀a"}, {"type": "text", "text": f"sessionId: {SESSION}"}]}),
        ("structured", {"content": [{"type": "text", "text": "ü😀a"}], "structuredContent": {"sessionId": SESSION}}),
    ],
)
def test_the_operator_decides_where_the_session_is_shown_and_how_much_of_an_answer(
    place: Place, flag: str, expected: Json
) -> None:
    server = place.start("--expose-session", flag, "--max-response-chars", "3")
    place.fake.load([play(answer("ü😀ab"))])
    result = server.chat()
    meta = result.pop("_meta")
    assert result == expected
    assert meta["sessionId"] == SESSION
    assert "--max-response-chars" in meta["notice"]
