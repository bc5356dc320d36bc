"""The help of subcommands that need an example: the text as a person reads it, kept in `help/`.

After a change: `UPDATE_HELP=1 pytest tests/host/test_help.py`.
"""

import os
from pathlib import Path
from typing import Any

import pytest
from stand_in import desk

HELP = Path(__file__).parent / "help"
DOCS = Path(__file__).parents[2] / "docs" / "host.md"


@pytest.mark.parametrize("command", ["lock", "diff", "inspect", "call", "session"])
def test_the_help_is_what_was_read(tmp_path: Path, command: str) -> None:
    ran = desk(tmp_path).run(command, "--help", COLUMNS="110")
    assert ran.returncode == 0
    _, _, told = ran.stdout.partition("\n\n")
    kept = HELP / f"{command}.txt"
    if os.environ.get("UPDATE_HELP"):
        kept.write_text(told, encoding="utf-8")
    assert told == kept.read_text(encoding="utf-8")


def _server(*required: str) -> dict[str, Any]:
    properties = {name: {"type": "string"} for name in ("query", *required)}
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    return {"tools": [{"name": "find", "inputSchema": schema}]}


def test_the_example_of_lock_and_diff_is_what_they_print(tmp_path: Path) -> None:
    here = desk(tmp_path)
    here.stand_in("my-server", _server())
    wrote = here.run("lock", "--name", "fs", "--", "my-server", "--root", ".")
    here.stand_in("my-server", _server("path"))
    ran = here.run("diff", "fs.lock.json", "--", "my-server", "--root", ".")
    assert ran.returncode == 1
    shown = (HELP / "diff.txt").read_text(encoding="utf-8")
    assert "".join(f"  {line}\n" for line in ran.stdout.splitlines()) in shown
    assert wrote.stderr + "$ gemini-mcp-host diff fs.lock.json -- my-server --root .\n" + ran.stdout in (
        DOCS.read_text(encoding="utf-8")
    )
    assert f"  {wrote.stderr}" in (HELP / "lock.txt").read_text(encoding="utf-8")
