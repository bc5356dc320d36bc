"""Starts the log, on stderr or in a file. Effect.

Prompts, answers and keys are never logged; whatever might log them is silenced here.
"""

import logging

from gemini_mcp.errors import OperatorError
from gemini_mcp.operator.options import Options


def start(options: Options) -> None:
    """Log from now on as the options say; `OperatorError` when the file cannot be written."""
    handler = logging.StreamHandler() if options.log_file is None else _file_handler(options.log_file)
    logging.basicConfig(
        level=options.log_level.upper(), handlers=[handler], format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    # At lower levels the SDK logs whole messages, prompts included.
    logging.getLogger("mcp").setLevel(logging.WARNING)


def _file_handler(file: str) -> logging.Handler:
    try:
        return logging.FileHandler(file, encoding="utf-8")
    except OSError as error:
        raise OperatorError(f"--log-file {file} cannot be written: {error.strerror}.") from None
