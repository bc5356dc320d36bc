"""Workplace: the throw-away directories and the environment that a port gets. Makes directories and files only."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from gemini_mcp_conformance.play.fake.fake import Fake
from gemini_mcp_conformance.play.target import INHERITED, Target
from gemini_mcp_conformance.see.observation import Place

WITHHELD = ("GEMINI_", "GOOGLE_", "PYTEST_", "MCP_")
"""Variables of the caller that begin like this are removed: they could change what the port or the fake does."""

PORT, FAKE = "port", "fake"
"""What `fake DIR` creates in DIR: the directories of the port, and the fake."""

ELSEWHERE = "elsewhere"
"""Where shells that are to go into a relative directory look first."""

MEMORY = Path("/dev/shm")
"""A file system in memory, where there is one. A disk makes a run twice as long."""

ROOM = 1 << 30
"""Bytes that must be free there."""


def scratch() -> Path | None:
    """Where the throw-away directories are made; None stands for the usual temporary directory.

    Memory is used when the caller names no directory, and when it has room and programs can be run from it.
    """
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK | os.X_OK):
        return None
    found = os.statvfs(MEMORY)
    may_run = not found.f_flag & getattr(os, "ST_NOEXEC", 0)
    return MEMORY if may_run and found.f_bavail * found.f_frsize > ROOM else None


def make_place(root: Path) -> Place:
    """The directories of one port process, below `root`."""
    root = root.resolve()
    names = ("work", "home", "tmp")
    for name in names:
        (root / name).mkdir(parents=True, exist_ok=True)
    return Place(str(root), *(str(root / name) for name in names))


def make_files(place: Place, files: Mapping[str, str | None]) -> None:
    """Write the files of a conversation below the working directory; None is a directory, and `#!` begins a program."""
    for name, text in files.items():
        file = Path(place.work, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            file.mkdir(exist_ok=True)
            Path(place.root, ELSEWHERE, name).mkdir(parents=True, exist_ok=True)
        else:
            file.write_text(text, encoding="utf-8", newline="")
            if text.startswith("#!"):
                file.chmod(0o755)


def make_links(place: Place, links: Mapping[str, str]) -> None:
    """Make symbolic links below the working directory, each with the path that it leads to."""
    for name, target in links.items():
        Path(place.work, name).symlink_to(target)


def remove_files(place: Place, names: Iterable[str]) -> None:
    """Remove files and directories below the working directory."""
    for name in names:
        path = Path(place.work, name)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def environment(
    target: Target, place: Place, fake: Fake, gemini: str = "present", own: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment of the port: the caller's without the withheld variables, with the fake first on PATH."""
    base = {name: value for name, value in os.environ.items() if not name.startswith(WITHHELD)}
    # A client that starts a port in a directory seldom changes PWD, which shells know not to trust.
    directories = {"TMPDIR": place.tmp, "PWD": place.home}
    directories |= {"OLDPWD": place.home, "CDPATH": f"{place.root}/{ELSEWHERE}"}
    if not target.keep_home:
        directories |= {"HOME": place.home, "XDG_CONFIG_HOME": f"{place.home}/.config"}
    base = {**base, **directories, **INHERITED, **target.env}
    if gemini != "present":
        base["PATH"] = _path_without(base, fake.program.name, gemini, place)
    if gemini in ("present", "only"):
        base = fake.environ(base)
    return {**base, **(own or {})}


def _path_without(base: Mapping[str, str], program: str, gemini: str, place: Place) -> str:
    """The caller's PATH without any gemini, or with one first that cannot be executed."""
    folders = [folder for folder in base.get("PATH", "").split(os.pathsep) if not Path(folder, program).exists()]
    if gemini == "not-executable":
        # Without the right to execute. The rest of PATH has no gemini, so a port cannot go on to another one.
        broken = Path(place.root, "broken")
        broken.mkdir(exist_ok=True)
        (broken / program).write_text("This is no program.\n", encoding="utf-8")
        folders.insert(0, str(broken))
    return os.pathsep.join(folders)
