"""A port's own tests hold the suite with one marker, one fixture and one call; nobody else notices it."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from command import ROOT, SECONDS, port, variables

PLUGIN = "gemini_mcp_conformance.pytest_plugin"
TEST = """
import pytest

@pytest.mark.gemini_mcp(*{command})
def test_conforms(gemini_mcp_requirement):
    gemini_mcp_requirement.check()
"""


def session(
    folder: Path, text: str, *words: str, plugins: Sequence[str] = (PLUGIN,)
) -> "subprocess.CompletedProcess[str]":
    """pytest on a module of that text, in a process of its own."""
    (folder / "test_port.py").write_text(text, encoding="utf-8")
    named = [word for plugin in plugins for word in ("-p", plugin)]
    return subprocess.run(
        [
            sys.executable,
            "-P",
            "-m",
            "pytest",
            "-c",
            os.devnull,
            "-rA",
            "--strict-markers",
            *named,
            *words,
            "test_port.py",
        ],
        env=variables(folder, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )


def of(name: str) -> str:
    return TEST.format(command=port(name))


def test_each_requirement_is_a_test_and_a_must_that_fails_fails(tmp_path: Path) -> None:
    done = session(tmp_path, of("wrong-ping"), "-k", "lifecycle:ping or tools:unknown")
    assert "FAILED test_port.py::test_conforms[lifecycle:ping]" in done.stdout
    assert "PASSED test_port.py::test_conforms[tools:unknown]" in done.stdout
    assert "The port answered ping with" in done.stdout


def test_what_could_not_run_fails_with_its_reason(tmp_path: Path) -> None:
    text = TEST.replace("(*{command})", "(*{command}, options=('--budget', '3'))").format(command=port("silent-ping"))
    done = session(tmp_path, text, "-k", "lifecycle:ping")
    assert "FAILED test_port.py::test_conforms[lifecycle:ping]" in done.stdout
    assert "could-not-run: " in done.stdout
    assert "The budget of 3 seconds was spent before it." in done.stdout


def test_a_should_that_fails_warns(tmp_path: Path) -> None:
    entry = {"id": "a:b", "level": "SHOULD", "sentence": "It SHOULD.", "verdict": "fail", "message": "It did not."}
    text = f"from {PLUGIN} import Requirement\ndef test_it():\n    Requirement({entry!r}).check()\n"
    done = session(tmp_path, text)
    assert "ConformanceWarning: a:b: It SHOULD.\n  It did not." in done.stdout
    assert "PASSED test_port.py::test_it" in done.stdout


def test_a_known_failure_is_an_expected_failure(tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    known.write_text(json.dumps({"known": [{"id": "lifecycle:ping", "reason": "later"}]}), encoding="utf-8")
    options = f"(*{{command}}, options=('--baseline', {str(known)!r}))"
    text = TEST.replace("(*{command})", options).format(command=port("wrong-ping"))
    assert "XFAIL test_port.py::test_conforms[lifecycle:ping]" in session(tmp_path, text, "-k", "lifecycle:ping").stdout


def test_a_test_that_checks_nothing_does_not_pass(tmp_path: Path) -> None:
    text = of("correct").replace("gemini_mcp_requirement.check()", "pass")
    done = session(tmp_path, text, "-k", "lifecycle:ping")
    assert (done.returncode, "Call gemini_mcp_requirement.check() in the test." in done.stdout) == (1, True)


def test_a_test_that_names_no_port_says_how(tmp_path: Path) -> None:
    done = session(tmp_path, "def test_it(gemini_mcp_requirement): ...\n", "-k", "lifecycle:ping")
    assert "Mark the test with @pytest.mark.gemini_mcp(" in done.stdout


def test_the_plugin_loads_nothing_that_only_the_suite_needs() -> None:
    program = f"import sys, {PLUGIN}; print(*sorted(name.partition('.')[0] for name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", timeout=SECONDS, check=True
    )
    needed = {"hypothesis", "jsonschema", "pytest_asyncio", "syrupy", "mcp"}
    assert needed.intersection(done.stdout.split()) == set()


def test_the_distribution_offers_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert PLUGIN in project["entry-points"]["pytest11"].values()
