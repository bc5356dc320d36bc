"""Ends that go wrong because of what has already ended: ports that break `shutdown`."""

import os
import signal
import threading
import time
from contextlib import suppress
from typing import Any

from answering import Failure, Outcome
from defects.past.shared import MOMENT, notes_group
from defects.record import defect
from defects.shared import members
from planning import Plan
from running import LISTING_TIMEOUT, Call, Cancelled
from steps import after, before

PATIENCE = 2.0

EXIT_SECONDS = 1.5


def ends_one_by_one(port: Any, real: Any) -> None:
    """Has ended a call, SIGKILL and all, before it turns to the next one."""
    port.is_ending = True
    with port.turn_changed:
        for call in port.calls:
            call.is_cancelled = True
        port.turn_changed.notify_all()
    for call in list(port.calls):
        port.stop(call)
    real()


def deaf_to_signals(port: Any, *arguments: Any) -> None:
    port.memory["malformed"] = True


def unhandled_once_malformed(port: Any, real: Any, number: int, frame: Any) -> None:
    if not port.memory.get("malformed"):
        real(number, frame)


def ends_running_calls(port: Any, real: Any) -> None:
    """Forgets the replies that wait, and whose turn comes when the one before has been ended."""
    port.is_ending = True
    running = [call for call in port.calls if call.process is not None]
    for call in running:
        port.end(call)
    deadline = time.monotonic() + EXIT_SECONDS
    while set(running) & set(port.calls) and time.monotonic() < deadline:
        time.sleep(MOMENT / 5)
    time.sleep(MOMENT if len(port.calls) else 0)
    os._exit(0)


def notes_cancelled(port: Any, call: Call) -> None:
    port.memory["never ends"] = True


def notes_unstarted(port: Any, real: Any, *arguments: Any) -> Any:
    try:
        return real(*arguments)
    except Failure:
        port.memory["never ends"] = True
        raise


def ends_in(port: Any, real: Any) -> None:
    """Nothing is left to end, it believes, or something still runs."""
    if port.memory.get("never ends"):
        while True:
            time.sleep(1)
    real()


def waits_for_reader(port: Any) -> None:
    """Lets what is being written reach the client."""
    with port.output:
        pass


def abandoned_when_hung(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """Waits for the list no longer than it may, and then forgets that it runs."""
    listing, found = Call(call.id, call.tool, call.arguments), list[Outcome | None]()

    def lists() -> None:
        with suppress(Cancelled):
            found.append(real(listing, plan))

    thread = threading.Thread(target=lists, daemon=True)
    thread.start()
    deadline = time.monotonic() + LISTING_TIMEOUT
    while thread.is_alive() and time.monotonic() < deadline:
        thread.join(MOMENT / 5)
        if call.is_cancelled:
            port.end(listing)
            thread.join(1.0)
            raise Cancelled
    return found[0] if found else None


def is_patient(port: Any, real: Any, call: Call) -> None:
    """A gemini whose call is cancelled gets longer to put its things in order."""
    with call.lock:
        process = call.process
    if process is not None and call in port.memory:
        port.signal_group(process.pid, signal.SIGTERM)
        call.ended.wait(PATIENCE)
    real(call)


def forgets_cancelled(port: Any, real: Any, call: Call) -> None:
    if port.is_ending and call.is_cancelled:
        return
    if not port.is_ending:
        port.memory[call] = True
    real(call)


def outlived_by_groups(port: Any, real: Any) -> None:
    for call in list(port.calls):
        port.end(call)
    while any(map(members, port.memory.values())):
        time.sleep(0.1)


defect(
    "calls-ended-one-by-one",
    "Ends its calls one after the other, which takes long when several ignore SIGTERM.",
    "shutdown:prompt",
)(shut_down=ends_one_by_one)
defect(
    "deaf-to-signals-behind-malformed-line",
    "Ignores signals once a line was no JSON.",
    "shutdown:sigterm",
)(send_error=before(deaf_to_signals), on_signal=unhandled_once_malformed)
defect(
    "next-in-line-starts-at-end",
    "Ends the reply that runs, and not the one that waits, which then starts a gemini that stays.",
    "shutdown:sigterm:group",
    "shutdown:stdin-end:group",
)(shut_down=ends_running_calls)
defect(
    "unending-behind-cancellation",
    "Lives on when its input ends after a call has been cancelled.",
    "shutdown:stdin-end",
)(cancel=after(notes_cancelled), input_ended=ends_in)
defect(
    "unending-behind-failed-start",
    "Lives on when its input ends after a gemini that could not be started.",
    "shutdown:stdin-end",
)(begin=notes_unstarted, input_ended=ends_in)
defect(
    "exit-waits-for-reader",
    "Waits at the end of its input until the client has read an answer that is being written.",
    "shutdown:stdin-end",
)(input_ended=before(waits_for_reader))
defect(
    "hung-list-abandoned",
    "Gives up a list of sessions that hangs without ending it, and leaves it running when the input ends.",
    "shutdown:stdin-end:group",
)(list_sessions=abandoned_when_hung)

defect(
    "cancelled-survives-end",
    "Forgets at its end a gemini that ignores SIGTERM, whose call was cancelled just before.",
    "shutdown:stdin-end:ignored-term",
)(stop=is_patient, end=forgets_cancelled)
defect(
    "lives-as-long-as-background",
    "Lives on behind the end of its input while a process runs that the gemini of an answered call has left.",
    "shutdown:stdin-end",
)(begin=notes_group, input_ended=outlived_by_groups)
