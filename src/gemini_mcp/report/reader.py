"""The reader of standard output, which may want no more, as `head` does, or be a file on a full disk. Effect."""

import errno
import io
import os
import signal
import sys
from collections.abc import Callable

LEFT = 128 + signal.SIGPIPE
"""The exit code of a command whose reader has left."""

UNWRITTEN = 2
"""The exit code of a command whose output cannot be written."""

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def read_to_the_end(command: Callable[[], int]) -> int:
    """The exit code of a command; it ends in silence when its reader has left, and in one sentence on a full disk."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Texts may hold lone surrogates, which no terminal can print, or what its encoding does not have.
            stream.reconfigure(errors="backslashreplace")
    try:
        code = command()
        if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison] - it is when it was closed
            sys.stdout.flush()
    except BrokenPipeError:
        _give_up()
        return LEFT
    except OSError as error:
        if error.errno not in FULL:
            raise
        _give_up()
        print(f"Standard output cannot be written: {error.strerror}.", file=sys.stderr)
        return UNWRITTEN
    return code


def _give_up() -> None:
    """What is still to be written must not fail at the exit again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
