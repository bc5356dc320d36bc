"""The one test that pytest runs: plays a conversation, and fails on fatal findings. Effect."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from gemini_mcp_conformance.run.plugin import STATE
from gemini_mcp_conformance.run.state import Item, RunState


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def state(request: pytest.FixtureRequest) -> AsyncGenerator[RunState]:
    """The state of the run, whose ports end before the loop does."""
    state = request.config.stash[STATE]
    yield state
    await state.end()


@pytest.mark.asyncio(loop_scope="session")
async def test_conversation(conversation: Item, state: RunState) -> None:
    complaints = [f"{finding.requirement}: {finding.message}" for finding in await state.play(conversation)]
    if state.unreachable is not None or state.cut is not None:
        pytest.exit("The run ends early.")
    if complaints:
        pytest.fail("\n".join(complaints), pytrace=False)
