"""Runs a function that takes long in a thread of its own, so that the event loop goes on. Effect.

The thread is a daemon, which those of anyio are not: a server that ends must not wait for what nobody wants any more.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn, TypeVar

T = TypeVar("T")


async def apart(function: Callable[[], T]) -> T:
    """What the function returns or raises. If the caller is cancelled, nobody waits for it."""
    loop = asyncio.get_running_loop()
    # It hands over a function in any case: a future takes no StopIteration.
    done: asyncio.Future[Callable[[], T]] = loop.create_future()

    def work() -> None:
        result = _result(function)
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(lambda: None if done.done() else done.set_result(result))

    threading.Thread(target=work, daemon=True).start()
    return (await done)()


def _result(function: Callable[[], T]) -> Callable[[], T]:
    try:
        value = function()
    except Exception as error:
        return lambda error=error: _raise(error)
    return lambda: value


def _raise(error: Exception) -> NoReturn:
    raise error
