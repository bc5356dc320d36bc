"""The action: its steps, run by the shell that they name, hand every input on as one argument."""

import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from editing import changed, committed, laid_out, packed, small

from gemini_mcp_spec.files.reader import read_directory

ROOT = Path(__file__).parents[2]
HOSTILE = [
    "a b",
    "$(touch canary)",
    "`touch canary`",
    "; touch canary",
    "' \" \\",
    "${{ github.token }}",
    "--fake",
    "*",
]

PROGRAM = """#!{python}
import json, os, sys
from pathlib import Path
Path({journal!r}).open("a").write(json.dumps(sys.argv[1:]) + "\\n")
for argument in sys.argv:
    kind, _, path = argument.removeprefix("--report=").partition("=")
    if argument.startswith("--report=") and path != "-":
        Path(path).write_text(os.environ["ANSWER"] if kind == "json" else "page")
sys.exit(int(os.environ.get("EXIT", "0")))
"""
VERDICTS = ("fail", "pass", "fail")
REPORT = {
    "score": {"must": {"passed": 1, "applicable": 2}},
    "requirements": [{"id": f"a:{name}", "verdict": verdict} for name, verdict in zip("bcd", VERDICTS, strict=True)],
}


@dataclass(frozen=True)
class Step:
    """One step of the action that a shell runs."""

    name: str
    run: str
    env: Mapping[str, str]


def steps() -> list[Step]:
    """The steps with `run`, read from the few forms of YAML that the action is written in."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8").partition("  steps:\n")[2]
    parts = [part for part in re.split(r"^    - ", text, flags=re.MULTILINE) if "run: " in part]
    return [
        Step(
            name=part.partition("name: ")[2].splitlines()[0],
            run=re.findall(r"^      run: (.*)$", part, flags=re.MULTILINE)[0],
            env=dict(re.findall(r"^        ([A-Z_]+): \$\{\{ (.+) \}\}$", part, flags=re.MULTILINE)),
        )
        for part in parts
    ]


def defaults() -> dict[str, str]:
    """The default of every input."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8").partition("inputs:\n")[2].partition("outputs:\n")[0]
    found = re.findall(r"^  ([a-z-]+):\n    description: .*\n    default: (.*)$", text, flags=re.MULTILINE)
    return {f"inputs.{name}": value.strip('"') for name, value in found}


def play(name: str, folder: Path, inputs: Mapping[str, str], **more: str) -> tuple[int, list[Sequence[str]], str]:
    """Run one step as GitHub does, with programs in place of the commands; exit code, their arguments, the outputs."""
    step = next(step for step in steps() if step.name == name)
    values = {
        **defaults(),
        **{f"inputs.{key}": value for key, value in inputs.items()},
        "github.action_path": str(ROOT),
    }
    journal, outputs = folder / "journal", folder / "outputs"
    for program in ("gemini-mcp-conformance", "gemini-mcp-spec"):
        file = folder / "bin" / program
        file.parent.mkdir(exist_ok=True)
        file.write_text(PROGRAM.format(python=sys.executable, journal=str(journal)), encoding="utf-8")
        file.chmod(0o755)
    (folder / "bin/python").symlink_to(sys.executable)
    environment = {
        "PATH": f"{folder / 'bin'}:{os.defpath}",
        "ANSWER": json.dumps(REPORT),
        "GITHUB_OUTPUT": str(outputs),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        **{variable: values[expression] for variable, expression in step.env.items()},
        **more,
    }
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step.run]
    ended = subprocess.run(command, cwd=folder, env=environment, timeout=30, capture_output=True, check=False)
    lines = journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []
    return (
        ended.returncode,
        [json.loads(line) for line in lines],
        outputs.read_text("utf-8") if outputs.exists() else "",
    )


def both(folder: Path) -> str:
    """The name of the old one of two specifications in `folder`, which are equal."""
    laid_out(small(), folder / "new")
    laid_out(small(), folder / "old")
    return "old"


def test_no_input_is_written_into_a_script() -> None:
    names = ["Install", "Judge the specification", "Name the ports that break", "Run the suite"]
    assert [step.name for step in steps()] == names
    assert [step.name for step in steps() if "${{" in step.run or "eval" in step.run] == []


def test_every_input_has_a_default_and_reaches_a_step() -> None:
    reached = {expression for step in steps() for expression in step.env.values()} | {
        "inputs.python-version",
        "inputs.artifact",
    }
    assert set(defaults()) == reached - {"github.action_path"}


