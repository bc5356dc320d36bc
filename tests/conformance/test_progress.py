"""What a person sees while a suite runs: on a terminal, in a log, and how long it will take."""

import os
import pty
import re
import subprocess
from io import StringIO
from pathlib import Path

import pytest
from command import GENERATED, PING, PROGRAM, SECONDS, port, suite, variables

from gemini_mcp_conformance.run.progress import Progress


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("variable", "is_coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_shows_progress_and_colours_unless_they_are_unwanted(
    tmp_path: Path, variable: dict[str, str], is_coloured: bool
) -> None:
    master, slave = pty.openpty()
    words = [*PROGRAM, "run", *PING, "--", *port("correct")]
    env = {**variables(tmp_path), "TERM": "xterm", **variable}
    env.pop("NO_COLOR", None) if not variable else None
    running = subprocess.Popen(words, env=env, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    told = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:
            break
        if not chunk:
            break
        told += chunk
    os.close(master)
    assert running.wait(SECONDS) == 0
    assert re.search(rb"\r\x1b\[K1/\d+  ping", told)
    assert (b"\x1b[1;32mWhat was selected conforms.\x1b[0m" in told) is is_coloured


def test_progress_ends_with_the_number_of_all(tmp_path: Path) -> None:
    told = suite(tmp_path, "run", *GENERATED, to=port("correct")).err.splitlines()
    numbers = [tuple(map(int, line.split()[0].split("/"))) for line in told]
    assert any(line.endswith("  generated") for line in told)
    assert all(number <= count for number, count in numbers)


def test_a_terminal_is_told_what_runs_how_many_and_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    times = iter([0.0, 4.0])
    stream = Terminal()
    progress = Progress(stream, clock=lambda: next(times))
    progress("ping", "basics", 0, 4)
    progress("tools", "basics", 2, 4)
    progress.end()
    assert stream.getvalue() == "\r\x1b[K1/4  ping\r\x1b[K3/4  tools  about 4 s left\r\x1b[K"


@pytest.mark.parametrize(
    ("number", "passed", "told"),
    [
        (5, 60.0, ""),
        (50, 60.0, "  about 60 s left"),
        (10, 60.0, "  about 9 min left"),
        (10, 600.0, "  about 5 min left"),
    ],
)
def test_the_time_that_is_left_is_told_when_it_can_be_known_and_is_within_the_budget(
    number: int, passed: float, told: str
) -> None:
    times = iter([0.0, 0.0, passed, passed, passed])
    stream = StringIO()
    progress = Progress(stream, budget=900.0, clock=lambda: next(times))
    progress("tools", "basics", number, 100)
    progress.beat()
    assert stream.getvalue() == f"{number + 1}/100  basics\n{number + 1}/100  tools{told}\n"


def test_anything_else_gets_a_line_for_each_phase() -> None:
    stream = StringIO()
    progress = Progress(stream)
    for number, phase in enumerate(("basics", "basics", "examples", "basics")):
        progress(f"conversation-{number}", phase, number, 4)
    progress.end()
    assert stream.getvalue() == "1/4  basics\n3/4  examples\n"


def test_a_log_is_told_what_runs_at_least_every_fifteen_seconds() -> None:
    now = [0.0]
    stream = StringIO()
    progress = Progress(stream, clock=lambda: now[0])
    progress("tools", "basics", 0, 4)
    for now[0] in (14.0, 15.0, 16.0, 29.0, 31.0):
        progress.beat()
    progress("ping", "basics", 2, 4)
    now[0] = 50.0
    progress.beat()
    assert stream.getvalue().splitlines() == ["1/4  basics", "1/4  tools", "1/4  tools", "3/4  ping  about 50 s left"]


def test_a_log_that_is_told_of_a_phase_needs_no_line_more() -> None:
    now = [0.0]
    stream = StringIO()
    progress = Progress(stream, clock=lambda: now[0])
    for now[0], phase in ((10.0, "basics"), (20.0, "examples")):
        progress("any", phase, 0, 4)
        progress.beat()
    assert stream.getvalue() == "1/4  basics\n1/4  examples\n"


def test_a_terminal_that_can_do_nothing_gets_lines_and_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    progress = Progress(stream)
    progress("ping", "basics", 0, 4)
    progress.end()
    assert stream.getvalue() == "1/4  basics\n"


def test_a_narrow_terminal_gets_a_line_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "20")
    stream = Terminal()
    Progress(stream)("a-conversation-with-a-long-name", "basics", 0, 4)
    assert stream.getvalue() == "\r\x1b[K1/4  a-conversation"
