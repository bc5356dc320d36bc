"""Servers over HTTP that are odd in one thing: the reference keeps those that Gemini CLI keeps, and says why not."""

import json
from collections.abc import Set
from pathlib import Path

import pytest
import sse_servers
from http_servers import DROPPED, NAMES, serving
from stand_in import Desk, desk

from gemini_mcp.spec.values import Json, JsonObject


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return desk(tmp_path_factory.mktemp("desk"))


def test_what_gemini_cli_registers_of_odd_servers(tmp_path: Path) -> None:
    with serving() as address:
        servers = {name: {"httpUrl": f"{address}/{name}"} for name in NAMES}
        assert kept(desk(tmp_path), servers, DROPPED) == set(NAMES) - DROPPED


def test_what_gemini_cli_registers_of_odd_servers_over_the_older_transport(tmp_path: Path) -> None:
    with sse_servers.serving() as address:
        servers: dict[str, Json] = {name: {"url": f"{address}/{name}", "type": "sse"} for name in sse_servers.NAMES}
        servers[sse_servers.UNANSWERING]["timeout"] = 500
        assert kept(desk(tmp_path), servers, sse_servers.DROPPED) == set(servers) - sse_servers.DROPPED


def kept(here: Desk, servers: JsonObject, dropped: Set[str]) -> set[str]:
    """The servers that something is registered of; of the dropped ones is said why."""
    here.settings(json.dumps({"mcpServers": servers}))
    ran = here.run("tools", "--json")
    assert not [name for name in dropped if f"{name}: " not in ran.stderr], ran.stderr
    return {row["server"] for row in json.loads(ran.stdout)["tools"]}


@pytest.mark.parametrize(
    ("name", "cause", "told"),
    [
        ("answer-twice", "stray", "which no request waited for"),
        ("kind-in-capitals", "not-mcp", "it came as Application/JSON"),
        ("list-with-nothing-known", "not-mcp", "is no message"),
        ("own-stream-refused-with-404", "no-stream", "it answered HTTP 404 to the GET for a stream of its own"),
        ("prompts-refused-with-400", "list-failed", "prompts/list failed: it answered HTTP 400"),
        ("resumed-behind-nothing", "list-failed", "its response to `tools/list` ended without an answer"),
    ],
)
def test_the_cause_is_told(here: Desk, name: str, cause: str, told: str) -> None:
    with serving() as address:
        ran = here.run("inspect", f"{address}/{name}", "--json", "--alone")
    [current, _] = json.loads(ran.stdout)
    loss = next(finding for finding in current["findings"] if finding["isLoss"])
    assert loss["kind"] == cause
    assert told in loss["sentence"]
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    ("name", "cause", "told"),
    [
        ("a-page", "not-mcp", "it came as text/html"),
        ("elsewhere", "not-mcp", "it says to post to http://localhost:1, another origin"),
        ("ends-at-once", "stream-ended", "it ended the stream that brings its answers"),
        ("garbage", "stray", "which no request waited for"),
        ("not-found", "http-status", "it answered HTTP 404"),
    ],
)
def test_the_cause_is_told_over_the_older_transport(here: Desk, name: str, cause: str, told: str) -> None:
    with sse_servers.serving() as address:
        ran = here.run("inspect", f"{address}/{name}", "--sse", "--json", "--alone")
    [current, _] = json.loads(ran.stdout)
    loss = next(finding for finding in current["findings"] if finding["isLoss"])
    assert (loss["kind"], "Traceback" in ran.stderr) == (cause, False)
    assert told in loss["sentence"]
