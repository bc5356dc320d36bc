"""Expectation: what gemini must understand of a call, and what must be answered, by its specification; pure.

Only what binds every port is here. Where ports may differ a function returns None, and no check judges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from gemini_mcp.gemini_cli.understanding import Other, UsageError
from gemini_mcp.spec.values import inside, items
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.spec import schema
from gemini_mcp_conformance.spec.interpreter import Specified, is_absent, refusals, spelled
from gemini_mcp_conformance.spec.reading import Reading, read
from gemini_mcp_conformance.spec.script import Script, written
from gemini_mcp_conformance.spec.specification import Heard

Fate = Literal["served", "refused", "either"]
"""What becomes of the arguments: gemini must run, must not run, or the port may choose."""


@dataclass(frozen=True)
class Ending:
    """How a script ends, and what it has written by then; `exit` is None when a signal or nothing ends it.

    `leaves` says that it starts processes which live on.
    """

    stdout: bytes
    stderr: bytes
    exit: int | None = 0
    signal: str | None = None
    hangs: bool = False
    leaves: bool = False


def is_call(exchange: Exchange) -> bool:
    """Whether it is a call of a tool that the specification names."""
    return exchange.tool in exchange.spec.names


@remembered
def fate(exchange: Exchange) -> Fate:
    """Whether the call must reach gemini, by its arguments alone."""
    given = exchange.params.get("arguments")
    if not is_call(exchange) or not isinstance(given, Mapping | None) or faults(exchange):
        return "refused"
    return "either" if exchange.gemini != "present" or any(_choices(exchange)) else "served"


def is_object(exchange: Exchange) -> bool:
    """Whether the arguments are an object, as the protocol demands."""
    return isinstance(exchange.params.get("arguments", {}), Mapping)


@remembered
def schema_faults(exchange: Exchange) -> Mapping[str, schema.Fault]:
    """The arguments that the tool's schema forbids, and why."""
    return schema.faults(exchange.spec.tools[exchange.tool], exchange.arguments) if is_call(exchange) else {}


def faults(exchange: Exchange) -> tuple[str, ...]:
    """The arguments for which every port refuses the call."""
    found = schema_faults(exchange)
    # Some clients send null for an absent value, so a port may take it for that (`arguments:optional:null`).
    certain = [name for name, fault in found.items() if fault != "null" or name in required(exchange)]
    directory = exchange.spec.directory(exchange.tool)
    wrong = [directory] if directory and exchange.cwd in ("missing", "file", "nowhere") else []
    return tuple(dict.fromkeys((*certain, *wrong)))


def required(exchange: Exchange) -> tuple[str, ...]:
    """The arguments that the tool requires."""
    return exchange.spec.tools[exchange.tool].required if is_call(exchange) else ()


def declared(exchange: Exchange) -> tuple[str, ...]:
    """The arguments that the specification names for the tool."""
    return tuple(exchange.spec.tools[exchange.tool].properties) if is_call(exchange) else ()


def prompt_of(exchange: Exchange) -> str | None:
    """The text of the argument that reaches the model."""
    return text_of(exchange, exchange.spec.prompt(exchange.tool))


def session_of(exchange: Exchange) -> str | None:
    """The session that a call names, as gemini is given it."""
    value = exchange.arguments.get(exchange.spec.session(exchange.tool) or "")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return spelled(value) if isinstance(value, str) or is_number else None


def text_of(exchange: Exchange, name: str | None) -> str | None:
    """The text of an argument; None when it is no text, or there is no such argument."""
    value = exchange.arguments.get(name or "")
    return value if name and isinstance(value, str) else None


def resumes(exchange: Exchange) -> bool:
    """Whether its tool resumes a session."""
    return exchange.spec.session(exchange.tool) is not None


def is_settled(exchange: Exchange, name: str) -> bool:
    """Whether every port must serve the value that an argument has, and in one way."""
    return name in settled(exchange)


@remembered
def settled(exchange: Exchange) -> frozenset[str]:
    """The arguments whose values every port must serve, and in one way."""
    spec, tool, given = exchange.spec, exchange.tool, exchange.arguments
    return frozenset(name for name in declared(exchange) if name in given and spec.settles(tool, name, given[name]))


def all_settled(exchange: Exchange) -> bool:
    """Whether every port must serve all values that it gives, each in one way."""
    return settled(exchange).issuperset(exchange.arguments)


def specified(exchange: Exchange) -> Specified | None:
    """What the call becomes; None for one that no port may serve."""
    return None if fate(exchange) == "refused" else _specified(exchange)


