"""Where a soak happens, and what goes wrong there for a while. Effect."""

import os
import resource
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from soak_clients import Client

GEMINI = Path(__file__).with_name("soak_gemini.sh")


@dataclass
class Place:
    """Where a soak happens: a directory with the gemini, and one for temporary files."""

    root: Path

    @property
    def temporary(self) -> Path:
        return self.root / "tmp"

    @property
    def gemini(self) -> Path:
        return self.root / "bin/gemini"

    def make(self) -> None:
        for folder in ("tmp", "bin", "home"):
            (self.root / folder).mkdir()
        self.gemini.write_bytes(GEMINI.read_bytes())
        self.gemini.chmod(0o755)

    def environ(self) -> dict[str, str]:
        path = os.pathsep.join((str(self.gemini.parent), os.defpath))
        named = {"PATH": path, "HOME": str(self.root / "home"), "TMPDIR": str(self.temporary)}
        return {**named, **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}}

    def processes(self, besides: int) -> list[int]:
        """Everything that runs with this home, but for one process."""
        mark, found = f"HOME={self.root / 'home'}".encode(), list[int]()
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0") and int(folder.name) != besides:
                    found.append(int(folder.name))
        return found


def _no_directory(client: Client, place: Place) -> None:
    if not any(place.temporary.iterdir()):  # or what lies there could not be removed
        place.temporary.rename(place.temporary.with_name("away"))


def _no_room(client: Client, place: Place) -> None:
    _limit(client, resource.RLIMIT_FSIZE, 0)


def _no_descriptors(client: Client, place: Place) -> None:
    _limit(client, resource.RLIMIT_NOFILE, len(os.listdir(f"/proc/{client.process.pid}/fd")))


def _no_fork(client: Client, place: Place) -> None:
    _limit(client, resource.RLIMIT_NPROC, 1)  # root may fork all the same


def _no_program(client: Client, place: Place) -> None:
    place.gemini.chmod(0o644)


TROUBLES: Mapping[str, Callable[[Client, Place], None]] = {
    "directory": _no_directory,
    "room": _no_room,
    "descriptors": _no_descriptors,
    "fork": _no_fork,
    "program": _no_program,
    "reader": lambda client, place: None,
}


def restore(client: Client, place: Place) -> None:
    """End every trouble."""
    place.gemini.chmod(0o755)
    away = place.temporary.with_name("away")
    if away.exists():
        away.rename(place.temporary)
    for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC):
        _limit(client, limit, resource.getrlimit(limit)[0])


def _limit(client: Client, limit: int, soft: int) -> None:
    with suppress(ProcessLookupError):
        resource.prlimit(client.process.pid, limit, (soft, resource.getrlimit(limit)[1]))
