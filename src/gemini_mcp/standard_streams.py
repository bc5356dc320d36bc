"""What a command does when its standard output or error cannot be written, as on a full disk. Effect.

Every command runs inside `run` and reads its command line with `Parser`. Nothing else belongs here.
"""

import argparse
import errno
import io
import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import IO, Any

LEFT = 128 + signal.SIGPIPE
"""The exit code of a command whose reader has left, as `head` does."""

UNWRITTEN = 2
"""The exit code of a command whose output cannot be written."""


class Unwritten(OSError):
    """Standard output or error cannot be written: an error of its own, so that nobody takes it for one of a file."""


class Parser(argparse.ArgumentParser):
    """A parser whose help fails where it cannot be written; argparse would end as if it had been.

    A subcommand tells by itself what it does not know, under its own usage.
    """

    def parse_args(self, args: Any = None, namespace: Any = None) -> argparse.Namespace:  # pyright: ignore - no overloads
        given, unknown = self.parse_known_args(args, namespace)
        if unknown:
            self._parser_of(getattr(given, "command", None)).error(f"unrecognized arguments: {' '.join(unknown)}")
        return given

    def _parser_of(self, subcommand: str | None) -> argparse.ArgumentParser:
        parsers: Any = [action.choices for action in self._actions if action.dest == "command"]
        return parsers[0][subcommand] if subcommand else self

    def _print_message(self, message: str, file: Any = None) -> None:
        stream = file or sys.stderr
        if stream is not None:  # pyright: ignore[reportUnnecessaryComparison] - it is when it was closed
            stream.write(message)


def run(command: Callable[[], int]) -> int:
    """The exit code of a command; it ends in silence when its reader has left, and in one sentence on a full disk."""
    sys.stdout, sys.stderr = _checked(sys.stdout), _checked(sys.stderr)
    try:
        code = _code(command)
        if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison] - it is when it was closed
            sys.stdout.flush()
    except Unwritten as error:
        is_left = error.errno in (errno.EPIPE, errno.EIO)
        if not is_left:
            with suppress(Unwritten):
                print(f"The output cannot be written: {error.strerror}.", file=sys.stderr)
        code = LEFT if is_left else UNWRITTEN
    _give_up_unwritten()
    return code


class _Checked(io.TextIOWrapper):
    """A standard stream whose failures are `Unwritten`."""

    def write(self, text: str, /) -> int:
        with _unwritten():
            return super().write(text)

    def flush(self) -> None:
        with _unwritten():
            super().flush()


@contextmanager
def _unwritten() -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise Unwritten(error.errno, error.strerror) from None


def _checked(stream: IO[str]) -> IO[str]:
    """The stream, checked; those that tests put in its place stay."""
    if type(stream) is not io.TextIOWrapper:
        return stream
    # Texts may hold lone surrogates, which no terminal can print, or what its encoding does not have.
    return _Checked(
        stream.buffer,
        stream.encoding,
        "backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _code(command: Callable[[], int]) -> int:
    """The exit code, also of a parser that has shown its help."""
    try:
        return command()
    except SystemExit as end:
        if isinstance(end.code, int):
            return end.code
        raise


def _give_up_unwritten() -> None:
    """What could not be written must not fail at the exit again, which would change the exit code."""
    for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
        try:
            if stream is not None:  # pyright: ignore[reportUnnecessaryComparison] - it is when it was closed
                stream.flush()
        except Unwritten:
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