def heard(exchange: Exchange) -> object:
    """What gemini must understand of the call: a Heard, or what else it makes of the specified command line."""
    return None if fate(exchange) == "refused" else _heard(exchange)


@remembered
def _specified(exchange: Exchange) -> Specified:
    return exchange.spec.specified(exchange.tool, exchange.arguments)


@remembered
def _heard(exchange: Exchange) -> Heard | UsageError | Other:
    """What gemini must understand. A port that serves a value which a rule forbids must hand it over unchanged.

    Gemini could take such a value on the specified command line for an option, so marks stand in for it.
    """
    spec, tool = exchange.spec, exchange.tool
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
    """The text of an argument, if a rule forbids it. One that counts as absent is not handed over."""
    text, rules = text_of(exchange, name), exchange.spec.invocation
    is_given = text is not None and not is_absent(name, text, rules)
    return text if is_given and refusals(name, text, rules) else None


def ending(script: Script) -> Ending:
    """What a run of the script looks like from outside."""
    streams = {"stdout": bytearray(), "stderr": bytearray()}
    leaves, last = False, ("exit", 0)
    for step in script.play:
        (kind, value), *_ = step.items()
        if (output := written(step)) is not None:
            streams[output[0]] += output[1]
        elif kind == "child":
            leaves = True
        elif kind in ("exit", "signal", "hang"):
            last = kind, value
            break
    kind, value = last
    return Ending(
        stdout=bytes(streams["stdout"]),
        stderr=bytes(streams["stderr"]),
        exit=int(value) if kind == "exit" else None,
        signal=str(value) if kind == "signal" else None,
        hangs=kind == "hang",
        leaves=leaves,
    )


@remembered
def end_of(exchange: Exchange) -> Ending:
    """How the first script of a call ends; a call without a script prints nothing."""
    return ending(exchange.scripts[0]) if exchange.scripts else Ending(b"", b"")


@remembered
def reading(exchange: Exchange) -> Reading | None:
    """What a port must read from the run of a call that it must serve, or might have refused and did not.

    It is None when ports may differ in when the run ends. Where gemini's output is hard to read, the text is that of
    the scenario which the call comes from.
    """
    is_served = fate(exchange) == "served" or (fate(exchange) == "either" and bool(exchange.runs))
    if not is_served or end_of(exchange).leaves:
        return None
    found, told = printed(exchange), _text_of_scenario(exchange)
    return replace(found, text=told) if found and is_hard(found) and told is not None else found


def is_hard(found: Reading) -> bool:
    """Whether an answer has a trait that a port may not cope with."""
    # To find the JSON behind other text is a MUST. To cope with any other trait is a SHOULD at most.
    return found.kind == "answer" and not found.traits <= {"before"}


def _text_of_scenario(exchange: Exchange) -> str | None:
    """The text of the success that a scenario gives for the call."""
    texts = [inside(item, "text") for item in items(inside(exchange.expected, "content"))]
    return texts[0] if texts and inside(exchange.expected, "isError") is not True else None


@remembered
def printed(exchange: Exchange) -> Reading | None:
    """What a port that serves the call must read from its run; None when gemini does not end by itself."""
    if len(exchange.scripts) != 1 or exchange.silence in ("cancelled", "ended") or end_of(exchange).hangs:
        return None
    end = end_of(exchange)
    if end.exit != 0:
        return Reading("error", "signal" if end.exit is None else "exit")
    return read(end.stdout, exchange.spec.outcome)


@remembered
def is_misread(exchange: Exchange) -> bool:
    """Whether the call succeeded with another text than that of gemini's answer."""
    found = reading(exchange)
    return found is not None and found.kind == "answer" and exchange.is_success and exchange.text != found.text


def answer(exchange: Exchange) -> Reading | None:
    """What the call must be answered with; None when it need not succeed, or ports may differ in how."""
    found = reading(exchange)
    return None if found is None or found.kind != "answer" or is_hard(found) else found


def succeeded(exchange: Exchange) -> bool:
    """Whether the call succeeded, or did not have to."""
    return answer(exchange) is None or exchange.is_success


def _choices(exchange: Exchange) -> Iterator[bool]:
    """For each argument whether ports may refuse it or serve it."""
    # Some clients send null for no arguments.
    yield not is_object(exchange)
    yield exchange.cwd in ("relative", "unknown")
    yield not isinstance(_heard(exchange), Heard)
    yield not all_settled(exchange)
