"""Failures: runs that end badly, that say why, or that repeat what is private; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.spec.patterns import samples
from gemini_mcp_conformance.spec.schema import matching
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.spec.specification import Specification
from gemini_mcp_conformance.talk import echoes
from gemini_mcp_conformance.talk.echoes import KEY, Way
from gemini_mcp_conformance.talk.outcomes.outcome import Outcome, Turn
from gemini_mcp_conformance.talk.plays import Plays, ends, says
from gemini_mcp_conformance.talk.texts import BUFFERS, CHARACTERS

EXITS = (1, 2, 3, 7, 42, *range(64, 79), 100, 101, 111, 120, 126, 127, 128, 134, 137, 143, 199, 200, 254, 255)
"""Among others all codes of `sysexits.h`."""
# Without QUIT, which some shells ignore.
SIGNALS = ("KILL", "SEGV", "TERM", "INT", "HUP", "ABRT", "PIPE", "ALRM", "USR1", "USR2", "ILL", "BUS", "FPE", "XCPU")
ENDS: tuple[Json, ...] = (*({"exit": code} for code in EXITS), *({"signal": name} for name in SIGNALS))
ADDRESSES = "See https://example.org/@google/gemini-cli, ssh://example.org/a@1.2 and mail me@example.org.\n"
"""What has an `@`, and before it neither a name nor a password."""
ADVICE = "Please retry in 0.2s. (Retry-After: 0, retryDelay: 0.2s, retryDelayMs: 200)\n"
"""How programming interfaces ask for what a port must not do by itself."""
ODD_STDERRS = ("", "It failed", "It failed\r\nhere: 서울 👍\n", *CHARACTERS.values(), "It\0failed\n", ADDRESSES, ADVICE)
STDERRS = ("It failed.\n", *ODD_STDERRS)
LONG_LINE = f"{'A long line. ' * 60}\n"
"""Longer than what a port may lose of stderr where it cuts it."""
ECHOED = range(16, 4096)
"""Characters of a text that gemini repeats on stderr: too many to be there by chance, and few enough for an error."""


def ended(plays: Plays) -> Iterator[Outcome]:
    """Failures of every kind, some behind a whole answer."""
    for number in range(max(len(ENDS), len(STDERRS))):
        stderr, end = STDERRS[number % len(STDERRS)], ENDS[number % len(ENDS)]
        yield partial(_behind_answer, plays, end, stderr) if number % 3 == 0 else partial(_alone, end, stderr)
    yield from _long_stderrs(plays.spec.outcome.stderr_bytes)


def _long_stderrs(limit: int) -> Iterator[Outcome]:
    """Failures whose stderr is just as long as what an error may quote, or a byte more or less."""
    for size, filler in product((limit // 2, limit - 1, limit, limit + 1, 2 * limit), ("x", "€", LONG_LINE)):
        count, more = divmod(size, len(filler.encode()))
        yield partial(_alone, {"exit": 1}, "x" * more + filler * count)
    for size in BUFFERS:
        # Characters of three bytes, one of which lies across the end of the buffer, in what an error quotes.
        if (longer := size + limit // 2) > limit:
            yield partial(_alone, {"exit": 1}, "€" * (longer // 3))


def _alone(end: Json, stderr: str, turn: Turn) -> Script:
    return ends(end, stderr)


def _behind_answer(plays: Plays, end: Json, stderr: str, turn: Turn) -> Script:
    return plays.ends_behind_answer(end, stderr, turn.session)


def told(plays: Plays) -> Iterator[Outcome]:
    """Failures that mean something, by their exit code or by what stderr says."""
    codes = exits_with_meaning(plays.spec)
    for script in (
        *(says("It says: It ended.", code) for code in codes),
        *(says(text, 1) for text in said(plays.spec)),
    ):
        yield lambda turn, script=script: script
    for code in codes:
        yield partial(_behind_answer, plays, {"exit": code}, "")


def exits_with_meaning(spec: Specification) -> tuple[int, ...]:
    """Every exit code that the specification has a sentence for."""
    return tuple(dict.fromkeys(code for sentence in spec.outcome.sentences for code in sentence.exits))


def exits_of_sayings(spec: Specification) -> tuple[int, ...]:
    """An exit code that says nothing, and those with which a text on stderr has to come."""
    return tuple(dict.fromkeys((1, *(code for each in spec.outcome.sentences if each.stderr for code in each.exits))))


def said(spec: Specification) -> tuple[str, ...]:
    """Lines on stderr that the specification has sentences for: behind other words, if a pattern is found there too."""
    return tuple(dict.fromkeys(line for lines in _lines_by_pattern(spec) for line in lines))


def said_first(spec: Specification) -> tuple[str, ...]:
    """One such line for each pattern."""
    return tuple(lines[0] for lines in _lines_by_pattern(spec) if lines)


def _lines_by_pattern(spec: Specification) -> Iterator[Sequence[str]]:
    patterns = dict.fromkeys(sentence.stderr for sentence in spec.outcome.sentences if sentence.stderr)
    return ([_line(text, pattern) for text in _texts_for(pattern)] for pattern in patterns)


def _line(text: str, pattern: str) -> str:
    behind = f"It says: {text}"
    return behind if re.search(pattern, f"{behind}\n") else text


def _texts_for(pattern: str) -> list[str]:
    """Printable texts in which a pattern is found."""
    found = [text for text in samples(pattern) if text.isprintable() and text.strip()]
    return found or [text for text in (matching(pattern),) if text]


def echoing(plays: Plays) -> Iterator[Outcome]:
    """Failures that repeat what is private, or a key where nothing is."""
    return (partial(_echo, way) for way in echoes.few(plays.spec))


def _echo(way: Way, turn: Turn) -> Script:
    texts = [text for text in turn.private if len(text.strip()) in ECHOED and "\0" not in text] or [f"?key={KEY}"]
    return Script("echoes", way(texts[turn.number % len(texts)]))
