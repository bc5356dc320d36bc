"""What `--only` plays: the conversations that can show what is asked for, on no more ports than are worth a start."""

import pytest
from gathered import every

from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.run.plan import ANYWHERE, EQUIVALENCE, useful
from gemini_mcp_conformance.run.playing import SHARING, worthwhile
from gemini_mcp_conformance.run.selection import Selection
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.steps import Request

JOBS = 5


def chosen(*ids: str) -> tuple[Conversation, ...]:
    return useful(every(), Options(Target(), Selection(only=ids)), set(ids))


def kinds(conversations: tuple[Conversation, ...]) -> set[str]:
    """The kinds of requirement that conversations on the shared port show."""
    return {id.split(":")[0] for each in conversations if not each.alone for id in each.requirements}


@pytest.mark.parametrize("id", sorted(ANYWHERE))
def test_what_every_conversation_shows_is_looked_for_in_a_few_of_every_kind(id: str) -> None:
    assert len(chosen(id)) < len(every()) / 10
    assert kinds(chosen(id)) == kinds(every())


def test_a_requirement_that_is_named_is_looked_for_where_it_is_named() -> None:
    ping = chosen("lifecycle:ping")
    assert {each.id for each in ping if each.revision is None} == {"ping", "many-requests"}
    assert chosen("lifecycle:ping", EQUIVALENCE) == ping


def test_what_nobody_can_place_is_looked_for_everywhere() -> None:
    assert chosen("further:requirement") == every()


def test_few_conversations_share_a_port() -> None:
    one = Conversation("a", "Asks.", (Request("ping"),))
    apart = Conversation("b", "Asks apart.", (Request("ping"),), aside=True)
    assert [worthwhile([one] * count, JOBS) for count in (0, 1, SHARING, SHARING + 1, 99)] == [1, 1, 1, 2, JOBS]
    assert worthwhile([one, apart, apart], JOBS) == 3
