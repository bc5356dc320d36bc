"""What a call does that no case of the specification can say, with a real server and a fake gemini.

The suite plays the cases and the scenarios themselves; `test_cases.py` compares the words.
"""

import json
import threading
from collections.abc import Iterator

import anyio
import anyio.to_thread
import pytest
from client import PATIENCE, SESSION, Place, Server, answer, play, stderr_of, text

from gemini_mcp.call import processes
from gemini_mcp.call.calls import MUCH, Calls
from gemini_mcp.call.outcome import Answer, Failure, Outcome, read
from gemini_mcp.call.progress import Progress
from gemini_mcp.operator.options import Options
from gemini_mcp.spec import load_documents, load_server
from gemini_mcp.spec.values import Json
from gemini_mcp.spec.wording import OutcomeSpec

PARIS = "The capital of France is Paris."


VARIABLES = {
    "KEPT": "kept ü\n=",
    "GEMINI_MCPX": "kept",
    "GEMINI_SYSTEM_MD": "/operator.md",
    "GEMINI_API_KEY": "no-key-at-all",
}


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose environment holds much."""
    with Place(tmp_path_factory.mktemp("furnished")) as place:
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


@pytest.mark.requirement("error:not-started", "error:not-started:remedy")
def test_a_gemini_is_looked_for_in_absolute_folders_only(place: Place) -> None:
    (place.cwd / "gemini").symlink_to(place.fake.program)
    server = place.start(PATH=".:/nowhere:")
    assert server.chat(cwd=str(place.cwd)) == load_documents("server/cases")["gemini-not-found"]["result"]
    assert place.fake.starts() == ()


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose gemini is still to be made."""
    with Place(tmp_path_factory.mktemp("broken")) as place:
        yield place.start("--gemini", "./program")


NO_PROGRAM = "it is neither a program of this system nor a script whose first line begins with #!"


