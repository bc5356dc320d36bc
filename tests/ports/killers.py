"""Killers: for each defective port the conversation that shows its fault soonest, as measured and kept.

`cover` is a small set of conversations of which each of these ports fails at least one. `unseen.json` holds the ports
whose fault no run shows, each with the reason. Pure but for what loads and saves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = Path(__file__).with_name("killers.json")
UNSEEN = Path(__file__).with_name("unseen.json")


@dataclass(frozen=True)
class Kill:
    """The conversations that show a fault, and the seconds that they took with the start of the port.

    One is enough, except for a port that remembers what it should not. There is none when only a whole run shows it.
    """

    conversations: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Killers:
    """By the name of a defective port its kill; and the cover."""

    kills: Mapping[str, Kill]
    cover: tuple[str, ...]


def load() -> Killers:
    """What was kept last."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    kills = {name: Kill(tuple(kill["conversations"]), kill["seconds"]) for name, kill in kept["kills"].items()}
    return Killers(kills, tuple(kept["cover"]))


def save(killers: Killers) -> None:
    """Keep it, one port a line, in the order of names."""
    lines = [f"  {json.dumps(name)}: {json.dumps(asdict(kill))}" for name, kill in sorted(killers.kills.items())]
    kills = ",\n".join(lines)
    cover = ",\n".join(f"  {json.dumps(conversation)}" for conversation in killers.cover)
    FILE.write_text(f'{{"kills": {{\n{kills}\n}}, "cover": [\n{cover}\n]}}\n', encoding="utf-8")


def unseen() -> Mapping[str, str]:
    """The defective ports that no run kills, and why."""
    return json.loads(UNSEEN.read_text(encoding="utf-8"))


def joined(known: Killers, kills: Mapping[str, Kill], killing: Mapping[str, Collection[str]]) -> Killers:
    """What was known, with new kills; the cover grows by what kills a port that it did not kill."""
    added = [kill.conversations for port, kill in kills.items() if not set(known.cover) & set(killing[port])]
    cover = dict.fromkeys((*known.cover, *(conversation for each in added for conversation in each)))
    return Killers({**known.kills, **kills}, tuple(cover))


def cover(killing: Mapping[str, Collection[str]], cost: Callable[[str], tuple[float, ...]]) -> tuple[str, ...]:
    """Few conversations that together kill every port: always the one that kills most of the rest, the cheapest first.

    `killing` are the conversations that kill each port.
    """
    kills: dict[str, set[str]] = {}
    for port, conversations in killing.items():
        for conversation in conversations:
            kills.setdefault(conversation, set()).add(port)
    chosen: list[str] = []
    left = {port for port, conversations in killing.items() if conversations}
    while left:
        best = min(kills, key=lambda each: (-len(kills[each] & left), *cost(each), each))
        chosen.append(best)
        left -= kills[best]
    return tuple(chosen)
