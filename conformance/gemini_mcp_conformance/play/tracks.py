"""Tracks: which conversations are played one after another on the same port; pure.

The order is the same in every run, so that a port which keeps state between calls gets the same verdict each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.steps import Raw, Request

Track = list[Conversation]

JOBS = 18
"""Ports that run side by side. Most of those that begin only wait, so two cores are busy and not crowded."""
BUSY = 1 / 3
"""The share of them that does not wait."""

STEP, SCRIPT, OTHER_WAITS = 0.01, 0.016, 0.7
"""Seconds that a step and a script take, and those that a conversation takes which waits for more than its scripts."""

IDLE = 0.8
"""Seconds from which on a conversation counts as one that waits."""

EARLY = 3
"""One conversation in so many is played at once: those that kill most ports for the time they take."""


def parts(conversations: Iterable[Conversation]) -> tuple[Track, Track, Track]:
    """The conversations that share a busy port: those that are played at once, and later ones; then all others."""
    plain: Track = []
    others: Track = []
    for each in conversations:
        (others if each.alone or _waits(each) else plain).append(each)
    early = len(plain) // EARLY
    return plain[:early], plain[early:], others


def tracks_of(conversations: Sequence[Conversation], jobs: int) -> list[Track]:
    """The tracks in the order of their start. `jobs` of them run at once.

    Conversations come in the order in which they should be played. Those that wait cost a port little, so some tracks
    begin with them. The last job goes on from one port to the next, for conversations that need ports of their own.
    """
    if jobs == 1:
        return _in_a_row(conversations)
    busy = max(1, int(jobs * BUSY))
    early, late, others = parts(conversations)
    waiting = _dealt([each for each in others if _waits(each)], max(1, jobs - busy - 1))
    rest = _grouped(each for each in others if not _waits(each))
    return [*_dealt(early, busy), *map(_ended, waiting), *rest, *_dealt(late, busy)]


def _waits(conversation: Conversation) -> bool:
    """Whether it costs little to play it beside others: a port that ends has little to do."""
    is_idle = not conversation.alone and conversation.seconds >= IDLE
    return is_idle or conversation.only_waits or (conversation.ends and not conversation.needs_new_port)


def _in_a_row(conversations: Iterable[Conversation]) -> list[Track]:
    """The tracks of one job: HTTP and other revisions, then what can share a port; waiting is left to the end."""
    ordered = sorted(conversations, key=_turn)
    return [track for _, group in groupby(ordered, key=_turn) for track in _grouped(group)]


def _turn(conversation: Conversation) -> tuple[bool, ...]:
    is_special = conversation.needs_http or conversation.revision is not None
    return not is_special, conversation.alone, conversation.only_waits


def _ended(track: Track) -> Track:
    """The track with a conversation at its end that ends the port: what comes behind one needs another port."""
    last = max((place for place, each in enumerate(track) if each.ends), default=None)
    return track if last is None else [*track[:last], *track[last + 1 :], track[last]]


def _dealt(conversations: Sequence[Conversation], count: int) -> list[Track]:
    """The conversations on `count` tracks that take about the same time, each in the order of the conversations."""
    tracks: list[list[tuple[int, Conversation]]] = [[] for _ in range(count)]
    spent = [0.0] * count
    for place, each in sorted(enumerate(conversations), key=lambda placed: -cost(placed[1])):
        least = spent.index(min(spent))
        tracks[least].append((place, each))
        spent[least] += cost(each)
    return [[each for _, each in sorted(track, key=lambda placed: placed[0])] for track in tracks]


def cost(conversation: Conversation) -> float:
    """About how many seconds a conversation takes beside others."""
    scripts = sum(len(step.scripts) for step in conversation.steps if isinstance(step, Request | Raw))
    took = STEP * len(conversation.steps) + SCRIPT * scripts
    return conversation.seconds + took + OTHER_WAITS * conversation.alone


def _grouped(conversations: Iterable[Conversation]) -> list[Track]:
    """The conversations in groups that can share a port."""
    groups: dict[tuple[object, ...], Track] = {}
    for each in conversations:
        groups.setdefault((each.id,) if each.needs_new_port else each.circumstances, []).append(each)
    return list(groups.values())
