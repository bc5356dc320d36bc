"""Watched: what the fake gemini must know of the specification to journal a call. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from gemini_mcp.spec import load_server
from gemini_mcp.spec.templates import InvocationSpec


@dataclass(frozen=True)
class Watched:
    """The variables that may name a file, and the arguments that ask for the list of sessions."""

    variables: tuple[str, ...]
    listing: tuple[str, ...]


def watched(invocation: InvocationSpec) -> Watched:
    """The variables and listing arguments of a specification."""
    variables = dict.fromkeys(variable for tool in invocation.tools.values() for variable in tool.env)
    camel = (re.sub("(?<=[a-z])-([a-z])", lambda match: match[1].upper(), flag) for flag in invocation.listing.argv)
    return Watched(tuple(variables), tuple(dict.fromkeys((*invocation.listing.argv, *camel))))


@cache
def usual() -> Watched:
    """Those of the specification that belongs to this code."""
    return watched(load_server().invocation)
