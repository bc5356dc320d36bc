"""Lists of sessions that are disturbed by what runs, waits or ends beside them: ports that break `fallback`."""

import os
import threading
from concurrent.futures import Future
from typing import Any

from answering import Outcome
from defects.life.shared import copied, in_one_of
from defects.record import defect
from planning import Plan
from running import LIST, Call, Cancelled

LISTING_GRACE = 8.0


MOST = 8
PLACES = threading.Semaphore(MOST)


def gives_lists_up(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    hung = port.memory.get(plan.cwd, 0)
    if hung >= 2:
        return None
    listing = real(call, plan)
    port.memory[plan.cwd] = 0 if listing else hung + 1
    return listing


def skipped_after_cancel(port: Any, real: Any, call: Call, plan: Any) -> Any:
    if port.memory.pop("skips", False):
        return None
    try:
        return real(call, plan)
    except Cancelled:
        port.memory["skips"] = True
        raise


def shares_listing(port: Any, real: Any, call: Call, plan: Plan) -> Outcome | None:
    """One list at a time for a directory, but of the path only the last name is the key."""
    name, mine = os.path.basename(plan.cwd or os.getcwd()), Future[Outcome | None]()
    running = port.memory.setdefault(name, mine)
    if running is not mine:
        return running.result()
    listing = None
    try:
        listing = real(call, plan)
        return listing
    finally:
        port.memory.pop(name, None)
        mine.set_result(listing)


def one_listing_at_once(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    """Runs no gemini while it asks for a list."""
    lock = port.memory.setdefault("listing", threading.RLock())
    with lock:
        return real(call, plan)


def unless_listing(port: Any, real: Any, call: Call, plan: Plan) -> Any:
    with port.memory.setdefault("listing", threading.RLock()):
        pass
    return real(call, plan)


def stderr_of_list_unread(port: Any, real: Any, argv: tuple[str, ...], **options: Any) -> Any:
    """Looks at the stderr of a list when it has ended."""
    if LIST not in argv:
        return real(argv, **options)
    reading, writing = os.pipe()
    try:
        process = real(argv, **{**options, "stderr": writing})
    finally:
        os.close(writing)
    port.memory[process] = reading, options["stderr"]
    return process


def reads_stderr_of_list(port: Any, real: Any, call: Call, process: Any) -> int:
    exit, (reading, file) = real(call, process), port.memory.pop(process, (None, None))
    if reading is not None:
        copied(reading, file)
    return exit


def spares_who_reports(port: Any, real: Any, call: Any, now: float) -> Any:
    # Progress is told every five seconds.
    if call.token is not None and call.progress and now < call.next_progress - 5.0 + LISTING_GRACE:
        return None
    return real(call, now)


defect(
    "two-hung-lists-end-listing",
    "Asks for no list any more in a directory where two lists in succession have hung.",
    "fallback:latest",
    "fallback:list-sessions",
)(list_sessions=gives_lists_up)
defect("list-skipped-behind-cancelled", "Asks for no list behind one that was cancelled.", "fallback:list-sessions")(
    list_sessions=skipped_after_cancel
)
defect(
    "list-shared-by-directory-name",
    "Uses a list of sessions that runs for another call whose directory has the same last name.",
    "fallback:list-sessions",
    "fallback:cwd",
)(list_sessions=shares_listing)
defect("calls-wait-for-list", "Starts no gemini while it asks for a list of sessions.", "fallback:list-sessions")(
    list_sessions=one_listing_at_once, run_prompt=unless_listing
)
defect(
    "list-needs-place-of-its-own",
    "Runs eight calls at once, and waits for another place before it asks for a list of sessions.",
    "fallback:list-sessions",
    "concurrency:lost",
)(ask=in_one_of(PLACES), list_sessions=in_one_of(PLACES))
defect(
    "list-stopped-by-its-stderr",
    "Reads the stderr of a list of sessions after it has ended, from a pipe that fills up before.",
    "fallback:list-sessions",
)(start=stderr_of_list_unread, wait=reads_stderr_of_list)
defect(
    "progress-restarts-the-clock",
    "Restarts the clock of a run with each progress that it tells, so a list that hangs never ends.",
    "fallback:failure",
)(check_deadline=spares_who_reports)
