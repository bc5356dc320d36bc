"""Every script of the spec can be played, and the set of them holds what the real CLI was seen to do."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from command import until

from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.fake.script import Play
from gemini_mcp_conformance.spec import specification
from gemini_mcp_conformance.spec.script import Script

FOLDER = Path(__file__).parent.parent.parent / "spec" / "server" / "scripts"
SCRIPTS = specification.load().scripts
DOCUMENTED_EXITS = (1, 41, 42, 44, 52, 53, 54, 55, 130, 144, 145, 147, 173, 244, 247)
SECONDS = 30


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fake]:
    with Fake.create(tmp_path_factory.mktemp("fake")) as fake:
        yield fake


def steps_of(script: Script, kind: str) -> list[Any]:
    return [step[kind] for step in script.play if kind in step]


def ends_by_itself(script: Script) -> bool:
    holds = any(child["holds"] == "stdout" for child in steps_of(script, "child"))
    return not holds and not any(steps_of(script, kind) for kind in ("hang", "release"))


def lists_and_ends(script: Script) -> bool:
    return script.list_sessions is not None and not any("hang" in step for step in script.list_sessions)


def scripts(condition: Callable[[Script], bool]) -> list[Any]:
    return [pytest.param(script, id=script.id) for script in SCRIPTS.values() if condition(script)]


def expected_exit(script: Script) -> int:
    for step in script.play:
        if "exit" in step:
            return step["exit"]
        if "signal" in step:
            return -signal.Signals[f"SIG{step['signal']}"]
    return 0


def expected_text(script: Script, stream: str) -> bytes:
    return b"".join(step[stream].encode() for step in script.play if stream in step)


def played(fake: Fake, script: Script, *argv: str) -> subprocess.CompletedProcess[bytes]:
    fake.load([Play(script)])
    return subprocess.run(
        [fake.program, *argv], stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
    )


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.json")), ids=lambda file: file.stem)
def test_a_script_is_named_as_its_file_and_written_canonically(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    value: Mapping[str, Any] = json.loads(text)
    assert value["id"] == file.stem
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", file.stem)
    assert text == json.dumps(value, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("script", scripts(ends_by_itself))
def test_a_script_that_ends_ends_as_it_says(fake: Fake, script: Script) -> None:
    done = played(fake, script)
    assert done.returncode == expected_exit(script)
    if not any("fill" in step or "stdoutBase64" in step or "stderrBase64" in step for step in script.play):
        assert (done.stdout, done.stderr) == (expected_text(script, "stdout"), expected_text(script, "stderr"))


@pytest.mark.parametrize("script", scripts(lambda script: not ends_by_itself(script)))
def test_a_script_that_does_not_end_lives_until_it_is_ended(fake: Fake, script: Script) -> None:
    fake.load([Play(script)])
    before = len(fake.calls())
    process = subprocess.Popen([fake.program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    call = fake.wait_for_calls(before + 1, SECONDS)[-1]
    # Between the end of gemini and the start of what it leaves behind there is a moment in which neither is seen.
    until(lambda: fake.alive(call))
    for name in steps_of(script, "release"):
        fake.release(name)
    if not steps_of(script, "release"):
        fake.reset()
    process.communicate(timeout=SECONDS)
    assert not fake.alive(call)


@pytest.mark.parametrize("script", scripts(lists_and_ends))
def test_a_listing_can_be_asked_for(fake: Fake, script: Script) -> None:
    done = played(fake, script, "--list-sessions")
    assert done.stdout + done.stderr


def test_every_documented_exit_has_a_script() -> None:
    assert set(DOCUMENTED_EXITS) <= {expected_exit(script) for script in SCRIPTS.values()}


def test_successes_are_json_with_a_response() -> None:
    names = ("success", "success-compact", "odd-characters", "session-id-missing", "warnings", "empty-response")
    answers = [json.loads(expected_text(SCRIPTS[name], "stdout")) for name in names]
    assert all(isinstance(answer["response"], str) for answer in answers)


def test_no_script_names_a_place_of_one_machine() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in FOLDER.glob("*.json"))
    assert set(re.findall(r"(?<![\w.:/])/(?:home/\w+|root|tmp|work|Users/\w+)", text)) <= {"/home/user"}
