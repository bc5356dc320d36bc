"""Canonical form: an exchange or a conversation in, what every correct port answers out, without what is free; pure.

What is put into it binds every port. Ids, further keys and texts, and how an error is worded stay outside.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.see.memo import remembered
from gemini_mcp_conformance.see.observation import Exchange, Observation

PREFIX = "Error executing gemini: "
LONG = 1024
"""Characters up to which a text is kept; of a longer one the digest is."""


@remembered
def canonical(exchange: Exchange) -> Mapping[str, Json]:
    """The answer to a call; empty when there is none."""
    if exchange.answer is None:
        return {}
    text = None if exchange.text is None else (_error if exchange.is_error else _answer)(exchange.text)
    session = {"sessionId": exchange.meta["sessionId"]} if "sessionId" in exchange.meta else {}
    return {"isError": exchange.is_error, **({} if text is None else {"text": text}), **session}


def asked(exchange: Exchange) -> str:
    """A digest of the call and of what gemini plays for it: two calls that share it are answered alike."""
    plays = [[script.play, script.list_sessions] for script in exchange.scripts]
    return _digest(json.dumps([exchange.tool, exchange.arguments, plays], sort_keys=True))


def to_golden(observation: Observation) -> Mapping[str, Json]:
    """Each answered call by its step, whatever the order in which the answers came."""
    return {
        f"step {exchange.step + 1}": {"asked": asked(exchange), "answer": canonical(exchange)}
        for exchange in observation.calls
        if exchange.answers and not exchange.silence
    }


def _error(text: str) -> str:
    return f"{PREFIX}…" if text.startswith(PREFIX) else "…"


def _answer(text: str) -> str:
    """How many U+FFFD stand for damaged bytes is left to the language."""
    text = re.sub("\ufffd+", "\ufffd", text)
    return text if len(text) <= LONG else f"{len(text)} characters with the digest {_digest(text)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
