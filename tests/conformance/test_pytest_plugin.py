"""A port's own tests hold the suite with one marker, one fixture and one call; nobody else notices it."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from command import ROOT, SECONDS, port, variables

PLUGIN = "gemini_mcp_conformance.pytest_plugin"
CHOSEN = "lifecycle:ping or tools:schema and test_conforms or test_should"
SHOULD = {"id": "a:b", "level": "SHOULD", "sentence": "It SHOULD.", "verdict": "fail", "message": "It did not."}
TESTS = """
import pytest
from {plugin} import Requirement

@pytest.mark.gemini_mcp(*{wrong})
def test_conforms(gemini_mcp_requirement):
    gemini_mcp_requirement.check()

@pytest.mark.gemini_mcp(*{wrong}, options=("--baseline", {known!r}))
def test_known(gemini_mcp_requirement):
    gemini_mcp_requirement.check()

@pytest.mark.gemini_mcp(*{silent}, options=("--budget", "3"))
def test_silent(gemini_mcp_requirement):
    gemini_mcp_requirement.check()

@pytest.mark.gemini_mcp(*{wrong})
def test_careless(gemini_mcp_requirement):
    pass

def test_of_no_port(gemini_mcp_requirement):
    gemini_mcp_requirement.check()

def test_should():
    Requirement({should!r}).check()
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a session of pytest prints whose tests use the plugin, each in another way."""
    folder = tmp_path_factory.mktemp("session")
    known = folder / "known.json"
    known.write_text(json.dumps({"known": [{"id": "lifecycle:ping", "reason": "later"}]}), encoding="utf-8")
    ports = {"wrong": port("wrong-ping"), "silent": port("silent-ping")}
    text = TESTS.format(plugin=PLUGIN, known=str(known), should=SHOULD, **ports)
    (folder / "test_port.py").write_text(text, encoding="utf-8")
    return printed_by(folder, "test_port.py", CHOSEN)


def printed_by(folder: Path, file: str, chosen: str) -> str:
    """What pytest prints of the chosen tests of a file, with no plugin but ours."""
    options = ["-c", os.devnull, "-rA", "--strict-markers", "-p", PLUGIN, "-k", chosen]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", *options, file],
        env=variables(folder, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    return done.stdout


@pytest.mark.slow
def test_each_requirement_is_a_test_and_a_must_that_fails_fails(told: str) -> None:
    assert "FAILED test_port.py::test_conforms[lifecycle:ping]" in told
    assert "PASSED test_port.py::test_conforms[tools:schema]" in told
    assert "The port answered ping with" in told


@pytest.mark.slow
def test_what_could_not_run_fails_with_its_reason(told: str) -> None:
    assert "FAILED test_port.py::test_silent[lifecycle:ping]" in told
    assert "could-not-run: " in told
    assert "The budget of 3 seconds was spent before it." in told


@pytest.mark.slow
def test_a_should_that_fails_warns(told: str) -> None:
    assert "ConformanceWarning: a:b: It SHOULD.\n  It did not." in told
    assert "PASSED test_port.py::test_should" in told


@pytest.mark.slow
def test_a_known_failure_is_an_expected_failure(told: str) -> None:
    assert "XFAIL test_port.py::test_known[lifecycle:ping]" in told


@pytest.mark.slow
def test_a_test_that_checks_nothing_does_not_pass(told: str) -> None:
    assert "ERROR test_port.py::test_careless[lifecycle:ping]" in told
    assert "Call gemini_mcp_requirement.check() in the test." in told


@pytest.mark.slow
def test_a_test_that_names_no_port_says_how(told: str) -> None:
    assert "Mark the test with @pytest.mark.gemini_mcp(" in told


def test_the_plugin_loads_nothing_that_only_the_suite_needs() -> None:
    program = f"import sys, {PLUGIN}; print(*sorted(name.partition('.')[0] for name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", timeout=SECONDS, check=True
    )
    needed = {"hypothesis", "jsonschema", "pytest_asyncio", "mcp"}
    assert needed.intersection(done.stdout.split()) == set()


def test_the_distribution_offers_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert PLUGIN in project["entry-points"]["pytest11"].values()


@pytest.mark.slow
def test_the_example_of_the_documentation_runs(tmp_path: Path) -> None:
    text = (ROOT / "docs/pytest.md").read_text(encoding="utf-8")
    example = text.partition("```python\n")[2].partition("```")[0]
    (tmp_path / "test_conformance.py").write_text(example, encoding="utf-8")
    printed = printed_by(tmp_path, "test_conformance.py", "lifecycle:ping")
    assert "PASSED test_conformance.py::test_conforms[lifecycle:ping]" in printed
