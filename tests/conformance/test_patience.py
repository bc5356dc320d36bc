"""Slow is not wrong, and silent is not waited for again and again: patience follows from the pace of a port."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from command import ROOT, port
from gathered import every

from gemini_mcp_conformance.judge import checks
from gemini_mcp_conformance.judge.judging import judge
from gemini_mcp_conformance.judge.registry import checks_for
from gemini_mcp_conformance.play.bench import Bench
from gemini_mcp_conformance.play.pace import ENOUGH, NEVER, Kind, Pace
from gemini_mcp_conformance.play.patience import BRIEF, FAMILIAR, HOPELESS, LEAST, MARGIN, MOST, STARTS, Patience
from gemini_mcp_conformance.play.port_process import Death
from gemini_mcp_conformance.play.stderr import KEPT
from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.run.selection import Selection, select
from gemini_mcp_conformance.spec import specification
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.steps import End, Listen, Request, call

BASE = Patience()
KIND = Kind("tools/call", "ask", True)
SILENT = Pace(silent=NEVER, unheard={KIND: NEVER})
CALL = call("ask", {}, Script("answers", ()))
ORDINARY = Conversation("a", "A call.", (CALL,))
Result = TypeVar("Result")


@pytest.mark.parametrize(
    ("pace", "waits"),
    [
        (Pace(), {"launch": 60, "first": 30, "answer": 10, "start": 10, "end": 10, "files": 5}),
        (Pace(start=0.2), {"launch": 10}),
        (Pace(start=10), {"launch": STARTS * 10}),
        (Pace(start=100), {"launch": MOST}),
        (Pace(answered=4, took=0.4), {"first": 10, "answer": 10, "start": 10, "end": 10}),
        (Pace(answered=FAMILIAR, took=0.4), {"first": 6, "answer": 6, "start": 6, "end": 10}),
        (Pace(answered=FAMILIAR, took=0.4, silent=1), {"answer": 5, "start": 5}),
        (Pace(answered=FAMILIAR, took=FAMILIAR), {"answer": MARGIN, "start": MARGIN}),
        (Pace(answered=2, took=6), {"answer": MARGIN * 3, "start": MARGIN * 3, "end": MARGIN * 3}),
        (Pace(answered=1, took=60), {"answer": MOST}),
        (Pace(silent=1), {"first": 5, "answer": 5, "start": 5, "end": 10}),
        (Pace(silent=9), {"answer": LEAST, "start": LEAST}),
        (Pace(silent=9, answered=1, took=1), {"answer": MARGIN}),
        (Pace(littered=9), {"files": 0.5}),
    ],
)
def test_waits_follow_from_the_pace(pace: Pace, waits: dict[str, float]) -> None:
    patience = BASE.at(pace)
    assert {name: getattr(patience, name) for name in waits} == waits


def test_patience_for_the_same_pace_is_the_same() -> None:
    pace = Pace(start=3, answered=2, took=5, silent=2)
    assert BASE.at(pace) == BASE.at(pace)


def test_the_first_answer_of_a_new_port_is_waited_for_as_a_start() -> None:
    assert BASE.at(Pace(start=10)).answer_to(KIND, 0, is_new=True, open_before=0) == STARTS * 10


def test_calls_that_are_open_are_waited_for_too() -> None:
    patience = BASE.at(Pace(answered=1, took=2))
    waits = [patience.answer_to(KIND, 0, False, others) for others in (0, 10)]
    assert waits[1] - waits[0] == 10 * STARTS * 2


def test_what_never_came_is_hardly_waited_for_however_long_it_would_take() -> None:
    assert BASE.at(SILENT).answer_to(KIND, 11, is_new=False, open_before=3) == HOPELESS
    assert BASE.at(SILENT).scripts_of(KIND, 11) == 0


def test_each_further_wait_in_vain_of_a_conversation_is_half_as_long() -> None:
    waits: list[float] = []
    patience = BASE
    for _ in range(20):
        patience = patience.lost()
        waits.append(patience.answer_to(KIND, 0, False, 0))
    assert waits[:3] == [BRIEF, BRIEF / 2, BRIEF / 4]
    assert sum(waits) < 2 * BRIEF


def test_files_that_stay_are_hardly_waited_for_once_some_have_stayed_in_the_same_conversation() -> None:
    patience = Patience().at(Pace())
    assert (patience.littered().files, patience.littered().answer) == (0.5, patience.answer)


def test_in_a_run_that_ends_with_its_first_failure_nothing_is_waited_for_long_behind_one() -> None:
    patience = Patience().until_failure()
    assert (patience.answer, patience.lost().answer) == (Patience().answer, 0.5)


def test_a_port_that_has_answered_calls_is_never_waited_for_less_than_its_pace_says() -> None:
    for took in (0.01, 1.0):
        patience = BASE.at(Pace(answered=1, took=took))
        for _ in range(20):
            patience = patience.lost()
        assert patience.answer == max(HOPELESS, STARTS * took)


def test_one_answer_gives_hope_again() -> None:
    assert replace(SILENT, heard=frozenset({KIND})).hopeless == frozenset()


def test_conversations_of_what_never_came_are_not_played() -> None:
    told = SILENT.given_up(ORDINARY)
    assert told is not None
    assert "never answered tools/call of 'ask'" in told


@pytest.mark.parametrize(
    "other",
    [
        Conversation("a", "More than that.", (CALL, Request("tools/list"))),
        Conversation("a", "Another tool.", (call("other", {}, Script("answers", ())),)),
        Conversation("a", "The end of a port.", (CALL, End("stdin"))),
        Conversation("a", "No call.", ()),
    ],
)
def test_conversations_that_may_show_something_are_played(other: Conversation) -> None:
    assert SILENT.given_up(other) is None


def test_a_port_that_keeps_silent_here_and_there_is_left_in_the_end() -> None:
    told = Pace(silent=40, lost=ENOUGH).given_up(ORDINARY)
    assert told is not None
    assert "kept silent in 40 conversations" in told


def played(command: tuple[str, ...], patience: Patience, play: Callable[[Bench], Awaitable[Result]]) -> Result:
    """What `play` gives on a bench for a port."""

    async def within() -> Result:
        with Bench(Target(command), specification.load(), patience) as bench:
            try:
                return await play(bench)
            finally:
                await bench.end()

    return asyncio.run(within())


def offered(id: str) -> Conversation:
    return next(each for each in every() if each.id == id)


def test_a_start_that_takes_longer_than_an_answer_may_fails_nothing() -> None:
    checks.load()

    async def play(bench: Bench) -> set[str]:
        await bench.greet()
        seen = await bench.play(offered("unknown-revision"))
        found = judge(seen, checks_for(select(Selection(only=("lifecycle:*",)), "server")))
        return {finding.outcome for finding in found}

    assert played(port("slow-start", "2"), Patience(answer=1, launch=60), play) == {"pass"}


def test_a_conversation_that_is_broken_off_behind_the_end_of_its_port_accuses_none_before_it(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    command = ("sh", "-c", '"$@"; : > "$0"', str(gone), *port("correct"))

    async def play(bench: Bench) -> list[Death]:
        await bench.play(Conversation("before", "", (Request("ping"),)))
        ending = asyncio.create_task(bench.play(Conversation("ending", "", (End("stdin"), Listen(True, 600)))))
        while not gone.exists():  # noqa: ASYNC110 - nothing else tells that the port has ended
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        ending.cancel()
        await asyncio.wait((ending,))
        return bench.deaths

    assert played(command, Patience(), play) == []


def test_the_start_and_the_calls_of_a_port_are_measured() -> None:
    async def play(bench: Bench) -> Pace:
        await bench.greet()
        await bench.play(offered("case-chat"))
        return bench.pace

    pace = played(port("slow-call", "0.5"), Patience(), play)
    assert pace.start is not None
    assert pace.usual >= 0.5


def test_a_port_that_answers_no_call_is_not_asked_for_ever() -> None:
    async def play(bench: Bench) -> list[bool]:
        conversation, are_given_up = offered("case-chat"), list[bool]()
        await bench.greet()
        for _ in range(NEVER):
            are_given_up.append(bench.pace.given_up(conversation) is not None)
            await bench.play(conversation)
        return [*are_given_up, bench.pace.given_up(conversation) is not None]

    assert played(port("silent-call"), Patience(answer=0.4, first=0.4), play) == [*[False] * NEVER, True]


def test_a_port_that_floods_its_stderr_is_read_no_further_than_what_is_kept() -> None:
    async def play(bench: Bench) -> tuple[bool, int]:
        await bench.greet()
        seen = await bench.play(offered("case-chat"))
        return seen.exchanges[-1].is_success, len(seen.stderr)

    is_success, length = played(port("floods"), Patience(), play)
    assert is_success
    assert 0 < length <= KEPT


@pytest.mark.slow
def test_a_port_that_stops_at_a_long_line_is_told_what_may_limit_lines() -> None:
    checks.load()
    conversation = offered("malformed-long-lines")

    async def play(bench: Bench) -> list[str]:
        await bench.greet()
        seen = await bench.play(conversation)
        found = judge(seen, checks_for(select(Selection(only=("rpc:alive:long-line",)), "server")))
        return [finding.message for finding in found]

    defective = (sys.executable, str(ROOT / "tests/ports/defective.py"), "deaf-after-long-line")
    (told,) = played(defective, Patience(answer=1, first=1, launch=60), play)
    assert "`maxBufferSize` of StdioServerTransport" in told
