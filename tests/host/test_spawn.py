"""Processes that do not start: of them is said what Node says. A script without `#!` starts all the same."""

import sys
from pathlib import Path

import anyio
import pytest

from gemini_mcp.host.rules.profiles import profiles
from gemini_mcp.host.servers.environment import server_environment
from gemini_mcp.host.servers.stdio import NotStarted, streams
from gemini_mcp.host.servers.transport import Stdio
from gemini_mcp.spec.values import Json

SECONDS = 30.0


def _ignore(*heard: object) -> None: ...


async def _started(server: Stdio) -> None:
    with anyio.fail_after(SECONDS):
        async with streams(server, {"PATH": "/usr/bin:/bin"}, _ignore, _ignore, _ignore):
            pass


@pytest.mark.parametrize(
    ("command", "cwd", "said", "cause"),
    [
        ("/tmp", None, "spawn /tmp EACCES", "not-started"),
        ("/etc/passwd", None, "spawn /etc/passwd EACCES", "not-started"),
        ("/etc/passwd/x", None, "spawn ENOTDIR", "not-started"),
        ("no-such-command", None, "spawn no-such-command ENOENT", "not-found"),
        ("true", "/no/such", "spawn true ENOENT", "no-directory"),
        ("true", "/etc/passwd", "spawn ENOTDIR", "no-directory"),
        (5, None, 'The "file" argument must be of type string. Received type number (5)', "not-started"),
        ("a\0", None, "The argument 'file' must be a string without null bytes. Received 'a\\x00'", "not-started"),
    ],
)
def test_what_is_said_is_what_node_says(command: Json, cwd: str | None, said: str, cause: str) -> None:
    with pytest.raises(NotStarted) as caught:
        anyio.run(_started, Stdio(command, [], cwd))
    assert (str(caught.value), caught.value.why.cause) == (said, cause)


def test_an_empty_directory_is_none() -> None:
    anyio.run(_started, Stdio(sys.executable, ["-c", ""], ""))


def test_a_script_without_interpreter_is_run_by_the_shell(tmp_path: Path) -> None:
    (script := tmp_path / "server").write_text("echo it ran > there\n", encoding="utf-8")
    script.chmod(0o755)

    async def wait() -> None:
        with anyio.fail_after(SECONDS):
            async with streams(Stdio(str(script), [], str(tmp_path)), {}, _ignore, _ignore, _ignore) as (read, _):
                async for _ in read:
                    pass

    anyio.run(wait)
    assert (tmp_path / "there").read_text(encoding="utf-8") == "it ran\n"


@pytest.mark.parametrize("profile", ["current", "documented"])
def test_what_is_no_text_in_env_reaches_the_server_as_node_writes_it(profile: str) -> None:
    given = server_environment({"A": None, "B": 0, "C": False}, {}, profiles()[profile])
    assert {name: given[name] for name in "ABC"} == {"A": "null", "B": "0", "C": "false"}
