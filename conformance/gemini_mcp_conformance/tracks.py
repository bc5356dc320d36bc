"""Tracks: which conversations follow each other on one port, and which are played beside them; pure.

It is the same in every run, so that a port which remembers what it should not is judged alike each time.
"""

from __future__ import annotations

from collections.abc import Sequence

from gemini_mcp_conformance.conversation import Conversation


def tracks_of(conversations: Sequence[Conversation], jobs: int) -> list[list[Conversation]]:
    """Half of the tracks are for what waits or asks for a port of its own."""
    plain = [each for each in conversations if not each.alone]
    others = sorted((each for each in conversations if each.alone), key=lambda each: -each.seconds)
    half = jobs // 2
    if half == 0:
        return [plain + others]
    return [plain[n::half] for n in range(half)] + [_grouped(others[n :: jobs - half]) for n in range(jobs - half)]


def _grouped(conversations: Sequence[Conversation]) -> list[Conversation]:
    """Those that can share a port one behind the other."""
    order: dict[tuple[object, ...], int] = {}
    for each in conversations:
        order.setdefault((each.is_unsociable, each.circumstances), len(order))
    return sorted(conversations, key=lambda each: order[each.is_unsociable, each.circumstances])
