"""A port's repository gets a workflow that runs its command, whatever the command holds, and keeps what it has."""

import re
import subprocess
from pathlib import Path

import pytest
from command import suite

from gemini_mcp_conformance.command import init
from gemini_mcp_conformance.command.installing import requirement
from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.tell import baseline


def step(command: list[str]) -> str:
    """The shell lines of the step that runs the suite."""
    lines = init.files(command, "suite==1.0.0")[init.WORKFLOW].splitlines()
    start = next(number for number, line in enumerate(lines) if line.strip() == "run: |") + 1
    end = next(number for number in range(start, len(lines)) if not lines[number].startswith(" " * 10))
    return "\n".join(line.strip() for line in lines[start:end])


@pytest.mark.parametrize(
    "command",
    [
        ["node", "dist/server.js"],
        ["./my port", "--flag=a b", "it's", '"', "$HOME", "`id`", "$(id)", "a;b", "\\", "", "#", "é", "*"],
        ["port", "${{ secrets.TOKEN }}", "'${{ github.token }}'", "$${{"],
        ["port", "@COMMAND@", "@INSTALL@", "@BASELINE@"],
    ],
)
def test_the_workflow_runs_exactly_the_command(command: list[str]):
    program = f"gemini-mcp-conformance() {{ printf '%s\\0' \"$@\"; }}\n{step(command)}"
    shell = subprocess.run(["bash", "-c", program], env={}, capture_output=True, timeout=60, check=True)
    arguments = shell.stdout.decode().split("\0")[:-1]
    assert arguments[arguments.index("--") + 1 :] == command


def test_the_workflow_holds_no_expression_of_a_command():
    assert "${{" not in init.files(["port", "${{ secrets.TOKEN }}"], "suite==1.0.0")[init.WORKFLOW]


COMMIT = {"url": "https://example.com/suite.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}


@pytest.mark.parametrize(
    ("noted", "installs"),
    [
        (None, "gemini-mcp-server[conformance]==1.2.3"),
        (COMMIT, "gemini-mcp-server[conformance] @ git+https://example.com/suite.git@c0ffee"),
        ({"url": "https://example.com/suite.whl"}, "gemini-mcp-server[conformance] @ https://example.com/suite.whl"),
        ({"url": "file:///no/such/folder", "dir_info": {"editable": True}}, None),
    ],
)
def test_the_workflow_installs_what_wrote_it(noted: object, installs: str | None):
    assert requirement(noted, "1.2.3") == installs


def test_a_checkout_is_installed_from_its_origin(tmp_path: Path):
    git = ("git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (
        ("init", "--quiet"),
        ("commit", "--quiet", "--allow-empty", "--message", "a"),
        ("remote", "add", "origin", "git@example.com:some/suite.git"),
    ):
        subprocess.run([*git, *words], check=True, timeout=60)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, timeout=60, capture_output=True, encoding="utf-8")
    noted: dict[str, object] = {"url": tmp_path.as_uri(), "dir_info": {}}
    address = f"git+https://example.com/some/suite.git@{head.stdout.strip()}"
    assert requirement(noted, "1.2.3") == f"gemini-mcp-server[conformance] @ {address}"


def test_the_workflow_installs_what_it_is_told(tmp_path: Path):
    suite(tmp_path, "init", "--install", "suite @ git+https://example.com/x", "--into", str(tmp_path), to=("port",))
    text = (tmp_path / init.WORKFLOW).read_text(encoding="utf-8")
    assert "python -m pip install 'suite @ git+https://example.com/x'" in text


def test_the_budget_of_the_workflow_is_below_the_limit_of_its_job():
    text = init.files(["port"], "suite")[init.WORKFLOW]
    budget, minutes = (re.search(rf"{name}[: ]+(\d+)", text) for name in ("--budget", "timeout-minutes"))
    assert budget is not None
    assert minutes is not None
    assert int(budget[1]) < 60 * int(minutes[1])


@pytest.mark.parametrize("command", [[], ["a\nb"], ["a\0"]])
def test_a_command_that_a_workflow_cannot_hold_is_refused(command: list[str]):
    with pytest.raises(UsageError):
        init.files(command, "suite==1.0.0")


def test_both_files_are_written(tmp_path: Path):
    paths = init.write(tmp_path, init.files(["port"], "suite==1.0.0"))
    assert [path.relative_to(tmp_path).as_posix() for path in paths] == [init.WORKFLOW, init.BASELINE]
    assert baseline.load(tmp_path / init.BASELINE).entries == ()


def test_the_next_step_is_told(tmp_path: Path):
    told = suite(tmp_path, "init", "--into", str(tmp_path / "a b"), to=("node", "my server.mjs")).out
    known = tmp_path / "a b" / init.BASELINE
    step = f"gemini-mcp-conformance baseline update '{known}' -- node 'my server.mjs'"
    assert told.splitlines()[-1].strip() == step


def test_nothing_is_written_when_a_file_is_there(tmp_path: Path):
    (tmp_path / init.BASELINE).write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=r"exists already\. Pass --force to overwrite"):
        init.write(tmp_path, init.files(["port"], "suite==1.0.0"))
    assert (tmp_path / init.BASELINE).read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / init.WORKFLOW).exists()


def test_files_that_are_there_are_all_named(tmp_path: Path):
    texts = init.files(["port"], "suite==1.0.0")
    init.write(tmp_path, texts)
    with pytest.raises(UsageError, match=r"\.yml', '.*\.json' exist already\."):
        init.write(tmp_path, texts)


def test_force_overwrites(tmp_path: Path):
    (tmp_path / init.BASELINE).write_text("mine", encoding="utf-8")
    init.write(tmp_path, init.files(["port"], "suite==1.0.0"), force=True)
    assert baseline.load(tmp_path / init.BASELINE).entries == ()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path):
    (tmp_path / ".github").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be written"):
        init.write(tmp_path, init.files(["port"], "suite==1.0.0"))
