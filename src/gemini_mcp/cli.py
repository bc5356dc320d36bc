"""The command `gemini-mcp-server`. Edge.

A transport is imported only when the server is about to serve, so that a mistyped flag is reported at once.
"""

import errno
import importlib
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from gemini_mcp import standard_streams
from gemini_mcp.call.descendants import MARK
from gemini_mcp.errors import OperatorError
from gemini_mcp.operator import flags, log
from gemini_mcp.operator.options import Options
from gemini_mcp.spec import load_manifest, load_server

OPERATOR_MUST_ACT = 2


def main() -> None:
    """Run the command and leave with its exit code."""
    sys.exit(standard_streams.run(lambda: run(sys.argv[1:])))


def run(arguments: Sequence[str]) -> int:
    """Do what the arguments say."""
    try:
        options = flags.parse(arguments, os.environ, load_manifest().server_version)
        return _dispatch(options, arguments)
    except OperatorError as error:
        return _refused(str(error))
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            raise
        return _refused("No more files can be opened. Raise the limit (`ulimit -n`), or let the server inherit fewer.")


def _refused(sentence: str) -> int:
    if sys.stderr is not None:  # it is None when it was closed at the start, and `print` would take stdout
        print(f"gemini-mcp-server: {sentence}", file=sys.stderr)
    return OPERATOR_MUST_ACT


def _dispatch(options: Options, arguments: Sequence[str]) -> int:
    if options.print_config:
        return importlib.import_module("gemini_mcp.operator.client_config").show(options, arguments)
    if options.command == "doctor":
        return importlib.import_module("gemini_mcp.operator.doctor.show").show(options)
    if MARK in os.environ and not options.allow_nested:
        raise OperatorError("A gemini that this server runs has started it again. Pass --allow-nested if it may.")
    if options.transport == "stdio":
        _check_streams()
    spec = load_server(Path(options.spec) if options.spec else None, options.locale)
    if options.live and spec.live is None:
        raise OperatorError("--live needs a server/live.json that fits server/invocation.json. Leave the option out.")
    log.start(options)
    for sentence in flags.unknown_variables(os.environ):
        logging.getLogger(__name__).warning(sentence)
    module = "stdio" if options.transport == "stdio" else "http"
    importlib.import_module(f"gemini_mcp.transport.{module}").serve(spec, options)
    return 0


def _check_streams() -> None:
    """Refuse to serve without a client: what is opened next would take the number of a stream that is closed."""
    for descriptor, (name, does) in enumerate((("stdin", "writes"), ("stdout", "reads"))):
        if not _is_open(descriptor):
            raise OperatorError(f"{name} is closed, but the client {does} there. Leave it open.")
    if not _is_open(2):
        os.open(os.devnull, os.O_WRONLY)  # It takes the number, so that no other file gets what is meant for stderr.


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
