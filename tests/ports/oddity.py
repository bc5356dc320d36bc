"""A port that conforms oddly: `python oddity.py NAME` serves, `--list` prints all of them as JSON.

A port in Go is built when its command is asked for, and again when its sources have changed.
"""

import json
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from odd import Odd, all_odd, odd_named

BUILT = Path(__file__).parent / "go/.built"
BUILD_SECONDS = 300


def command(odd: Odd) -> list[str]:
    if not isinstance(odd.port, Path):
        return [sys.executable, str(Path(__file__).resolve()), odd.name]
    if odd.port.is_dir():
        return in_go(odd.port.resolve())
    return ["node", str(odd.port.resolve())]


def entry(odd: Odd) -> dict[str, object]:
    return {**{key: getattr(odd, key) for key in ("name", "sentence", "is_over_http")}, "command": command(odd)}


def in_go(sources: Path) -> list[str]:
    """The program of a port in Go, which is built if it is new; without `go` a command that names what is missing."""
    digest = sha256(b"".join(file.read_bytes() for file in sorted(sources.iterdir())))
    program = BUILT.resolve() / f"{sources.name}-{digest.hexdigest()[:16]}"
    if shutil.which("go") is None:
        return ["go", "run", str(sources)]
    if not program.exists():
        BUILT.mkdir(exist_ok=True)
        # Several processes may build it at the same time, and none may start a half-written program.
        new = program.with_suffix(f".{os.getpid()}")
        subprocess.run(["go", "build", "-o", str(new), "."], cwd=sources, check=True, timeout=BUILD_SECONDS)
        new.replace(program)
    return [str(program)]


def serve(odd: Odd) -> None:
    if isinstance(odd.port, Path):
        program, *arguments = command(odd)
        os.execvp(program, [program, *arguments])
    odd.port().serve()


if __name__ == "__main__":
    if sys.argv[1] == "--list":
        print(json.dumps([entry(odd) for odd in all_odd().values()], indent=1))
    else:
        serve(odd_named(sys.argv[1]))
