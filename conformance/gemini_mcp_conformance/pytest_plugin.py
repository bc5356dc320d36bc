"""The pytest plugin for ports written in Python: each requirement becomes a test. Edge.

Nothing happens unless a test uses the fixture. pytest imports this module wherever the distribution is installed, so it
imports nothing from the extra `conformance`.

    @pytest.mark.gemini_mcp(sys.executable, "-m", "my_port")
    def test_conforms(gemini_mcp_requirement):
        gemini_mcp_requirement.check()
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from gemini_mcp.spec import load_requirements

FIXTURE = "gemini_mcp_requirement"
MARKER = (
    "gemini_mcp(*command, options=()): the port that `gemini_mcp_requirement` tests, "
    "and options of `gemini-mcp-conformance run`"
)

GRACE = 20
"""Seconds that an interrupted suite has to end by itself."""

Entry = Mapping[str, Any]
Key = tuple[tuple[str, ...], tuple[str, ...]]
REPORTS = pytest.StashKey[dict[Key, Mapping[str, Entry]]]()


class ConformanceWarning(UserWarning):
    """A requirement that should hold, and does not."""


class Requirement:
    """One requirement, as the suite has judged it on the port."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.is_checked = False

    def check(self) -> None:
        """Fail, warn or skip as the verdict says; a requirement that is known to fail is an expected failure."""
        self.is_checked = True
        told = "\n".join(filter(None, (self.entry["sentence"], self.entry.get("message"), self.entry.get("replay"))))
        match self.entry["verdict"]:
            case "pass":
                return
            case "not-applicable" | "undecided":
                pytest.skip(told)
            case _ if self.entry.get("known"):
                pytest.xfail(f"{self.entry['known']}\n{told}")
            case "fail" if self.entry["level"] != "MUST":
                warnings.warn(ConformanceWarning(f"{self.entry['id']}: {told}"), stacklevel=2)
            case verdict:
                pytest.fail(f"{verdict}: {told}", pytrace=False)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if FIXTURE in metafunc.fixturenames:
        ids = [each.id for each in load_requirements() if each.profile == "server"]
        metafunc.parametrize(FIXTURE, ids, ids=ids, indirect=True)


@pytest.fixture
def gemini_mcp_requirement(request: pytest.FixtureRequest) -> Generator[Requirement]:
    """A requirement of the specification, judged on the port that the marker `gemini_mcp` names."""
    marker = request.node.get_closest_marker("gemini_mcp")
    if marker is None:
        pytest.fail("Which port should be tested? Mark the test with @pytest.mark.gemini_mcp(COMMAND, ARGUMENTS...).")
    key = (tuple(map(str, marker.args)), tuple(map(str, marker.kwargs.get("options", ()))))
    reports = request.config.stash.setdefault(REPORTS, {})
    if key not in reports:
        reports[key] = _report(*key, _chosen(request.session, request.function))
    requirement = Requirement(reports[key][request.param])
    yield requirement
    if not requirement.is_checked:
        pytest.fail(f"Nothing was asserted. Call {FIXTURE}.check() in the test.")


def _chosen(session: pytest.Session, function: Any) -> list[str]:
    """The requirements of that test which are still selected after `-k` and the like."""
    items = [
        item
        for item in session.items
        if isinstance(item, pytest.Function) and getattr(item, "function", None) is function
    ]
    return [str(item.callspec.params[FIXTURE]) for item in items]


def _report(command: Sequence[str], options: Sequence[str], chosen: Sequence[str]) -> Mapping[str, Entry]:
    """Run the suite in a process of its own, apart from the plugins and settings of this session."""
    with tempfile.TemporaryDirectory(prefix="gemini-mcp-pytest-") as folder:
        path = Path(folder) / "report.json"
        only = [word for id in chosen for word in ("--only", id)]
        # `-P`: a module in the directory of the tests must not replace one of ours.
        program = [sys.executable, "-P", "-m", "gemini_mcp_conformance.command.main", "run", "--quiet", *only]
        code, said = _ended([*program, "--report", f"json={path}", *options, "--", *command])
        if not path.exists():
            pytest.fail(f"The suite ended with {code} and without a report.\n{said}", pytrace=False)
        report = json.loads(path.read_bytes())
    return {entry["id"]: entry for entry in report["requirements"]}


def _ended(command: Sequence[str]) -> tuple[int, str]:
    """The exit code and stderr; when the session is interrupted, the suite gets the time to end the port."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _, said = process.communicate()
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.wait(GRACE)
        raise
    return process.returncode, said.decode("utf-8", "replace")
