"""The command `gemini-mcp-server`: arguments in, an exit code out. Edge.

It imports the SDK only once it is going to serve, so that a mistyped flag is told at once.
"""

import importlib
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from gemini_mcp.errors import OperatorError
from gemini_mcp.operator import fast_start, flags
from gemini_mcp.operator.options import Options
from gemini_mcp.spec import load_manifest, load_server

OPERATOR_MUST_ACT = 2


def main() -> None:
    """Run the command and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Do what the arguments say."""
    try:
        options = flags.parse(arguments, os.environ, load_manifest().server_version)
        return _dispatch(options, arguments)
    except OperatorError as error:
        print(f"gemini-mcp-server: {error}", file=sys.stderr)
        return OPERATOR_MUST_ACT


def _dispatch(options: Options, arguments: Sequence[str]) -> int:
    if options.print_config:
        return importlib.import_module("gemini_mcp.operator.client_config").show(options.print_config, arguments)
    if options.command == "doctor":
        return importlib.import_module("gemini_mcp.operator.doctor").show(options)
    spec = load_server(Path(options.spec) if options.spec else None, options.locale)
    _start_log(options)
    if options.transport == "stdio":
        fast_start.import_stdio().serve(spec, options)
    else:
        importlib.import_module("gemini_mcp.transport.http").serve(spec, options)
    return 0


def _start_log(options: Options) -> None:
    try:
        handler = (
            logging.FileHandler(options.log_file, encoding="utf-8") if options.log_file else logging.StreamHandler()
        )
    except OSError as error:
        raise OperatorError(f"--log-file {options.log_file} cannot be written: {error.strerror}.") from None
    logging.basicConfig(
        level=options.log_level.upper(), handlers=[handler], format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    # At lower levels the SDK logs whole messages, prompts included.
    logging.getLogger("mcp").setLevel(logging.WARNING)


if __name__ == "__main__":
    main()
