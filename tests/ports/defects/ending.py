"""Defects in ending: when the input ends, and on signals."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from types import FrameType

from answering import Outcome
from defects.record import breaks
from planning import Plan
from port import Port
from running import Call


@breaks("shutdown:stdin-end")
class EndOfInputOverlooked(Port):
    """Lives on after the end of its input."""

    def input_ended(self) -> None:
        while True:
            signal.pause()


@breaks("shutdown:stdin-end:busy")
class EndWaitsForCalls(Port):
    """Waits for the calls that run when its input ends."""

    def input_ended(self) -> None:
        for thread in self.threads:
            thread.join()


@breaks("shutdown:stdin-end:group", "system:removed:stdin-end")
class EndLeavesOrphans(Port):
    """Leaves gemini running when its input ends."""

    def input_ended(self) -> None:
        os._exit(0)


@breaks("shutdown:stdin-end:group")
class EndEndsLeaderOnly(Port):
    """Ends gemini, but not what gemini started, when its input ends."""

    def signal_group(self, leader: int, number: signal.Signals) -> None:
        if not self.is_ending or self.ended_by_signal:
            super().signal_group(leader, number)
        else:
            with suppress(ProcessLookupError):
                os.kill(leader, number)


@breaks("shutdown:stdin-end:group")
class EndSparesLists(Port):
    """Leaves a list of sessions running when its input ends."""

    def __init__(self) -> None:
        super().__init__()
        self.listing: set[Call] = set()

    def list_sessions(self, call: Call, plan: Plan) -> Outcome | None:
        self.listing.add(call)
        return super().list_sessions(call, plan)

    def stop(self, call: Call) -> None:
        if self.ended_by_signal or not (self.is_ending and call in self.listing):
            super().stop(call)


@breaks("shutdown:stdin-end:ignored-term")
class EndOnlyAsks(Port):
    """Sends SIGTERM to gemini when its input ends, and leaves it at that."""

    def signal_group(self, leader: int, number: signal.Signals) -> None:
        if not self.is_ending or self.ended_by_signal or number == signal.SIGTERM:
            super().signal_group(leader, number)


@breaks("shutdown:sigterm")
class SigtermWaitsForLine(Port):
    """Notices SIGTERM when the next line comes."""

    is_asked = False

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        self.is_asked = self.ended_by_signal = True

    def lines(self) -> Iterable[bytes]:
        for line in super().lines():
            if self.is_asked:
                return
            yield line


@breaks("shutdown:sigterm")
class SigtermIgnoredWhileBusy(Port):
    """Ignores SIGTERM while a call runs."""

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self.calls:
            super().on_signal(number, frame)


@breaks("shutdown:sigterm:group", "system:removed:sigterm")
class SigtermUnhandled(Port):
    """Dies of SIGTERM as it is, and leaves gemini running."""

    def signals(self) -> tuple[signal.Signals, ...]:
        return (signal.SIGINT, signal.SIGHUP)


@breaks("shutdown:sigterm:group")
class SignalEndsLeaderOnly(Port):
    """Ends gemini, but not what gemini started, on a signal."""

    def signal_group(self, leader: int, number: signal.Signals) -> None:
        if not self.ended_by_signal:
            super().signal_group(leader, number)
        else:
            with suppress(ProcessLookupError):
                os.kill(leader, number)


@breaks("shutdown:sigint:group")
class SigintUnhandled(Port):
    """Dies of SIGINT as it is, and leaves gemini running."""

    def signals(self) -> tuple[signal.Signals, ...]:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        return (signal.SIGTERM, signal.SIGHUP)


@breaks("shutdown:sighup:group")
class SighupUnhandled(Port):
    """Dies of SIGHUP as it is, and leaves gemini running."""

    def signals(self) -> tuple[signal.Signals, ...]:
        return (signal.SIGTERM, signal.SIGINT)


@breaks("shutdown:prompt")
class SlowToEnd(Port):
    """Takes its time before it ends."""

    def shut_down(self) -> None:
        for call in list(self.calls):
            self.end(call)
        time.sleep(5)
        super().shut_down()
