"""`gemini-mcp-host results`: what a model gets of a result, and for other hosts who says so and when."""

import json
import re
from pathlib import Path

import pytest
from stand_in import desk

from gemini_mcp.host.rules.profiles import profiles
from gemini_mcp.host.tools.other_hosts import Kind, kinds, table

DOCS = Path(__file__).parents[2] / "docs" / "host.md"
KINDS = [pytest.param(kind, id=kind.name) for kind in kinds()]
CURRENT = profiles()["current"]
TEXTS = [pytest.param(kind, id=kind.name) for kind in kinds() if "inlineData" not in json.dumps(kind.parts(CURRENT))]
"""Kinds without binary parts, which a call shows as for a model that takes none inside a response."""


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_said_of_another_host_has_a_source_and_a_date(kind: Kind) -> None:
    assert list(kind.cells) == ["Claude Code", "Codex", "VS Code"]
    for cell in kind.cells.values():
        assert cell is None or (cell.says and re.fullmatch(r"20\d\d-\d\d-\d\d", cell.date))
        assert cell is None or cell.source.startswith("github.com/")


def test_every_kind_of_content_of_the_protocol_has_a_row() -> None:
    told = {block["type"] for kind in kinds() for block in kind.example["content"]}
    assert told == {"text", "image", "audio", "resource", "resource_link"}


def test_the_page_has_the_table_as_it_is() -> None:
    assert "\n".join(table(CURRENT)) in DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", TEXTS)
def test_the_part_of_gemini_cli_is_what_a_call_gives_the_model(tmp_path: Path, kind: Kind) -> None:
    here = desk(tmp_path)
    tools = [{"name": "tool", "inputSchema": {"type": "object"}}]
    here.stand_in("server", {"tools": tools, "calls": {"tool": {"result": kind.example}}})
    here.settings('{"mcpServers": {"server": {"command": "server"}}}')
    called = json.loads(here.run("call", "server:tool", "--yes", "--json").stdout)
    assert called["modelParts"] == kind.parts(CURRENT)


@pytest.mark.parametrize("profile", profiles())
def test_the_table_is_shown_for_every_profile(tmp_path: Path, profile: str) -> None:
    here = desk(tmp_path)
    shown = here.run("--profile", profile, "results")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.rstrip("\n") == "\n".join(table(profiles()[profile]))
    rows = json.loads(here.run("--profile", profile, "results", "--json").stdout)
    assert [row["kind"] for row in rows] == [kind.name for kind in kinds()]
