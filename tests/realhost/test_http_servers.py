"""Servers over HTTP that are odd in one thing: the program registers those of which the tests of the host say so."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

import sse_servers
from http_servers import DROPPED, NAMES, RACING, serving
from program import MODEL, run, settings_text

MILLISECONDS = 15_000


def test_the_program_registers_what_is_expected_of_odd_servers() -> None:
    with serving() as address:
        kept = registered({name: {"httpUrl": f"{address}/{name}"} for name in NAMES})
    assert kept - RACING == set(NAMES) - DROPPED


def test_the_program_registers_what_is_expected_over_the_older_transport() -> None:
    with sse_servers.serving() as address:
        kept = registered({name: {"url": f"{address}/{name}", "type": "sse"} for name in sse_servers.NAMES})
    assert kept == set(sse_servers.NAMES) - sse_servers.DROPPED


def registered(servers: Mapping[str, Mapping[str, str]]) -> set[str]:
    """The servers whose tools the program declares to the model."""
    patient = {name: {**server, "timeout": MILLISECONDS} for name, server in servers.items()}
    words = ["-m", MODEL, "--approval-mode", "yolo", "-p", "go"]
    with tempfile.TemporaryDirectory(prefix="real-host-") as folder:
        seen = run(Path(folder), words, settings={"project": settings_text(patient)})
    return {one["name"].removeprefix("mcp_").partition("_")[0] for one in seen.declarations}
