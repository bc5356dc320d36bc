"""The server and the real Gemini CLI, which talks to an API on loopback."""

import pytest
from api import ANSWER, Api
from sandbox import Json, Sandbox, Server

NOBODY = "00000000-0000-4000-8000-000000000000"


def text(result: Json) -> str:
    return result["content"][0]["text"]


def session(result: Json) -> str:
    return result["_meta"]["sessionId"]


def test_a_chat_is_answered_with_the_models_words(server: Server, api: Api) -> None:
    result = server.call("chat", "What is the capital of France?")
    assert text(result) == ANSWER
    assert api.texts == ["What is the capital of France?"]


def test_a_reply_continues_the_session_it_names(server: Server, api: Api) -> None:
    first = server.call("chat", "one")
    server.call("chat", "other")
    reply = server.call("chat-reply", "two", sessionId=session(first))
    assert session(reply) == session(first)
    assert api.texts == ["one", "two"]


def test_a_reply_without_an_id_continues_the_latest_session(server: Server, api: Api) -> None:
    server.call("chat", "one")
    latest = server.call("chat", "other")
    reply = server.call("chat-reply", "two")
    assert session(reply) == session(latest)
    assert api.texts == ["other", "two"]


@pytest.mark.parametrize("prompt", ["--version", "mcp", "1e3", "-p x", "@nothing", " \n$HOME `id` \N{PARROT}\n"])
def test_a_prompt_reaches_the_model_verbatim(server: Server, api: Api, prompt: str) -> None:
    assert text(server.call("chat", prompt)) == ANSWER
    assert api.texts == [prompt]


def test_a_long_prompt_reaches_the_model_verbatim(server: Server, api: Api) -> None:
    prompt = "long " * 40_000
    assert text(server.call("chat", prompt)) == ANSWER
    assert api.texts == [prompt]


def test_a_system_prompt_reaches_the_model_and_is_gone_afterwards(sandbox: Sandbox, api: Api) -> None:
    with Server(sandbox, sandbox.environ(), "--trust-workspace") as server:
        server.call("chat", "hello", systemPrompt="You are a parrot.")
    assert api.instruction.startswith("You are a parrot.")
    assert not list(sandbox.tmp.glob("gemini-mcp-*"))


def test_an_unknown_session_is_told(server: Server, api: Api) -> None:
    server.call("chat", "one")
    assert_fails(server.call("chat-reply", "two", sessionId=NOBODY), "session", exit=42)
    assert api.texts == ["one"]


def test_a_used_up_quota_is_told(server: Server, api: Api) -> None:
    api.status = 429
    assert_fails(server.call("chat", "hello"), "quota", exit=173)


def test_a_missing_key_is_told(sandbox: Sandbox) -> None:
    environ = sandbox.environ()
    del environ["GEMINI_API_KEY"]
    with Server(sandbox, environ, "--trust-workspace") as server:
        assert_fails(server.call("chat", "hello"), "GEMINI_API_KEY", exit=41)


def test_an_untrusted_directory_is_told(sandbox: Sandbox) -> None:
    with Server(sandbox, sandbox.environ()) as server:
        assert_fails(server.call("chat", "hello"), "--trust-workspace", exit=55)


@pytest.mark.parametrize(("flags", "processes"), [((), 1), (("--no-fast-start",), 2)])
def test_a_cancelled_call_leaves_no_process(sandbox: Sandbox, api: Api, flags: tuple[str, ...], processes: int) -> None:
    api.may_answer.clear()
    with Server(sandbox, sandbox.environ(), "--trust-workspace", *flags) as server:
        call = server.start("chat", "hello", systemPrompt="You are a parrot.")
        assert api.asked.wait(60)
        sandbox.wait_for_nodes(processes)
        server.send({"method": "notifications/cancelled", "params": {"requestId": call}})
        sandbox.wait_for_nodes(0)
        api.may_answer.set()
        assert text(server.call("chat", "again")) == ANSWER
    assert not list(sandbox.tmp.glob("gemini-mcp-*"))


def test_without_the_fast_start_a_chat_is_answered_the_same(sandbox: Sandbox) -> None:
    with Server(sandbox, sandbox.environ(), "--trust-workspace", "--no-fast-start") as server:
        assert text(server.call("chat", "hello")) == ANSWER


def assert_fails(result: Json, word: str, exit: int) -> None:
    assert result["isError"]
    sentence = text(result).partition("\nStderr: ")[0]
    assert word in sentence, text(result)
    assert str(exit) in sentence, text(result)
