"""Target: which port is tested, and which conversations it can take part in. Looks for files, and changes none."""

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
    "SETTING_LEFT_EMPTY": "",
    "SETTING_OF_LINES": "one\ntwo=2\n",
    "SETTING_OF_LENGTH": "long " * 1700,
    "NODE_NO_WARNINGS": "1",
    "npm_config_loglevel": "silent",
    "SECRET_TOKEN_OF_THE_OPERATOR": "kept-as-well",
    "SETTING_OF_MCP_SERVERS": "kept, too",
    "Setting_Of_The_Operator": "kept in another case",
    **{f"SETTING_{number}": str(number) for number in range(40)},
}
"""Variables that the port gets, and should pass on to gemini."""


@dataclass(frozen=True)
class Target:
    """A command to start, or the address of a running port whose gemini is the fake in the directory `fake`."""

    command: tuple[str, ...] = ()
    url: str | None = None
    fake: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    keep_home: bool = False
    revision: str | None = None

    @property
    def advice(self) -> str:
        """What the operator can try when the port does not answer."""
        if self.url:
            return ""
        place = (
            " It was started in a directory of its own. Files that are words of the command, such as ./server.js, are "
            "found there; others, as in --config=FILE, need an absolute path."
        )
        home = " It also had a HOME of its own. If it needs yours, as npx, pyenv and the like do, pass --keep-home."
        return place + ("" if self.keep_home else home)

    @property
    def argv(self) -> tuple[str, ...]:
        """The command; names of files in the caller's directory are made absolute."""
        return tuple(_reachable(word) for word in self.command)

    @property
    def transport(self) -> str:
        return "http" if self.url else "stdio"


def _reachable(word: str) -> str:
    is_path = "/" in word or Path(word).suffix
    return str(Path(word).absolute()) if is_path and not word.startswith("-") and Path(word).exists() else word


def can_play(target: Target, conversation: Conversation) -> bool:
    """Whether the conversation suits the transport of this target, and gemini can play its scripts."""
    if target.url is None:
        return not conversation.needs_http
    return not conversation.needs_stdio and (has_gemini(target) or not conversation.needs_gemini)


def has_gemini(target: Target) -> bool:
    """Whether the gemini of the port is the fake."""
    return target.url is None or target.fake is not None
