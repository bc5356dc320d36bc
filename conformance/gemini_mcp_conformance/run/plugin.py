"""The pytest plugin: the conversations of a run become items, which pytest-asyncio plays. Effect.

Those of one phase that follow each other are one item, because an item of pytest costs as much as a short conversation.
pytest runs here on nothing but `session_tests`. Whatever keeps a directory or a user from changing that belongs here.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from itertools import groupby
from pathlib import Path

import pytest

from gemini_mcp_conformance.run.state import RunState

STATE = pytest.StashKey[RunState]()


class Plugin:
    """Offers the conversations of a run to `session_tests`."""

    def __init__(self, state: RunState) -> None:
        self._state = state

    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[STATE] = self._state

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "batch" in metafunc.fixturenames:
            batches = [tuple(batch) for _, batch in groupby(self._state.items, lambda item: item.phase)]
            metafunc.parametrize("batch", batches, ids=[batch[0].id for batch in batches])


def pytest_run(state: RunState) -> int:
    """Run pytest on the conversations of a run and on nothing else; its exit code."""
    package = Path(__file__).with_name("session_tests.py")
    arguments = [str(package), "-c", os.devnull, "--rootdir", str(package.parent), "--noconftest", "-s"]
    arguments += ["--import-mode=importlib", "--assert=plain", "-o", "asyncio_default_fixture_loop_scope=session"]
    # The hook for what callbacks raise stays that of the command, which repeats an interruption.
    off = ("cacheprovider", "terminal", "warnings", "logging", "unraisableexception")
    for name in (*(f"no:{name}" for name in off), "pytest_asyncio.plugin"):
        arguments += ["-p", name]
    with isolated():
        return int(pytest.main([*arguments, *(["-x"] if state.options.fail_fast else [])], plugins=[Plugin(state)]))


@contextlib.contextmanager
def isolated() -> Generator[None]:
    """Without the variables by which a directory or a user could change what pytest does."""
    hostile = {name: os.environ.pop(name) for name in tuple(os.environ) if name.startswith(("PYTEST_", "PY_COLORS"))}
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        os.environ.update(hostile)
