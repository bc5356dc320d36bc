"""Every command, where its output cannot be written: no traceback, and the exit code that it should be."""

import os
import subprocess
import sys

import pytest

COMMANDS = {
    "gemini_mcp.cli": ("doctor",),
    "gemini_mcp.host.command.main": ("results",),
    "gemini_mcp_conformance.command.main": ("list",),
    "gemini_mcp_spec.cli": ("explain",),
}
"""The module of each command, and words that make it print something."""
NO_ROOM = "The output cannot be written: No space left on device.\n"
LEFT = 141


def ended(module: str, words: tuple[str, ...], redirected: str, unbuffered: str) -> tuple[int, str]:
    """The exit code, and standard error."""
    done = subprocess.run(
        ("/bin/sh", "-c", f'exec "$@" {redirected}', "-", sys.executable, "-m", module, *words),
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("module", COMMANDS)
def test_a_full_disk_is_told_in_one_sentence(module: str, unbuffered: str) -> None:
    assert ended(module, COMMANDS[module], ">/dev/full", unbuffered) == (2, NO_ROOM)
    assert ended(module, ("--help",), ">/dev/full", unbuffered) == (2, NO_ROOM)


@pytest.mark.parametrize("module", COMMANDS)
def test_wrong_words_are_usage_though_nobody_can_be_told(module: str) -> None:
    for redirected, unbuffered in (("2>/dev/full", ""), (">/dev/full 2>/dev/full", "1"), ("2>&-", "")):
        assert ended(module, ("--bogus",), redirected, unbuffered) == (2, "")


@pytest.mark.parametrize("module", COMMANDS)
def test_a_reader_who_has_left_is_told_nothing(module: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    os.set_inheritable(writing, True)
    done = subprocess.run(
        (sys.executable, "-m", module, *COMMANDS[module]),
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (LEFT, "")


@pytest.mark.parametrize("module", COMMANDS)
def test_a_stream_that_was_opened_for_reading_is_told(module: str) -> None:
    assert ended(module, COMMANDS[module], "1</dev/null", "") == (
        2,
        "The output cannot be written: Bad file descriptor.\n",
    )


@pytest.mark.parametrize("module", COMMANDS)
def test_help_that_is_read_is_a_success(module: str) -> None:
    assert ended(module, ("--help",), ">/dev/null 2>/dev/full", "") == (0, "")
