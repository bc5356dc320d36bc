"""The goldens are what the reference answers; `pytest tests/conformance/test_goldens.py --snapshot-update` writes them.

They accuse a port whose text, session or outcome is wrong, and no port that was asked something else.
"""

import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest
from command import ROOT
from syrupy.assertion import SnapshotAssertion

from gemini_mcp.spec import load_documents, load_manifest
from gemini_mcp_conformance.judge import checks
from gemini_mcp_conformance.judge.golden import FOLDER
from gemini_mcp_conformance.judge.golden_extension import GoldenExtension
from gemini_mcp_conformance.judge.judging import judge
from gemini_mcp_conformance.judge.registry import Check, checks_of
from gemini_mcp_conformance.judge.registry import checks as registered
from gemini_mcp_conformance.play.bench import Bench
from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.run.plugin import tracks_of
from gemini_mcp_conformance.see.observation import Observation
from gemini_mcp_conformance.talk import sources as conversations
from gemini_mcp_conformance.talk.conversation import Conversation, Request
from gemini_mcp_conformance.talk.sources import examples

REFERENCE = (sys.executable, "-m", "gemini_mcp.cli")
DEFECTIVE = (sys.executable, str(ROOT / "tests/ports/defective.py"))
ANSWERED = sorted(
    name
    for name, scenario in load_documents("server/scenarios").items()
    if any(step.get("result") is not None for step in scenario["steps"])
)


def scenarios(*names: str) -> list[Conversation]:
    every = {each.id: each for each in examples.conversations(conversations.read())}
    return [every[f"scenario-{name}"] for name in names]


def played(command: Sequence[str], chosen: Sequence[Conversation]) -> Mapping[str, Observation]:
    """What a port made of each conversation, by its id."""
    return {observation.conversation.id: observation for observation in asyncio.run(_played(command, chosen))}


async def _played(command: Sequence[str], chosen: Sequence[Conversation]) -> list[Observation]:
    with Bench(Target(tuple(command)), load_manifest().stateless_revisions) as bench:

        async def follow(number: int, track: Sequence[Conversation]) -> list[Observation]:
            return [await bench.play(conversation, number) for conversation in track]

        tracks = [track for track in tracks_of(chosen, 4) if track]
        done = await asyncio.gather(*(follow(number, track) for number, track in enumerate(tracks)))
        await bench.end()
    return [observation for track in done for observation in track]


def golden_checks() -> Iterator[Check]:
    checks.load()
    return (check for check in registered() if check.name.endswith("_is_golden"))


def accused(observation: Observation) -> set[str]:
    """The requirements of which the goldens, and nothing else, say that they are broken."""
    found = judge(observation, golden_checks())
    return {finding.requirement for finding in found if finding.outcome != "pass"}


@pytest.fixture(scope="module")
def of_reference() -> Mapping[str, Observation]:
    return played(REFERENCE, scenarios(*ANSWERED))


@pytest.mark.filterwarnings(r"ignore:\s*Can not relate snapshot")
@pytest.mark.parametrize("name", ANSWERED)
def test_the_reference_answers_as_in_the_golden(
    of_reference: Mapping[str, Observation], snapshot: SnapshotAssertion, name: str
) -> None:
    golden = snapshot.use_extension(GoldenExtension)
    assert of_reference[f"scenario-{name}"] == golden(name=name)


def test_there_is_a_golden_for_each_scenario_and_no_other() -> None:
    assert {file.name for file in FOLDER.iterdir()} == {f"{name}.json" for name in ANSWERED}


def test_every_kind_of_golden_is_compared(of_reference: Mapping[str, Observation]) -> None:
    every = list(golden_checks())
    shown = {finding.requirement for seen in of_reference.values() for finding in judge(seen, every)}
    assert shown == {check.requirement for check in every}
    assert set[str]().union(*map(accused, of_reference.values())) == set()
    assert all(len(checks_of(check.requirement)) > 1 for check in every)


@pytest.mark.parametrize(
    ("defect", "scenario", "broken"),
    [
        ("session-appended", "chat-then-reply-by-id", {"result:text"}),
        ("session-under-cli-name", "chat-then-reply-by-id", {"result:session-id", "result:session-id:chat-reply"}),
        ("reply-echoes-session", "reply-changes-session", {"result:session-id:chat-reply"}),
        ("other-prefix", "failure-runs-once", {"error:prefix"}),
        ("failure-is-success", "failure-runs-once", {"error:is-error"}),
        ("is-error-is-text", "refused-then-served", {"arguments:prompt:null", "arguments:prompt:type", "cwd:missing"}),
    ],
)
def test_a_golden_alone_accuses_a_wrong_answer(defect: str, scenario: str, broken: set[str]) -> None:
    (seen,) = played((*DEFECTIVE, defect), scenarios(scenario)).values()
    assert accused(seen) == broken


def test_a_golden_is_silent_about_another_call() -> None:
    (scenario,) = scenarios("answer-in-pieces")
    (step,) = scenario.steps
    assert isinstance(step, Request)
    other = replace(step, params={**step.params, "arguments": {"prompt": "Something else"}})
    (seen,) = played(REFERENCE, [replace(scenario, steps=(other,))]).values()
    assert judge(seen, golden_checks()) == ()
