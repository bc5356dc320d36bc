"""The scenarios of the host, played by the unmodified Gemini CLI: it must do what the current profile expects."""

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from exceptions import EXCEPTIONS
from program import MODEL, Seen, run

from gemini_mcp import spec
from gemini_mcp.host.tools.content import OUTPUT_FILE
from gemini_mcp.spec.values import Json, JsonObject
from gemini_mcp_conformance.host.scenarios import Stage, in_profile

SCENARIOS = {
    name: in_profile(scenario, "current")
    for name, scenario in spec.load_documents("host/scenarios").items()
    if scenario["profile"] in ("both", "current")
}


def test_every_exception_is_of_a_scenario() -> None:
    assert set(EXCEPTIONS) <= set(SCENARIOS)


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name not in EXCEPTIONS])
def test_the_program_does_what_is_expected(name: str) -> None:
    scenario = SCENARIOS[name]
    expected: Json = scenario["expected"].get("current", scenario["expected"])
    with tempfile.TemporaryDirectory(prefix="real-host-") as folder, ExitStack() as stack:
        stage = Stage(Path(folder), scenario, stack)
        steps = list(_played(Path(folder), stage.input()))
        for seen in steps:
            assert seen.left == []
        _compare(stage, steps, scenario, expected)


def _played(folder: Path, given: JsonObject) -> Iterator[Seen]:
    """A run for all calls, in which each is a turn, and one for each other step."""
    calls = [[{"name": step["call"]["name"], "args": step["call"]["arguments"]}] for step in _of(given, "call")]
    prompts = [
        step.get("prompt") or step.get("expand") for step in given["steps"] if not {"call", "status"} & set(step)
    ]
    for prompt, turns in [*([("go", calls)] if calls or not prompts else []), *((prompt, ()) for prompt in prompts)]:
        words = ["-m", MODEL, "--approval-mode", "yolo", "-p", prompt]
        yield run(folder, words, turns, given["environment"], given["settings"])


def _of(given: JsonObject, kind: str) -> Sequence[JsonObject]:
    return [step for step in given["steps"] if kind in step]


def _compare(stage: Stage, steps: Sequence[Seen], scenario: Json, expected: Json) -> None:
    if "tools" in expected:
        assert [one["name"] for one in steps[0].declarations] == [one["name"] for one in expected["tools"]]
    if "context" in expected:
        assert steps[0].context == expected["context"]
    for server, methods in expected.get("asked", {}).items():
        asked = [message["method"] for message in stage.journal(server)]
        assert asked[: len(methods)] == methods
    wanted = [step for step, given in zip(expected.get("steps", []), scenario["steps"], strict=True) if "call" in given]
    responses = steps[0].responses if wanted else []
    assert [_masked(stage, parts) for parts in responses] == [_parts(step) for step in wanted]
    prompts = [
        (step, given)
        for step, given in zip(expected.get("steps", []), scenario["steps"], strict=True)
        if not {"call", "status"} & set(given)
    ]
    for seen, (step, given) in zip(steps[-len(prompts) :] if prompts else [], prompts, strict=True):
        _compare_prompt(stage, seen, step, given)


def _masked(stage: Stage, parts: Json) -> Json:
    """The parts without what is of this machine; the reference does not know where the CLI keeps long outputs."""
    text = re.sub(r"(For full output see: )[^\\]*", rf"\1{OUTPUT_FILE}", json.dumps(parts))
    return stage.masked(json.loads(text))


def _parts(step: JsonObject) -> Json:
    return step["modelParts"]


def _compare_prompt(stage: Stage, seen: Seen, step: JsonObject, given: JsonObject) -> None:
    if step.get("failed") or step.get("type") == "message":
        assert seen.exit != 0 or not seen.requests
        return
    wanted = step["parts"] if "parts" in step else [{"text": step["content"]}]
    assert stage.masked(seen.prompt) == wanted
