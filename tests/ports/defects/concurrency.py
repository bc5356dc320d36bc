"""Defects that show when calls overlap, or follow a failure."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Mapping

from answering import Answer, Failure
from defects.record import breaks
from planning import Plan
from port import Port
from running import Call
from speaking import JSON, Message


@breaks("concurrency:other-session")
class SessionsCutShort(Port):
    """Takes sessions for one that begin alike."""

    def take_turn(self, call: Call, turn: str | None) -> None:
        super().take_turn(call, turn and turn[:-1])

    def end_turn(self, call: Call, turn: str | None) -> None:
        super().end_turn(call, turn and turn[:-1])


@breaks("concurrency:calls")
class OneCallAtATime(Port):
    """Serves one call after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.busy = threading.Lock()

    def run_prompt(self, call: Call, plan: Plan) -> JSON:
        with self.busy:
            return super().run_prompt(call, plan)


@breaks("concurrency:calls")
class OneCallPerDirectory(Port):
    """Serves one call after the other in the same directory."""

    def turn(self, tool: str, texts: Mapping[str, str]) -> str | None:
        return f"directory {texts.get('cwd')}"


@breaks("concurrency:ping")
class PingWaits(Port):
    """Answers ping when no call runs."""

    def ping(self) -> Message:
        for thread in self.threads:
            thread.join()
        return super().ping()


@breaks("concurrency:list")
class ListWaits(Port):
    """Lists its tools when no call runs."""

    def list_tools(self, params: Mapping[str, JSON], stateless: bool) -> Message:
        for thread in self.threads:
            thread.join()
        return super().list_tools(params, stateless)


@breaks("concurrency:ping", "concurrency:calls", "concurrency:list", "cancel:child")
class ReadsNothingMeanwhile(Port):
    """Reads no message while a call runs."""

    def begin_call(self, identity: JSON, params: Mapping[str, JSON], stateless: bool) -> Message | None:
        result = super().begin_call(identity, params, stateless)
        self.threads[-1].join()
        return result


@breaks("concurrency:crossed")
class AnswersCrossed(Port):
    """Keeps the answer that is being sent in a place that all calls share."""

    current: Message | None = None

    def answer(self, call: Call, result: Message) -> None:
        self.current = result
        time.sleep(0.05)
        super().answer(call, self.current)


@breaks("concurrency:crossed")
class IdsCrossed(Port):
    """Answers the call that came last, whichever has ended."""

    def answer(self, call: Call, result: Message) -> None:
        with self.output:
            waiting = [each for each in self.calls if not each.is_answered and not each.is_cancelled]
        if call in waiting and waiting[-1] is not call:
            call.id, waiting[-1].id = waiting[-1].id, call.id
        super().answer(call, result)


@breaks("concurrency:crossed", "result:session-id")
class SessionsCrossed(Port):
    """Keeps the session of an answer in a place that all calls share."""

    session: str | None = None

    def ask(self, call: Call, plan: Plan) -> Answer:
        answer = super().ask(call, plan)
        self.session = answer.session
        time.sleep(0.05)
        return dataclasses.replace(answer, session=self.session)


@breaks("concurrency:lost")
class NinthCallLost(Port):
    """Forgets the calls beyond eight."""

    def begin_call(self, identity: JSON, params: Mapping[str, JSON], stateless: bool) -> Message | None:
        return super().begin_call(identity, params, stateless) if len(self.calls) < 8 else None


@breaks("concurrency:lost")
class NinthCallRefused(Port):
    """Is too busy for more than eight calls."""

    def begin_call(self, identity: JSON, params: Mapping[str, JSON], stateless: bool) -> Message | None:
        if len(self.calls) >= 8:
            return self.error(Failure("The server is busy."))
        return super().begin_call(identity, params, stateless)


@breaks("concurrency:after-failure")
class FailureRepeated(Port):
    """Fails the call that follows a failure with the same error."""

    failure: Message | None = None

    def execute(self, call: Call) -> Message:
        if self.failure:
            earlier, self.failure = self.failure, None
            return earlier
        result = super().execute(call)
        self.failure = result if "\nStderr: " in str(result["content"][0]["text"]) else None
        return result


@breaks("concurrency:after-failure")
class FailureKeepsTurn(Port):
    """Lets the replies behind one that failed wait for ever."""

    is_stuck = False

    def error(self, failure: Failure, private: tuple[str, ...] = ()) -> Message:
        if failure.stderr is not None:
            self.is_stuck = True
        return super().error(failure, private)

    def end_turn(self, call: Call, turn: str | None) -> None:
        if not self.is_stuck:
            super().end_turn(call, turn)


@breaks("concurrency:same-session")
class RepliesOverlap(Port):
    """Runs replies in the same session at the same time."""

    def turn(self, tool: str, texts: Mapping[str, str]) -> str | None:
        return super().turn(tool, texts) if "sessionId" not in texts else None


@breaks("concurrency:latest")
class LatestOverlaps(Port):
    """Runs replies in the latest session at the same time."""

    def turn(self, tool: str, texts: Mapping[str, str]) -> str | None:
        return super().turn(tool, texts) if "sessionId" in texts else None


@breaks("concurrency:other-session")
class AllRepliesInLine(Port):
    """Runs one reply after the other, whatever their session."""

    def turn(self, tool: str, texts: Mapping[str, str]) -> str | None:
        return "any" if tool == "chat-reply" else None
