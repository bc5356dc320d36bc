"""The reader of standard output, which may want no more, as `head` does. Effect."""

import os
import signal
import sys
from collections.abc import Callable

LEFT = 128 + signal.SIGPIPE
"""The exit code of a command whose reader has left."""


def read_to_the_end(command: Callable[[], int]) -> int:
    """The exit code of a command; it ends in silence when its reader has left."""
    try:
        code = command()
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still to be written must not fail at the exit again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return LEFT
    return code
