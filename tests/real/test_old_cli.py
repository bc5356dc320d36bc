"""The server and a Gemini CLI of the documents' time."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from api import ANSWER, Api
from client import PATIENCE, Server, text
from sandbox import OLD, Sandbox
from test_real_cli import NOBODY, assert_fails, session

PROMPTS = ("--version", "mcp", "1e3", "-p x", "$HOME `id` \N{PARROT}", "hello")


@pytest.fixture
def old(tmp_path: Path, api: Api) -> Iterator[Server]:
    with Sandbox(tmp_path, api, OLD) as sandbox:
        yield sandbox.start("--trust-workspace")


def test_replies_continue_the_session_that_they_name(old: Server, api: Api) -> None:
    first = old.chat("one")
    assert text(first) == ANSWER
    assert session(old.call("chat-reply", prompt="two", sessionId=session(first))) == session(first)
    assert api.texts == ["one", "two"]
    assert session(old.call("chat-reply", prompt="three")) == session(first)
    assert api.texts == ["one", "two", "three"]


def test_prompts_reach_the_model_verbatim(old: Server, api: Api) -> None:
    calls = [old.start("chat", prompt=prompt) for prompt in PROMPTS]
    assert [text(old.answer(call)["result"]) for call in calls] == [ANSWER] * len(PROMPTS)
    assert sorted(api.asked_last) == sorted(PROMPTS)


@pytest.mark.parametrize(("status", "word", "exit"), [(400, "malformed", 144), (401, "credentials", 145)])
def test_a_failure_of_the_api_is_told(old: Server, api: Api, status: int, word: str, exit: int) -> None:
    api.status = status
    result = old.chat("hello")
    assert_fails(result, word, exit)
    assert "Gemini CLI says" not in text(result), "this CLI says [object Object]"


def test_a_cancelled_call_leaves_no_process(old: Server, api: Api) -> None:
    api.may_answer.clear()
    call = old.start("chat", prompt="hello")
    assert api.asked.wait(PATIENCE)
    old.cancel(call)
    sandbox = old.place
    assert isinstance(sandbox, Sandbox)
    sandbox.wait_for_nodes(0)


def test_a_signal_ends_the_server_and_the_cli(old: Server, api: Api) -> None:
    api.may_answer.clear()
    old.start("chat", prompt="hello")
    assert api.asked.wait(PATIENCE)
    assert old.kill(signal.SIGTERM) == 0
    sandbox = old.place
    assert isinstance(sandbox, Sandbox)
    sandbox.wait_for_nodes(0)


def test_an_unknown_session_is_an_error(old: Server, api: Api) -> None:
    old.chat("one")
    assert old.call("chat-reply", prompt="two", sessionId=NOBODY)["isError"]
    assert api.texts == ["one"]
