"""Answers without a session, and lists of sessions of many kinds; some are of no use. Pure."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from functools import partial
from itertools import cycle, product

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.reading import newest
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.outcomes.outcome import Outcome, Turn
from gemini_mcp_conformance.talk.plays import Plays

INDENTS = ("", "  ", "\t", "            ")
NUMBERS = ("{}. ", "{}.\t", "0{}. ")
"""How a line of the list says which place a session has; all of them are decimal."""
BEHIND = ("", " (current)", "\r")
"""What may follow an entry on its line."""
WHENS = ("", " (3 hours ago)", " (Just now, current)")
"""When a session was last used; of the current one gemini says so."""
NO_INDEX, NOBODYS = "\u0669" * 5, "nobodys-session"
"""What stands on a line that is no entry: its digits are those of another script."""
NO_ENTRY = f"99999.0.1 is out [{NOBODYS}]"
"""What has a number at its beginning, and is none of a list."""
COUNTS = (1, 12, 120, 1800)
"""How many sessions a list holds; the longest is longer than 64 KiB."""
NOISES: tuple[Json, ...] = (
    "",
    "[WARN] A notice [of a list].\n",
    "[STARTUP] Ready.\n",
    "A line of a long notice that names no session.\n" * 3_000,
)
"""What stands on the stream that has no list; the last one is more than a pipe holds."""
DAMAGED = b"caf\xe9 "
"""What a title may begin with that is no UTF-8: gemini cuts long titles."""
TITLE = b" title"
"""What a title holds."""
BARE = ("  0. The place of nobody [{}]", "  1. [{}]")
"""Entries that other programs seldom print: with the number 0, and without a title."""
BROKEN = ({"exit": 1}, {"stdout": "No previous sessions found for this project.\n"}, {"signal": "KILL"})


def listed(plays: Plays) -> Iterator[Outcome]:
    """Lists of every form, then what is no list."""
    every = list(product(INDENTS, BEHIND, ("stdout", "stderr"), ("\n", "")))
    # Whoever takes only the first ones meets something of each form. 19 has no divisor in common with the number of
    # lists, so each comes once.
    spread = [every[number * 19 % len(every)] for number in range(len(every))]
    for number, (count, form) in enumerate(zip(cycle(COUNTS), spread, strict=False)):
        how = {"noise": NOISES[number % len(NOISES)], "place": NUMBERS[number % len(NUMBERS)]}
        yield partial(_list, plays, count, *form, **how, damage=number % 5 < 2)
    for entry in BARE:
        yield partial(_bare, plays, entry)
    for step in BROKEN:
        yield lambda turn, step=step: plays.unnamed(_words(turn), step, **_warned(turn))


def _bare(plays: Plays, form: str, turn: Turn) -> Script:
    """A list of one session."""
    entry = form.format(turn.session)
    is_read = newest(entry, plays.spec.invocation.listing.entry) == turn.session
    printed = f"{entry if is_read else plays.entry(1, turn.session)}\n"
    return plays.unnamed(_words(turn), {"stdout": printed}, id="listed", **_warned(turn))


def _list(
    plays: Plays,
    count: int,
    indent: str,
    behind: str,
    stream: str,
    end: str,
    turn: Turn,
    noise: str = "",
    place: str = NUMBERS[0],
    damage: bool = False,
) -> Script:
    """A list of so many sessions; the newest stands near the end, but not last."""

    # Some languages end lines at \f and \u2028 too. In the list only a newline ends an entry (`spec/README.md`).
    def odd(index: int, session: str) -> str:
        title = f"Odd\f title\u2028 [of {9 * count - index}. [{index}]{WHENS[(index + turn.number) % len(WHENS)]}"
        return f"{indent}{place.format(index)}{title} [{session}]{behind}"

    is_read = newest(odd(count, turn.session), plays.spec.invocation.listing.entry) == turn.session
    entry = odd if is_read else plays.entry
    others = [entry(index, f"{turn.number:08}-{index:04}") for index in range(1, count)]
    entries = [*others[:-1], entry(count, turn.session), *others[-1:]]
    if is_read:
        entries.insert(0, f"{indent}{NO_INDEX}. No entry of a list [{NOBODYS}]{behind}")
    if newest(NO_ENTRY, plays.spec.invocation.listing.entry) is None:
        entries.insert(0, NO_ENTRY)
    text = "\n".join(("", f"Available sessions for this project ({count}):", *entries)) + end
    printed = text.encode().replace(TITLE, DAMAGED + TITLE) if damage else text.encode()
    other = "stderr" if stream == "stdout" else "stdout"
    steps: tuple[Json, ...] = ({other: noise}, {f"{stream}Base64": b64encode(printed).decode("ascii")})
    answer = plays.unnamed(_words(turn), *steps[not noise :], id="listed", **_warned(turn))
    return answer.behind({"stderr": _misleading(plays)}) if turn.number % 2 else answer


def _misleading(plays: Plays) -> str:
    """A document on stderr that names a session, and a line that does."""
    return f"{json.dumps(plays.document('Not the answer.', NOBODYS))}\nSession ID: {NOBODYS}\n"


def _warned(turn: Turn) -> dict[str, Json]:
    return {"warnings": ["Listed, with a warning."]} if turn.number % 2 else {}


def _words(turn: Turn) -> str:
    """What gemini has answered; every third time nothing."""
    return f"No session is named in turn {turn.number}." if turn.number % 3 else ""
