"""The suite's host direction: it passes on the reference, and fails on every adapter that has a fault."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from adapters.faults import FAULTS, broken

from gemini_mcp_conformance.host import (
    PROFILES,
    REFERENCE,
    Finding,
    NeverAnswered,
    Options,
    findings,
    judge,
    load,
    properties,
)
from gemini_mcp_conformance.host import vectors as of_vectors
from gemini_mcp_conformance.host.asking import Adapter
from gemini_mcp_conformance.host.checking import NoAnswer, checked
from gemini_mcp_conformance.host.values import Json, JsonObject
from gemini_mcp_conformance.tell.report import Judgement

SPEC = load()
BROKEN = [sys.executable, str(Path(__file__).parent / "adapters" / "broken.py")]
NAMES = Options(max_examples=0, wanted=lambda name: name == "host-tools:include")


class InProcess:
    """An adapter without a process of its own: what it is asked and what it answers still pass through JSON."""

    def __init__(self, reply: Callable[[Json], Json]) -> None:
        self._reply = reply

    def ask(self, request: JsonObject, seconds: float) -> Json:
        return json.loads(json.dumps(self._reply(json.loads(json.dumps(request)))))["output"]


@pytest.fixture(scope="module")
def judged() -> dict[str, tuple[Judgement, ...]]:
    """The reference in both profiles, at the same time."""
    with ThreadPoolExecutor(len(PROFILES)) as pool:
        running = {
            profile: pool.submit(judge, REFERENCE, profile, Options(max_examples=15), SPEC) for profile in PROFILES
        }
    return {profile: future.result() for profile, future in running.items()}


@pytest.mark.parametrize("profile", PROFILES)
def test_the_reference_passes(profile: str, judged: dict[str, tuple[Judgement, ...]]) -> None:
    found = judged[profile]
    assert [entry for entry in found if entry.verdict not in ("pass", "not-applicable")] == []
    assert sum(entry.verdict == "pass" for entry in found) > 150


def test_every_requirement_is_judged_in_the_order_of_the_specification(
    judged: dict[str, tuple[Judgement, ...]],
) -> None:
    ids = [requirement.id for requirement in SPEC.requirements]
    for profile in PROFILES:
        assert [entry.id for entry in judged[profile]] == ids


def test_every_requirement_passes_in_one_profile_or_says_why_it_is_not_checked(
    judged: dict[str, tuple[Judgement, ...]],
) -> None:
    passed = {entry.id for profile in PROFILES for entry in judged[profile] if entry.verdict == "pass"}
    assert {entry.id for entry in SPEC.requirements if entry.excluded is None} == passed


def test_a_pass_names_its_witness(judged: dict[str, tuple[Judgement, ...]]) -> None:
    assert [entry for entry in judged["documented"] if entry.verdict == "pass" and not entry.witness] == []


def test_there_are_at_least_forty_faults() -> None:
    assert len(FAULTS) >= 40


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_caught(name: str) -> None:
    behaviour = FAULTS[name].behaviour
    faulty = InProcess(broken(name))
    for profile in PROFILES:
        for check in of_vectors.checks({behaviour: SPEC.vectors[behaviour]}, profile):
            found = checked(check, faulty, profile)
            if found.outcome == "fail":
                assert found.message
                return
    pytest.fail(f"the suite passes an adapter with the fault: {FAULTS[name].sentence}")


def failing_properties(name: str, profile: str) -> Sequence[Finding]:
    requirements = {
        requirement for vector in SPEC.vectors[FAULTS[name].behaviour] for requirement in vector["requirements"]
    }
    made = [check for check in properties.checks(profile, 25, 0) if requirements & {*check.requirements}]
    found = [checked(check, InProcess(broken(name)), profile) for check in made]
    return [finding for finding in found if finding.outcome == "fail"]


@pytest.mark.parametrize("name", ["name-not-cut", "schema-flat", "include-beats-exclude", "content-not-joined"])
def test_a_property_catches_a_fault_by_itself(name: str) -> None:
    assert failing_properties(name, "documented")


def test_a_failing_property_shows_the_smallest_input() -> None:
    [short, *_] = failing_properties("name-not-cut", "documented")
    [request] = short.requests
    assert request["input"] == {"tool": "0" * 64}


def test_an_adapter_that_supports_nothing_cannot_pass() -> None:
    found = judge([*BROKEN, "supports-nothing"], "documented", Options(max_examples=1), SPEC)
    assert {entry.verdict for entry in found} == {"could-not-run", "not-applicable"}


@pytest.mark.parametrize("way", ["ends", "names-another", "chatters"])
def test_an_adapter_that_answers_nothing_is_said_to_have_never_answered(way: str) -> None:
    with pytest.raises(NeverAnswered):
        judge([*BROKEN, way], "documented", NAMES, SPEC)


def test_a_command_that_does_not_exist_has_never_answered() -> None:
    with pytest.raises(NeverAnswered, match="'/nonexistent/adapter' could not be started"):
        judge(["/nonexistent/adapter"], "documented", NAMES, SPEC)


def test_an_adapter_that_ends_once_fails_by_that_question_only() -> None:
    made = of_vectors.checks({"tool-filter": SPEC.vectors["tool-filter"]}, "documented")
    found = findings([*BROKEN, "ends-once"], "documented", made)
    assert [finding.check for finding in found if finding.outcome != "pass"] == ["tool-filter/include-hit"]


def test_an_adapter_that_hangs_is_waited_for_no_longer_than_allowed() -> None:
    request: JsonObject = {"id": "q", "behaviour": "tool-filter", "profile": "documented", "input": {"toolName": "t"}}
    hanging = Adapter([*BROKEN, "hangs"])
    with pytest.raises(NoAnswer, match="did not answer within"):
        hanging.ask(request, 0.2)


def test_silence_fails_a_property_without_shrinking() -> None:
    questions: list[Json] = []

    class Silent:
        def ask(self, request: JsonObject, seconds: float) -> Json:
            questions.append(request)
            raise NoAnswer("the adapter did not answer within 30 seconds")

    assert checked(next(properties.checks("documented", 40, 0)), Silent(), "documented").outcome == "fail"
    assert len(questions) == 1


def test_an_answer_that_changes_from_time_to_time_is_no_fault_of_the_suite() -> None:
    answers = iter(range(10**6))

    class Fickle:
        def ask(self, request: JsonObject, seconds: float) -> Json:
            return {"name": "x" * 64} if next(answers) == 3 else {"name": "x"}

    [short] = [check for check in properties.checks("documented", 40, 0) if check.name == "property name-short"]
    assert checked(short, Fickle(), "documented").outcome == "fail"


def test_a_failure_can_be_replayed_with_its_command() -> None:
    command = [*BROKEN, "ends-once"]
    [failed] = [entry for entry in judge(command, "documented", NAMES, SPEC) if entry.verdict == "fail"]
    assert failed.replay is not None
    assert failed.replay.endswith(shlex.join(command))
    replayed = subprocess.run(["/bin/sh", "-c", failed.replay], capture_output=True, timeout=30, check=False)
    assert replayed.returncode == 3


def test_a_failing_scenario_is_replayed_by_the_suite() -> None:
    made = Options(max_examples=0, wanted=lambda name: name == "host-discovery:parallel")
    [failed] = judge([*BROKEN, "empty-scenario"], "current", made, SPEC)
    assert failed.verdict == "fail"
    assert failed.replay is not None
    assert failed.replay.startswith(
        "gemini-mcp-conformance run --direction host --profile current --only host-discovery:parallel -- "
    )
