"""A place whose gemini is the real Gemini CLI, with a home of its own. Effect.

The CLI sees nothing of the machine's own settings, sessions and keys, and everything that starts here is ended.
"""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from api import Api
from client import PATIENCE, Place, wait_until

from gemini_mcp.spec.values import Json

CURRENT, OLD = "REAL_GEMINI_CLI", "OLD_GEMINI_CLI"
"""The variables that name the directories into which npm installed the CLI, and one of the documents' time."""

SETTINGS: Json = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"maxAttempts": 1, "sessionRetention": {"enabled": False}},
}
VARIABLES = {
    "GEMINI_API_KEY": "no-key-at-all",
    # Without a model, the CLI first asks another model which one to use.
    "GEMINI_MCP_DEFAULT_MODEL": "gemini-2.5-flash",
}


class Sandbox(Place):
    """A place with the CLI on PATH, which talks to an API on loopback."""

    def __init__(self, root: Path, api: Api, location: str = CURRENT) -> None:
        super().__init__(root)
        self.api = api
        self.programs = cli_directory(location) / "node_modules/.bin"
        (self.home / ".gemini").mkdir()
        self.configure({})

    def configure(self, more: Json) -> None:
        """Write the user's settings: ours, and these."""
        (self.home / ".gemini/settings.json").write_text(json.dumps({**SETTINGS, **more}), encoding="utf-8")

    def environ(self, **variables: str) -> dict[str, str]:
        """Everything a server here sees."""
        path = os.pathsep.join((str(self.programs), os.environ["PATH"]))
        return super().environ(**{**VARIABLES, "GOOGLE_GEMINI_BASE_URL": self.api.url, **variables}) | {"PATH": path}

    def wait_for_nodes(self, count: int) -> None:
        """Wait until that many processes of node run here."""
        wait_until(lambda: sum(_is_node_of(self.home, folder) for folder in Path("/proc").glob("[0-9]*")) == count)

    def wait_for(self, count: int, arguments: bytes) -> None:
        """Wait until that many processes with these arguments run in the working directory."""
        wait_until(lambda: sum(_runs(arguments, self.cwd, folder) for folder in Path("/proc").glob("[0-9]*")) == count)


def cli_directory(location: str = CURRENT) -> Path:
    """Where npm put the CLI; the tests fail without it."""
    directory = Path(os.environ.get(location, ""))
    program = directory / "node_modules/.bin/gemini"
    assert program.exists(), f"{program} does not exist. Set {location} to where npm installed @google/gemini-cli."
    return directory


def ended(
    words: Sequence[str], cwd: Path, environ: Mapping[str, str], typed: str = ""
) -> "subprocess.CompletedProcess[str]":
    """The CLI after it has ended by itself, with `typed` on its stdin."""
    return subprocess.run(
        words,
        cwd=cwd,
        env=environ,
        input=typed,
        capture_output=True,
        timeout=3 * PATIENCE,  # the CLI takes many times its usual two seconds to start where others work beside it
        check=False,
        encoding="utf-8",
    )


def _is_node_of(home: Path, folder: Path) -> bool:
    with suppress(OSError):
        is_node = os.path.basename(os.readlink(folder / "exe")) == "node"
        return is_node and os.fsencode(f"HOME={home}") in (folder / "environ").read_bytes().split(b"\0")
    return False


def _runs(arguments: bytes, cwd: Path, folder: Path) -> bool:
    with suppress(OSError):
        return (folder / "cmdline").read_bytes() == arguments and (folder / "cwd").readlink() == cwd
    return False
