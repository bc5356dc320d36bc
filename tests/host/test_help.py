"""The help of subcommands that need an example: the text as a person reads it, kept in `help/`.

After a change: `UPDATE_HELP=1 pytest tests/host/test_help.py`.
"""

import os
from pathlib import Path

import pytest
from stand_in import desk

HELP = Path(__file__).parent / "help"


@pytest.mark.parametrize("command", ["lock", "diff", "inspect"])
def test_the_help_is_what_was_read(tmp_path: Path, command: str) -> None:
    ran = desk(tmp_path).run(command, "--help", COLUMNS="110")
    assert ran.returncode == 0
    _, _, told = ran.stdout.partition("\n\n")
    kept = HELP / f"{command}.txt"
    if os.environ.get("UPDATE_HELP"):
        kept.write_text(told, encoding="utf-8")
    assert told == kept.read_text(encoding="utf-8")
