"""`lock` and `diff`: keep what a server declares, and judge what has changed since. Effect."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gemini_mcp.host.command import inspecting
from gemini_mcp.host.command.asking import Asked
from gemini_mcp.host.command.context import FINDING, OK, SERVER_FAILED, USAGE, Context
from gemini_mcp.host.locks import lock as locks
from gemini_mcp.host.locks import view
from gemini_mcp.host.locks.comparison import compare
from gemini_mcp.host.locks.lock import InvalidLock, Lock
from gemini_mcp.host.servers.failure import Failure
from gemini_mcp.host.servers.secrecy import shown_words
from gemini_mcp.host.settings.files import replace_text
from gemini_mcp.schema.bound import Endless, bounded
from gemini_mcp.spec.values import table

SECONDS = 30
"""How much work a comparison may be: a pattern of a hostile server can make it endless."""


@dataclass(frozen=True)
class Compared:
    """What is compared: a lock with another one or with a server, and how it is told."""

    lock: str
    other: str | None
    asked: Asked | None
    form: str = "text"
    reports: Sequence[tuple[str, str]] = ()
    is_strict: bool = False


@dataclass(frozen=True)
class _Side:
    """One side of a comparison: its name, its lock, and the text of its file where it has one."""

    name: str
    lock: Lock
    content: str | None = None
    gaps: Sequence[Failure] = ()


async def lock(context: Context, asked: Asked, output: str | None) -> int:
    """Write the lock of the server into a file, or to stdout for `-`."""
    side = await _asked(context, asked)
    if side.gaps:
        return _say_failure(context, side)
    text = locks.text(side.lock)
    file = output or f"{side.lock.server}.lock.json"
    if file == "-":
        context.say(text)
        return OK
    replace_text(Path(file), text)
    context.complain(f"wrote {file}: {_counted(side.lock)}")
    return OK


async def diff(context: Context, compared: Compared) -> int:
    """Compare a lock with another one, or with what a server declares now."""
    try:
        old = _read(compared.lock)
        new = await _new(context, compared, old)
    except InvalidLock as error:
        context.complain(str(error))
        return USAGE
    if new.gaps:
        return _say_failure(context, new)
    try:
        with bounded(SECONDS):
            changes = compare(old.lock, new.lock)
    except Endless:
        context.complain(f"{SECONDS} seconds of work were not enough, so nothing is known of the change.")
        return USAGE
    shown = new if new.content is not None else old
    comparison = view.Comparison(old.name, new.name, changes, shown.name, shown.content or "")
    for form, file in compared.reports:
        replace_text(Path(file), view.FORMATS[form](comparison) + "\n")
    context.say(view.FORMATS["json" if context.is_json else compared.form](comparison))
    return FINDING if comparison.breaks or (compared.is_strict and comparison.is_of_approved) else OK


def _read(name: str) -> _Side:
    try:
        content = Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidLock(f"{name!r} is no text in UTF-8. Name a file that `gemini-mcp-host lock` wrote.") from None
    except OSError as error:
        raise InvalidLock(f"{name!r} cannot be read: {error.strerror}.") from None
    return _Side(name, locks.read(content, name), content)


async def _new(context: Context, compared: Compared, old: _Side) -> _Side:
    """The new side: another lock, or a server; the one of the old lock's name where none is named."""
    if compared.other is not None:
        return _read(compared.other)
    name = old.lock.server
    if compared.asked is None and context.settings(is_quiet=True).find(name) is None:
        raise InvalidLock(
            f"The server {name!r} of {old.name!r} is not configured here. Say what to compare it with: "
            "a command after `--`, a URL, or another lock."
        )
    asked = compared.asked or Asked((name,), is_alone=True)
    return await _asked(context, replace(asked, name=asked.name or name))


async def _asked(context: Context, asked: Asked) -> _Side:
    seen = await inspecting.seen(context, asked)
    made = locks.lock(seen[0].inspection.server, [(one.subject, one.inspection) for one in seen])
    return _Side(shown_words(asked.words), made, gaps=[one.gap for one in seen if one.gap is not None])


def _say_failure(context: Context, side: _Side) -> int:
    said = dict.fromkeys(f"{side.name}: {gap}" for gap in side.gaps)
    context.complain(*said)
    return SERVER_FAILED


def _counted(made: Lock) -> str:
    _, offered = made.offered(next(iter(made.profiles)))
    counts = {kind: len(table(offered.get(kind))) for kind in locks.LISTED}
    return ", ".join(f"{count} {kind.removesuffix('s') if count == 1 else kind}" for kind, count in counts.items())
