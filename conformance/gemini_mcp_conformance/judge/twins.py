"""Twins: the calls of a conversation over HTTP that the same conversation over stdio gives another result; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.see.observation import Exchange, Observation

RESULT = ("answer", "list", "not run", "session", "warnings")
"""The kinds of fault that a result shows."""
NUMBERED = re.compile(r"[\w.:-]*\d[\w.:-]*")
"""A word with a digit."""


def unlike(observation: Observation) -> Iterator[tuple[Exchange, Exchange]]:
    """Each call with another result than over stdio, and the call over stdio; those that were cancelled aside."""
    twins = observation.twin.calls if observation.twin is not None else ()
    for here, there in zip(observation.calls, twins, strict=False):
        # Over HTTP something has to end a cancelled request; over stdio nothing should.
        if "cancelled" not in (here.silence, there.silence) and gist(here) != gist(there):
            yield here, there


def gist(exchange: Exchange) -> Mapping[str, Json]:
    """The answer without ids, directories and what only one era has.

    Only gemini's text has to be the same to the letter. Of other texts a port may tell durations, times and names of
    files, which differ from call to call.
    """
    if exchange.error is not None:
        return {"error": exchange.error.get("code")}
    texts = [text.replace(exchange.place.root, "{root}") for text in exchange.texts]
    session = exchange.meta.get(exchange.spec.outcome.meta["session"])
    exact = 0 if exchange.is_error else 1
    texts[exact:] = [NUMBERED.sub("#", text) for text in texts[exact:]]
    return {"isError": exchange.is_error, "texts": texts, "session": session}
