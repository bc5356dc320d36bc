"""What is said at a terminal while a server keeps its answer back. Effect."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from gemini_mcp.host.command.context import Context
from gemini_mcp.host.settings.loading import ServerConfig

TELL_AFTER_SECONDS = 2.0


@contextmanager
def telling(context: Context, server: ServerConfig, method: str, after: float = TELL_AFTER_SECONDS) -> Generator[None]:
    """Inside the context, say so once if the answer to a request takes long."""
    most = f"{server.timeout_ms / 1000:g} s"
    said = f"{server.name}: no answer to {method} yet; it is waited for up to {most}."
    later = asyncio.get_running_loop().call_later(after, _tell, context, said)
    try:
        yield
    finally:
        later.cancel()


def _tell(context: Context, said: str) -> None:
    # Only a person is impatient.
    if context.err.isatty():
        context.complain(said)
