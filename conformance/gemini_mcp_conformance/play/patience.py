"""Patience: how long a port is waited for, which follows from its pace; pure.

Every wait of the player is a field. A wait grows with the time that the port has needed so far, and shrinks after waits
in vain.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from gemini_mcp_conformance.play.pace import Kind, Pace
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.durations import ignores

MARGIN = 10
"""How many times as long as usual an answer is waited for."""
FAMILIAR, SURER = 20, 0.6
"""Calls that a port has answered when it is known how long it takes; then so much of the usual wait is enough."""
STARTS = 4
"""How many times as long as the slowest start another start is waited for."""
MOST = 120.0
"""Seconds that are waited for at most, however slow the port is."""
LEAST = 3.0
"""Seconds that an answer is waited for at least, while nothing else of the conversation was in vain."""
BUSY = 2
"""How many times as long as scripts take alone they may take on a busy machine."""
BRIEF = 2.0
"""Seconds that a conversation is waited for that has failed once; half of it each time that it fails again."""
HOPELESS = 0.5
"""Seconds that is waited for what never came so far."""


@dataclass(frozen=True)
class Patience:
    """Seconds to wait for what should happen at once.

    `launch` is for the first answer of a new port, `first` for the first call of all, `answer` for another answer,
    `start` for gemini to run, `end` for processes to end and `files` for files to go. `usual` is what a call takes,
    `brief` what is waited for everything once something was waited for in vain.
    """

    answer: float = 10
    start: float = 10
    end: float = 10
    files: float = 5
    first: float = 30
    launch: float = 60
    usual: float = 0
    brief: float = BRIEF
    hopeless: frozenset[Kind] = frozenset()

    def at(self, pace: Pace) -> Patience:
        """For a port of that pace; `self` is for one that nothing is known of."""
        slow = min(MOST, MARGIN * pace.usual)
        share = min(SURER if pace.answered >= FAMILIAR else 1.0, 0.5**pace.silent)
        answer = max(share * self.answer, min(LEAST, self.answer), slow)
        launch = self.launch if pace.start is None else min(MOST, max(self.answer, STARTS * pace.start))
        return replace(
            self,
            answer=answer,
            start=max(share * self.start, min(LEAST, self.start), slow),
            end=max(self.end, slow),
            files=max(self.files / 2**pace.littered, min(HOPELESS, self.files)),
            first=answer if pace.answered or pace.silent else max(self.first, answer),
            launch=launch,
            usual=pace.usual,
            hopeless=pace.hopeless,
        )

    def end_of(self, scripts: Iterable[Script]) -> float:
        """How long processes may take to end; where none of these ignores a signal, no longer than an answer."""
        return self.end if any(map(ignores, scripts)) else min(self.end, self.answer)

    def before(self, seconds: float) -> float:
        """How long processes may take to end that end by themselves after so many seconds."""
        return min(self.end, max(seconds / 2, self.end / 4))

    def times(self, factor: float) -> Patience:
        """So many times as long for everything."""
        return replace(
            self,
            answer=factor * self.answer,
            start=factor * self.start,
            end=factor * self.end,
            files=factor * self.files,
            first=factor * self.first,
            launch=factor * self.launch,
        )

    def until_failure(self) -> Patience:
        """For a run that ends with its first failure: whatever else fails in the same conversation changes nothing."""
        return replace(self, brief=min(HOPELESS, self.brief))

    def lost(self) -> Patience:
        """For the rest of a conversation that has failed already, once or several times."""
        brief = max(self.brief, min(MOST, STARTS * self.usual))
        return replace(
            self,
            answer=min(brief, self.answer),
            start=min(brief, self.start),
            end=min(brief, self.end),
            files=min(1.0, self.files),
            first=min(brief, self.first),
            launch=min(brief, self.launch),
            # A port that has answered calls may only be slow with the next one.
            brief=max(self.brief / 2, HOPELESS if self.usual else 0.0),
        )

    def littered(self) -> Patience:
        """For the rest of a conversation in which files have stayed."""
        return replace(self, files=min(HOPELESS, self.files))

    def unstarted(self) -> Patience:
        """For the rest of a conversation in which a gemini did not start."""
        return replace(self, start=min(max(BRIEF, STARTS * self.usual), self.start))

    def start_of(self, kind: Kind, open_before: int) -> float:
        """For gemini to run for a request of that kind, beside others."""
        if kind in self.hopeless:
            return min(HOPELESS, self.start)
        return self.start + STARTS * self.usual * open_before

    def answer_to(self, kind: Kind, reading: float, is_new: bool, open_before: int) -> float:
        """For the answer to a request that takes so long to read, of a port that is new or has others open.

        What the scripts of gemini take comes on top.
        """
        reading *= BUSY
        if is_new:
            return reading + self.launch
        if kind in self.hopeless:
            return min(HOPELESS, self.answer)
        wait = max(self.answer, self.first) if kind.runs else self.answer
        return reading + wait + STARTS * self.usual * open_before

    def scripts_of(self, kind: Kind, seconds: float) -> float:
        """For scripts that take so long, once gemini runs."""
        return 0.0 if kind in self.hopeless else BUSY * seconds