@pytest.mark.parametrize("value", HOSTILE)
def test_a_hostile_input_of_the_suite_stays_one_argument(value: str, tmp_path: Path) -> None:
    inputs = {"url": value, "fake": value, "baseline": value, "source": value, "report-dir": "reports"}
    _, [arguments], _ = play("Run the suite", tmp_path, inputs)
    assert {f"--url={value}", f"--fake={value}", f"--baseline={value}", f"--source={value}"} <= set(arguments)
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("value", HOSTILE)
def test_a_hostile_input_of_the_gate_stays_one_argument(value: str, tmp_path: Path) -> None:
    _, runs, _ = play("Judge the specification", tmp_path, {"spec-old": value, "spec": value, "impact": value})
    assert [arguments[-1] for arguments in runs] == [value] * 2
    assert runs[1][-2] == value
    assert f"--impact={value.strip()}" in runs[1]
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("value", HOSTILE)
def test_a_hostile_list_of_ports_stays_one_argument(value: str, tmp_path: Path) -> None:
    inputs = {"spec-old": both(tmp_path), "spec": "new", "ports": value}
    _, [arguments], _ = play("Name the ports that break", tmp_path, inputs)
    assert arguments[-3:] == [str(tmp_path / name) for name in ("old", "new", value)]
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("value", HOSTILE)
def test_an_old_specification_that_is_nowhere_ends_with_2(value: str, tmp_path: Path) -> None:
    inputs = {"spec-old": value, "spec": "new", "ports": "PORTS.toml"}
    assert play("Name the ports that break", tmp_path, inputs) == (2, [], "")
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("code", ["0", "1", "3", "4"])
def test_the_exit_code_and_the_page_of_the_impact_are_handed_on(code: str, tmp_path: Path) -> None:
    inputs = {"spec-old": both(tmp_path), "spec": "new", "ports": "PORTS.toml", "strict": "true"}
    exit_code, [arguments], _ = play("Name the ports that break", tmp_path, inputs, EXIT=code)
    assert (exit_code, "--strict" in arguments) == (int(code), True)
    assert (tmp_path / "summary").read_text(encoding="utf-8") == "page"


@pytest.mark.parametrize("folder", [".", "below"])
@pytest.mark.parametrize("name", ["HEAD", "HEAD:spec"])
def test_an_old_specification_can_be_a_git_ref(
    folder: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed(small(), tmp_path)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / folder)
    found = runpy.run_path(str(ROOT / ".ci/action.py"))["directory"](name, tmp_path / "into")
    assert read_directory(found).files == small().files


def test_an_old_specification_can_be_a_wheel_or_hold_the_folder(tmp_path: Path) -> None:
    laid_out(small(), tmp_path / "checkout/spec")
    packed(small(), tmp_path / "old.whl")
    directory = runpy.run_path(str(ROOT / ".ci/action.py"))["directory"]
    for name in ("checkout", "old.whl"):
        assert read_directory(directory(str(tmp_path / name), tmp_path / "into")).files == small().files


def test_a_command_is_split_and_not_executed(tmp_path: Path) -> None:
    command = "node 'dist/my server.js' --flag \"a b\" $(touch canary) ; touch canary"
    _, [arguments], _ = play("Run the suite", tmp_path, {"cmd": command, "strict": "true"})
    end = arguments.index("--")
    expected = ["node", "dist/my server.js", "--flag", "a b", "$(touch", "canary)", ";", "touch", "canary"]
    assert arguments[end + 1 :] == expected
    assert "--strict" in arguments[:end]
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("code", ["0", "1", "3", "5"])
def test_the_exit_code_and_the_score_of_the_suite_are_handed_on(code: str, tmp_path: Path) -> None:
    exit_code, _, outputs = play("Run the suite", tmp_path, {"cmd": "port"}, EXIT=code)
    assert exit_code == int(code)
    assert outputs == "score=1/2\nfailed=a:b a:d\n"
    assert (tmp_path / "summary").read_text(encoding="utf-8") == "page"


def test_the_gate_judges_a_real_change(tmp_path: Path) -> None:
    change = changed("server/tools/chat.json", ["inputSchema", "required", 1], "cwd").of(small())
    laid_out(small(), tmp_path / "old")
    laid_out(change, tmp_path / "new")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/gemini-mcp-spec"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gemini_mcp_spec.cli "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "SPEC_OLD": "old",
        "SPEC": "new",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_OUTPUT": str(tmp_path / "outputs"),
    }
    command = [sys.executable, str(ROOT / ".ci/action.py"), "gate"]
    ended = subprocess.run(command, cwd=tmp_path, env=environment, timeout=60, capture_output=True, check=False)
    assert ended.returncode == 1
    assert b"::error file=new/server/tools/chat.json" in ended.stdout
    assert "needs" not in ended.stderr.decode()
    summary = (tmp_path / "summary").read_text(encoding="utf-8")
    assert "### Mistakes of the specification" in summary
    assert "**breaking for callers**" in summary
    reports = tmp_path / "gemini-mcp-report"
    comment = (reports / "diff.comment.md").read_text(encoding="utf-8")
    assert comment.startswith("<!-- gemini-mcp-spec -->\n### Specification")
    assert json.loads((reports / "diff.sarif").read_text(encoding="utf-8"))["runs"][0]["results"][0]["level"] == "error"
    assert (tmp_path / "outputs").read_text(encoding="utf-8") == (
        "breaking=1\nneeded=2.0.0\ncomment=gemini-mcp-report/diff.comment.md\n"
    )
