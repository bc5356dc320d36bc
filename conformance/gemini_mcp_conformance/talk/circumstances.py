"""Circumstances: what a call can meet beside its arguments, and the texts that mark it; pure."""

from __future__ import annotations

from collections.abc import Mapping

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.specification import Specification
from gemini_mcp_conformance.talk.texts import NAMES_OF_OBJECTS

OUTCOME, BEFORE, BESIDE, TOKEN, ID, WRITTEN = "outcome", "before", "beside", "progress token", "request id", "written"

ALONE, A_CALL, A_LIST, SAME_SESSION = "nothing", "a call", "a list of sessions", "its session"
CANCELLED_EARLY = "cancelled early"

CIRCUMSTANCES: Mapping[str, tuple[str, ...]] = {
    BEFORE: ("nothing", "the same", "refused", "unknown tool", "failed", "cancelled", CANCELLED_EARLY, "listed"),
    BESIDE: (ALONE, A_CALL, A_LIST, SAME_SESSION),
    TOKEN: ("none", "text", "number", "odd"),
    ID: ("usual", "text", "number"),
    WRITTEN: ("as declared", "the other way round", "with metadata", "in escapes"),
}
"""What a call has beside its arguments."""

ALIKE = "runs of calls without a prompt of their own look the same"
"""Why much cannot meet such a call."""

CHEAP = (BEFORE, BESIDE)
"""What costs further calls where it is not the first of its values."""

TOKENS: Mapping[str, tuple[Json, ...]] = {
    "text": ("of turn {number}",),
    "number": (7_000_000,),
    "odd": (
        *("", "7", "질문 {number}", "e\u0301", " x ", "👍", "%20", 'quotes " and \\', "\n\t", "t" * 300),
        *("\u2764\ufe0f \u200d\ufeff", "a\u2028b\0"),
        *NAMES_OF_OBJECTS,
        *(-1, 0, 2**53 - 1),
    ),
}
IDS: Mapping[str, tuple[Json, ...]] = {
    "text": (
        *("turn {number}", "{number}", "질문 {number}", "e\u0301 {number}", " {number} ", "👍 {number}", "%20{number}"),
        *(
            '"{number}\\"',
            "x" * 300 + "{number}",
            "UPPER {number}",
            "\u2764\ufe0f\u200d\ufeff{number}",
            "0{number}",
            "{number}.0",
            "{number}\n",
        ),
    ),
    "number": (10_000_000, -10_000_000, 2**31, 2**53 - 10_000_000),
}
"""The number of the call is put into an id or added to it. JavaScript can tell whole numbers apart up to 2**53 - 1."""

MEANWHILE = (
    *("rpc:response:id", "arguments:refused:not-started", "tools:unknown", "cancel:child", "cancel:unanswered"),
    *("progress:token", "progress:increase", "progress:end", "progress:unasked", "progress:start"),
    *("concurrency:calls", "concurrency:crossed", "concurrency:same-session", "concurrency:latest"),
    *("system:removed:failure", "system:removed:cancel", "system:absent", "system:leak", "system:isolation"),
    *("cwd:default", "cwd:relative", "error:prompt", "error:secrets"),
)
"""What the circumstances show."""

SESSIONS = (
    "{uuid}",
    "UPPER-{number}",
    "{number}",
    "e\u0301-{number}",
    "a%20{number}",
    "👍{number}",
    "\u2764\ufe0f\u200d\u2067{number}\u2069",
    "s" * 200 + "{number}",
    "!\"#$%&'()*+,./:;<=>?@\\^_`{{|}}~{number}",
)
"""Ids of sessions that gemini reports; each can stand in a list of sessions."""


def impossible(spec: Specification, tool: str) -> Mapping[str, str]:
    """The circumstances that calls of a tool cannot meet, and why."""
    found: dict[str, str] = {}
    if tool not in spec.told_apart:
        found |= dict.fromkeys((CANCELLED_EARLY, SAME_SESSION), ALIKE)
    if not spec.told_apart:
        found |= dict.fromkeys((A_CALL, A_LIST), ALIKE)
    if spec.resumed(tool) is None:
        found[SAME_SESSION] = "the tool resumes none"
    elif spec.resumed(spec.names[0]) is not None:
        found |= dict.fromkeys((A_CALL, A_LIST), "where every tool resumes a session, calls may wait")
    return found


def numbered(value: Json, number: int) -> Json:
    """A text with the number of its call put in."""
    return value.replace("{number}", str(number)) if isinstance(value, str) else value


def apart(value: Json, number: int) -> Json:
    """A value that no other call has."""
    return numbered(value, number) if isinstance(value, str) else value + number
