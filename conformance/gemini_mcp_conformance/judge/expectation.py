"""Expectation: from a call and the scripts that gemini plays for it, what must be understood and answered; pure.

Only what binds every port is here. Where ports may differ the answer is None, and no check judges.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from gemini_mcp.spec.values import Json, is_unicode, texts_in
from gemini_mcp_conformance.judge.reading import Reading, read
from gemini_mcp_conformance.play.fake.script import Script
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.see.understanding import Other, UsageError
from gemini_mcp_conformance.spec import schema
from gemini_mcp_conformance.spec.interpreter import Specified, is_absent, refusals, size
from gemini_mcp_conformance.spec.specification import Heard

WORD = 4096
"""Bytes of a name or an id that no operating system finds too long."""

Fate = Literal["served", "refused", "either"]
"""What becomes of the arguments: gemini must run, must not run, or the port may choose."""


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


def is_call(exchange: Exchange) -> bool:
    """Whether it is a call of a tool that the specification names."""
    return exchange.tool in exchange.spec.names


@remembered
def fate(exchange: Exchange) -> Fate:
    """Whether the call must reach gemini, by its arguments alone."""
    if not is_call(exchange) or not is_object(exchange) or faults(exchange):
        return "refused"
    return "either" if exchange.gemini != "present" or any(_choices(exchange)) else "served"


def is_object(exchange: Exchange) -> bool:
    """Whether the arguments are what the protocol asks for."""
    return isinstance(exchange.params.get("arguments", {}), Mapping)


@remembered
def schema_faults(exchange: Exchange) -> Mapping[str, schema.Fault]:
    """The arguments that the tool's schema forbids, and why."""
    return schema.faults(exchange.spec.tools[exchange.tool or ""], exchange.arguments) if is_call(exchange) else {}


def faults(exchange: Exchange) -> tuple[str, ...]:
    """The arguments for which every port refuses the call."""
    found = schema_faults(exchange)
    required = exchange.spec.tools[exchange.tool or ""].required if is_call(exchange) else ()
    certain = [name for name, fault in found.items() if fault != "null" or name in required]
    directory = exchange.spec.directory(exchange.tool or "") if is_call(exchange) else None
    wrong = [directory] if directory and exchange.cwd in ("missing", "file") else []
    return (*certain, *(name for name in wrong if name not in certain))


def declared(exchange: Exchange) -> tuple[str, ...]:
    """The arguments that the specification names for the tool."""
    return tuple(exchange.spec.tools[exchange.tool or ""].properties) if is_call(exchange) else ()


def is_prompt(exchange: Exchange, name: str) -> bool:
    return is_call(exchange) and exchange.spec.prompt(exchange.tool or "") == name


def prompt_of(exchange: Exchange) -> str | None:
    """The text of the argument that reaches the model."""
    value = exchange.arguments.get(exchange.spec.prompt(exchange.tool or "") or "") if is_call(exchange) else None
    return value if isinstance(value, str) else None


def session_of(exchange: Exchange) -> str | None:
    """The text of the argument that names a session."""
    value = exchange.arguments.get(exchange.spec.session(exchange.tool or "") or "") if is_call(exchange) else None
    return value if isinstance(value, str) else None


def resumes(exchange: Exchange) -> bool:
    """Whether its tool resumes a session."""
    return is_call(exchange) and exchange.spec.session(exchange.tool or "") is not None


def is_settled(exchange: Exchange, name: str) -> bool:
    """Whether every port must serve the value that an argument has, and in one way."""
    return name in settled(exchange)


@remembered
def settled(exchange: Exchange) -> frozenset[str]:
    """The arguments whose values every port must serve, and in one way."""
    return frozenset(name for name in declared(exchange) if name in exchange.arguments and _is_settled(exchange, name))


def _is_settled(exchange: Exchange, name: str) -> bool:
    value, spec = exchange.arguments[name], exchange.spec
    if is_absent(name, value, spec.invocation) or refusals(name, value, spec.invocation):
        return False
    if not all(text and "\0" not in text and is_unicode(text) for text in texts_in(value)):
        return False
    tool = exchange.tool or ""
    if is_prompt(exchange, name):
        return all(size(text) <= spec.limit for text in texts_in(value))
    if name in spec.spoken(tool):
        return all(text == text.strip() and size(text) < WORD for text in texts_in(value))
    return True


def specified(exchange: Exchange) -> Specified | None:
    """What the call becomes; None for one that no port may serve."""
    return None if fate(exchange) == "refused" else _specified(exchange)


def heard(exchange: Exchange) -> object:
    """What gemini must understand of the call: a Heard, or what else it makes of the specified command line."""
    return None if fate(exchange) == "refused" else _heard(exchange)


@remembered
def _specified(exchange: Exchange) -> Specified:
    return exchange.spec.specified(exchange.tool or "", exchange.arguments)


@remembered
def _heard(exchange: Exchange) -> Heard | UsageError | Other:
    """A port that serves what a rule forbids hands it over as it is, so that such a value is put in afterwards."""
    spec, tool = exchange.spec, exchange.tool or ""
    forbidden = {name: value for name in spec.spoken(tool) if (value := _forbidden(exchange, name)) is not None}
    if not forbidden:
        return spec.heard(_specified(exchange))
    marks = {f"forbidden-{name}": value for name, value in forbidden.items()}
    given = {**exchange.arguments, **{name: f"forbidden-{name}" for name in forbidden}}
    found = spec.heard(spec.specified(tool, given))
    if not isinstance(found, Heard):
        return found
    values = {name: marks.get(str(value), value) for name, value in found.values.items()}
    return Heard(marks.get(found.prompt or "", found.prompt), values)


def _forbidden(exchange: Exchange, name: str) -> str | None:
    """The text of an argument that a rule forbids."""
    value = exchange.arguments.get(name)
    return value if isinstance(value, str) and refusals(name, value, exchange.spec.invocation) else None


def wanted(exchange: Exchange) -> Heard | None:
    """The prompt and the options that gemini must understand; None when it must understand none."""
    found = heard(exchange)
    return found if isinstance(found, Heard) else None


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
            text, length = _text(value["text"]).encode(), value["bytes"]
            streams[value["stream"]] += (text * (length // len(text) + 1))[:length]
        elif kind == "child":
            leaves = True
        elif kind in ("exit", "signal", "hang"):
            return _ended(streams, kind, value, leaves)
    return Ending(bytes(streams["stdout"]), bytes(streams["stderr"]), leaves=leaves)


@remembered
def end_of(exchange: Exchange) -> Ending:
    """How the run of a call with one script ends; nothing is printed where there is none."""
    return ending(exchange.scripts[0]) if exchange.scripts else Ending(b"", b"")


@remembered
def reading(exchange: Exchange) -> Reading | None:
    """What is to be read from the run of a call that must be served; None when ports may differ in when it ends."""
    if fate(exchange) != "served" or end_of(exchange).leaves:
        return None
    return printed(exchange)


@remembered
def printed(exchange: Exchange) -> Reading | None:
    """What is to be read from the run of a call, if it is served; None when gemini does not end by itself."""
    if len(exchange.scripts) != 1 or exchange.silence in ("cancelled", "ended") or end_of(exchange).hangs:
        return None
    end = end_of(exchange)
    if end.exit != 0:
        return Reading("error", "signal" if end.exit is None else "exit")
    return read(end.stdout, exchange.spec.outcome.answer)


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
    yield exchange.cwd in ("relative", "unknown")
    yield not isinstance(_heard(exchange), Heard)
    yield not settled(exchange).issuperset(exchange.arguments)


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
