"""A run that ends with its first failure waits for nothing that the port has shown already."""

import asyncio
from pathlib import Path

import pytest
from command import port
from hypothesis import strategies
from hypothesis.strategies import SearchStrategy

from gemini_mcp_conformance.play.patience import Patience
from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.run.explorer import Explorer, Seen
from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.run.run import run
from gemini_mcp_conformance.run.selection import Selection
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.exploration import Exploration, Served
from gemini_mcp_conformance.talk.steps import Listen, Request
from gemini_mcp_conformance.tell import replays
from gemini_mcp_conformance.tell.report import Report

BUDGET = 20.0
LONGER = (Listen(False), Listen(True, 2 * BUDGET), Request("tools/list"))
SILENT = Conversation("silent", "A ping.", (Request("ping"), *LONGER), requirements=("lifecycle:ping",))


def judged(requirement: str, played: Conversation, fail_fast: bool = True, budget: float = BUDGET) -> Report:
    """What a run says of a port that answers no ping."""
    only, patience = Selection(only=(requirement,)), Patience(answer=1, first=10)
    options = Options(Target(port("silent-ping")), only, fail_fast=fail_fast, budget=budget, patience=patience)
    return run(options, [played])


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_a_conversation_that_has_failed_is_not_played_to_its_end() -> None:
    found = judged("lifecycle:ping", SILENT).judgements[0]
    assert (found.verdict, "gave no answer to ping" in str(found.message)) == ("fail", True)


def test_it_is_kept_whole_for_a_replay() -> None:
    judged("lifecycle:ping", SILENT)
    kept = replays.load("silent", Target(port("silent-ping")))
    assert [type(step) for step in kept.steps] == [type(step) for step in SILENT.steps]


def test_one_that_has_only_waited_in_vain_goes_on() -> None:
    steps = (Request("ping"), Request("tools/list"))
    report = judged("tools:chat", Conversation("goes-on", "A ping and a list.", steps, requirements=("tools:chat",)))
    assert report.judgements[0].verdict == "pass"


def test_without_the_option_every_conversation_is_played_to_its_end() -> None:
    report = judged("lifecycle:ping", SILENT, fail_fast=False, budget=3.0)
    assert report.judgements[0].verdict == "could-not-run"


async def test_an_exploration_ends_when_enough_is_known() -> None:
    def generated(served: Served) -> SearchStrategy[Conversation]:
        return strategies.builds(Conversation, strategies.text(), strategies.just(""), strategies.just(()))

    enough = asyncio.Event()

    async def play(conversation: Conversation) -> Seen:
        enough.set()
        await asyncio.Event().wait()
        raise AssertionError

    explorer = Explorer(Exploration("x", "", generated, 10), {}, play, set(), is_enough=enough.is_set)
    async with asyncio.timeout(BUDGET):
        await explorer.explore()
    assert (explorer.findings, explorer.proofs) == ({}, [])
