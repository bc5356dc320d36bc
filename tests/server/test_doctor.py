"""What `doctor` says of a place, with the fake gemini. `tests/real` shows that the real one does as it says."""

import json
import subprocess
from pathlib import Path

import pytest
import states
from client import COMMAND, PATIENCE, answer, play
from client import Place as Bench
from states import BROKEN, NO_SIGN_IN, STATES, UNTRUSTED, State

from gemini_mcp.host.settings import dotenv
from gemini_mcp.operator.doctor.place import Place
from gemini_mcp.operator.doctor.startup_checks import check_settings, check_sign_in, check_trust
from gemini_mcp.operator.options import Options
from gemini_mcp.spec.values import Json

CHECKS = {NO_SIGN_IN: check_sign_in, BROKEN: check_settings, UNTRUSTED: check_trust}

WELL = {"GEMINI_API_KEY": "key-of-the-test", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
"""With these variables nothing is missing."""


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_each_state_is_judged_as_gemini_does(state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = states.set_up(state, tmp_path.resolve(), "/nowhere")
    monkeypatch.chdir(scene.cwd)
    place = Place(Options(), scene.environ)
    found = {code: check(place) for code, check in CHECKS.items()}
    refused = {code for code, diagnosis in found.items() if not diagnosis.is_fine}
    # Without a file that gemini refuses to read, nobody knows what else it would do.
    assert (refused & {BROKEN} or refused) == {state.exit} - {None}, found
    assert all(found[code].action for code in refused)


def healthy(place: Bench) -> None:
    """What `doctor` wants to see besides the variables."""
    node = place.fake.bin / "node"
    node.write_text("#!/bin/sh\necho v22.1.0\n", encoding="utf-8")
    node.chmod(0o755)


def checks(printed: str) -> dict[str, Json]:
    return {check["name"]: check for check in json.loads(printed)["checks"]}


def test_doctor_is_content_when_a_call_can_succeed(place: Bench) -> None:
    healthy(place)
    done = place.run("doctor", **WELL)
    assert (done.returncode, done.stderr) == (0, "")
    assert "✗" not in done.stdout
    assert "key-of-the-test" not in done.stdout
    assert "doctor --fix" in done.stdout
    assert [call.kind for call in place.fake.starts()] == ["version"]


def test_doctor_says_of_each_trouble_what_to_do(place: Bench) -> None:
    settings = place.home / ".gemini/settings.json"
    settings.parent.mkdir()
    settings.write_text("{", encoding="utf-8")
    done = place.run("doctor", "--json", PATH="/nowhere", TMPDIR="/nowhere", HOMEBREW_PREFIX="/nowhere")
    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"]) == (1, False)
    troubles = {check["name"]: check["action"] for check in report["checks"] if not check["is_fine"]}
    assert troubles.keys() >= {"gemini", "node", "settings", "sign-in"}
    assert all(troubles.values())
    table = place.run("doctor", PATH="/nowhere", HOMEBREW_PREFIX="/nowhere")
    assert table.returncode == 1
    assert "✗ gemini" in table.stdout
    assert "npm install -g @google/gemini-cli" in table.stdout


def test_doctor_looks_where_calls_run(place: Bench) -> None:
    (place.cwd / "root").mkdir()
    found = checks(place.run("doctor", "--json", "--allow-cwd", "root").stdout)
    assert found["directory"]["seen"].endswith("/cwd/root")
    assert not checks(place.run("doctor", "--json", "--allow-cwd", "/nowhere").stdout)["directory"]["is_fine"]


def test_doctor_names_the_variables_that_a_client_does_not_pass_on(place: Bench) -> None:
    named = checks(place.run("doctor", "--json", **WELL).stdout)["clients"]
    assert "GEMINI_API_KEY" in named["seen"]
    assert "not signed in" in named["action"]
    (place.home / ".gemini").mkdir()
    (place.home / ".gemini/.env").write_text("GEMINI_API_KEY=key", encoding="utf-8")
    assert "not signed in" not in str(checks(place.run("doctor", "--json").stdout)["clients"]["action"])


def test_a_hidden_file_of_variables_is_told(place: Bench) -> None:
    for folder in (place.home / ".gemini", place.cwd):
        folder.mkdir(exist_ok=True)
    (place.home / ".gemini/.env").write_text("GEMINI_API_KEY=key", encoding="utf-8")
    (place.cwd / ".env").write_text("OTHER=1", encoding="utf-8")
    seen = checks(place.run("doctor", "--json", "--trust-workspace").stdout)["sign-in"]["seen"]
    assert f"reads {place.cwd}/.env" in seen


def test_a_key_that_gemini_does_not_read_without_trust_is_told(place: Bench) -> None:
    (place.home / ".gemini").mkdir()
    (place.home / ".gemini/.env").write_text("GEMINI_API_KEY=key", encoding="utf-8")
    found = checks(place.run("doctor", "--json").stdout)["sign-in"]
    assert not found["is_fine"]
    assert found["seen"] == "~/.gemini/.env says how, but gemini does not read it here"
    assert found["action"].startswith("Trust the directory")


def test_a_gemini_that_was_named_is_not_to_be_installed(place: Bench) -> None:
    found = checks(place.run("doctor", "--json", "--gemini", "/nowhere/gemini").stdout)["gemini"]
    assert found["action"] == "Correct --gemini, or leave it out: then gemini is looked for on PATH."


def test_the_table_fits_the_terminal(place: Bench) -> None:
    done = place.run("doctor", COLUMNS="80", PATH="/nowhere", HOMEBREW_PREFIX="/nowhere")
    lines = [line for line in done.stdout.splitlines() if str(place.cwd.parent) not in line]  # A path is never cut.
    assert max(map(len, lines)) <= 80
    assert "npm install -g @google/gemini-cli" in done.stdout


def test_a_terminal_of_another_encoding_is_told_all_the_same(place: Bench) -> None:
    healthy(place)
    done = place.run("doctor", **WELL, PYTHONIOENCODING="latin-1")
    assert done.stderr == ""
    assert "\\u2713 gemini" in done.stdout


def test_a_disk_that_is_full_is_told_in_one_sentence(place: Bench) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            (*COMMAND, "doctor"),
            env=place.environ(),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (2, b"The output cannot be written: No space left on device.\n")


def test_a_probe_tells_what_gemini_answers(place: Bench) -> None:
    healthy(place)
    place.fake.load([play(answer("OK"))])
    done = place.run("doctor", "--probe", "--json", **WELL)
    assert checks(done.stdout)["probe"]["seen"].startswith("gemini answered 'OK'")
    assert done.stderr == "Asking gemini, for 60 s at most.\n"
    place.fake.load([play({"stderr": "no way in"}, {"exit": 41})])
    done = place.run("doctor", "--probe", "--json", **WELL)
    probe = checks(done.stdout)["probe"]
    assert (done.returncode, probe["is_fine"]) == (1, False)
    assert "exit code 41" in probe["seen"]
    assert "no way in" in probe["action"]


def test_a_probe_is_bounded(place: Bench) -> None:
    place.fake.load([play({"hang": True})])
    done = place.run("doctor", "--probe", "--json", "--timeout", "0.5", **WELL)
    assert "did not finish within 0.5 seconds" in checks(done.stdout)["probe"]["seen"]


MINE = """{
  // mine
  "general": {
    "vimMode": true
  }
}
"""
KEEPS = '"sessionRetention": {\n      "enabled": false\n    }'


@pytest.mark.parametrize("typed", ["", "\n", "no\n", "yes\n", "Y\n"])
def test_sessions_are_kept_once_the_user_agrees(place: Bench, typed: str) -> None:
    file = place.home / ".gemini/settings.json"
    file.parent.mkdir()
    file.write_text(MINE, encoding="utf-8")
    done = place.run("doctor", "--fix", typed=typed, **WELL)
    agrees = typed.strip().lower().startswith("y")
    assert KEEPS in done.stderr.replace("\n+", "\n")
    text = file.read_text(encoding="utf-8")
    assert text == (MINE if not agrees else MINE.replace("true", f"true,\n    {KEEPS}"))
    assert ("retention is on" in done.stdout) is not agrees
    assert ("Nothing was changed" in done.stderr) is not agrees
    assert done.stderr.endswith(f"{file} is changed.\n") is agrees
    if agrees:
        assert "nothing to fix" in place.run("doctor", "--fix", **WELL).stderr


def test_settings_are_made_where_there_are_none(place: Bench) -> None:
    place.run("doctor", "--fix", typed="y\n", **WELL)
    written = json.loads((place.home / ".gemini/settings.json").read_text(encoding="utf-8"))
    assert written == {"general": {"sessionRetention": {"enabled": False}}}


def test_broken_settings_are_not_fixed(place: Bench) -> None:
    file = place.home / ".gemini/settings.json"
    file.parent.mkdir()
    file.write_text("{", encoding="utf-8")
    done = place.run("doctor", "--fix", typed="y\n", **WELL)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Correct the file" in done.stderr
    assert file.read_text(encoding="utf-8") == "{"


FILE = """# a comment
PLAIN = of two words # and a comment
export EXPORTED=1
SINGLE='a # b'
DOUBLE="a\\nb"
BACK=`a'b`
EMPTY=
COLON: c
LINES="one
two"
not a line
TWICE=1
TWICE=2
"""


def test_a_file_of_variables_is_read_as_dotenv_does() -> None:
    assert dotenv.variables(FILE.replace("\n", "\r\n")) == {
        "PLAIN": "of two words",
        "EXPORTED": "1",
        "SINGLE": "a # b",
        "DOUBLE": "a\nb",
        "BACK": "a'b",
        "EMPTY": "",
        "COLON": "c",
        "LINES": "one\ntwo",
        "TWICE": "2",
    }
