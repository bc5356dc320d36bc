"""Progress that comes too seldom: ports that break `progress:interval`."""

import time
from typing import Any

from defects.life.shared import has_printed, notes_file
from defects.record import defect
from port import PROGRESS_SECONDS
from running import Call
from speaking import Message
from steps import after, before, only

BEAT_SECONDS = 4.0
ERRORS = 5
FIRST_SECONDS = 6.0


def ever_slower(port: Any, real: Any, call: Call) -> None:
    real(call)
    call.next_progress = time.monotonic() + min(30.0, 5.0 * 2 ** max(0, call.progress - 1))


def one_beat(port: Any, real: Any, call: Call) -> None:
    """One clock for all calls tells of one of them at a time, and the one that has waited longest is next."""
    if call.token is None or call.progress == 0:
        real(call)
        return
    now = time.monotonic()
    others = [each for each in list(port.calls) if each.token is not None and each.progress]
    is_next = all(call.next_progress <= each.next_progress for each in others)
    if is_next and now >= port.memory.get("beat", 0.0):
        port.memory["beat"] = now + BEAT_SECONDS
        real(call)


def stops_timers(port: Any, call: Call, result: Message) -> None:
    """One timer serves all calls, and whoever ends clears it."""
    for other in list(port.calls):
        other.next_progress = time.monotonic() + 3600


def postpones(port: Any, said: object) -> None:
    """Whoever has just heard or spoken knows that the server lives."""
    for call in list(port.calls):
        call.next_progress = time.monotonic() + PROGRESS_SECONDS


def until_stderr(port: Any, real: Any, call: Call) -> None:
    if has_printed(port, call):
        call.next_progress = time.monotonic() + PROGRESS_SECONDS
    else:
        real(call)


def counts_for_ticker(port: Any, real: Any, call: Call) -> None:
    """One ticker for all calls that want one; an error is counted where it is caught and again at the end."""
    wants = call.token is not None
    port.memory["wanting"] = port.memory.get("wanting", 0) + wants
    real(call)
    ended = 2 if port.memory.pop(call, False) else 1
    port.memory["wanting"] = max(0, port.memory["wanting"] - (ended if wants else 0))


def notes_error(port: Any, real: Any, call: Call, result: Message) -> None:
    port.memory[call] = result.get("isError", False)
    real(call, result)


def reports_while_counted(port: Any, real: Any, call: Call) -> None:
    if call.progress and not port.memory["wanting"]:
        call.next_progress = time.monotonic() + PROGRESS_SECONDS
    else:
        real(call)


def limits_beats(port: Any, real: Any, call: Call) -> None:
    now = time.monotonic()
    if call.token is None or call.progress == 0:
        real(call)
    elif now >= port.memory.get("next", now):
        port.memory["next"] = now + BEAT_SECONDS
        real(call)


def backs_off(port: Any, call: Call) -> None:
    call.next_progress = time.monotonic() + FIRST_SECONDS * 2 ** max(0, call.progress - 1)


defect(
    "progress-ever-slower",
    "Doubles the time to the next progress after each one.",
    "progress:interval",
)(report_progress=ever_slower)
defect(
    "one-beat-for-all-calls",
    "Tells the progress of one running call every four seconds, so that three calls wait too long for theirs.",
    "progress:interval",
)(report_progress=one_beat)
defect("timer-shared", "Tells no more progress of any call once one has been answered.", "progress:interval")(
    answer=after(stops_timers)
)
defect(
    "progress-postponed-by-messages",
    "Waits with progress for five seconds behind whatever it has sent.",
    "progress:interval",
)(write=after(postpones))
defect(
    "progress-until-stderr",
    "Tells no progress any more once gemini has written to stderr.",
    "progress:interval",
)(begin=before(notes_file(ERRORS)), report_progress=until_stderr)
defect(
    "ticker-counted-out",
    "Tells no more progress of a running call when another one with a token has failed beside it.",
    "progress:interval",
)(serve_call=counts_for_ticker, answer=notes_error, report_progress=reports_while_counted)
defect(
    "beats-share-one-limit",
    "Sends one progress notification in four seconds for all running calls, so a third one gets none.",
    "progress:interval",
)(report_progress=limits_beats)
defect("progress-at-start-only", "Tells progress once.", "progress:interval")(
    report_progress=only(lambda call: not call.progress)
)
defect(
    "client-postpones-progress",
    "Waits with progress for five seconds behind whatever the client sends.",
    "progress:interval",
)(receive=before(postpones))
defect(
    "progress-backs-off",
    "Waits twice as long for each progress notification as for the one before.",
    "progress:interval",
)(report_progress=after(backs_off))
