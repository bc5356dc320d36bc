"""Every command ends in silence when the reader of its output wants no more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = {
    "gemini_mcp.cli": ["doctor"],
    "gemini_mcp_spec.cli": ["explain", "tool-removed"],
    "gemini_mcp.host.command.main": ["inspect", "--", "no-such-program"],
}


@pytest.mark.parametrize("module", COMMANDS)
def test_a_reader_that_has_left_is_told_nothing(module: str, tmp_path: Path) -> None:
    left, output = os.pipe()
    os.close(left)
    # As an installed command does it.
    program = f"import sys; from {module} import main; sys.exit(main())"
    ended = subprocess.run(
        [sys.executable, "-c", program, *COMMANDS[module]],
        stdout=output,
        stderr=subprocess.PIPE,
        env={**os.environ, "HOME": str(tmp_path)},
        cwd=tmp_path,
        timeout=60,
    )
    os.close(output)
    assert (ended.returncode, ended.stderr) == (141, b"")
