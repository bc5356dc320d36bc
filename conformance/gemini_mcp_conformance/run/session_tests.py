"""The one test that pytest runs: plays conversations that follow each other, and fails on fatal findings. Effect."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

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
async def test_conversations(batch: Sequence[Item], state: RunState) -> None:
    complaints: list[str] = []
    for item in batch:
        complaints += [f"{finding.requirement}: {finding.message}" for finding in await state.play(item)]
        if state.unreachable is not None or state.cut is not None:
            pytest.exit("The run ends early.")
        if complaints and state.options.fail_fast:
            break
    if complaints:
        pytest.fail("\n".join(complaints), pytrace=False)
