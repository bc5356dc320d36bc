"""Generated outcomes: each is one that the rules of the specification can read."""

from __future__ import annotations

from hypothesis import given, settings

from gemini_mcp_conformance.judge.expectation import ending
from gemini_mcp_conformance.run.explorer import SLOW
from gemini_mcp_conformance.spec.reading import newest, read
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.sources import read as read_sources
from gemini_mcp_conformance.talk.sources.surprises import explorations
from gemini_mcp_conformance.talk.steps import Request

SOURCES = read_sources()
(EXPLORATION,) = explorations(SOURCES)


@settings(max_examples=200, derandomize=True, database=None, deadline=None, suppress_health_check=SLOW)
@given(EXPLORATION.strategy({}))
def test_a_generated_outcome_is_a_failure_or_can_be_read(conversation: Conversation) -> None:
    (step,) = conversation.steps
    assert isinstance(step, Request)
    (script,) = step.scripts
    end = ending(script)
    if script.id == "fails":
        assert end.exit
        return
    found = read(end.stdout, SOURCES.spec.outcome)
    if script.id == "objects":
        assert found.kind in ("answer", "error")
        return
    assert found.kind == ("plain" if script.id == "plain" else "answer")
    assert (found.session is None) == (script.list_sessions is not None)
    if script.list_sessions is not None:
        listed = ending(Script("list", script.list_sessions))
        text = (listed.stdout + listed.stderr).decode("utf-8")
        assert (newest(text, SOURCES.spec.invocation.listing.entry) or "none") in text
