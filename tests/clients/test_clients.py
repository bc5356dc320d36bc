"""The server with other people's clients and with the official conformance suite, as npm installed them."""

import json
import os
import re
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from client import COMMAND, SESSION, Place, answer, play, text
from installed import modules, node

from gemini_mcp.spec.values import Json

PATIENCE = 120.0
NOT_APPLICABLE: Json = json.loads(Path(__file__).with_name("not-applicable.json").read_bytes())
WARNINGS: Json = json.loads(Path(__file__).with_name("warnings.json").read_bytes())
"""What the official suite warns of, and why it stays so."""


def run(place: Place, arguments: Sequence[str | Path]) -> str:
    """What a program of Node prints."""
    environ = place.environ()
    path = os.pathsep.join((str(node()), environ["PATH"], os.environ["PATH"]))
    done = subprocess.run(
        arguments,
        cwd=place.cwd,
        env={**environ, "PATH": path, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.stdout


def target(place: Place, transport: str, stack: ExitStack) -> str:
    """Where a client finds a server."""
    if transport == "stdio":
        return json.dumps(COMMAND)
    _, port = stack.enter_context(place.listening(transport))
    return f"http://127.0.0.1:{port}/{'mcp' if transport == 'http' else 'sse'}"


@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
@pytest.mark.parametrize(("version", "era"), [("1", "legacy"), ("2", "legacy"), ("2", "auto")])
def test_the_typescript_client_gets_its_answers(place: Place, version: str, era: str, transport: str) -> None:
    # This client drops progress that comes in one piece with the answer.
    first = play({"wait": 0.3}, answer("first"), match="hello")
    place.fake.load([first, play(answer("reply"), match="again")])
    with ExitStack() as stack:
        where = target(place, transport, stack)
        script = Path(__file__).with_name("typescript.mjs")
        seen = json.loads(run(place, ("node", script, modules(), version, transport, era, where)))
    assert seen["tools"] == ["chat", "chat-reply"]
    assert (text(seen["first"]), text(seen["reply"])) == ("first", "reply")
    assert seen["reply"]["_meta"]["sessionId"] == SESSION
    assert seen["failure"]["isError"]
    assert "gemini is running" in seen["messages"]


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_inspector_lists_and_calls(place: Place, transport: str) -> None:
    place.fake.load([play(answer("first"))])
    inspector = modules() / "node_modules/.bin/mcp-inspector"
    with ExitStack() as stack:
        where = COMMAND if transport == "stdio" else (target(place, transport, stack),)
        listed = run(place, (inspector, "--cli", *where, "--method", "tools/list"))
        asks = ("--method", "tools/call", "--tool-name", "chat", "--tool-arg", "prompt=hello")
        called = run(place, (inspector, "--cli", *where, *asks))
    assert [tool["name"] for tool in json.loads(listed)["tools"]] == ["chat", "chat-reply"]
    assert text(json.loads(called)) == "first"


def test_the_official_suite_fails_only_what_does_not_apply(place: Place) -> None:
    place.fake.load([play(answer("first"))])
    with place.listening("http") as (_, port):
        program = modules() / "node_modules/.bin/conformance"
        said = run(place, (program, "server", "--url", f"http://127.0.0.1:{port}/mcp"))
    verdicts = dict(re.findall(r"^[✓✗] ([\w-]+): \d+ passed, (\d+) failed", said, re.MULTILINE))
    assert {name for name, failed in verdicts.items() if failed != "0"} == NOT_APPLICABLE.keys()
    assert verdicts.keys() - NOT_APPLICABLE.keys() >= {
        "server-initialize",
        "ping",
        "tools-list",
        "dns-rebinding-protection",
    }


def test_the_official_suite_warns_only_of_what_is_explained(place: Place) -> None:
    place.fake.load([play(answer("first"))])
    with place.listening("http") as (_, port):
        program = modules() / "node_modules/.bin/conformance"
        asks = ("server", "--url", f"http://127.0.0.1:{port}/mcp", "--scenario", "server-sse-polling")
        said = run(place, (program, *asks))
    assert set(re.findall(r"\[([\w-]+) *\] \S*WARNING", said)) == WARNINGS.keys()
