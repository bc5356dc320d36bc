"""Directories that a client, a transport or a library changes: ports that break `cwd`."""

import glob
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer
from conditions import asks
from defects.record import defect
from http_port import HttpPort
from planning import Plan, Refusal
from running import Call
from steps import on

IN_HTML = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&"}


def elsewhere(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    is_meant = call.stateless and call.tool == "chat-reply"
    return real(call, replace(plan, cwd=None) if is_meant else plan)


def directory_of_client(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    cwd, session = real(tool, texts), port.current.post.session
    directories = port.memory.setdefault("directories", {})
    if cwd is not None:
        directories[session] = cwd
    return cwd or (directories.get(session) if session else None)


def filled_in(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    cwd = texts.get("cwd", "")
    found = [] if os.path.exists(cwd) else sorted(glob.glob(cwd))
    return real(tool, {**texts, "cwd": found[0]} if found else texts)


def first_line(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    return real(tool, {**texts, "cwd": texts["cwd"].split("\n")[0]} if "cwd" in texts else texts)


def is_stateless_on_stdin(call: Call, plan: Any) -> bool:
    return call.stateless and plan.stdin is not None


defect("stateless-reply-directory-lost", "Runs a reply in its own directory in this era.", "cwd:chat-reply")(
    ask=elsewhere
)
defect(
    "directory-stays-with-client",
    "Runs calls over HTTP in the directory that their client has named last.",
    "cwd:default",
)(HttpPort, cwd=directory_of_client)
defect(
    "pattern-of-directory-filled",
    "Takes a directory that does not exist for a pattern, and runs in the first that it matches.",
    "cwd:missing",
    "injection:shell:cwd",
)(cwd=filled_in)
defect(
    "path-escaped-for-html",
    "Names a refused directory with escapes for what HTML reads.",
    "cwd:reason",
)(check_cwd=on(Refusal, lambda port, refusal: Refusal(str(refusal).translate(IN_HTML))))
defect("directory-ends-at-newline", "Reads the first line of a directory.", "cwd:used")(cwd=first_line)
defect(
    "stateless-directory-lost-on-stdin",
    "Runs a call of the stateless era in its own directory when the prompt is long.",
    "cwd:used",
)(ask=asks(is_stateless_on_stdin, lambda plan: replace(plan, cwd=None)))
