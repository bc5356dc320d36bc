"""The server and the real Gemini CLI, which tells what it does, and how that differs from what it prints else."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from api import ANSWER, Api
from client import Server, text
from sandbox import CURRENT, OLD, Sandbox
from test_real_cli import session

from gemini_mcp.spec.values import Json

BOTH = pytest.mark.parametrize("location", [CURRENT, OLD])
FLAGS = ("--trust-workspace", "--approval-mode", "yolo")
LONG = "x" * 4_200_000


def told(server: Server, prompt: str) -> tuple[Json, Sequence[str]]:
    """The result of a call with a token, and the messages of its progress."""
    server.notices.clear()
    result = server.answer(server.start("chat", token="t", prompt=prompt))["result"]
    return result, [note["params"]["message"] for note in server.notices]


def sentence(result: Json) -> str:
    """An error without gemini's own words, or an answer."""
    return text(result).partition("\nStderr: ")[0].partition(" Gemini CLI says: ")[0]


@pytest.fixture
def place(tmp_path: Path, api: Api, location: str) -> Iterator[Sandbox]:
    with Sandbox(tmp_path, api, location) as sandbox:
        yield sandbox


@BOTH
def test_a_call_is_told_its_session_and_its_tools_and_answered_as_ever(place: Sandbox, api: Api) -> None:
    live = place.start(*FLAGS, "--live")
    # Longer than the pause between two messages, so that the session has its turn behind "gemini is running".
    api.uses("run_shell_command", {"command": "sleep 5"}, says="Let me look.")
    result, messages = told(live, "-x hello")
    assert text(result) == ANSWER
    assert f"sessionId: {session(result)}" in messages
    assert api.texts == ["-x hello"]
    reply = live.call("chat-reply", prompt="two", sessionId=session(result))
    assert (text(reply), session(reply)) == (ANSWER, session(result))
    assert api.texts == ["-x hello", "two"]


@BOTH
@pytest.mark.parametrize("prompt", ["hello", "-x", pytest.param(LONG, id="too long")])
def test_a_result_is_what_it_is_without(place: Sandbox, api: Api, prompt: str) -> None:
    results = [place.start(*FLAGS, *flags).chat(prompt) for flags in ((), ("--live",))]
    plain, live = ({**result, "_meta": None, "content": sentence(result)} for result in results)
    assert live == plain


@pytest.mark.parametrize("location", [CURRENT])
@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_a_failure_of_the_api_is_told_with_the_same_sentence(place: Sandbox, api: Api, status: int) -> None:
    api.status = status
    plain, live = (place.start(*FLAGS, *flags).chat() for flags in ((), ("--live",)))
    assert plain["isError"]
    assert sentence(live) == sentence(plain)
    assert "The quota is used up." in text(live).partition("\nStderr: ")[0]


@pytest.mark.parametrize("location", [CURRENT])
def test_an_answer_that_takes_too_long_is_told_so_far_and_can_be_continued(place: Sandbox, api: Api) -> None:
    live = place.start(*FLAGS, "--live", "--timeout", "15")
    api.uses("run_shell_command", {"command": "sleep 777"}, says="Let me sleep.")
    result, messages = told(live, "one")
    assert result["isError"]
    assert "gemini uses run_shell_command" in messages
    assert "\nThe answer so far: Let me sleep.\n" in text(result)
    told_session = next(message for message in messages if message.startswith("sessionId: ")).split()[1]
    assert f"sessionId {told_session}" in text(result)
    # The reply has time: on a busy machine gemini may take as long as this call was given.
    patient = place.start(*FLAGS, "--live")
    assert text(patient.call("chat-reply", prompt="two", sessionId=told_session)) == ANSWER
    assert api.texts[0] == "one"
    assert api.texts[-1] == "two"
