"""Play: a script for a call of the fake gemini, and the shell lines that play its steps; pure.

A new kind of step that writes belongs to `written` and `_KINDS`; another is one entry in `_STEPS`: a function from the
step's value to shell lines. Bytes become octal escapes of `printf`, so that the lines are ASCII whatever they print.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.script import PREPARATIONS, Script, ScriptError, prepares, written

PREPARED = ': > "$call.prepared"'
"""Tells that gemini is as hard to end as its play makes it."""
ESCAPED = [char if (char := chr(byte)).isalnum() and byte < 128 else f"\\{byte:03o}" for byte in range(256)]
"""Each byte as `printf` of a shell takes it."""
INLINE_BYTES = 8 * 1024
"""Up to this size the shell prints the bytes itself; longer ones are copied from a file."""


@dataclass(frozen=True)
class Play:
    """A script in a playlist: for the next call, or for the call whose argv or stdin holds `match`."""

    script: Script | Mapping[str, Json]
    match: str | None = None

    def resolved(self) -> Script:
        return self.script if isinstance(self.script, Script) else Script.from_json(self.script)


@dataclass(frozen=True)
class Translation:
    """Shell lines and the files they copy; files are named relative to where the lines will be kept."""

    lines: tuple[str, ...]
    files: Mapping[str, bytes]
    releases: frozenset[str]


def to_shell(steps: Sequence[Mapping[str, Json]], folder: str, releases: str) -> Translation:
    """Translate steps into shell lines, which always end the process."""
    writer = _Writer(folder, releases)
    is_preparing = prepares(steps)
    for step in steps:
        if len(step) != 1 or (kind := next(iter(step))) not in _KINDS:
            raise ScriptError(f"The step {dict(step)!r} should have exactly one key of {', '.join(_KINDS)}.")
        if is_preparing and kind not in PREPARATIONS:
            is_preparing = False
            writer.lines.append(PREPARED)
        if (output := written(step)) is not None:
            writer.output(*output)
        else:
            _STEPS[kind](writer, step[kind])
    return Translation((*writer.lines, "finish 0"), writer.files, frozenset(writer.releases))


class _Writer:
    def __init__(self, folder: str, releases: str) -> None:
        self.folder = folder
        self.release_folder = releases
        self.lines: list[str] = []
        self.files: dict[str, bytes] = {}
        self.releases: set[str] = set()
        self.ignored: set[str] = set()

    def output(self, stream: str, data: bytes) -> None:
        suffix = {"stdout": "", "stderr": " >&2"}[stream]
        if len(data) <= INLINE_BYTES:
            self.lines.append(f"printf '{_escaped(data)}'{suffix}")
            return
        name = f"data{len(self.files)}"
        self.files[name] = data
        path = shlex.quote(f"{self.folder}/{name}")
        self.lines.append(f'"$cat" {path}{suffix}')

    def wait(self, value: Json) -> None:
        self.lines.append(f'"$sleep" {float(value):g}')

    def hang(self, value: Json) -> None:
        if value is True:
            # `exec` makes it one process, so a signal to gemini alone ends it.
            self.lines.append('exec "$sleep" 1000000')

    def until(self, value: Json) -> None:
        # A shell runs a trap only when its foreground child has ended, so that has to be soon. Some shells tell on
        # stderr which signal has ended a child.
        self.lines += [
            "asked=",
            f"trap asked=yes {_signals([value])}",
            """while [ -z "$asked" ]; do "$sleep" 0.02; done 2> /dev/null""",
        ]

    def release(self, value: Json) -> None:
        self.releases.add(str(value))
        self.lines.append(f"read -r released < {shlex.quote(f'{self.release_folder}/{value}')}")

    def unread(self, value: Json) -> None:
        # What comes before the play is in gemini.sh. Without a name nothing is ever read.
        self.releases |= {str(value)} - {""}

    def flood(self, value: Json) -> None:
        """Nothing: so much goes to stderr before stdin is read, as `unread` says when."""

    def ignore(self, value: Json) -> None:
        self.ignored |= {*value}
        self.lines.append(f"trap '' {_signals(value)}")

    def child(self, value: Json) -> None:
        # A child inherits ignored signals. With a trap of its own it would not ignore them from the start.
        passing = sorted({*value.get("ignore", ())} - self.ignored)
        held = value["holds"]
        closed = "".join(f" {output} /dev/null" for stream, output in _OUTPUTS.items() if stream != held)
        if passing:
            self.lines.append(f"trap '' {_signals(passing)}")
        started = (
            f'"$sleep" {float(value["seconds"]):g} < /dev/null{closed} & '
            """printf '%s\\n' "$!" >> "$call.children\""""
        )
        # What started an orphan has ended, so only their group tells that it is gemini's.
        self.lines.append(f"({started})" if value.get("orphan") else started)
        if passing:
            self.lines.append(f"trap - {_signals(passing)}")

    def close(self, value: Json) -> None:
        self.lines.append(f"exec {_OUTPUTS[value]}&-")

    def leave(self, value: Json) -> None:
        self.lines += [
            "for variable in $variables; do",
            '  eval "path=\\${$variable-}"',
            f"""  case $path in */*) : > "${{path%/*}}/"{shlex.quote(str(value))} ;; esac""",
            "done",
        ]

    def exit(self, value: Json) -> None:
        self.lines.append(f"finish {int(value)}")

    def signal(self, value: Json) -> None:
        # Signals such as SEGV would leave a core dump in the working directory of the port.
        self.lines.append(f"ulimit -c 0; kill -{_signals([value])} $$")


_OUTPUTS = {"stdout": ">", "stderr": "2>"}
"""How a shell redirects each stream."""
_STEPS: Mapping[str, Callable[[_Writer, Json], None]] = {
    "wait": _Writer.wait,
    "hang": _Writer.hang,
    "until": _Writer.until,
    "release": _Writer.release,
    "unread": _Writer.unread,
    "flood": _Writer.flood,
    "ignore": _Writer.ignore,
    "child": _Writer.child,
    "close": _Writer.close,
    "leave": _Writer.leave,
    "exit": _Writer.exit,
    "signal": _Writer.signal,
}
_KINDS = ("stdout", "stderr", "stdoutBase64", "stderrBase64", "fill", *_STEPS)
"""The kinds of steps. The first ones write; `written` says what."""


@lru_cache(64)
def _escaped(data: bytes) -> str:
    return "".join(map(ESCAPED.__getitem__, data))


def _signals(value: Json) -> str:
    names = [str(name).removeprefix("SIG") for name in value]
    if not all(name.isalnum() for name in names):
        raise ScriptError(f"The signals {names!r} should be names such as TERM.")
    return " ".join(names)
