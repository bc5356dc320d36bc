"""The command `gemini-mcp-conformance`: reads the command line, runs one subcommand, and gives the exit code. Edge."""

from __future__ import annotations

import argparse
import gc
import os
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path

from hypothesis.configuration import set_hypothesis_home_dir

from gemini_mcp import standard_streams
from gemini_mcp.spec import OperatorError, SpecError
from gemini_mcp_conformance.command import impact, matrix, reading, testing, writing
from gemini_mcp_conformance.errors import SuiteError, UsageError
from gemini_mcp_conformance.tell import report
from gemini_mcp_conformance.version import suite_version

INTERRUPTED = 130
OBJECTS = 100_000
"""New objects after which to look for garbage. A run keeps most of what it makes, so to look often finds little."""
AGAIN = 0.1
"""Seconds after which a lost interruption is sent again."""

ABOUT = """Tests whether a port, in any language, conforms to the specification.

No Gemini account is needed. Begin with `smoke`, then `run`. Each subcommand
explains itself: `gemini-mcp-conformance run --help`.

example:
  gemini-mcp-conformance run -- node dist/server.js
"""


def main() -> None:
    """Run the command and leave with its exit code."""
    _pass_on_default_signals()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # A running event loop handles SIGINT and ends in order. SIGTERM should do the same.
    signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    repeat_lost_interruptions()
    gc.set_threshold(OBJECTS)
    # hypothesis would store its examples in the directory of the caller.
    set_hypothesis_home_dir(os.devnull)
    sys.exit(standard_streams.run(lambda: start(sys.argv[1:])))


def _pass_on_default_signals() -> None:
    """Handle the signals that the caller ignores, as `nohup` ignores SIGHUP, by doing nothing.

    A port inherits ignored signals, which could change its verdict. It does not inherit handlers.
    """
    for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda number, frame: None)


def repeat_lost_interruptions() -> None:
    """Send an interruption again that came while a callback ran, as hypothesis has one for the garbage collector.

    Python drops what such a callback raises, and the run would go on.
    """
    before = sys.unraisablehook
    main = threading.main_thread().ident or 0

    def hook(lost: sys.UnraisableHookArgs) -> None:
        if lost.exc_type is KeyboardInterrupt:
            # To the main thread: a signal that another thread gets does not end what the main one waits for.
            threading.Timer(AGAIN, signal.pthread_kill, (main, signal.SIGINT)).start()
        else:
            before(lost)

    sys.unraisablehook = hook


def start(words: Sequence[str]) -> int:
    """Run the subcommand; the type of an error says whose fault it is."""
    own, command = _split(words)
    given = argparse.Namespace()
    try:
        given, strange = _parser().parse_known_args(own)
        if strange:
            raise UsageError(_unknown(strange, own[0]))
        return given.execute(given, command)
    except standard_streams.Unwritten:
        raise
    except (UsageError, OperatorError, SuiteError) as error:
        print(f"gemini-mcp-conformance: {error}", file=sys.stderr)
        return _fault(error, getattr(given, "spec", None))
    except KeyboardInterrupt:
        print("gemini-mcp-conformance: Interrupted.", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if (spec := getattr(given, "spec", None)) is not None:
            print(f"gemini-mcp-conformance: {_unusable(spec, error)}", file=sys.stderr)
            return report.USAGE
        traceback.print_exc()
        print("gemini-mcp-conformance: This is a fault of the suite and says nothing about the port.", file=sys.stderr)
        return report.OUR_FAULT


def _unusable(spec: Path, error: Exception) -> str:
    """What is wrong when somebody's specification leads to an error that nobody foresaw, in one line."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    said = f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {error}".replace("\n", " ")
    asked = f"Correct what `gemini-mcp-spec lint {spec}` finds; if that is nothing, report a fault of the suite."
    return f"The specification {spec} cannot be used: {said[:400]}. {asked}"


def _fault(error: UsageError | OperatorError | SuiteError, spec: Path | None) -> int:
    """The exit code of an error. A specification given with --spec is the operator's; the shipped one is ours."""
    if isinstance(error, SpecError):
        is_theirs = spec is not None and Path(error.file).is_relative_to(spec)
        return report.USAGE if is_theirs else report.OUR_FAULT
    return report.OUR_FAULT if isinstance(error, SuiteError) else report.USAGE


def _split(words: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Our own words, and the port's command after `--`."""
    own = list(words)
    at = own.index("--") if "--" in own else len(own)
    return own[:at], tuple(own[at + 1 :])


def _unknown(words: Sequence[str], subcommand: str) -> str:
    """What is wrong with words that no subcommand takes: a misspelled option, or a command without its mark."""
    line = shlex.join(words)
    if words[0].startswith("-"):
        return f"The option {words[0]!r} is not known here. See `gemini-mcp-conformance {subcommand} --help`."
    return f"{line!r} is not understood. If it is the command that starts the port, write it after `--`: -- {line}"


def _parser() -> argparse.ArgumentParser:
    purpose, _, more = ABOUT.partition("\n")
    parser = standard_streams.Parser(
        prog="gemini-mcp-conformance",
        description=purpose,
        epilog=more.strip("\n"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=suite_version())
    commands = parser.add_subparsers(dest="command", metavar="SUBCOMMAND", required=True)
    for part in (testing, matrix, impact, reading, writing):
        part.add(commands)
    return parser


if __name__ == "__main__":
    main()
