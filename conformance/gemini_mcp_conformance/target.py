"""Target: which port is tested, and the throw-away directories and the environment it gets. Makes directories only."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gemini_mcp_conformance.conversation import Conversation
from gemini_mcp_conformance.fake import Fake
from gemini_mcp_conformance.observation import Place

WITHHELD = ("GEMINI_", "GOOGLE_", "PYTEST_", "MCP_")
"""Beginnings of variables of the caller's that would change what the port or the fake does."""

INHERITED: Mapping[str, str] = {
    "GEMINI_CONFORMANCE_INHERITED": "handed down = 'é' $HOME",
    "GEMINI_API_KEY": "key-of-the-suite",
    "GOOGLE_CLOUD_PROJECT": "project-of-the-suite",
}
"""Variables of the port's environment that gemini should find in its own."""

PORT, FAKE = "port", "fake"
"""What `fake DIR` makes below DIR: the directories of the port, and the fake."""


@dataclass(frozen=True)
class Target:
    """A command that is started, or the address of a port that runs beside the fake below `fake`."""

    command: tuple[str, ...] = ()
    url: str | None = None
    fake: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    keep_home: bool = False
    revision: str | None = None

    @property
    def advice(self) -> str:
        """What may help a port that does not even answer."""
        if self.url:
            return ""
        place = " It was started in a directory of its own, so name its files by their paths, as ./server.js."
        home = " It had a HOME of its own, too; if it needs yours, as npx, pyenv and the like do, pass --keep-home."
        return place + ("" if self.keep_home else home)

    @property
    def argv(self) -> tuple[str, ...]:
        """The command, with the files of the caller's directory as the port's own directory sees them."""
        return tuple(_reachable(word) for word in self.command)

    @property
    def transport(self) -> str:
        return "http" if self.url else "stdio"


def _reachable(word: str) -> str:
    is_path = "/" in word or Path(word).suffix
    return str(Path(word).absolute()) if is_path and not word.startswith("-") and Path(word).exists() else word


def can_play(target: Target, conversation: Conversation) -> bool:
    """Whether the conversation can be held with this target: over its transport, and with a gemini that plays."""
    if target.url is None:
        return not conversation.needs_http
    return not conversation.needs_stdio and (has_gemini(target) or not conversation.needs_gemini)


def has_gemini(target: Target) -> bool:
    """Whether the port runs a gemini that the suite has made."""
    return target.url is None or target.fake is not None


def make_place(root: Path) -> Place:
    """The directories of one port process, below `root`."""
    root = root.resolve()
    names = ("work", "home", "tmp")
    for name in names:
        (root / name).mkdir(parents=True, exist_ok=True)
    return Place(str(root), *(str(root / name) for name in names))


def make_files(place: Place, files: Mapping[str, str | None]) -> None:
    """The files of a conversation below the working directory; None is a directory."""
    for name, text in files.items():
        file = Path(place.work, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            file.mkdir(exist_ok=True)
        else:
            file.write_text(text, encoding="utf-8", newline="")


def environment(
    target: Target, place: Place, fake: Fake, gemini: str = "present", own: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What the port is started with: the caller's environment, less what disturbs, with the fake first on PATH."""
    base = {name: value for name, value in os.environ.items() if not name.startswith(WITHHELD)}
    directories = {"TMPDIR": place.tmp, "PWD": place.work}
    if not target.keep_home:
        directories |= {"HOME": place.home, "XDG_CONFIG_HOME": f"{place.home}/.config"}
    base = {**base, **directories, **INHERITED, **target.env}
    base = fake.environ(base) if gemini == "present" else {**base, "PATH": _path_without(base, gemini, place)}
    return {**base, **(own or {})}


def _path_without(base: Mapping[str, str], gemini: str, place: Place) -> str:
    """The caller's PATH less the directories that hold a gemini, with one first that cannot be executed if asked."""
    folders = [folder for folder in base.get("PATH", "").split(os.pathsep) if not Path(folder, "gemini").exists()]
    if gemini == "not-executable":
        broken = Path(place.root, "broken")
        broken.mkdir(exist_ok=True)
        (broken / "gemini").write_text("This is no program.\n", encoding="utf-8")
        folders.insert(0, str(broken))
    return os.pathsep.join(folders)