@pytest.mark.requirement("error:not-started")
@pytest.mark.parametrize(
    ("content", "mode", "reason"),
    [
        (b"#!/bin/sh", 0o644, "Permission denied"),
        (b"#!/no/interpreter\n", 0o755, "its interpreter was not found"),
        (b"echo hello\n", 0o755, NO_PROGRAM),
        (b"\x7fELF\0", 0o755, NO_PROGRAM),
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


@pytest.mark.requirement("fallback:failure", "fallback:none")
def test_a_list_that_hangs_leaves_the_answer_without_a_session(place: Place) -> None:
    server = place.start("--timeout", "0.5", "--kill-grace", "0.1")
    place.fake.load([play(answer(PARIS, session=None), listing=[{"ignore": ["TERM"]}, {"hang": True}])])
    assert server.chat() == {"content": [{"type": "text", "text": PARIS}]}
    _, listing = place.fake.calls()
    place.fake.wait_for_end(listing, PATIENCE)


@pytest.mark.requirement("process:held-output")
@pytest.mark.parametrize("ignored", [[], ["TERM"]])
def test_a_background_process_neither_holds_the_answer_nor_stays(server: Server, ignored: list[str]) -> None:
    held = {"child": {"seconds": 60, "holds": "stdout", "ignore": ignored}}
    server.fake.load([play(held, answer(PARIS))])
    assert text(server.chat()) == PARIS
    (call,) = server.fake.calls()
    server.fake.wait_for_end(call, PATIENCE)


@pytest.mark.requirement("concurrency:after-failure")
@pytest.mark.parametrize(
    "noise", ["{", '{"', "{\n", '\n{"a":1,', "-----BEGIN PRIVATE KEY-----\n", "eyJaaaaaaaa-", "key=", "-----BEGIN "]
)
def test_no_noise_holds_the_server_for_long(server: Server, noise: str) -> None:
    fill = [{"fill": {"stream": stream, "text": noise, "bytes": 1 << 18}} for stream in ("stdout", "stderr")]
    server.fake.load([play(*fill, {"exit": 1})])
    assert server.chat()["isError"] is True


@pytest.mark.requirement("concurrency:ping")
async def test_a_large_output_is_read_beside_the_event_loop(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    may_go_on = threading.Event()

    def wait_and_read(outcome: Outcome, spec: OutcomeSpec) -> Answer | Failure:
        assert may_go_on.wait(PATIENCE)
        return read(outcome, spec)

    monkeypatch.setattr("gemini_mcp.call.calls.read", wait_and_read)
    place.fake.load([play(answer("x" * (MUCH + 1)), listing=[])])
    calls = Calls(load_server(), Options(), place.environ())
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(calls.call, "chat", {"prompt": "hello"}, Progress(None))
            await anyio.to_thread.run_sync(place.fake.wait_for_calls, 1, PATIENCE)
            may_go_on.set()


@pytest.mark.requirement("result:warnings", "stdio:stdout", "stdio:encoding")
def test_warnings_that_no_json_can_say_do_not_lose_the_answer(server: Server) -> None:
    said = '{"response": "a", "warnings": ["half \\ud83d", NaN, {"b": 1e999, "c": [2.5, -Infinity]}]}'
    server.fake.load([play({"stdout": said}, listing=[])])
    server.call("chat-reply", prompt="hello", sessionId=SESSION)
    sent = json.loads(server.lines[-1], parse_constant=pytest.fail)
    assert sent["result"]["_meta"]["warnings"] == ["half \ufffd", None, {"b": None, "c": [2.5, None]}]


def test_warnings_that_are_nested_too_deep_do_not_lose_the_answer(server: Server) -> None:
    said = f'{{"response": "a", "warnings": {"[" * 480}{"]" * 480}}}'
    server.fake.load([play({"stdout": said}, listing=[])])
    result = server.call("chat-reply", prompt="hello", sessionId=SESSION)
    assert (text(result), str(result["_meta"]["warnings"]).count("[")) == ("a", 64)


def test_a_gemini_that_prints_too_much_is_ended(place: Place) -> None:
    endless = place.root / "endless"
    endless.write_text("#!/bin/sh\nyes &\nexec yes\n", encoding="utf-8")
    endless.chmod(0o755)
    server = place.start("--gemini", str(endless), "--max-output-bytes", "1000000")
    told = "Error executing gemini: gemini printed more than 1000000 bytes and was stopped."
    assert text(server.chat()).startswith(told)
    assert [each for each in processes.table().values() if each.parent == server.process.pid] == []


@pytest.mark.parametrize(("more", "is_error"), [(0, False), (1, True)])
def test_the_limit_of_the_output_is_exact(place: Place, more: int, is_error: bool) -> None:
    server = place.start("--max-output-bytes", "1000")
    place.fake.load([play({"stdout": "é" * 499 + "x" * (2 + more)}, listing=[])])
    assert server.chat().get("isError", False) is is_error


@pytest.mark.requirement("prompt:verbatim:unicode", "cwd:used")
def test_texts_are_passed_on_as_utf_8_whatever_the_locale_says(place: Place) -> None:
    (place.cwd / "ü").mkdir()
    server = place.start(LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    place.fake.load([play(answer("é"))])
    assert text(server.chat("\N{PARROT}", cwd="ü", systemPrompt="ß")) == "é"
    (call,) = place.fake.calls()
    assert (call.argv[0], call.file.content) == ("\N{PARROT}".encode(), "ß".encode())
    assert call.cwd == str(place.cwd / "ü")


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
        (
            "structured",
            {
                "content": [{"type": "text", "text": "ü😀a"}],
                "structuredContent": {"response": "ü😀a", "sessionId": SESSION},
            },
        ),
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


def test_common_secrets_are_masked_and_paths_are_shown(place: Place) -> None:
    (place.home / "key.json").touch()
    secrets = {"DB_PWD": "pwd-of-the-test", "GITHUB_PAT": "pat-of-the-test", "MYSQL_PASS": "pass-of-the-test"}
    shown = {"GOOGLE_APPLICATION_CREDENTIALS": f"{place.home}/key.json", "PWD": str(place.cwd)}
    said = "\n".join(
        (*secrets.values(), *shown.values(), "https://me:password@host/path", "https://host/a@b", "git@host")
    )
    place.fake.load([play({"stderr": said}, {"exit": 1})])
    found = stderr_of(place.start(**secrets, **shown).chat())
    expected = (*["[masked]"] * 3, *shown.values(), "https://[masked]@host/path", "https://host/a@b", "git@host")
    assert found.splitlines() == list(expected)


def test_a_message_that_says_nothing_is_not_quoted(server: Server) -> None:
    reported = {"error": {"type": "Error", "message": "[object Object]", "code": 401}}
    server.fake.load([play({"stderr": f"The key is wrong.\n{json.dumps(reported)}"}, {"exit": 145})])
    shown = server.chat()
    assert "Gemini CLI says" not in text(shown)
    assert "The key is wrong." in stderr_of(shown)
