"""Servers over HTTP that are odd in one thing: the reference keeps those that Gemini CLI keeps, and says why not."""

import json
from pathlib import Path

import pytest
from http_servers import DROPPED, NAMES, serving
from stand_in import Desk, desk


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return desk(tmp_path_factory.mktemp("desk"))


def test_what_gemini_cli_registers_of_odd_servers(tmp_path: Path) -> None:
    with serving() as address:
        here = desk(tmp_path)
        servers = {name: {"httpUrl": f"{address}/{name}"} for name in NAMES}
        here.settings(json.dumps({"mcpServers": servers}))
        ran = here.run("tools", "--json")
    kept = {row["server"] for row in json.loads(ran.stdout)}
    assert kept == set(NAMES) - DROPPED
    assert all(f"{name}: " in ran.stderr for name in DROPPED)


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
