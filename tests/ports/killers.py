"""Killers: for each defective port the conversation that shows its fault soonest, as measured and kept.

`unseen.json` holds the ports whose fault no run shows, each with the reason. Pure but for what loads and saves.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
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


Killers = Mapping[str, Kill]
"""By the name of a defective port its kill."""


def load() -> Killers:
    """What was kept last."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: Kill(tuple(kill["conversations"]), kill["seconds"]) for name, kill in kept.items()}


def save(killers: Killers) -> None:
    """Keep it, one port a line, in the order of names."""
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(asdict(kill))}" for name, kill in sorted(killers.items()))
    FILE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def unseen() -> Mapping[str, str]:
    """The defective ports that no run kills, and why."""
    return json.loads(UNSEEN.read_text(encoding="utf-8"))


def ranked(killers: Killers, prices: Mapping[str, float]) -> tuple[str, ...]:
    """The conversations that have a price and kill a port: first those that kill most for it."""
    kills = Counter(id for kill in killers.values() for id in kill.conversations if id in prices)
    return tuple(sorted(kills, key=lambda id: (-kills[id] / prices[id], id)))
