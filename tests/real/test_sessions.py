"""Sessions that the real Gemini CLI deletes, and how they are kept."""

import json
import re

from api import Api
from client import Server, text
from sandbox import SETTINGS, Sandbox

from gemini_mcp.spec.values import Json

DELETES: Json = {**SETTINGS, "general": {"maxAttempts": 1}}
"""The settings as the CLI has them by default: sessions are deleted."""


def begun(sandbox: Sandbox, server: Server, prompt: str) -> str:
    """A session that began a while ago: the minute is part of its file's name."""
    result = server.chat(prompt)
    for file in sandbox.home.glob(".gemini/tmp/*/chats/session-*"):
        file.rename(file.with_name(re.sub(r"T\d\d-\d\d", "T00-00", file.name)))
    return result["_meta"]["sessionId"]


def test_gemini_deletes_a_session_that_was_resumed_and_the_error_says_so(sandbox: Sandbox, api: Api) -> None:
    (sandbox.home / ".gemini/settings.json").write_text(json.dumps(DELETES), encoding="utf-8")
    server = sandbox.start("--trust-workspace")
    session = begun(sandbox, server, "one")
    assert "isError" not in server.call("chat-reply", prompt="two", sessionId=session)
    server.chat("other")
    lost = server.call("chat-reply", prompt="three", sessionId=session)
    assert lost["isError"]
    assert "gemini-mcp-server doctor --fix" in text(lost)


def test_sessions_are_kept_once_doctor_has_fixed_it(sandbox: Sandbox, api: Api) -> None:
    (sandbox.home / ".gemini/settings.json").write_text(json.dumps(DELETES), encoding="utf-8")
    sandbox.run("doctor", "--fix", typed="y\n")
    server = sandbox.start("--trust-workspace")
    session = begun(sandbox, server, "one")
    for prompt in ("two", "three"):
        assert "isError" not in server.call("chat-reply", prompt=prompt, sessionId=session)
        server.chat("other")
    server.call("chat-reply", prompt="four", sessionId=session)
    assert api.texts == ["one", "two", "three", "four"]
