"""The one test of a run: a conversation is played and nothing fatal is found. The plugin gives it the conversations."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from gemini_mcp_conformance.run.plugin import GATHERING, Gathering, Item


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def begun(request: pytest.FixtureRequest) -> AsyncGenerator[Gathering]:
    """The gathering, whose ports end before the loop does."""
    gathering = request.config.stash[GATHERING]
    yield gathering
    await gathering.end()


@pytest.mark.asyncio(loop_scope="session")
async def test_conversation(conversation: Item, begun: Gathering) -> None:
    complaints = [f"{finding.requirement}: {finding.message}" for finding in await begun.play(conversation)]
    if begun.unreachable is not None or begun.cut is not None:
        pytest.exit("The run ends early.")
    if complaints:
        pytest.fail("\n".join(complaints), pytrace=False)
