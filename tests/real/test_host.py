"""The real Gemini CLI as the host of our server, which drives the same CLI. Both ask one API on loopback."""

import json
import re

import pytest
from api import ANSWER, Api, texts_in
from sandbox import Sandbox, ended

from gemini_mcp.spec.values import Json

OUTER = ("gemini", "outer question", "--output-format", "json", "-m", "gemini-2.5-flash", "--approval-mode", "yolo")
CHAT, REPLY = "mcp_gemini_chat", "mcp_gemini_chat-reply"


def ask(sandbox: Sandbox, *flags: str) -> Json:
    """Put the snippet for Gemini CLI into its settings, and ask a question there."""
    snippet = json.loads(sandbox.run("--print-config", "gemini", "--trust-workspace", *flags).stdout)
    sandbox.configure(snippet)
    environ = {**sandbox.environ(GEMINI_CLI_TRUST_WORKSPACE="true"), "GEMINI_CLI_NO_RELAUNCH": "true"}
    done = ended(OUTER, sandbox.cwd, environ)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def results(request: Json) -> list[str]:
    """What the model was told of the tools that it has called."""
    parts = [part for content in request["contents"] for part in content["parts"]]
    return [str(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]


def tools(request: Json) -> set[str]:
    """The tools that the model may call."""
    return {tool["name"] for group in request["tools"] for tool in group["functionDeclarations"]}


def test_an_answer_returns_to_the_model_with_its_session(sandbox: Sandbox, api: Api) -> None:
    api.uses(CHAT, {"prompt": "inner question"})
    assert ask(sandbox)["response"] == ANSWER
    outer, inner, again = api.requests
    assert tools(outer) >= {CHAT, REPLY}
    assert not tools(inner) & {CHAT, REPLY}
    assert api.asked_last == ["outer question", "inner question", "outer question"]
    assert ANSWER.strip() in results(again)[0]
    assert "sessionId: " in results(again)[0]
    assert "`chat-reply` continues one" in json.dumps(outer["contents"])


def test_the_model_replies_in_the_session_that_it_was_shown(sandbox: Sandbox, api: Api) -> None:
    api.uses(CHAT, {"prompt": "one"})
    ask(sandbox)
    shown = re.search(r"sessionId: ([0-9a-f-]{36})", results(api.requests[-1])[0])
    assert shown
    api.uses(CHAT, {"prompt": "other"})
    ask(sandbox)
    api.uses(REPLY, {"prompt": "two", "sessionId": shown[1]})
    ask(sandbox)
    assert api.asked_last[-2:] == ["two", "outer question"]
    assert texts_in(api.requests[-2]) == ["one", "two"]


@pytest.mark.parametrize("place", ["meta", "structured"])
def test_elsewhere_the_model_does_not_see_the_session(sandbox: Sandbox, api: Api, place: str) -> None:
    api.uses(CHAT, {"prompt": "inner question"})
    ask(sandbox, "--expose-session", place)
    assert ANSWER.strip() in results(api.requests[-1])[0]
    assert "sessionId" not in results(api.requests[-1])[0]
