"""Finds a program that is not on PATH, in the places where installers put it. Effect: reads the file system.

A new installer is an entry of the table.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from glob import escape, glob

from gemini_mcp.call.outcome import NotStarted
from gemini_mcp.call.paths import find_program

Environ = Mapping[str, str]


@dataclass(frozen=True)
class Found:
    """A program, and who has installed it."""

    path: str
    installer: str

    @property
    def directory(self) -> str:
        return os.path.dirname(self.path)


def discover(program: str, environ: Environ) -> Found | None:
    """The program of the first installer that has it, in its newest version."""
    for installer, places in INSTALLERS.items():
        for place in places(environ):
            for folder in sorted(glob(place), key=_version, reverse=True):
                path = os.path.join(folder, program)
                if os.path.isfile(path) and os.access(path, os.X_OK):
                    return Found(path, installer)
    return None


def widened_path(programs: tuple[str, ...], environ: Environ) -> str:
    """PATH, with the directories of those programs that are not on it and are found elsewhere."""
    path = environ.get("PATH", os.defpath)
    for program in programs:
        missing = isinstance(find_program(program, {**environ, "PATH": path}), NotStarted)
        if missing and (found := discover(program, environ)) is not None:
            path = f"{path}{os.pathsep}{found.directory}"
    return path


def _home(environ: Environ) -> str:
    return environ.get("HOME") or os.path.expanduser("~")


def _below(variable: str, *folders: str, rest: tuple[str, ...]) -> Callable[[Environ], Iterator[str]]:
    """Places below the directory that a variable names, or else below one of the home."""

    def places(environ: Environ) -> Iterator[str]:
        named = environ.get(variable)
        for root in (named,) if named else (os.path.join(_home(environ), folder) for folder in folders):
            yield from (os.path.join(escape(root), place) for place in rest)

    return places


def _of_npm(environ: Environ) -> Iterator[str]:
    """Where `npm install -g` puts programs: its prefix, which its settings or the environment name."""
    home = _home(environ)
    if named := environ.get("NPM_CONFIG_PREFIX") or environ.get("npm_config_prefix"):
        yield os.path.join(escape(named), "bin")
    for match in re.finditer(r"(?m)^\s*prefix\s*=\s*(\S.*?)\s*$", _text(os.path.join(home, ".npmrc"))):
        prefix = match[1].strip("\"'").replace("${HOME}", home)
        yield os.path.join(escape(os.path.join(home, prefix[2:]) if prefix.startswith("~/") else prefix), "bin")
    yield os.path.join(escape(home), ".npm-global/bin")


def _text(file: str) -> str:
    """What is in a file; nothing if it cannot be read, which only costs a hint."""
    with suppress(OSError), open(file, encoding="utf-8", errors="replace") as lines:
        return lines.read()
    return ""


def _of_brew(environ: Environ) -> Iterator[str]:
    named = environ.get("HOMEBREW_PREFIX")
    yield from (f"{escape(root)}/bin" for root in ((named,) if named else BREW))


def _version(folder: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d{1,9}", folder)]


BREW = ("/opt/homebrew", "/usr/local", "/home/linuxbrew/.linuxbrew")

INSTALLERS: Mapping[str, Callable[[Environ], Iterator[str]]] = {
    "nvm": _below("NVM_DIR", ".nvm", rest=("versions/node/*/bin",)),
    "volta": _below("VOLTA_HOME", ".volta", rest=("bin",)),
    "fnm": _below(
        "FNM_DIR",
        *(".local/share/fnm", ".fnm", "Library/Application Support/fnm"),
        rest=("aliases/default/bin", "node-versions/*/installation/bin"),
    ),
    "asdf": _below("ASDF_DATA_DIR", ".asdf", rest=("shims", "installs/nodejs/*/bin")),
    "mise": _below("MISE_DATA_DIR", ".local/share/mise", rest=("shims", "installs/node/*/bin")),
    "npm": _of_npm,
    "pnpm": _below("PNPM_HOME", ".local/share/pnpm", "Library/pnpm", rest=("", "bin")),
    "bun": _below("BUN_INSTALL", ".bun", rest=("bin",)),
    "brew": _of_brew,
}
