"""The changes of its lists that a server notifies, one after another, until the host ends. Effect.

What becomes of a change is in `host`.
"""

from collections.abc import AsyncIterator, Mapping

import anyio

CHANGED: Mapping[str, str] = {f"notifications/{kind}/list_changed": kind for kind in ("prompts", "resources", "tools")}
"""The list that a notification is about."""


class Changes:
    """The lists to read again. One that changes once more while it waits is read once, as Gemini CLI does it."""

    def __init__(self) -> None:
        self.settled = anyio.Event()
        self.settled.set()
        self._waiting: list[str] = []
        self._has_ended = False
        self._stirred = anyio.Event()

    def note(self, kind: str) -> None:
        """A list has changed."""
        if self._has_ended or kind in self._waiting:
            return
        self._waiting.append(kind)
        if self.settled.is_set():
            self.settled = anyio.Event()
        self._stirred.set()

    def end(self) -> None:
        """Nothing more is followed."""
        self._has_ended = True
        self._stirred.set()
        self.settled.set()

    async def __aiter__(self) -> AsyncIterator[str]:
        while not self._has_ended:
            await self._stirred.wait()
            self._stirred = anyio.Event()
            while self._waiting and not self._has_ended:
                yield self._waiting.pop(0)
            self.settled.set()
