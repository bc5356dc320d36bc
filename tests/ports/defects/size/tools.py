"""Names and lists of tools that are cut: ports that break `tools`."""

from collections.abc import Iterator
from typing import Any

from conditions import every, from_time
from defects.record import defect
from speaking import Message
from steps import always, gives


def once(port: Any, real: Any) -> list[Message]:
    """Like an iterator that has come to its end."""
    left: Iterator[Message] = port.memory.setdefault("tools", iter(real()))
    return list(left)


defect("third-list-empty", "Lists no tools from the third time on.", "tools:chat", "tools:chat-reply")(
    tools=from_time(3, always([]))
)
defect("list-used-up", "Lists its tools once, and then none.", "tools:chat", "tools:order")(tools=once)
defect("hundredth-list-short", "Leaves a tool out of every hundredth list.", "tools:order", "tools:chat-reply")(
    tools=every(100, gives(lambda tools: tools[:1]))
)
defect(
    "every-256th-call-lost",
    "Counts calls in one byte, and forgets the one at which it begins again.",
    "tools:unknown",
    "command:once",
    "concurrency:lost",
)(begin_call=every(256, always(None)))
