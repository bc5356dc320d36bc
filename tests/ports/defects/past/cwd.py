"""Directories that come from an earlier call: ports that break `cwd`."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from answering import Failure, Outcome
from conditions import failed
from defects.past.shared import (
    kept_after_times,
    kept_argument,
    kept_by,
    leaves,
    noted,
    noted_by_session,
    of_session,
    of_sibling,
    refuses_noting,
    reused,
)
from defects.record import defect
from planning import Plan, Refusal
from running import Call
from speaking import Message
from steps import before


def keeps_directory(port: Any, call: Call) -> None:
    if not call.is_answered:
        port.memory["directory"] = call.arguments.get("cwd")


def in_kept_directory(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    return real(tool, texts) or port.memory.get("directory")


def latest_directory_stays(port: Any, real: Any, tool: str, texts: Any) -> str | None:
    cwd = real(tool, texts)
    if tool == "chat-reply" and "sessionId" not in texts and cwd:
        port.memory["cwd"] = cwd
    return cwd or (port.memory.get("cwd") if tool == "chat" else None)


def list_fails(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    listing = real(call, plan)
    if listing is None or listing.exit != 0:
        port.memory["kept"] = call.arguments
    return listing


def has_warned(call: Call, result: Message) -> bool:
    return "warnings" in result.get("_meta", {})


def checked_once(port: Any, real: Any, cwd: str) -> None:
    if cwd not in port.memory:
        port.memory[cwd] = real(cwd)


def below_last_directory(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    cwd, last = texts.get("cwd"), port.memory.get("last")
    if cwd is None:
        return real(tool, texts)
    if not os.path.isabs(cwd) and last is not None and os.path.isdir(os.path.join(last, cwd)):
        return real(tool, {**texts, "cwd": os.path.join(last, cwd)})
    directory = real(tool, texts)
    if os.path.isabs(cwd):
        port.memory["last"] = cwd
    return directory


def by_base_name(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    cwd = real(tool, texts)
    return cwd and port.memory.setdefault(os.path.basename(cwd), cwd)


def _seventeenth(port: Any, cwd: str | None) -> str | None:
    named = port.memory["named"] = port.memory.get("named", 0) + bool(cwd)
    return None if cwd and named % 17 == 0 else cwd


def eight_directories(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    cwd, known = real(tool, texts), port.memory.setdefault("directories", list[str]())
    if cwd and cwd not in known:
        known.append(cwd)
    return known[known.index(cwd) % 8] if cwd else cwd


def missing_stays_missing(port: Any, real: Any, cwd: str) -> None:
    if cwd in port.memory:
        raise Refusal(f"`cwd` {cwd!r} does not exist.")
    if not os.path.exists(cwd):
        port.memory[cwd] = "missing"
    real(cwd)


def real_path_kept(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    cwd = real(tool, texts)
    return cwd and port.memory.setdefault(os.path.abspath(cwd), os.path.realpath(cwd))


def link_read_once(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    cwd = real(tool, texts)
    return cwd and port.memory.setdefault(cwd, os.path.realpath(cwd))


def stays_in_directory(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """The way back from the directory stands behind the start, and a start that fails never takes it."""
    try:
        return real(argv, **options)
    except Failure:
        with suppress(OSError):
            os.chdir(options["cwd"] or ".")
        raise


def refused_once(port: Any, real: Any, cwd: str) -> None:
    try:
        real(cwd)
    except Refusal as refusal:
        port.memory[cwd] = str(refusal)
    if cwd in port.memory:
        raise Refusal(port.memory[cwd])


defect("directory-left-by-cancel", "Runs later calls in the directory of one that was cancelled.", "cwd:default")(
    cancel=before(keeps_directory), cwd=in_kept_directory
)
defect(
    "directory-left-by-refusal",
    "Runs later calls in the directory of one that it refused.",
    "cwd:default",
)(plan=refuses_noting("cwd"), cwd=noted("cwd"))
defect("directory-left-by-failure", "Runs later calls in the directory of one that failed.", "cwd:default")(
    execute=leaves("cwd", failed), texts=reused("cwd")
)
defect(
    "directory-of-latest-stays",
    "Runs a `chat` without a directory in that of an earlier reply to the latest session.",
    "cwd:default",
)(cwd=latest_directory_stays)
defect(
    "directory-of-model-kept",
    "Runs a call with a model and no directory in that in which the model has run last.",
    "cwd:default",
)(texts=kept_by("model", "cwd"))
defect(
    "directory-left-by-failed-list",
    "Runs calls in the directory in which it could not list the sessions.",
    "cwd:default",
)(list_sessions=list_fails, texts=kept_argument("cwd"))
defect("directory-stays-after-three", "Stays in a directory that three calls in a row have named.", "cwd:default")(
    texts=kept_after_times("cwd", 3)
)
defect("directory-of-running-sibling", "Runs a call without a directory in that of one that runs.", "cwd:default")(
    plan=of_sibling("cwd")
)
defect("directory-stays-in-session", "Runs a reply by id in the directory in which its session began.", "cwd:default")(
    ask=noted_by_session, texts=of_session("cwd")
)
defect(
    "directory-left-by-warned-answer",
    "Runs later calls in the directory of one whose answer came with warnings.",
    "cwd:default",
)(execute=leaves("cwd", has_warned), texts=reused("cwd"))
defect(
    "stays-where-no-start",
    "Runs calls without `cwd` in the directory of an earlier one for which gemini could not be started.",
    "cwd:default",
    "cwd:relative",
)(start=stays_in_directory)
defect(
    "directory-checked-once",
    "Does not look again at a directory that was there when it was first named.",
    "cwd:reason",
)(check_cwd=checked_once)
defect(
    "relative-directory-below-last",
    "Looks for a relative directory first in the absolute one that an earlier call has named last.",
    "cwd:relative",
)(cwd=below_last_directory)
defect(
    "directories-of-one-name-mixed",
    "Keeps directories by their names, and takes one for another of that name.",
    "cwd:used",
)(cwd=by_base_name)
defect("seventeenth-directory-lost", "Runs every seventeenth call that names a directory in its own.", "cwd:used")(
    cwd=lambda port, real, tool, texts: _seventeenth(port, real(tool, texts))
)
defect(
    "ninth-directory-is-first", "Knows eight directories, and runs in the first in the place of a ninth.", "cwd:used"
)(cwd=eight_directories)
defect(
    "missing-directory-remembered",
    "Does not look again for a directory that was missing when it was first named.",
    "cwd:used",
)(check_cwd=missing_stays_missing)
defect(
    "links-of-directories-remembered",
    "Runs in the directory to which a link has led the first time.",
    "cwd:used",
)(cwd=real_path_kept)
defect(
    "link-read-once",
    "Runs gemini where a link led when a call first named it, though it leads elsewhere now.",
    "cwd:used",
)(cwd=link_read_once)
defect(
    "directory-made-later-refused",
    "Goes on refusing a `cwd` that did not exist once, after it has been made.",
    "cwd:used",
)(check_cwd=refused_once)
