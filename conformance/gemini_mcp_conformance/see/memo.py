"""Memo: keeps what a function returns for an exchange as long as the exchange exists, since many checks ask; pure."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from gemini_mcp_conformance.see.observation import Exchange

Found = TypeVar("Found")


def remembered(function: Callable[[Exchange], Found]) -> Callable[[Exchange], Found]:
    """The function, called at most once for each exchange."""
    known: WeakKeyDictionary[Exchange, Found] = WeakKeyDictionary()

    @wraps(function)
    def recall(exchange: Exchange) -> Found:
        try:
            return known[exchange]
        except KeyError:
            found = known[exchange] = function(exchange)
            return found

    return recall
