"""A run as its operator meets it: repeated, over a dying port, with a baseline, in a hostile directory."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command import FORMATS, GENERATED, PING, PROGRAM, ROOT, SECONDS, distribution, port, suite, variables, verdicts

from gemini_mcp_conformance.command.main import start
from gemini_mcp_conformance.tell.baseline import Entry, parse

PONG: dict[str, object] = {
    "id": "lifecycle:pong",
    "profile": "server",
    "level": "MUST",
    "sentence": "It MUST.",
    "since": "1.0.0",
    "source": {"kind": "decision", "reason": "x"},
}
"""A requirement that no check decides."""
FURTHER = """
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import asks

@check("{requirement}", judges=asks("ping"))
def ping_is_never_right(exchange):
    return ["The port was asked by a stranger."]
"""


def test_a_run_leaves_nothing_but_its_replays(tmp_path: Path) -> None:
    suite(tmp_path, "run", *PING, to=port("wrong-ping"))
    assert list((tmp_path / "tmp").iterdir()) == []
    kept = [path.name for path in (tmp_path / "cache/gemini-mcp-conformance/replays").glob("*/*")]
    assert {name for name in kept if not name.startswith("revision-")} == {"ping.json", "many-requests.json"}


def test_a_run_leaves_nothing_in_the_directory_of_its_caller(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    words = [*PROGRAM, "run", *GENERATED, "--", *port("correct")]
    subprocess.run(words, cwd=here, env=variables(tmp_path), check=True, timeout=SECONDS, capture_output=True)
    assert list(here.iterdir()) == []


@pytest.mark.slow
def test_two_equal_runs_give_the_same_bytes_in_every_format_but_for_times(tmp_path: Path) -> None:
    found: list[list[bytes]] = []
    for name in ("one", "other"):
        home = tmp_path / name
        home.mkdir()
        reports = [word for format in FORMATS for word in ("--report", f"{format}={home / format}")]
        only = ("--only", "lifecycle:ping", "--only", "tools:chat", "--only", "tools:schema")
        assert suite(home, "run", *only, *reports, to=port("wrong-ping")).code == 1
        found.append([re.sub(rb' time="[^"]*"', b"", (home / format).read_bytes()) for format in FORMATS])
    assert found[0] == found[1]


def test_signals_that_the_caller_ignores_change_no_report(tmp_path: Path) -> None:
    said: list[tuple[str, bytes]] = []
    for ignored in ("", "HUP INT QUIT TERM"):
        report = tmp_path / f"report{ignored}"
        words = [*PROGRAM, "run", *PING, "--report", f"json={report}", "--", *port("tells-ignored")]
        shell = ["sh", "-c", f'trap "" {ignored}; exec "$@"' if ignored else 'exec "$@"', "sh"]
        done = subprocess.run([*shell, *words], env=variables(tmp_path), capture_output=True, timeout=SECONDS)
        said.append((done.stdout.decode(), report.read_bytes()))
    assert said[0] == said[1]
    assert said[0][0] == "What was selected conforms. MUST 1/1, SHOULD 0/0.\n"


def test_a_port_that_dies_fails_what_it_died_in_and_is_started_again(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    only = ("--only", "tools:schema", "--only", "arguments:prompt:missing", "--examples", "1")
    done = suite(tmp_path, "run", *only, "--report", f"json={report}", to=port("ends-after-list"))
    assert verdicts(report) == {"tools:schema": "fail", "arguments:prompt:missing": "pass"}
    assert "The port exited with 0 during this conversation, and should go on." in done.out


def test_replays_that_cannot_be_kept_do_not_break_a_run(tmp_path: Path) -> None:
    done = suite(tmp_path, "run", *PING, to=port("wrong-ping"), XDG_CACHE_HOME="/dev/null/cache")
    assert (done.code, "Set XDG_CACHE_HOME to a writable directory." in done.out) == (1, True)


def test_a_command_may_name_files_of_the_callers_directory(tmp_path: Path) -> None:
    ports = Path(__file__).parent
    assert suite(tmp_path, "run", *PING, to=(sys.executable, "./small_ports.py", "correct"), cwd=ports).code == 0


def test_the_first_look_passes_a_call(tmp_path: Path) -> None:
    done = suite(tmp_path, "smoke", "--verbose", to=port("correct"))
    assert (done.code, "PASS  result:text" in done.out) == (0, True)


def test_a_baseline_lets_just_what_it_lists_pass(tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    updated = suite(tmp_path, "baseline", "update", *PING, str(known), to=port("wrong-ping"))
    assert (updated.code, updated.out) == (0, f"{str(known)!r} lists 1 requirement.\n")
    assert json.loads(known.read_text(encoding="utf-8")) == {"known": [{"id": "lifecycle:ping"}]}
    again = suite(tmp_path, "run", *PING, "--fail-fast", "--baseline", str(known), to=port("wrong-ping"))
    assert (again.code, "KNOWN  lifecycle:ping  (MUST)" in again.out) == (0, True)


def test_a_baseline_can_be_made_of_a_report(tmp_path: Path) -> None:
    report, known = tmp_path / "report.json", tmp_path / "known.json"
    suite(tmp_path, "run", *PING, "--report", f"json={report}", to=port("wrong-ping"))
    assert suite(tmp_path, "baseline", "update", "--from", str(report), str(known)).code == 0
    assert json.loads(known.read_text(encoding="utf-8")) == {"known": [{"id": "lifecycle:ping"}]}


def test_a_released_version_is_tested_as_it_was(tmp_path: Path) -> None:
    theirs, report = tmp_path / "spec", tmp_path / "report.json"
    suite(tmp_path, "list")
    shipped = Path(__file__).parents[2] / "spec"
    subprocess.run(["cp", "-r", str(shipped), str(theirs)], check=True, timeout=SECONDS)
    every = json.loads((theirs / "requirements.json").read_text(encoding="utf-8"))["requirements"]
    kept = [{**entry, "level": "SHOULD"} for entry in every if entry["id"] == "lifecycle:ping"]
    (theirs / "released").mkdir(exist_ok=True)
    frozen = theirs / "released/0.9.0.json"
    frozen.write_text(json.dumps({"version": "0.9.0", "requirements": kept}), encoding="utf-8")
    words = ("run", "--spec", str(theirs), "--spec-version", "0.9.0", "--report", f"json={report}")
    assert suite(tmp_path, *words, *PING, to=port("wrong-ping")).code == 0
    assert (verdicts(report), json.loads(report.read_bytes())["spec"]["version"]) == (
        {"lifecycle:ping": "fail"},
        "0.9.0",
    )


def test_a_host_is_tested_by_its_adapter(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    words = ("--direction", "host", "--only", "host-tools:include", "--examples", "0", "--report", f"json={report}")
    assert suite(tmp_path, "run", *words).code == 0
    assert (verdicts(report), json.loads(report.read_bytes())["profile"]) == ({"host-tools:include": "pass"}, "host")


@pytest.mark.parametrize("adapter", [("false",), ("./missing",)])
def test_an_adapter_that_never_answers_ends_with_4(tmp_path: Path, adapter: tuple[str, ...]) -> None:
    done = suite(tmp_path, "run", "--direction", "host", "--only", "host-tools:include", "--examples", "0", to=adapter)
    assert (done.code, "The adapter never answered" in done.out) == (4, True)


def test_a_matrix_shows_every_port_and_ends_as_the_worst_one(tmp_path: Path) -> None:
    budgets = {"correct": 60, "silent-ping": 3}
    listed = [f'[[port]]\nname = "{name}"\ncommand = {json.dumps(port(name))}\nbudget = {budget}\n'
              for name, budget in budgets.items()]  # fmt: skip
    (tmp_path / "PORTS.toml").write_text("\n".join(listed), encoding="utf-8")
    page = tmp_path / "matrix.html"
    to = ("--report", "markdown=-", "--report", f"html={page}")
    done = suite(tmp_path, "matrix", "PORTS.toml", *PING, "--jobs", "2", *to)
    assert (done.code, "|`lifecycle:ping`|MUST|✓|?|" in done.out.replace(" ", "")) == (3, True)
    assert page.read_text(encoding="utf-8").startswith("<!")


def test_a_port_of_a_matrix_is_told_where_the_specification_is(tmp_path: Path) -> None:
    command = json.dumps(port("follows", "{spec}"))
    (tmp_path / "PORTS.toml").write_text(f'[[port]]\nname = "follower"\ncommand = {command}\n', encoding="utf-8")
    done = suite(tmp_path, "matrix", "PORTS.toml", "--only", "result:session-id:chat-reply")
    assert (done.code, "|`result:session-id:chat-reply`|MUST|✓|" in done.out.replace(" ", "")) == (0, True)


def test_what_every_greeting_shows_needs_few_conversations(tmp_path: Path) -> None:
    theirs = changed(tmp_path / "spec", lambda every: every.append(PONG))
    only = ("--only", "identity:*", "--only", "lifecycle:pong", "--spec", str(theirs))
    done = suite(tmp_path, "run", *only, to=port("correct"))
    assert (done.code, int(done.err.split()[0].split("/")[1]) < 20) == (0, True)


def test_the_environment_of_a_fake_runs_the_fake(tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    suite(tmp_path, "fake", str(folder))
    printed = suite(tmp_path, "fake", str(folder)).out
    shell = f"{printed}\ngemini -p hello; pwd; echo $HOME"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, encoding="utf-8", timeout=SECONDS, check=True)
    assert done.stdout.splitlines()[-2:] == [str(folder / "port/work"), str(folder / "port/home")]
    assert list((folder / "fake/journal").glob("1*")) != []


def test_a_further_check_comes_from_an_entry_point(tmp_path: Path) -> None:
    text = FURTHER.replace("{requirement}", "lifecycle:ping")
    path = distribution(tmp_path / "site", "gemini_mcp_conformance.checks", "more", "further", text)
    done = suite(tmp_path, "run", *PING, to=port("correct"), PYTHONPATH=path)
    assert (done.code, "The port was asked by a stranger." in done.out) == (1, True)


def changed(folder: Path, change: Callable[[list[dict[str, object]]], object]) -> Path:
    """A copy of the specification with other requirements."""
    shutil.copytree(ROOT / "spec", folder)
    file = folder / "requirements.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    change(document["requirements"])
    file.write_text(json.dumps(document), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        ("lifecycle:ping", ("--only", "lifecycle:*", "--", *port("wrong-ping"))),
        ("host-tools:include", ("--direction", "host", "--only", "host-tools:*", "--examples", "1")),
    ],
)
def test_a_check_whose_requirement_is_gone_is_silent(tmp_path: Path, gone: str, words: tuple[str, ...]) -> None:
    report = tmp_path / "report.json"
    theirs = changed(tmp_path / "spec", lambda every: every.remove(next(each for each in every if each["id"] == gone)))
    done = suite(tmp_path, "run", "--spec", str(theirs), "--report", f"json={report}", *words)
    assert (done.code, gone in done.out, gone in verdicts(report)) == (0, False, False)


def test_a_requirement_without_a_check_is_told_and_ends_no_run(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    theirs = changed(tmp_path / "spec", lambda every: every.append(PONG))
    only = ("--only", "lifecycle:p?ng", "--report", f"json={report}")
    done = suite(tmp_path, "run", "--spec", str(theirs), *only, to=port("correct"))
    assert (done.code, "NOTE  No check decides lifecycle:pong." in done.out.splitlines()) == (0, True)
    assert verdicts(report) == {"lifecycle:ping": "pass", "lifecycle:pong": "undecided"}


@pytest.mark.parametrize(
    ("gone", "told"), [("cwd", "offers the property 'cwd' of 'chat'"), (None, "offers the tool 'chat-reply'")]
)
def test_a_port_that_offers_what_an_earlier_version_had_is_told(tmp_path: Path, gone: str | None, told: str) -> None:
    theirs = changed(tmp_path / "spec", lambda every: None)
    if gone is None:
        (theirs / "server/tools/chat-reply.json").unlink()
    else:
        for file, path in (("tools/chat", ("inputSchema", "properties")), ("invocation", ("tools", "chat"))):
            document = json.loads((theirs / f"server/{file}.json").read_bytes())
            del document[path[0]][path[1]][gone]
            (theirs / f"server/{file}.json").write_text(json.dumps(document), encoding="utf-8")
    done = suite(tmp_path, "run", "--only", "tools:removed", "--spec", str(theirs), to=port("correct"))
    assert (done.code, "FAIL  tools:removed" in done.out, told in done.out) == (1, True, True)


def test_a_hostile_directory_changes_nothing(tmp_path: Path) -> None:
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    for name in ("conftest.py", "hostile.py", "sitecustom.py", "test_hostile.py"):
        (hostile / name).write_text("raise SystemExit('hostile')\n", encoding="utf-8")
    for name in ("pytest.ini", "tox.ini", "setup.cfg"):
        section = "tool:pytest" if name == "setup.cfg" else "pytest"
        (hostile / name).write_text(f"[{section}]\naddopts = --no-such-option -x\n", encoding="utf-8")
    own = {"PYTEST_ADDOPTS": "--no-such-option", "PYTEST_PLUGINS": "hostile", "PYTEST_CURRENT_TEST": "x"}
    done = suite(tmp_path, "run", *PING, to=port("wrong-ping"), cwd=hostile, **own)
    clean = suite(tmp_path, "run", *PING, to=port("wrong-ping"))
    assert (done.code, done.out) == (1, clean.out)


@pytest.mark.parametrize(("asked", "near"), [("tool:schema", "tools:schema"), ("long-line", "rpc:alive:long-line")])
def test_a_mistyped_id_is_answered_with_near_ones(tmp_path: Path, asked: str, near: str) -> None:
    done = suite(tmp_path, "explain", asked)
    assert (done.code, f"Did you mean {near}" in done.err) == (2, True)


def test_the_default_budget_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    for words, budget in ((("run",), 900), (("matrix",), 300)):
        with pytest.raises(SystemExit):
            start([*words, "--help"])
        assert f"(default: {budget})" in " ".join(capsys.readouterr().out.split())


def test_a_quiet_run_says_nothing(tmp_path: Path) -> None:
    done = suite(tmp_path, "run", "--quiet", *PING, to=port("wrong-ping"))
    assert (done.code, done.out, done.err) == (1, "", "")


def test_the_format_of_a_baseline_is_taught(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        start(["baseline", "update", "--help"])
    taught = next(line for line in capsys.readouterr().out.splitlines() if line.startswith('  {"known"'))
    assert parse(taught, "taught").entries == (Entry("lifecycle:ping", "The next release mends it."),)


@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("smoke",),
        ("replay",),
        ("baseline", "update"),
        ("matrix",),
        ("list",),
        ("explain",),
        ("fake",),
        ("init",),
    ],
)
def test_every_subcommand_teaches_with_an_example_in_eighty_columns(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as ended:
        start([*words, "--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    assert max(map(len, told.splitlines())) <= 80
    assert f"  gemini-mcp-conformance {' '.join(words)}" in told.partition("example")[2]


def test_a_url_that_nobody_serves_ends_with_4(tmp_path: Path) -> None:
    done = suite(tmp_path, "run", *PING, "--budget", "10", "--url", "http://127.0.0.1:1/mcp")
    assert (done.code, "The port never answered." in done.out) == (4, True)
    told = " ".join(done.out.split())
    assert "The port at http://127.0.0.1:1/mcp did not answer: the connection was refused." in told
