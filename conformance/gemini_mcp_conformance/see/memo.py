"""Memo: keeps what a function returns for an exchange on the exchange itself, since many checks ask; pure."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from gemini_mcp_conformance.see.observation import Exchange

Found = TypeVar("Found")


def remembered(function: Callable[[Exchange], Found]) -> Callable[[Exchange], Found]:
    """The function, called at most once for each exchange."""
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def recall(exchange: Exchange) -> Found:
        known = vars(exchange)
        try:
            return known[name]
        except KeyError:
            found = known[name] = function(exchange)
            return found

    return recall
