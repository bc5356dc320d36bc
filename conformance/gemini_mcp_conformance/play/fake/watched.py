"""Watched: what the fake gemini must know of the specification to journal a call. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from gemini_mcp.spec import load_server
from gemini_mcp.spec.live import LiveSpec
from gemini_mcp.spec.templates import InvocationSpec
from gemini_mcp.spec.wording import OutcomeSpec
from gemini_mcp_conformance.play.fake.streams import Streams


@dataclass(frozen=True)
class Watched:
    """The name of the program, the variables that may name a file, and the arguments that ask for the sessions.

    `streams` say how it tells what it does, where the specification offers that.
    """

    program: str
    variables: tuple[str, ...]
    listing: tuple[str, ...]
    streams: Streams | None = None


def watched(invocation: InvocationSpec, outcome: OutcomeSpec, live: LiveSpec | None) -> Watched:
    """The variables, listing arguments and streams of a specification."""
    variables = dict.fromkeys(variable for tool in invocation.tools.values() for variable in tool.env)
    # A port may still ask as the specification of this code says. Known as a list, its fault is told as just that.
    asked = dict.fromkeys((*_telling(invocation), *_telling(load_server().invocation)))
    flags = [spelling for flag in asked for spelling in spellings(flag)]
    return Watched(invocation.program, tuple(variables), tuple(flags), live and Streams(live, outcome))


def _telling(invocation: InvocationSpec) -> Sequence[str]:
    """The arguments by which a list of sessions is told from a call: options that no call has, if there are any."""
    asked, calls = invocation.listing.argv, {each for tool in invocation.tools.values() for each in tool.argv}
    options = [each for each in asked if each.startswith("-")]
    return [each for each in options if each not in calls] or options or asked


def spellings(flag: str) -> tuple[str, ...]:
    """The ways to write an option that asks for the list."""
    # yargs takes an option in camel case as well, and a value behind one that needs none.
    camel = re.sub("(?<=[a-z])-([a-z])", lambda match: match[1].upper(), flag)
    names = dict.fromkeys((flag, camel))
    return (*names, *(f"{name}=true" for name in names if name.startswith("--")))


@cache
def usual() -> Watched:
    """Those of the specification that belongs to this code."""
    spec = load_server()
    return watched(spec.invocation, spec.outcome, spec.live)
