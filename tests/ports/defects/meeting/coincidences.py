"""Defects where a value is a word of the command line, empty or blank, or where a directory holds a gemini."""

import os
from dataclasses import replace
from typing import Any

from conditions import altering, asks, is_named, lacking
from defects.record import defect
from planning import Plan
from running import Call


def is_session_empty(call: Call, plan: Plan) -> bool:
    return call.arguments.get("sessionId") == ""


def named_beside_latest(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    """Replaces each `latest` of the template, also one that is a value."""
    session = plan.session or ""
    change = altering("-m", lambda model: session if model == "latest" else model)
    return real(call, change(plan) if is_named(plan) else plan)


def blank_before_stdin(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    """Joins the texts for an old gemini, and takes a blank one for a text."""
    system = call.arguments.get("systemPrompt") or ""
    is_meant = plan.stdin is not None and not system.strip()
    return real(call, replace(plan, stdin=system + (plan.stdin or "")) if is_meant else plan)


def from_directory(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """Looks for the program as Windows does: in the current directory first."""
    beside = os.path.join(options.get("cwd") or ".", argv[0])
    return real((os.path.abspath(beside), *argv[1:]) if os.access(beside, os.X_OK) else argv, **options)


defect(
    "model-latest-is-session",
    "Takes the model `latest` of a reply by id for the place of the session.",
    "command:chat-reply:model",
)(ask=named_beside_latest)
defect(
    "model-lost-by-empty-session",
    "Loses the model of a reply whose session is empty.",
    "command:chat-reply:model",
)(ask=asks(is_session_empty, lacking("-m")))
defect(
    "blank-system-prompt-before-stdin",
    "Writes a blank system prompt before a long prompt.",
    "prompt:long:whole",
    "arguments:empty:system-prompt",
)(ask=blank_before_stdin)
defect(
    "gemini-of-directory-run",
    "Runs the `gemini` that lies in the directory of the call.",
    "cwd:used",
    "command:chat",
)(spawn=from_directory)
