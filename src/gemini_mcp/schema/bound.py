"""A bound on work that a hostile pattern can make endless. Effect: it sets a timer of the process.

`effort` bounds the searches and proofs; this ends a single step that does not come back.
"""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn


class Endless(BaseException):
    """The work has taken too long; no handler of errors on the way may take it for its own."""


@contextmanager
def bounded(seconds: int) -> Generator[None]:
    """End the work when it has used the processor for so long, where this is the main thread."""

    def stop(*_: object) -> NoReturn:
        raise Endless

    # Python takes handlers of signals in the main thread only.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # Time of the processor, not of the clock: a busy machine must not turn a proof into none.
    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
