"""The one test of a run: a conversation is played and nothing fatal is found. The plugin gives it the conversations."""

import pytest

from gemini_mcp_conformance.conversation import Conversation
from gemini_mcp_conformance.plugin import Gathering


@pytest.mark.asyncio(loop_scope="session")
async def test_conversation(conversation: Conversation, gathering: Gathering) -> None:
    complaints = [f"{finding.requirement}: {finding.message}" for finding in await gathering.play(conversation)]
    if gathering.unreachable is not None or gathering.cut is not None:
        pytest.exit("The run ends early.")
    if complaints:
        pytest.fail("\n".join(complaints), pytrace=False)
