"""Expectation: from a call and the scripts that gemini plays for it, what must be understood and answered; pure.

Only what binds every port is here. Where ports may differ the answer is None, and no check judges.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from gemini_mcp_conformance.fake import Script
from gemini_mcp_conformance.observation import Exchange
from gemini_mcp_conformance.reading import SURROGATE, Reading, read
from gemini_mcp_conformance.values import Json

TOOLS = ("chat", "chat-reply")
OPTIONAL = ("model", "sessionId", "cwd", "systemPrompt")
PROMPT_LIMIT = 8 * 1024 * 1024

RECENT = 32
"""Exchanges of which is remembered what was found, since many checks ask; megabytes hang on some."""

Fate = Literal["served", "refused", "either"]
"""What becomes of the arguments: gemini must run, must not run, or the port may choose."""


@dataclass(frozen=True)
class Wanted:
    """What gemini must be given by a call that is served."""

    prompt: str
    model: str | None
    resume: str | None
    system: str | None
    cwd: str | None


@dataclass(frozen=True)
class Ending:
    """How a script ends, and what it has written until then; `exit` is None when a signal or nothing ends it.

    `leaves` says that it starts processes which live on.
    """

    stdout: bytes
    stderr: bytes
    exit: int | None = 0
    signal: str | None = None
    hangs: bool = False
    leaves: bool = False


@dataclass(frozen=True)
class Answer:
    """What a successful call must be answered with; `session` is None when gemini did not name one."""

    text: str
    session: str | None


@lru_cache(RECENT)
def fate(exchange: Exchange) -> Fate:
    """Whether the call must reach gemini, by its arguments alone."""
    arguments = exchange.arguments
    if exchange.tool not in TOOLS or not isinstance(exchange.params.get("arguments", {}), dict):
        return "refused"
    optional = [arguments[name] for name in _options(exchange) if name in arguments]
    if not isinstance(arguments.get("prompt"), str):
        return "refused"
    if any(not isinstance(value, str) and value is not None for value in optional):
        return "refused"
    if None in optional or any(_is_open(name, value) for name, value in arguments.items() if isinstance(value, str)):
        return "either"
    return "served" if exchange.gemini == "present" and _cwd_stays(exchange) else "either"


def wanted(exchange: Exchange) -> Wanted | None:
    """What gemini must be given; None for a call that must be served by no port."""
    if fate(exchange) == "refused":
        return None
    given: Mapping[str, str] = {
        name: value for name, value in exchange.arguments.items() if isinstance(value, str) and value
    }
    resume = None if exchange.tool == "chat" else given.get("sessionId", "latest").strip()
    system = given.get("systemPrompt")
    return Wanted(
        prompt=given.get("prompt", ""),
        model=given.get("model"),
        resume=resume,
        system=system if system and system.strip() else None,
        cwd=given.get("cwd"),
    )


def ending(script: Script) -> Ending:
    """What a run of the script looks like from outside."""
    streams = {"stdout": bytearray(), "stderr": bytearray()}
    leaves = False
    for step in script.play:
        (kind, value), *_ = step.items()
        if kind in ("stdout", "stderr"):
            streams[kind] += _text(value).encode("utf-8", "surrogatepass")
        elif kind.endswith("Base64"):
            streams[kind.removesuffix("Base64")] += base64.b64decode(value)
        elif kind == "fill":
            streams[value["stream"]] += (_text(value["text"]) * value["bytes"]).encode()[: value["bytes"]]
        elif kind == "child":
            leaves = True
        elif kind in ("exit", "signal", "hang"):
            return _ended(streams, kind, value, leaves)
    return Ending(bytes(streams["stdout"]), bytes(streams["stderr"]), leaves=leaves)


@lru_cache(RECENT)
def reading(exchange: Exchange) -> Reading | None:
    """What is to be read from the run of a call that must be served; None when ports may differ in when it ends."""
    if fate(exchange) != "served" or len(exchange.scripts) != 1 or exchange.silence in ("cancelled", "ended"):
        return None
    end = ending(exchange.scripts[0])
    if end.hangs or end.leaves:
        return None
    if end.exit != 0:
        return Reading("error", "signal" if end.exit is None else "exit")
    return read(end.stdout)


def answer(exchange: Exchange) -> Answer | None:
    """What the call must be answered with; None when it need not succeed, or ports may differ in how."""
    found = reading(exchange)
    if found is None or found.kind != "answer" or not found.traits <= {"before"}:
        return None
    return Answer(found.text, found.session)


def succeeded(exchange: Exchange) -> bool:
    """Whether the call went as it must: it is no call that should succeed and did not."""
    return answer(exchange) is None or exchange.is_success


def _options(exchange: Exchange) -> Sequence[str]:
    return OPTIONAL if exchange.tool == "chat-reply" else [name for name in OPTIONAL if name != "sessionId"]


def _is_open(name: str, value: str) -> bool:
    """Whether ports may refuse this text or serve it."""
    if "\0" in value or SURROGATE.search(value):
        return True
    if name == "prompt":
        return not value or len(value.encode()) > PROMPT_LIMIT
    if name in ("model", "sessionId"):
        return value.startswith("-") or value != value.strip() or re.search(r"[\x00-\x1f\x7f-\x9f]", value) is not None
    return False


def _cwd_stays(exchange: Exchange) -> bool:
    """Whether the working directory is one that the suite knows to exist."""
    cwd = exchange.arguments.get("cwd")
    return not cwd or cwd == exchange.place.work or cwd in exchange.directories


def _ended(streams: Mapping[str, bytearray], kind: str, value: Json, leaves: bool) -> Ending:
    return Ending(
        stdout=bytes(streams["stdout"]),
        stderr=bytes(streams["stderr"]),
        exit=int(value) if kind == "exit" else None,
        signal=str(value) if kind == "signal" else None,
        hangs=kind == "hang",
        leaves=leaves,
    )


def _text(value: Json) -> str:
    return value if isinstance(value, str) else value["repeat"] * value["times"]
