"""The conversations of a whole run, gathered once, when a test first asks for them."""

from functools import cache

from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.run.plan import gather
from gemini_mcp_conformance.talk.conversation import Conversation


@cache
def every() -> tuple[Conversation, ...]:
    return gather(Options(Target()))[0]
