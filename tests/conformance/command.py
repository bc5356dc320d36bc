"""Runs `gemini-mcp-conformance` as a process of its own, for the tests."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = (sys.executable, "-P", "-m", "gemini_mcp_conformance.cli")
SECONDS = 60


def port(name: str, *more: str) -> tuple[str, ...]:
    """The command of a small port."""
    return (sys.executable, str(Path(__file__).parent / "small_ports.py"), name, *more)


def variables(home: Path, **own: str) -> dict[str, str]:
    """An environment whose files all lie below `home`."""
    temporary = home / "tmp"
    temporary.mkdir(exist_ok=True)
    return {**os.environ, "TMPDIR": str(temporary), "XDG_CACHE_HOME": str(home / "cache"), **own}


def suite(
    home: Path, *words: str, to: Sequence[str] = (), cwd: Path | None = None, **own: str
) -> subprocess.CompletedProcess[str]:
    """The ended command; `to` is the port's command."""
    return subprocess.run(
        [*PROGRAM, *words, *(("--", *to) if to else ())],
        env=variables(home, **own),
        cwd=cwd or home,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )


def copied(folder: Path) -> str:
    """A copy of the project below `folder`, to be broken there; the PYTHONPATH that uses it."""
    spoiled = shutil.ignore_patterns("__pycache__")
    for name in ("src", "conformance", "spec"):
        shutil.copytree(ROOT / name, folder / name, ignore=spoiled)
    return os.pathsep.join(str(folder / name) for name in ("src", "conformance"))


def distribution(folder: Path, group: str, point: str, module: str, text: str) -> str:
    """A throw-away distribution with one module and one entry point; the PYTHONPATH that has it."""
    described = folder / f"{module}-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
    (described / "entry_points.txt").write_text(f"[{group}]\n{point} = {module}\n", encoding="utf-8")
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    return os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
