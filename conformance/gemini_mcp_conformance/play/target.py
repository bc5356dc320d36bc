"""Target: which port is tested, and which conversations can be held with it. Looks where files are, and no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gemini_mcp_conformance.talk.conversation import Conversation

INHERITED: Mapping[str, str] = {
    "GEMINI_CONFORMANCE_INHERITED": "handed down = 'é' $HOME",
    "GEMINI_API_KEY": "key-of-the-suite",
    "GOOGLE_CLOUD_PROJECT": "project-of-the-suite",
    "no_proxy": "localhost,127.0.0.1,::1",
    "SETTING_OF_THE_OPERATOR": "kept",
}
"""Variables of the port's environment that gemini should find in its own."""


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
        place = (
            " It was started in a directory of its own: your files that the command names, as server.js or ./server, "
            "are found there; any other, as in --config=FILE, needs its absolute path."
        )
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
