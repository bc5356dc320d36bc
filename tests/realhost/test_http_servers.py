"""Servers over HTTP that are odd in one thing: the program registers those of which the tests of the host say so."""

import tempfile
from pathlib import Path

from http_servers import DROPPED, NAMES, RACING, serving
from program import MODEL, run, settings_text

MILLISECONDS = 15_000


def test_the_program_registers_what_is_expected_of_odd_servers() -> None:
    with tempfile.TemporaryDirectory(prefix="real-host-") as folder, serving() as address:
        servers = {name: {"httpUrl": f"{address}/{name}", "timeout": MILLISECONDS} for name in NAMES}
        words = ["-m", MODEL, "--approval-mode", "yolo", "-p", "go"]
        seen = run(Path(folder), words, settings={"project": settings_text(servers)})
    kept = {one["name"].removeprefix("mcp_").partition("_")[0] for one in seen.declarations}
    assert kept - RACING == set(NAMES) - DROPPED
