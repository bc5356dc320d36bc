"""An interrupted run ends in order: its reports are written, and nothing is left."""

import gc
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from command import FORMATS, PING, PROGRAM, SECONDS, port, until, variables, verdicts

from gemini_mcp_conformance.command.main import INTERRUPTED, repeat_lost_interruptions, start


def below(folder: Path) -> list[str]:
    """The processes whose temporary files lie below a directory."""
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
        except OSError:
            continue
        if f"TMPDIR={folder}".encode() in environment:
            found.append(process.name)
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_writes_its_reports_and_leaves_no_process_and_no_file(
    tmp_path: Path, number: signal.Signals
) -> None:
    asked, reports = tmp_path / "asked", tmp_path / "reports"
    reports.mkdir()
    wanted = ("lifecycle:ping", "lifecycle:initialize", "tools:chat")
    # So that the tools are listed before the ping.
    only = [*(word for id in wanted for word in ("--only", id)), "--jobs", "1"]
    to = [word for format in FORMATS for word in ("--report", f"{format}={reports / format}")]
    words = [*PROGRAM, "run", *only, *to, "--", *port("silent-in-session", str(asked))]
    running = subprocess.Popen(words, env=variables(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until(asked.exists)
    running.send_signal(number)
    out, err = running.communicate(timeout=SECONDS)
    assert (running.returncode, b"Traceback" in err) == (130, False)
    assert b"This report is incomplete. It was interrupted." in out
    judged = {"lifecycle:ping": "not-applicable", "lifecycle:initialize": "could-not-run", "tools:chat": "pass"}
    assert verdicts(reports / "json") == judged
    assert {path.name for path in reports.iterdir()} == set(FORMATS)
    assert list((tmp_path / "tmp").iterdir()) == []
    assert below(tmp_path / "tmp") == []


def test_an_interrupted_matrix_writes_its_page(tmp_path: Path) -> None:
    asked, page = tmp_path / "asked", tmp_path / "matrix.md"
    ports = {"correct": port("correct"), "silent": port("silent-ping", str(asked)), "late": port("correct")}
    listed = [f'[[port]]\nname = "{name}"\ncommand = {json.dumps(command)}\n' for name, command in ports.items()]
    (tmp_path / "PORTS.toml").write_text("\n".join(listed), encoding="utf-8")
    words = [*PROGRAM, "matrix", "PORTS.toml", *PING, "--report", f"markdown={page}"]
    running = subprocess.Popen(words, env=variables(tmp_path), cwd=tmp_path, stderr=subprocess.PIPE)
    until(asked.exists)
    running.send_signal(signal.SIGTERM)
    _, err = running.communicate(timeout=SECONDS)
    assert (running.returncode, b"Traceback" in err) == (130, False)
    assert b"correct: The port conforms. MUST 1/1, SHOULD 0/0." in err
    assert page.read_text(encoding="utf-8").count("The run was interrupted before this port was tested") == 2


def test_an_interrupted_run_on_a_host_writes_its_report(tmp_path: Path) -> None:
    asked, report = tmp_path / "asked", tmp_path / "report.json"
    adapter = ("sh", "-c", f"touch {asked}; exec sleep 600")
    only = ("--direction", "host", "--only", "host-tools:include", "--examples", "0")
    words = [*PROGRAM, "run", *only, "--report", f"json={report}", "--", *adapter]
    running = subprocess.Popen(words, env=variables(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until(asked.exists)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=SECONDS)
    assert (running.returncode, b"It was interrupted." in out) == (130, True)
    assert verdicts(report) == {"host-tools:include": "could-not-run"}


def test_an_interruption_in_a_callback_of_the_garbage_collector_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(phase: str, info: dict[str, int]) -> None:
        gc.callbacks.remove(interrupted)
        raise KeyboardInterrupt

    def collect() -> None:
        gc.callbacks.append(interrupted)
        gc.collect()
        threading.Event().wait(SECONDS)

    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    # The tests may run where SIGINT is ignored.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    repeat_lost_interruptions()
    try:
        with pytest.raises(KeyboardInterrupt):
            collect()
    finally:
        signal.signal(signal.SIGINT, handler)


@pytest.mark.parametrize("subcommand", ["run", "impact"])
def test_the_help_names_the_exit_code_of_an_interruption(subcommand: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        start([subcommand, "--help"])
    assert f"{INTERRUPTED} interrupted" in capsys.readouterr().out
