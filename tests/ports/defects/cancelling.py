"""Defects in cancelling calls."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from answering import Failure, Outcome
from defects.record import breaks
from planning import Plan
from port import Port
from running import Call
from speaking import JSON, as_object


@breaks("cancel:child")
class CancelIgnored(Port):
    """Ignores cancellations."""

    def cancel(self, call: Call) -> None:
        """Nothing is done."""


@breaks("cancel:child")
class CancelSilencesOnly(Port):
    """Lets gemini run on, and only keeps the answer to itself."""

    def cancel(self, call: Call) -> None:
        with self.output:
            call.is_answered = True

    def answer(self, call: Call, result: JSON) -> None:
        if not call.is_answered:
            super().answer(call, result)


@breaks("cancel:child")
class CancelKnowsNumbersOnly(Port):
    """Finds no call whose id is a string."""

    def cancel(self, call: Call) -> None:
        if not isinstance(call.id, str):
            super().cancel(call)


@breaks("cancel:child")
class RepliesUncancellable(Port):
    """Does not cancel replies."""

    def cancel(self, call: Call) -> None:
        if call.tool == "chat":
            super().cancel(call)


@breaks("cancel:child")
class CancelSparesLists(Port):
    """Lets a list of sessions run on."""

    def list_sessions(self, call: Call, plan: Plan) -> Outcome | None:
        return super().list_sessions(Call(call.id, call.tool, call.arguments), plan)


@breaks("cancel:group")
class CancelEndsLeaderOnly(Port):
    """Ends gemini but not what gemini started."""

    def signal_group(self, leader: int, number: signal.Signals) -> None:
        if self.is_ending:
            super().signal_group(leader, number)
        else:
            with suppress(ProcessLookupError):
                os.kill(leader, number)


@breaks("cancel:ignored-term")
class CancelOnlyAsks(Port):
    """Sends SIGTERM and leaves it at that."""

    def signal_group(self, leader: int, number: signal.Signals) -> None:
        if self.is_ending or number == signal.SIGTERM:
            super().signal_group(leader, number)


@breaks("cancel:unanswered")
class CancelledAnswered(Port):
    """Answers a call that was cancelled with an error."""

    def serve_call(self, call: Call) -> None:
        super().serve_call(call)
        if call.is_cancelled and not self.is_ending and not call.stateless:
            self.send_result(call.id, self.error(Failure("The call was cancelled.")))


@breaks("cancel:others")
class CancelEndsAll(Port):
    """Ends every call when one is cancelled."""

    def cancel(self, call: Call) -> None:
        for each in list(self.calls):
            super().cancel(each)


@breaks("cancel:others")
class CancelComparesText(Port):
    """Takes the id 7 and the id "7" for the same."""

    def notified(self, method: str, params: JSON) -> None:
        wanted = str((as_object(params) or {}).get("requestId"))
        for call in list(self.calls):
            if method == "notifications/cancelled" and str(call.id) == wanted:
                self.cancel(call)


@breaks("cancel:others")
class CancelledReplyKeepsTurn(Port):
    """Lets the replies behind one that was cancelled wait for ever."""

    def end_turn(self, call: Call, turn: str | None) -> None:
        if not call.is_cancelled:
            super().end_turn(call, turn)


@breaks("cancel:unknown")
class UnknownCancelAnswered(Port):
    """Answers the cancellation of an unknown call with an error."""

    def notified(self, method: str, params: JSON) -> None:
        wanted = (as_object(params) or {}).get("requestId")
        if method == "notifications/cancelled" and wanted not in [call.id for call in self.calls]:
            self.send_error(None, -32602, "The request is unknown.")
        super().notified(method, params)


@breaks("cancel:late")
class DeafAfterLateCancel(Port):
    """Falls silent when a call is cancelled that it has answered."""

    is_deaf = False

    def notified(self, method: str, params: JSON) -> None:
        wanted = (as_object(params) or {}).get("requestId")
        if method == "notifications/cancelled" and wanted not in [call.id for call in self.calls]:
            self.is_deaf = True
        super().notified(method, params)

    def dispatch(self, message: JSON) -> None:
        if not self.is_deaf:
            super().dispatch(message)
