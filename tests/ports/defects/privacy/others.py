"""Looks that deceive: in `arguments`, `command`, `concurrency`, `cwd`, `fallback`, `prompt`, `rpc` or `system`."""

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer
from conditions import path_shown
from defects.record import defect
from planning import Plan, Refusal
from running import Call
from steps import before, gives

INHERITED = ("constructor", "toString", "__proto__", "hasOwnProperty")


def refuses_inherited(port: Any, tool: str, arguments: Mapping[str, Any]) -> None:
    for name in arguments:
        if name in INHERITED:
            raise Refusal(f"`{name}` is no argument.")


def without_latest_model(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    is_lost = tool == "chat-reply" and "sessionId" not in texts and port.is_risky(texts["prompt"])
    return () if is_lost else real(tool, texts)


def by_name(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    return "latest" if texts.get("sessionId") == "latest" else real(tool, texts)


def filled_in(cwd: str) -> str:
    """Fills a path into a sentence as JavaScript does."""
    return repr(cwd).replace("$$", "$").replace("$&", "{cwd}")


def refuses_parent(port: Any, cwd: str) -> None:
    if cwd.startswith(".."):
        raise Refusal(f"`cwd` {cwd!r} leaves the working directory.")


def lists_when_everything(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    if "-m" in plan.argv and plan.cwd and plan.system:
        listing = port.list_sessions(call, plan)
        return replace(answer, session=port.newest(listing) if listing else None)
    return real(call, plan, answer)


def looks_for_cancel(port: Any, real: Any, line: bytes) -> None:
    if b"notifications/cancelled" not in line or json.loads(line).get("method") == "notifications/cancelled":
        real(line)


def lost_beside_relative(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    is_lost = tool == "chat" and "model" in texts and not texts.get("cwd", "/").startswith("/")
    return None if is_lost else real(tool, texts)


defect("inherited-arguments-refused", "Refuses an unknown argument named `constructor`.", "arguments:unknown")(
    texts=before(refuses_inherited)
)
defect(
    "latest-model-lost-beside-risky-prompt",
    "Loses the model of a reply to the latest session with a risky prompt.",
    "command:chat-reply:model",
)(model_option=without_latest_model)
defect("session-composed", "Composes the characters of a session.", "command:chat-reply:session-id")(
    resumed=gives(lambda session: unicodedata.normalize("NFC", session))
)
defect("latest-by-name-apart", "Lets replies to `latest` by name overlap with the others.", "concurrency:latest")(
    turn=by_name
)
defect("dollars-of-directory-read", "Reads `$$` and `$&` in the path of a refused directory.", "cwd:reason")(
    check_cwd=path_shown(filled_in)
)
defect("parent-directory-refused", "Refuses a directory that begins with two dots.", "cwd:relative")(
    check_cwd=before(refuses_parent)
)
defect("listed-beside-everything", "Asks for the list in a reply by id with all arguments.", "fallback:by-id")(
    with_session=lists_when_everything
)
defect("cancel-in-prompt-obeyed", "Drops a call that speaks of `notifications/cancelled`.", "prompt:verbatim:quotes")(
    receive=looks_for_cancel
)
defect("indented-messages-dropped", "Passes over a message behind a blank.", "rpc:alive:chunks")(
    receive=lambda port, real, line: None if line[:1] in (b" ", b"\t") else real(line)
)
defect(
    "system-prompt-lost-beside-relative-directory",
    "Loses the system prompt of a `chat` with a model and a relative directory.",
    "system:content",
)(system=lost_beside_relative)
