"""Memo: keeps what a function returns for an exchange or an observation on it, since many checks ask; pure."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from gemini_mcp_conformance.see.observation import Exchange, Observation

Seen = TypeVar("Seen", Exchange, Observation)
Found = TypeVar("Found")


def remembered(function: Callable[[Seen], Found]) -> Callable[[Seen], Found]:
    """The function, called at most once for each exchange or observation."""
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def recall(seen: Seen) -> Found:
        known = seen.__dict__
        try:
            return known[name]
        except KeyError:
            found = known[name] = function(seen)
            return found

    return recall
