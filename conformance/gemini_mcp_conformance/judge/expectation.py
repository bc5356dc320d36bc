"""Expectation: from a call and the scripts that gemini plays for it, what must be understood and answered; pure.

Only what binds every port is here. Where ports may differ the answer is None, and no check judges.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from gemini_mcp.spec.values import Json, is_unicode
from gemini_mcp_conformance.play.fake.script import Script
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.see.reading import Reading, read

TOOLS = ("chat", "chat-reply")
OPTIONAL = ("model", "sessionId", "cwd", "systemPrompt")
PROMPT_LIMIT = 8 * 1024 * 1024
ARGUMENT_LIMIT = 128_000
"""Bytes of the longest prompt that every port serves."""
WORD = 4096
"""Bytes of a model or a session id that no operating system finds too long."""

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")

RECENT = 32
"""Texts of which is remembered what was found, since many checks ask; some are megabytes."""

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


@remembered
def fate(exchange: Exchange) -> Fate:
    """Whether the call must reach gemini, by its arguments alone."""
    if exchange.tool not in TOOLS or not is_object(exchange) or faults(exchange):
        return "refused"
    return "either" if exchange.gemini != "present" or any(_choices(exchange)) else "served"


def is_object(exchange: Exchange) -> bool:
    """Whether the arguments are what the protocol asks for."""
    return isinstance(exchange.params.get("arguments", {}), Mapping)


def faults(exchange: Exchange) -> tuple[str, ...]:
    """The arguments for which every port refuses the call."""
    given = exchange.arguments
    wrong = [name for name in declared(exchange) if name in given and not isinstance(given[name], str)]
    certain = [name for name in wrong if name == "prompt" or given[name] is not None]
    missing = [] if "prompt" in given else ["prompt"]
    return (*missing, *certain, *(["cwd"] if exchange.cwd in ("missing", "file") else []))


def declared(exchange: Exchange) -> Sequence[str]:
    """The arguments that the specification names for the tool."""
    return [name for name in ("prompt", *OPTIONAL) if name != "sessionId" or exchange.tool == "chat-reply"]


def is_settled(name: str, value: Json) -> bool:
    """Whether every port must serve an argument of this value, and in one way."""
    return isinstance(value, str) and _is_settled(name, value)


@lru_cache(RECENT)
def _is_settled(name: str, value: str) -> bool:
    if not value or "\0" in value or not is_unicode(value):
        return False
    if name == "prompt":
        return size(value) <= ARGUMENT_LIMIT
    if name in ("model", "sessionId"):
        return not value.startswith("-") and value == value.strip() and not CONTROL.search(value) and size(value) < WORD
    return bool(value.strip())


@lru_cache(RECENT)
def size(text: str) -> int:
    """Bytes of the text in UTF-8."""
    return len(text.encode("utf-8", "replace"))


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
            text, size = _text(value["text"]).encode(), value["bytes"]
            streams[value["stream"]] += (text * (size // len(text) + 1))[:size]
        elif kind == "child":
            leaves = True
        elif kind in ("exit", "signal", "hang"):
            return _ended(streams, kind, value, leaves)
    return Ending(bytes(streams["stdout"]), bytes(streams["stderr"]), leaves=leaves)


@remembered
def end_of(exchange: Exchange) -> Ending:
    """How the run of a call with one script ends."""
    return ending(exchange.scripts[0])


@remembered
def reading(exchange: Exchange) -> Reading | None:
    """What is to be read from the run of a call that must be served; None when ports may differ in when it ends."""
    if fate(exchange) != "served" or len(exchange.scripts) != 1 or exchange.silence in ("cancelled", "ended"):
        return None
    end = end_of(exchange)
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


def _choices(exchange: Exchange) -> Iterator[bool]:
    """For each argument whether ports may refuse it or serve it."""
    names = declared(exchange)
    yield exchange.cwd in ("relative", "unknown")
    for name, value in exchange.arguments.items():
        yield name not in names or not is_settled(name, value)


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
