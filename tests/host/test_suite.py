"""The suite's host direction: it passes on the reference, and fails on every adapter that has a fault."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from gemini_mcp_conformance.host import HostSpec, Options, Verdict, run

HERE = Path(__file__).parent
REFERENCE = [sys.executable, "-m", "gemini_mcp.host.adapter"]


def _module(file: Path) -> Any:
    found = importlib.util.spec_from_file_location(file.stem, file)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[file.stem] = module
    found.loader.exec_module(module)
    return module


SPECIFICATION: HostSpec = _module(HERE / "specification.py").specification()
FAULTS: dict[str, Any] = _module(HERE / "adapters" / "faults.py").FAULTS


def outcomes(verdicts: list[Verdict]) -> dict[str, str]:
    return {verdict.requirement: verdict.outcome for verdict in verdicts}


@pytest.mark.parametrize("profile", ["documented", "current"])
def test_the_reference_passes(profile: str) -> None:
    verdicts = run(REFERENCE, profile, SPECIFICATION, Options(max_examples=25))
    assert [verdict for verdict in verdicts if verdict.outcome not in ("pass", "not-applicable")] == []
    assert sum(verdict.outcome == "pass" for verdict in verdicts) > 150


def test_there_are_at_least_forty_faults() -> None:
    assert len(FAULTS) >= 40


@pytest.mark.parametrize("name", [name for name in FAULTS if name != "supports-nothing"])
def test_a_fault_is_caught(name: str) -> None:
    fault = FAULTS[name]
    only = HostSpec(SPECIFICATION.requirements, {fault.behaviour: SPECIFICATION.vectors[fault.behaviour]}, [])
    command = [sys.executable, str(HERE / "adapters" / "broken.py"), name]
    for profile in ("documented", "current"):
        verdicts = run(command, profile, only, Options(max_examples=0, with_scenarios=False))
        failed = [verdict for verdict in verdicts if verdict.outcome == "fail"]
        if failed:
            assert all(verdict.message and verdict.witness is not None for verdict in failed)
            return
    pytest.fail(f"the suite passes an adapter with the fault: {fault.sentence}")


@pytest.mark.parametrize("name", ["name-not-cut", "schema-flat", "include-beats-exclude", "content-not-joined"])
def test_a_property_catches_a_fault_by_itself(name: str) -> None:
    command = [sys.executable, str(HERE / "adapters" / "broken.py"), name]
    only = HostSpec(SPECIFICATION.requirements, {}, [])
    verdicts = run(command, "documented", only, Options(max_examples=40, with_scenarios=False))
    assert [verdict for verdict in verdicts if verdict.outcome == "fail" and "property" in verdict.message]


def test_an_adapter_that_supports_nothing_cannot_pass() -> None:
    command = [sys.executable, str(HERE / "adapters" / "broken.py"), "supports-nothing"]
    found = outcomes(run(command, "documented", SPECIFICATION, Options(max_examples=1)))
    assert set(found.values()) == {"could-not-run", "not-applicable"}


def test_an_adapter_that_ends_fails() -> None:
    command = [sys.executable, str(HERE / "adapters" / "broken.py"), "ends"]
    only = HostSpec(SPECIFICATION.requirements, {"tool-filter": SPECIFICATION.vectors["tool-filter"]}, [])
    found = outcomes(run(command, "documented", only, Options(max_examples=0, with_scenarios=False)))
    assert found["host-tools:include"] == "fail"
