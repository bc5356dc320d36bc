"""Defects in telling progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from defects.record import breaks, variant
from port import Port
from running import Call
from speaking import JSON, Message


class Told(Port):
    """A port that tells progress in another way."""

    def progress(self, call: Call) -> Message:
        message = super().progress(call)
        return {**message, "params": {**message["params"], **self.told(call)}}

    def told(self, call: Call) -> Message:
        return {}


def tells(name: str, sentence: str, *kills: str, by: Callable[[Call], Message]) -> None:
    """Register a port whose progress says this of a call."""
    variant(Told, name, sentence, kills, told=staticmethod(by))


tells(
    "token-as-text",
    "Sends the token as a string.",
    "progress:token",
    by=lambda call: {"progressToken": str(call.token)},
)
tells(
    "token-is-id",
    "Sends the id of the request where the token should be.",
    "progress:token",
    by=lambda call: {"progressToken": call.id},
)


@breaks("progress:token")
class LatestTokenForAll(Port):
    """Keeps one token for all calls that run."""

    latest: JSON = None

    def token(self, params: Mapping[str, JSON]) -> JSON:
        token = super().token(params)
        self.latest = self.latest if token is None else token
        return token

    def report_progress(self, call: Call) -> None:
        call.token = None if call.token is None else self.latest
        super().report_progress(call)


tells(
    "progress-stands-still",
    "Tells the same progress each time.",
    "progress:increase",
    by=lambda call: {"progress": 50, "total": 100},
)
tells("progress-falls", "Counts down.", "progress:increase", by=lambda call: {"progress": 100 - call.progress})


@breaks("progress:end")
class ProgressAfterAnswer(Port):
    """Tells after the answer that it is done."""

    def answer(self, call: Call, result: Message) -> None:
        super().answer(call, result)
        if call.token is not None and not call.is_cancelled:
            call.progress += 1
            self.send(self.progress(call))


@breaks("progress:unasked")
class ProgressUnasked(Port):
    """Tells progress to those who did not ask."""

    def token(self, params: Mapping[str, JSON]) -> JSON:
        token = super().token(params)
        return "progress" if token is None else token


@breaks("progress:start")
class FalsyTokenOverlooked(Port):
    """Takes the token 0 for none."""

    def token(self, params: Mapping[str, JSON]) -> JSON:
        return super().token(params) or None


@breaks("progress:start")
class NoProgressAtStart(Port):
    """Tells nothing when a call starts."""

    def report_progress(self, call: Call) -> None:
        if call.next_progress:
            super().report_progress(call)
        else:
            call.next_progress = time.monotonic() + 5


@breaks("progress:start")
class NoProgressInReplies(Port):
    """Tells no progress of replies."""

    def report_progress(self, call: Call) -> None:
        if call.tool == "chat":
            super().report_progress(call)


@breaks("progress:interval")
class ProgressAtStartOnly(Port):
    """Tells progress once."""

    def report_progress(self, call: Call) -> None:
        if not call.progress:
            super().report_progress(call)
