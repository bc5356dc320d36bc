"""Stand-ins for `python`, `node` and `docker` on PATH: each plays a scripted server, and notes how it was started."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forked_host import Ran, run

import gemini_mcp.host
import gemini_mcp_conformance.host.scripted as scripted

SOURCES = os.pathsep.join(
    str(Path(str(package.__file__)).parents[depth]) for package, depth in ((gemini_mcp.host, 2), (scripted, 2))
)

TRUSTED = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}


@dataclass(frozen=True)
class Desk:
    """A home, a project, and a PATH of stand-ins."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def settings_file(self) -> Path:
        return self.project / ".gemini" / "settings.json"

    def settings(self, text: str) -> None:
        self.settings_file.parent.mkdir(parents=True, exist_ok=True)
        self.settings_file.write_text(text, encoding="utf-8")

    def stand_in(self, name: str, script: Mapping[str, Any]) -> None:
        """Put a program of that name on PATH that plays the script."""
        file, log = self.root / f"{name}.json", self.root / f"{name}.started"
        file.write_text(json.dumps(script), encoding="utf-8")
        program = self.root / "bin" / name
        program.write_text(
            "#!/bin/sh\n"
            f'{{ pwd; printf "%s\\n" "$@"; }} >"{log}"\n'
            f'env >"{log}.env"\n'
            f'exec "{sys.executable}" -S "{scripted.__file__}" "{file}" "{self.root / name}.journal"\n',
            encoding="utf-8",
        )
        program.chmod(0o755)

    def started(self, name: str) -> list[str]:
        """The directory a stand-in was started in, and its arguments."""
        return (self.root / f"{name}.started").read_text(encoding="utf-8").splitlines()

    def environment_of(self, name: str) -> str:
        return (self.root / f"{name}.started.env").read_text(encoding="utf-8")

    def environment(self, **more: str) -> dict[str, str]:
        path = f"{self.root / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(self.home), "PYTHONPATH": SOURCES, "LANG": "C.UTF-8", **TRUSTED, **more}

    def run(self, *words: str, **more: str) -> Ran:
        """Run `gemini-mcp-host`."""
        return run(words, self.project, self.environment(**more), self.root)

    def run_documented(self, *words: str, **more: str) -> Ran:
        """Run `gemini-mcp-host` in the profile of the guide."""
        return self.run("--profile", "documented", *words, **more)

    def command(self, *words: str) -> Sequence[str]:
        return [sys.executable, "-m", "gemini_mcp.host.command.main", *words]


def desk(root: Path) -> Desk:
    """An empty desk."""
    made = Desk(root)
    for folder in (made.home, made.project, root / "bin"):
        folder.mkdir()
    return made
