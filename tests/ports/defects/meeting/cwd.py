"""Directories that are right alone and wrong beside another argument: ports that break `cwd`."""

import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from conditions import asks, has_model, is_flagged
from defects.meeting.shared import is_relative
from defects.record import defect
from planning import Plan, Refusal
from running import Call
from steps import before, gives

START_SECONDS = 0.3


def without_directory(plan: Plan) -> Plan:
    return replace(plan, cwd=None)


def missing_directory_overlooked(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    is_overlooked = "model" in texts and "cwd" in texts and not os.path.exists(texts["cwd"])
    return None if is_overlooked else real(tool, texts)


def in_temporary_directory(plan: Plan) -> Plan:
    return replace(plan, cwd=os.path.join(tempfile.gettempdir(), plan.cwd or ""))


def below_home(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Any:
    """A relative directory of a reply by id with a model."""
    texts = real(tool, arguments)
    is_meant = {"sessionId", "model", "cwd"} <= texts.keys() and not os.path.isabs(texts["cwd"])
    return {**texts, "cwd": os.path.join(os.environ["HOME"], texts["cwd"])} if is_meant else texts


def not_beside_system_prompt(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    texts = real(tool, arguments)
    if "cwd" in texts and texts["cwd"] == "." and "systemPrompt" in texts:
        raise Refusal("`cwd` is no directory of its own.")
    return texts


def is_relative_beside_blank(call: Call, plan: Plan) -> bool:
    system = call.arguments.get("systemPrompt")
    return isinstance(system, str) and not system.strip() and is_relative(plan.cwd)


def from_directory(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """Looks for the program as Windows does: in the current directory first."""
    beside = os.path.join(options.get("cwd") or ".", argv[0])
    return real((os.path.abspath(beside), *argv[1:]) if os.access(beside, os.X_OK) else argv, **options)


def enters_directory(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """The directory of a process belongs to all its threads."""
    if options["cwd"] is None:
        return real(argv, **options)
    home = port.memory.setdefault("home", os.getcwd())
    os.chdir(options["cwd"])
    try:
        time.sleep(START_SECONDS)
        return real(argv, **{**options, "cwd": None})
    finally:
        os.chdir(home)


def blank_hides_directory(port: Any, real: Any, tool: str, arguments: Mapping[str, Any]) -> Plan:
    plan, system = real(tool, arguments), arguments.get("systemPrompt")
    return replace(plan, cwd=None) if isinstance(system, str) and plan.system is None else plan


def chomped(cwd: str | None) -> str | None:
    """Takes the last newline for the end of a line, if that gives a directory."""
    return cwd[:-1] if cwd and cwd.endswith("\n") and Path(cwd[:-1]).is_dir() else cwd


def without_last_slash(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    return (real(tool, texts) or "").rstrip("/") or None


def no_links(port: Any, cwd: str) -> None:
    if os.path.islink(cwd):
        raise Refusal(f"`cwd` {cwd!r} is not a directory.")


defect("reply-directory-lost-on-stdin", "Runs a reply in its own directory when the prompt is long.", "cwd:chat-reply")(
    ask=asks(lambda call, plan: plan.session is not None and plan.stdin is not None, without_directory)
)
defect(
    "directory-entered-by-server",
    "Goes into the directory of a call itself while it starts gemini, and takes others along that start then.",
    "cwd:default",
    "cwd:used",
)(spawn=enters_directory)
defect(
    "missing-directory-overlooked-beside-model",
    "Runs a call with a model in its own directory when the one it names does not exist.",
    "cwd:missing",
)(cwd=missing_directory_overlooked)
defect(
    "relative-directory-beside-system-prompt",
    "Resolves a relative directory against the temporary one when there is a system prompt.",
    "cwd:relative",
)(
    ask=asks(
        lambda call, plan: plan.system is not None and plan.cwd is not None and not os.path.isabs(plan.cwd),
        in_temporary_directory,
    )
)
defect(
    "relative-directory-below-home",
    "Looks for the relative directory of a reply by id with a model in the home directory.",
    "cwd:relative",
)(texts=below_home)
defect(
    "point-refused-beside-system-prompt",
    "Refuses the directory `.` in a call with a system prompt.",
    "cwd:relative",
)(texts=not_beside_system_prompt)
defect(
    "relative-directory-lost-beside-blank-system-prompt",
    "Runs a call with a blank system prompt in its own directory when the one it names is relative.",
    "cwd:relative",
)(ask=asks(is_relative_beside_blank, lambda plan: replace(plan, cwd=None)))
defect(
    "gemini-of-directory-run",
    "Runs the `gemini` that lies in the directory of the call.",
    "cwd:used",
    "command:chat",
)(spawn=from_directory)
defect(
    "directory-lost-beside-flagged-prompt-and-model",
    "Runs a `chat` with a model and a risky prompt in its own directory.",
    "cwd:used",
)(ask=asks(lambda call, plan: not plan.session and is_flagged(plan) and has_model(plan), without_directory))
defect(
    "blank-system-prompt-hides-directory",
    "Runs a call with a blank system prompt in its own directory.",
    "cwd:used",
)(plan=blank_hides_directory)
defect(
    "directory-lost-beside-empty-model",
    "Runs a call in its own directory when its model is empty.",
    "cwd:used",
)(ask=asks(lambda call, plan: call.arguments.get("model") == "", without_directory))
defect(
    "cwd-newline-chomped",
    "Runs in another directory when the name of the directory ends with a newline and the name without it exists.",
    "cwd:used",
)(cwd=gives(chomped))
defect("root-directory-overlooked", "Takes the root directory for none.", "cwd:used")(cwd=without_last_slash)
defect("links-are-no-directories", "Refuses a link to a directory.", "cwd:used")(check_cwd=before(no_links))
defect("cwd-tidied-before-links", "Takes `..` for the folder before it, which may be a link.", "cwd:used")(
    cwd=gives(lambda cwd: os.path.normpath(cwd) if cwd else cwd)
)
