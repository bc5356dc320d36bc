"""Defects that only a rare meeting shows: of three things, of two calls, or of one character and its place."""

import html
import os
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from answering import Answer, Failure, Outcome
from conditions import is_named
from defects.record import defect
from planning import ARGUMENT_LIMIT, Plan, Refusal
from running import Call
from speaking import Message
from steps import for_tool, gives

TAGS = re.compile("[\U000e0000-\U000e007f]")


class Listed(str):
    """The id of a session that the list has named."""


def lists_elsewhere(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    is_explicit = call.arguments.get("sessionId") == "latest"
    is_relative = plan.cwd is not None and not os.path.isabs(plan.cwd)
    return real(call, replace(plan, cwd=None) if is_explicit and is_relative else plan)


def leaves_after_cancel(port: Any, real: Any, path: str, call: Call, outcome: Outcome | None) -> None:
    is_meant = bool(call.arguments.get("sessionId")) and call.arguments["prompt"].startswith("-")
    if not (is_meant and call.is_cancelled and not port.is_ending):
        real(path, call, outcome)


def listed(port: Any, real: Any, call: Call, plan: Plan, answer: Answer) -> Answer:
    found = real(call, plan, answer)
    is_listed = found.session is not None and not is_named(plan)
    return replace(found, session=Listed(found.session or "")) if is_listed else found


def meta_kept(port: Any, real: Any, result: Message, stateless: bool) -> Message:
    meta = result.get("_meta", {})
    if stateless and "warnings" in meta and isinstance(meta.get("sessionId"), Listed):
        return {**result, "resultType": "complete"}
    return real(result, stateless)


def no_turn_for_stdin(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    is_long = len(texts["prompt"].encode()) > ARGUMENT_LIMIT
    return None if is_long and "systemPrompt" in texts and "sessionId" not in texts else real(tool, texts)


def parent_kept(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    """Works out the directory before it looks whether it is one."""
    if "cwd" not in texts:
        return port.memory.pop("parent", None) if tool == "chat" else None
    port.memory.pop("parent", None)
    try:
        return real(tool, texts)
    except Refusal:
        if os.path.isfile(texts["cwd"]):
            port.memory["parent"] = os.path.dirname(texts["cwd"]) or None
        raise


def gives_lists_up(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    hopeless = port.memory.setdefault("hopeless", set[str | None]())
    if call.tool == "chat-reply" and plan.cwd in hopeless:
        return None
    listing = real(call, plan)
    if call.tool == "chat" and listing is not None and listing.exit != 0:
        hopeless.add(plan.cwd)
    return listing


def composed(port: Any, real: Any, tool: str, texts: Mapping[str, str]) -> str | None:
    return real(tool, {name: unicodedata.normalize("NFC", text) for name, text in texts.items()})


def masked_to_line_end(port: Any, real: Any, text: str) -> str:
    return "".join(map(real, re.split(r"(?<=PRIVATE KEY-----)(?=\r\n)", text)))


def says_system(port: Any, real: Any, failure: Failure) -> Message:
    """Hides the prompt alone in a message that stdout has told."""
    if not failure.said or failure.stderr is None or port.said(failure.stderr) is not None:
        return real(failure)
    said = port.redacted(failure.said, failure.private[:1])
    shown = replace(failure, sentence=f"{failure.sentence} Gemini CLI says: {said}", said=None)
    return real(shown)


def escaped(answer: Answer) -> Answer:
    warnings = answer.warnings
    if isinstance(warnings, list):
        warnings = [html.escape(each, quote=False) if isinstance(each, str) else each for each in warnings]  # pyright: ignore[reportUnknownVariableType]
    return replace(answer, warnings=warnings)


def same_but_for_case(port: Any, real: Any, call: Call, plan: Plan) -> Answer:
    answer = real(call, plan)
    is_same = is_named(plan) and (answer.session or "").lower() == (plan.session or "").lower()
    return replace(answer, session=plan.session) if is_same else answer


defect(
    "list-of-explicit-latest-elsewhere",
    "Asks for the list in the server's own directory when a reply names `latest` itself and its `cwd` is relative.",
    "fallback:cwd",
    "fallback:latest",
)(list_sessions=lists_elsewhere)
defect(
    "cancelled-dash-reply-leaves-system",
    "Leaves the system prompt of a cancelled reply by id whose prompt starts with a dash.",
    "system:removed:cancel",
)(remove_system=leaves_after_cancel)
defect(
    "stateless-listed-warned-unnamed",
    "Leaves the server's name out of a stateless result that has warnings and a session that the list named.",
    "stateless:server-info",
)(with_session=listed, finished=meta_kept)
defect(
    "latest-from-stdin-with-system-waits-not",
    "Does not queue a reply to the latest session whose prompt goes to stdin and that has a system prompt.",
    "concurrency:latest",
)(turn=for_tool("chat-reply", no_turn_for_stdin))
defect(
    "parent-of-refused-file-kept",
    "Runs a `chat` without `cwd` in the directory of the file that the call before was refused for.",
    "cwd:default",
)(cwd=parent_kept)
defect(
    "reply-trusts-failed-list-of-chat",
    "Asks for no list after a reply to the latest session once the list has failed for a `chat` in that directory.",
    "fallback:latest",
)(list_sessions=gives_lists_up)
defect(
    "tag-characters-dropped",
    "Drops the tag characters of an answer, which the flags of Scotland and Wales are made of.",
    "result:text:unicode",
    "result:text",
)(read_json=gives(lambda answer: replace(answer, text=TAGS.sub("", answer.text))))
defect(
    "reply-directory-composed",
    "Composes the accents in the `cwd` of a reply, so it does not find a directory whose name has them apart.",
    "cwd:chat-reply",
)(cwd=for_tool("chat-reply", composed))
defect(
    "private-key-with-returns-shown",
    "Masks only the first line of a private key whose lines end with CR and LF.",
    "error:secrets",
)(masked=masked_to_line_end)
defect(
    "error-on-stdout-repeats-system",
    "Repeats the system prompt where the message of a JSON error on stdout quotes it.",
    "error:prompt",
)(error=says_system)
defect(
    "warnings-escaped-for-html",
    "Escapes `&`, `<` and `>` in warnings as HTML does.",
    "result:warnings",
)(read_json=gives(escaped))
defect(
    "changed-session-in-other-case",
    "Reports the session that a reply resumed when gemini names one that differs from it in upper and lower case only.",
    "result:session-id:changed",
    "result:session-id:chat-reply",
)(ask=same_but_for_case)
