"""What `doctor` says of a state, and what the real Gemini CLI does in it."""

import os
from pathlib import Path

import pytest
from api import ANSWER, Api
from sandbox import Sandbox, cli_directory, ended
from states import BROKEN, NO_SIGN_IN, STATES, UNTRUSTED, State, set_up

from gemini_mcp.operator.doctor.place import Place
from gemini_mcp.operator.options import Options

NOWHERE = "http://127.0.0.1:9"
"""A proxy that nobody serves, so that no request leaves the machine."""

ASK = ("gemini", "hello", "--output-format", "json", "-m", "gemini-2.5-flash")


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_gemini_ends_as_the_states_say(state: State, tmp_path: Path) -> None:
    path = os.pathsep.join((str(cli_directory() / "node_modules/.bin"), os.environ["PATH"]))
    scene = set_up(state, tmp_path.resolve(), path)
    environ = {**Place(Options(), scene.environ).environ, "HTTPS_PROXY": NOWHERE}
    environ["NODE_COMPILE_CACHE"] = str(tmp_path.parent / "compiled")
    done = ended(ASK, scene.cwd, environ)
    ends = done.returncode if done.returncode in (NO_SIGN_IN, BROKEN, UNTRUSTED) else None
    assert ends == state.exit, done.stderr


def test_a_probe_asks_gemini_itself(sandbox: Sandbox, api: Api) -> None:
    done = sandbox.run("doctor", "--probe", "--trust-workspace")
    assert done.returncode == 0, done.stdout
    assert f"gemini answered {ANSWER.strip()!r}" in done.stdout
    assert len(api.requests) == 1


def test_a_probe_finds_what_no_file_shows(sandbox: Sandbox, api: Api) -> None:
    api.status = 403
    done = sandbox.run("doctor", "--probe", "--trust-workspace")
    assert done.returncode == 1
    assert [line.split()[1] for line in done.stdout.splitlines() if line.startswith("✗")] == ["probe"]
    assert "HTTP 403" in done.stdout
