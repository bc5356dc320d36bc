"""The suite's host direction: it passes on the reference, and fails on every adapter that has a fault."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from adapters.faults import FAULTS, broken

from gemini_mcp.spec import load_documents, load_requirements
from gemini_mcp.spec.values import Json, JsonObject
from gemini_mcp_conformance.command.options import HOST_ADAPTER
from gemini_mcp_conformance.host import properties
from gemini_mcp_conformance.host import vectors as of_vectors
from gemini_mcp_conformance.host.asking import Adapter
from gemini_mcp_conformance.host.questions import HostCheck, NoAnswer, Put, Questions, findings, together
from gemini_mcp_conformance.host.run import run
from gemini_mcp_conformance.judge.finding import Finding
from gemini_mcp_conformance.judge.judgement import Judgement
from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.run.selection import Selection
from gemini_mcp_conformance.tell.report import NO_ANSWER, Report

PROFILES = ("documented", "current")
REQUIREMENTS = [entry for entry in load_requirements() if entry.profile == "host"]
VECTORS = load_documents("host/vectors")
BROKEN = (sys.executable, str(Path(__file__).parent / "adapters" / "broken.py"))


def judged(
    command: Sequence[str], profile: str = "documented", examples: int = 0, only: str = "host-tools:include"
) -> Report:
    return run(Options(Target(tuple(command)), Selection((only,)), profile=profile, examples=examples))


def found(checks: Iterable[HostCheck], put: Put, profile: str = "documented") -> list[Finding]:
    """What the checks find, one finding for those that ask the same."""
    questions = Questions(put, profile)
    return [findings(alike, questions)[0] for alike in together(checks, questions)]


class InProcess:
    """An adapter without a process of its own: what it is asked and what it answers still pass through JSON."""

    def __init__(self, reply: Callable[[Json], Json]) -> None:
        self._reply = reply

    def ask(self, request: JsonObject, seconds: float) -> Json:
        return json.loads(json.dumps(self._reply(json.loads(json.dumps(request)))))["output"]


@pytest.fixture(scope="module")
def reference() -> dict[str, tuple[Judgement, ...]]:
    """The reference in both profiles, at the same time."""
    with ThreadPoolExecutor(len(PROFILES)) as pool:
        running = {profile: pool.submit(judged, HOST_ADAPTER, profile, 15, "*") for profile in PROFILES}
    return {profile: future.result().judgements for profile, future in running.items()}


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_the_reference_passes(profile: str, reference: dict[str, tuple[Judgement, ...]]) -> None:
    judgements = reference[profile]
    assert [entry for entry in judgements if entry.verdict not in ("pass", "not-applicable")] == []
    assert sum(entry.verdict == "pass" for entry in judgements) > 150


@pytest.mark.slow
def test_every_requirement_is_judged_in_the_order_of_the_specification(
    reference: dict[str, tuple[Judgement, ...]],
) -> None:
    ids = [requirement.id for requirement in REQUIREMENTS]
    for profile in PROFILES:
        assert [entry.id for entry in reference[profile]] == ids


@pytest.mark.slow
def test_every_requirement_passes_in_one_profile_or_says_why_it_is_not_checked(
    reference: dict[str, tuple[Judgement, ...]],
) -> None:
    passed = {entry.id for profile in PROFILES for entry in reference[profile] if entry.verdict == "pass"}
    assert {entry.id for entry in REQUIREMENTS if entry.excluded is None} == passed


@pytest.mark.slow
def test_a_pass_names_its_witness(reference: dict[str, tuple[Judgement, ...]]) -> None:
    assert [entry for entry in reference["documented"] if entry.verdict == "pass" and not entry.witness] == []


def test_there_are_at_least_forty_faults() -> None:
    assert len(FAULTS) >= 40


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_caught(name: str) -> None:
    behaviour = FAULTS[name]
    faulty = InProcess(broken(name))
    for profile in PROFILES:
        for finding in found(of_vectors.checks({behaviour: VECTORS[behaviour]}), faulty.ask, profile):
            if finding.outcome == "fail":
                assert finding.message
                return
    pytest.fail(f"the suite passes an adapter with the fault: {name}")


def failing_properties(name: str, profile: str) -> Sequence[Finding]:
    shown = {requirement for vector in VECTORS[FAULTS[name]] for requirement in vector["requirements"]}
    made = [check for check in properties.checks(25, 0) if check.requirement in shown]
    return [finding for finding in found(made, InProcess(broken(name)).ask, profile) if finding.outcome == "fail"]


@pytest.mark.parametrize(
    "name",
    [
        "Long names are not cut.",
        "Only the root is sanitised.",
        "A tool on both lists is used.",
        "Several texts are sent as parts of their own.",
    ],
)
def test_a_property_catches_a_fault_by_itself(name: str) -> None:
    assert failing_properties(name, "documented")


def test_a_failing_property_shows_the_smallest_input() -> None:
    [short, *_] = failing_properties("Long names are not cut.", "documented")
    assert short.witness.count('"id"') == 1
    assert f'"input": {json.dumps({"tool": "0" * 64})}' in short.witness


def test_an_adapter_that_supports_nothing_cannot_pass() -> None:
    judgements = judged([*BROKEN, "supports-nothing"], examples=1, only="*").judgements
    assert {entry.verdict for entry in judgements} == {"could-not-run", "not-applicable"}


@pytest.mark.parametrize("way", ["ends", "names-another", "chatters"])
def test_an_adapter_that_answers_nothing_is_said_to_have_never_answered(way: str) -> None:
    report = judged([*BROKEN, way])
    [note] = report.notes
    assert (report.exit, note.startswith("The adapter never answered: ")) == (NO_ANSWER, True)
    assert [entry.message for entry in report.judgements] == [note]


def test_a_command_that_does_not_exist_has_never_answered() -> None:
    report = judged(["/nonexistent/adapter"])
    assert report.exit == NO_ANSWER
    assert "'/nonexistent/adapter' could not be started" in report.notes[0]


def test_an_adapter_that_ends_once_fails_by_that_question_only() -> None:
    with Adapter([*BROKEN, "ends-once"]) as adapter:
        every = found(of_vectors.checks({"tool-filter": VECTORS["tool-filter"]}), adapter.ask)
    assert [finding.check for finding in every if finding.outcome != "pass"] == ["tool-filter/include-hit"]


def test_an_adapter_that_hangs_is_waited_for_no_longer_than_allowed() -> None:
    request: JsonObject = {"id": "q", "behaviour": "tool-filter", "profile": "documented", "input": {"toolName": "t"}}
    hanging = Adapter([*BROKEN, "hangs"])
    with pytest.raises(NoAnswer, match="did not answer within"):
        hanging.ask(request, 0.2)


def test_silence_fails_a_property_without_shrinking() -> None:
    questions: list[Json] = []

    def keep_silent(request: JsonObject, seconds: float) -> Json:
        questions.append(request)
        raise NoAnswer("The adapter did not answer within 30 seconds.")

    short = [check for check in properties.checks(40, 0) if check.requirement == "host-name:limit"]
    assert [finding.outcome for finding in found(short, keep_silent)] == ["fail"]
    assert len(questions) == 1


def test_an_answer_that_changes_from_time_to_time_is_no_fault_of_the_suite() -> None:
    answers = iter(range(10**6))

    def answer(request: JsonObject, seconds: float) -> Json:
        return {"name": "x" * 64} if next(answers) == 3 else {"name": "x"}

    short = [check for check in properties.checks(40, 0) if check.requirement == "host-name:limit"]
    assert [finding.outcome for finding in found(short, answer)] == ["fail"]


def test_a_host_is_asked_once_for_all_requirements_that_a_vector_shows() -> None:
    questions: list[Json] = []

    def answer(request: JsonObject, seconds: float) -> Json:
        questions.append(request)
        return {"enabled": True}

    vector = next(one for one in VECTORS["tool-filter"] if len(one["requirements"]) > 1 and one["profile"] == "both")
    asked = Questions(answer, "documented")
    [alike] = together(of_vectors.checks({"tool-filter": [vector]}), asked)
    assert [finding.requirement for finding in findings(alike, asked)] == vector["requirements"]
    assert len(questions) == 1


def test_a_failure_can_be_replayed_with_its_command() -> None:
    command = [*BROKEN, "ends-once"]
    [failed] = judged(command).with_verdict("fail")
    assert failed.replay is not None
    assert failed.replay.endswith(shlex.join(command))
    replayed = subprocess.run(["/bin/sh", "-c", failed.replay], capture_output=True, timeout=30, check=False)
    assert replayed.returncode == 3


def test_a_failing_scenario_is_replayed_by_the_suite() -> None:
    [failed] = judged([*BROKEN, "empty-scenario"], "current", only="host-discovery:parallel").judgements
    assert failed.verdict == "fail"
    assert failed.replay is not None
    assert failed.replay.startswith(
        "gemini-mcp-conformance run --direction host --profile current --only host-discovery:parallel -- "
    )
