"""Tracks: which conversations are played one after another on the same port; pure.

The order is the same in every run, so that a port which keeps state between calls gets the same verdict each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from gemini_mcp_conformance.talk.conversation import Conversation

Track = list[Conversation]

JOBS = 8
"""Ports that run side by side. Half of those that begin mostly wait, so two cores are busy and not crowded."""

OTHER_COST = 0.7
"""Seconds that a waiting conversation takes in addition to the waits of its scripts."""


def tracks_of(conversations: Sequence[Conversation], jobs: int) -> list[Track]:
    """The tracks in the order of their start, the longest first. `jobs` of them run at once."""
    # Conversations that wait cost a port little, so half of the jobs begin with them.
    half, count = max(1, jobs // 2), jobs
    plain = [each for each in conversations if not each.alone]
    waiting = [each for each in conversations if each.only_waits]
    ending = [each for each in conversations if each.ends and not each.needs_new_port]
    beside = _dealt(waiting, max(1, jobs - half))
    shared = [plain[n::count] for n in range(count)]
    # Shutdown conversations reuse a port that has already served calls, to save a start. Long ones are begun early.
    tracks = _ended([*beside, *shared], sorted(ending, key=lambda each: -each.seconds))
    others = [each for each in conversations if each.alone and not each.only_waits and each not in ending]
    early, late = tracks[len(beside) : len(beside) + half], tracks[len(beside) + half : len(beside) + count]
    return [*early, *tracks[: len(beside)], *late, *_grouped(others), *tracks[len(beside) + count :]]


def _ended(tracks: Iterable[Track], endings: Iterable[Conversation]) -> list[Track]:
    """The tracks with an ending behind each, and the endings that are left over, each alone."""
    return [[*track, *last] for track, last in zip_longest(tracks, ([each] for each in endings), fillvalue=())]


def _dealt(conversations: Iterable[Conversation], count: int) -> list[Track]:
    """The conversations on `count` tracks that take about the same time."""
    tracks: list[Track] = [[] for _ in range(count)]
    for each in sorted(conversations, key=lambda each: -each.seconds):
        min(tracks, key=lambda track: sum(other.seconds + OTHER_COST for other in track)).append(each)
    return tracks


def _grouped(conversations: Iterable[Conversation]) -> list[Track]:
    """The conversations in groups that can share a port."""
    groups: dict[tuple[object, ...], Track] = {}
    for each in conversations:
        groups.setdefault((each.id,) if each.needs_new_port else each.circumstances, []).append(each)
    return list(groups.values())
