"""Sequences: chats and replies in turn, failures and refusals between them; each must forget those before it.

Some are the same in every run; others are lists of moves that hypothesis makes and shortens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from hypothesis import strategies as st

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.judge.expectation import TOOLS
from gemini_mcp_conformance.play.fake.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation, Request, call, path
from gemini_mcp_conformance.talk.exploration import Exploration, reply
from gemini_mcp_conformance.talk.sources import Sources

ORDER = 40
PHASE = "sequences"

OPTIONS = ("model", "systemPrompt", "cwd")
FAILURES = ("exit-1-usage", "exit-42", "exit-173", "killed", "truncated-json", "error-with-exit-0", "empty-stdout")
FILES = {f"turn-{number}": None for number in range(3)}
LONGEST = 8
SHOWS = (
    *(
        "command:chat:new-session",
        "command:chat:no-model",
        "command:chat-reply:session-id",
        "command:chat-reply:latest",
    ),
    *("system:leak", "system:absent", "cwd:default", "cwd:used", "concurrency:after-failure", "command:once"),
)


@dataclass(frozen=True)
class Move:
    """One call. `session` counts back through the sessions so far, None is the latest by no name."""

    tool: str
    options: frozenset[str] = frozenset()
    session: int | None = None
    outcome: str = "success"


def conversations(sources: Sources) -> Iterable[Conversation]:
    """Every option once and then not, with another value, and after a failure, in either tool."""
    every = frozenset(OPTIONS)
    for first, second in product(TOOLS, TOOLS):
        turns = [
            Move(first, every),
            Move(second),
            Move(first, every, 0),
            Move(second, every, 0),
            Move(second, session=0),
            Move(first, every, outcome="exit-1-usage"),
            Move(second),
            Move(second, every, outcome="refused"),
            Move(first),
        ]
        yield conversation(turns, sources, f"sequence-{first}-{second}")
    sessions = [Move("chat"), Move("chat"), *(Move("chat-reply", session=back) for back in (0, 1, 0, 1, 2, 1))]
    yield conversation([*sessions, Move("chat-reply"), Move("chat")], sources, "sequence-sessions")
    failing = [Move(tool, outcome=outcome) for outcome in FAILURES for tool in TOOLS]
    yield conversation([*failing, Move("chat"), Move("chat-reply")], sources, "sequence-failures")


def explorations(sources: Sources) -> Iterable[Exploration]:
    """Moves at random."""
    strategy = st.lists(moves(), min_size=1, max_size=LONGEST).map(lambda made: conversation(made, sources))
    count = max(1, sources.examples // 15)
    title = "A sequence of calls."
    yield Exploration("generated-sequence", title, lambda _: strategy, count, sources.seed, PHASE, SHOWS)


def moves() -> st.SearchStrategy[Move]:
    outcomes = st.sampled_from(["success", "success", "success", "changed", "refused", *FAILURES])
    return st.builds(
        Move,
        st.sampled_from(TOOLS),
        st.frozensets(st.sampled_from(OPTIONS)),
        st.none() | st.integers(0, 3),
        outcomes,
    )


def conversation(moves: Sequence[Move], sources: Sources, id: str = "generated") -> Conversation:
    """The calls that the moves stand for."""
    steps = tuple(_steps(moves, sources))
    return Conversation(id, "Calls in turn, each of which is alone.", steps, PHASE, SHOWS, files=FILES)


def _steps(moves: Sequence[Move], sources: Sources) -> Iterator[Request]:
    sessions: list[str] = []
    for number, move in enumerate(moves, 1):
        own = f"00000000-0000-4000-8000-{number:012}"
        resumed = sessions[-1 - move.session % len(sessions)] if sessions and move.session is not None else None
        arguments: dict[str, Json] = {"prompt": f"This is turn {number}.", **_options(move, number)}
        if move.tool == "chat-reply" and resumed is not None:
            arguments["sessionId"] = resumed
        stays = move.tool == "chat-reply" and move.outcome != "changed" and resumed is not None
        session = resumed if stays and resumed is not None else own
        if move.outcome == "refused":
            arguments["prompt"] = None
        elif move.outcome in ("success", "changed"):
            sessions.append(session)
        yield call(move.tool, arguments, _script(move, number, session, sources))


def _options(move: Move, number: int) -> dict[str, Json]:
    values = {
        "model": f"model-{number}",
        "systemPrompt": f"You are number {number}.",
        "cwd": path(f"turn-{number % 3}"),
    }
    return {name: values[name] for name in OPTIONS if name in move.options}


def _script(move: Move, number: int, session: str, sources: Sources) -> Script:
    return sources.scripts.get(move.outcome) or reply(f"The answer to turn {number}.", session)
