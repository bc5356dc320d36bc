"""Progress: which conversation runs, on a terminal one line that is overwritten, elsewhere one line a phase."""

from __future__ import annotations

import time
from typing import TextIO

from gemini_mcp_conformance.conversation import Conversation


class Progress:
    """Is told of each conversation as it begins."""

    def __init__(self, stream: TextIO, is_on: bool) -> None:
        self._stream, self._is_on, self._began, self._phase = stream, is_on, time.monotonic(), ""

    def __call__(self, conversation: Conversation, number: int, count: int) -> None:
        if not self._is_on:
            return
        if self._stream.isatty():
            left = (time.monotonic() - self._began) / number * (count - number) if number else 0
            self._stream.write(f"\r\x1b[K{number}/{count}  {conversation.id}  about {left:.0f} s left")
            if number + 1 == count:
                self._stream.write("\r\x1b[K")
        elif conversation.phase != self._phase:
            self._phase = conversation.phase
            self._stream.write(f"{number}/{count}  {conversation.phase}\n")
        self._stream.flush()
