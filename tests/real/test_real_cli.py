"""The server and the real Gemini CLI, which talks to an API on loopback."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from random import Random

import pytest
from api import ANSWER, Api
from client import COMMAND, PATIENCE, Server, text
from sandbox import Sandbox

from gemini_mcp.spec.values import Json

NOBODY = "00000000-0000-4000-8000-000000000000"


def session(result: Json) -> str:
    return result["_meta"]["sessionId"]


def test_a_chat_is_answered_with_the_models_words(server: Server, api: Api) -> None:
    result = server.chat("What is the capital of France?")
    assert text(result) == ANSWER
    assert api.texts == ["What is the capital of France?"]


def test_a_reply_continues_the_session_it_names(server: Server, api: Api) -> None:
    first = server.chat("one")
    server.chat("other")
    reply = server.call("chat-reply", prompt="two", sessionId=session(first))
    assert session(reply) == session(first)
    assert api.texts == ["one", "two"]


def test_a_reply_without_an_id_continues_the_latest_session(server: Server, api: Api) -> None:
    server.chat("one")
    latest = server.chat("other")
    reply = server.call("chat-reply", prompt="two")
    assert session(reply) == session(latest)
    assert api.texts == ["other", "two"]


PROMPTS = ("--version", "mcp", "$0", "1e3", "-p x", "@nothing", " \n$HOME `id` \N{PARROT}\n", "long " * 40_000)


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt[:9])
def test_a_prompt_reaches_the_model_verbatim(server: Server, api: Api, prompt: str) -> None:
    assert text(server.chat(prompt)) == ANSWER
    assert api.texts == [prompt]


THOROUGH = os.environ.get("THOROUGH") == "1"

PIECES = (
    *("$0", "$1", "__proto__", "constructor", "help", "mcp", "true", "null", "NaN", "-Infinity", "0x1f", "1e400", ".5"),
    *("-", "--", "-h", "--model=x", "--no-x", "-5", "a=b", "=", "'", '"', "\\", "`", "$(x)", "%s", "*", "[..]", "#"),
    *(" ", "\t", "\n", "\r\n", "\ufeff", "\u2028", "\u00a0", "\x7f", "\x1b[31m", "e\u0301", "\N{PARROT}", "@", "\\@x"),
)
"""What a command line, a shell or a terminal might take for something else. A leading `/` is left to gemini."""


def test_generated_prompts_reach_the_model_verbatim(server: Server, api: Api) -> None:
    chance = Random(1)
    made = ("".join(chance.choices(PIECES, k=chance.randint(1, 4))) for _ in range(2000 if THOROUGH else 300))
    prompts = sorted({*PIECES, *made})
    results = [server.answer(call)["result"] for call in [server.start("chat", prompt=prompt) for prompt in prompts]]
    assert [prompt for prompt, result in zip(prompts, results, strict=True) if "isError" in result] == []
    assert sorted(api.asked_last) == prompts


LARGEST = 4 * (1_048_576 - 10_000)
"""Characters that fit into the context of a million tokens beside what the CLI sends by itself."""


def test_a_prompt_that_fills_the_context_reaches_the_model(server: Server, api: Api) -> None:
    prompt = "0123456789" * (LARGEST // 10)
    assert text(server.chat(prompt)) == ANSWER
    assert api.texts == [prompt]


def test_a_prompt_that_no_model_was_asked_is_told(server: Server, api: Api) -> None:
    result = server.chat("x" * 4_200_000)
    assert result["isError"]
    assert "gemini asked no model" in text(result)
    assert api.requests == []


def test_a_long_answer_comes_whole(server: Server, api: Api) -> None:
    """Not of one word: gemini takes that for a loop."""
    chance = Random(1)
    api.answer = " ".join(f"{chance.getrandbits(64):x}" for _ in range(50_000))
    assert text(server.chat("Tell me a long story.")) == api.answer


def test_a_reply_without_a_session_says_that_it_began_one(sandbox: Sandbox, api: Api) -> None:
    server = sandbox.start("--trust-workspace")
    assert "began a new one" in server.call("chat-reply", prompt="one")["_meta"]["notice"]
    assert "notice" not in server.call("chat-reply", prompt="two")["_meta"]
    assert api.texts == ["one", "two"]


def test_a_system_prompt_reaches_the_model_and_is_gone_afterwards(sandbox: Sandbox, api: Api) -> None:
    sandbox.start("--trust-workspace").chat("hello", systemPrompt="You are a parrot.")
    assert api.instruction.startswith("You are a parrot.")
    assert [name for name in sandbox.left() if name.startswith("gemini-mcp-")] == []


def test_an_unknown_session_is_told(server: Server, api: Api) -> None:
    server.chat("one")
    assert_fails(server.call("chat-reply", prompt="two", sessionId=NOBODY), "session", 42)
    assert api.texts == ["one"]


@pytest.mark.parametrize(
    ("status", "word", "exit"),
    [(400, "malformed", 144), (401, "credentials", 145), (429, "quota", 173), (500, "failed", 244)],
)
def test_a_failure_of_the_api_is_told(server: Server, api: Api, status: int, word: str, exit: int) -> None:
    api.status = status
    assert_fails(server.chat("hello"), word, exit)


def test_the_model_and_the_working_directory_are_the_callers(sandbox: Sandbox, api: Api) -> None:
    other = sandbox.root / "other"
    other.mkdir()
    (other / "note.txt").write_text("the note", encoding="utf-8")
    assert text(sandbox.start("--trust-workspace").chat("@note.txt", model="gemini-2.5-pro", cwd=str(other))) == ANSWER
    assert api.models == ["gemini-2.5-pro"]
    assert any("the note" in said for said in api.texts)


def test_the_cli_as_host_gets_the_answer_of_a_second_cli(sandbox: Sandbox, api: Api) -> None:
    environ = {name: value for name, value in sandbox.environ().items() if not name.startswith("GEMINI_MCP_")}
    entry = {"command": COMMAND[0], "args": [*COMMAND[1:], "--trust-workspace"], "trust": True}
    passed = {"env": {name: environ[name] for name in ("PATH", "HOME", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL")}}
    sandbox.configure({"mcpServers": {"inner": {**entry, **passed}}})
    api.uses("mcp_inner_chat", {"prompt": "the inner question", "model": "gemini-2.5-pro"})
    done = subprocess.run(
        (sandbox.programs / "gemini", "the outer question", "-m", "gemini-2.5-flash"),
        cwd=sandbox.cwd,
        env={**environ, "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert done.stdout.strip() == ANSWER.strip(), done.stderr
    assert api.models == ["gemini-2.5-flash", "gemini-2.5-pro", "gemini-2.5-flash"]
    assert [ANSWER.strip() in json.dumps(result, ensure_ascii=False) for result in api.results] == [True]


def test_a_missing_key_is_told(sandbox: Sandbox) -> None:
    server = sandbox.start("--trust-workspace", GEMINI_API_KEY="")
    assert_fails(server.chat("hello"), "GEMINI_API_KEY", 41)


def test_an_untrusted_directory_is_told(sandbox: Sandbox) -> None:
    assert_fails(sandbox.start().chat("hello"), "--trust-workspace", 55)


@pytest.mark.parametrize(("flags", "processes"), [((), 1), (("--no-fast-start",), 2)])
def test_a_cancelled_call_leaves_no_process(sandbox: Sandbox, api: Api, flags: tuple[str, ...], processes: int) -> None:
    api.may_answer.clear()
    server = sandbox.start("--trust-workspace", *flags)
    call = server.start("chat", prompt="hello", systemPrompt="You are a parrot.")
    assert api.asked.wait(PATIENCE)
    sandbox.wait_for_nodes(processes)
    server.cancel(call)
    sandbox.wait_for_nodes(0)
    api.may_answer.set()
    assert text(server.chat("again")) == ANSWER
    assert [name for name in sandbox.left() if name.startswith("gemini-mcp-")] == []


SLOW_START = 20
"""Seconds in which the CLI runs a tool, even where others work beside it."""


def ends_by_cancelling(server: Server, call: Json) -> None:
    server.cancel(call)


def ends_by_timeout(server: Server, call: Json) -> None:
    assert_fails(server.answer(call)["result"], "did not finish", SLOW_START)


ENDS: dict[str, Callable[[Server, Json], object]] = {
    "cancel": ends_by_cancelling,
    "timeout": ends_by_timeout,
    "stdin": lambda server, _: server.end(),
    "SIGTERM": lambda server, _: server.kill(signal.SIGTERM),
    "SIGQUIT": lambda server, _: server.kill(signal.SIGQUIT),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_what_a_tool_of_gemini_has_started_ends_too(
    sandbox: Sandbox, api: Api, end: Callable[[Server, Json], object]
) -> None:
    api.uses("run_shell_command", {"command": "sleep 777 & sleep 777"})
    server = sandbox.start("--trust-workspace", "--approval-mode", "yolo", "--timeout", str(SLOW_START))
    call = server.start("chat", prompt="Sleep.")
    sandbox.wait_for(2, b"sleep\0" + b"777\0")
    end(server, call)
    sandbox.wait_for(0, b"sleep\0" + b"777\0")


def assert_fails(result: Json, word: str, number: int) -> None:
    assert result["isError"]
    sentence = text(result).partition("\nStderr: ")[0]
    assert word in sentence, text(result)
    assert str(number) in sentence, text(result)
