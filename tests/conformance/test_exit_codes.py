"""Each exit code of a run, what it is told with, and which comes first where several apply."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from command import ROOT, copied, distribution, port, suite

from gemini_mcp_conformance.play.bench import Bench
from gemini_mcp_conformance.play.patience import Patience
from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.play.wire import Unreachable
from gemini_mcp_conformance.spec import specification

PING = ("--only", "lifecycle:ping")
RAISING = """
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import asks

@check("lifecycle:ping", judges=asks("ping"))
def raises(exchange):
    raise LookupError("nothing here")
"""

UNHASHABLE = (
    (ROOT / "spec/server/cases/chat.json")
    .read_text(encoding="utf-8")
    .replace('"requirements": [', '"requirements": [{}, ')
)


def joined(text: str) -> str:
    """The text without its line breaks."""
    return " ".join(text.split())


def test_a_port_that_conforms_in_what_was_selected_ends_with_0(tmp_path: Path) -> None:
    done = suite(tmp_path, "run", *PING, to=port("correct"))
    assert (done.code, done.out) == (0, "What was selected conforms. MUST 1/1, SHOULD 0/0.\n")


def test_without_a_command_the_reference_is_tested(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    assert suite(tmp_path, "run", *PING, "--report", f"json={report}").code == 0
    assert json.loads(report.read_text(encoding="utf-8"))["target"]["command"][-1] == "gemini_mcp.cli"


def test_a_port_that_does_not_conform_ends_with_1_and_says_how_to_see_it_again(tmp_path: Path) -> None:
    done = suite(tmp_path, "run", *PING, to=port("wrong-ping"))
    assert done.code == 1
    assert "FAIL  lifecycle:ping" in done.out
    assert "gemini-mcp-conformance replay ping --only lifecycle:ping -- " in done.out
    again = suite(tmp_path, "replay", "ping", to=port("wrong-ping"))
    assert (again.code, "FAIL  lifecycle:ping" in again.out) == (1, True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--only", "no:such"), "No requirement is selected by 'no:such'."),
        (("--only", "lifecycle:ping", "--only", "rpc:jsonrcp"), "Did you mean rpc:jsonrpc?"),
        (("--skip", "lifecycle:pign"), "Did you mean lifecycle:ping"),
        (("--skip", "*"), "No requirement is selected."),
        (("--spec", "missing"), "The specification's file missing cannot"),
        (("--spec-version", "0.0.1"), "There is no released version '0.0.1'."),
        (("--report", "pdf=x"), "There is no report format 'pdf'."),
        (("--report", "json=missing/x.json"), "cannot be written"),
        (("--baseline", "missing.json"), "cannot be read"),
        (("--env", "NAME"), "--env NAME has no value."),
        (("--budget", "0"), "argument --budget"),
        (("--jobs", "0"), "argument --jobs"),
        (("--protocol", "1999-12-31"), "argument --protocol"),
        (("--profile", "current"), "--profile goes with --direction host."),
        (("--fake", "x"), "--fake goes with --url"),
        (("--direction", "host", "--url", "http://127.0.0.1:9/mcp"), "--url goes with --direction server."),
        (("--colour", "always"), "The option '--colour' is not known here."),
        (("node", "server.js"), "'node server.js' is not understood. If it is the command that starts the port, write"),
    ],
)
def test_wrong_usage_ends_with_2(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    done = suite(tmp_path, "run", *words, to=port("correct"))
    assert (done.code, told in done.err, done.out) == (2, True, "")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("requirements.json", "{"),
        ("requirements.json", "{}"),
        ("server/cases/chat.json", "{}"),
        ("manifest.json", "[]"),
        ("server/cases/chat.json", UNHASHABLE),
    ],
)
def test_a_broken_specification_of_the_operator_ends_with_2(tmp_path: Path, file: str, text: str) -> None:
    theirs = tmp_path / "spec"
    shutil.copytree(ROOT / "spec", theirs)
    (theirs / file).write_text(text, encoding="utf-8")
    done = suite(tmp_path, "run", *PING, "--spec", str(theirs), to=port("correct"))
    assert (done.code, "Traceback" in done.err, str(theirs) in done.err) == (2, False, True)


def test_a_budget_that_is_spent_ends_with_3(tmp_path: Path) -> None:
    done = suite(tmp_path, "run", *PING, "--budget", "3", to=port("silent-ping"))
    assert (done.code, "The budget of 3 seconds was spent before it." in joined(done.out)) == (3, True)
    assert "Pass a larger --budget" in joined(done.out)


def test_a_revision_that_the_port_does_not_speak_ends_with_3(tmp_path: Path) -> None:
    done = suite(tmp_path, "run", *PING, "--protocol", "2025-11-25", to=port("old"))
    assert (done.code, "The port answered 2025-11-25 with 2024-11-05." in joined(done.out)) == (3, True)


@pytest.mark.parametrize("command", [port("silent"), ("false",), ("./no-such-port",)])
def test_a_port_that_never_answers_ends_with_4_and_names_keep_home(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = suite(tmp_path, "run", "--budget", "3", to=command)
    assert (done.code, "pass --keep-home" in joined(done.out)) == (4, True)


def test_what_a_port_wrote_in_place_of_an_answer_is_told(tmp_path: Path) -> None:
    done = suite(tmp_path, "run", "--budget", "5", to=port("chatty"))
    assert (done.code, 'The first thing it wrote is "Listening on stdio."' in joined(done.out)) == (4, True)


def test_a_port_that_keeps_silent_is_told_how_long_it_was_waited_for() -> None:
    async def greeted() -> None:
        with Bench(Target(port("silent")), specification.load(), Patience(launch=0.3)) as bench:
            try:
                await bench.greet()
            finally:
                await bench.end()

    with pytest.raises(Unreachable, match=r"did not answer the handshake within 0\.3 seconds\."):
        asyncio.run(greeted())


def test_a_command_that_cannot_be_started_is_named_once(tmp_path: Path) -> None:
    done = suite(tmp_path, "run", to=("no-such-port",))
    assert "'no-such-port' could not be started: No such file or directory." in joined(done.out)


def test_a_broken_specification_of_ours_ends_with_5(tmp_path: Path) -> None:
    path = copied(tmp_path)
    (tmp_path / "spec/server/tools/chat.json").write_text("{", encoding="utf-8")
    done = suite(tmp_path, "run", to=port("correct"), PYTHONPATH=path)
    assert (done.code, "spec/server/tools/chat.json cannot be used" in done.err) == (5, True)


def test_a_broken_specification_of_ours_outweighs_wrong_usage(tmp_path: Path) -> None:
    path = copied(tmp_path)
    (tmp_path / "spec/manifest.json").unlink()
    assert suite(tmp_path, "run", "--no-such-option", to=port("correct"), PYTHONPATH=path).code == 5


def test_a_broken_fake_ends_with_5(tmp_path: Path) -> None:
    path = copied(tmp_path)
    (tmp_path / "conformance/gemini_mcp_conformance/play/fake/gemini.sh").write_text(
        "#!/bin/sh\nexit 0\n", encoding="utf-8"
    )
    done = suite(tmp_path, "run", *PING, to=port("correct"), PYTHONPATH=path)
    assert (done.code, "The fake gemini is broken" in done.err) == (5, True)


def test_a_check_that_raises_ends_with_5_whatever_the_port_does(tmp_path: Path) -> None:
    path = distribution(tmp_path / "site", "gemini_mcp_conformance.checks", "more", "raising", RAISING)
    done = suite(tmp_path, "run", *PING, "--skip", "http:*", to=port("wrong-ping"), PYTHONPATH=path)
    assert done.code == 5


def test_a_checker_that_cannot_be_loaded_ends_with_5(tmp_path: Path) -> None:
    path = distribution(tmp_path / "site", "gemini_mcp_conformance.checks", "more", "broken", "1 / 0\n")
    done = suite(tmp_path, "run", *PING, to=port("correct"), PYTHONPATH=path)
    assert (done.code, "This is a fault of the suite" in done.err) == (5, True)


def test_a_report_that_cannot_be_written_outweighs_a_port_that_never_answers(tmp_path: Path) -> None:
    assert suite(tmp_path, "run", "--report", "json=no/such/place", to=("false",)).code == 2


def test_a_failure_outweighs_what_could_not_run(tmp_path: Path) -> None:
    only = ("--only", "lifecycle:ping", "--only", "rpc:error:method")
    done = suite(tmp_path, "run", *only, "--budget", "4", to=port("wrong-then-silent"))
    assert (done.code, "NOT RUN  rpc:error:method" in done.out) == (1, True)
