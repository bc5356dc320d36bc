"""Brands a server and all that it starts by a limit, and reads the brands of processes. Effect; on Linux only.

Children inherit limits, also where they clear their environment and start a session. Linux keeps the limit of resident
memory but does not apply it, and a brand is far more than any memory, for those that read it. Only what tells the
processes of one server from all others belongs here.
"""

import hashlib
import resource
import sys
from contextlib import suppress

KIND = 0x1D5EED
"""What all brands begin with."""

BYTES = 5
"""Bytes of a brand that tell servers apart."""


def put_on(server: str) -> None:
    """Brand this process, and so all that it will start, as those of a server. A lower limit is left as it is."""
    if sys.platform == "linux":
        most = resource.getrlimit(resource.RLIMIT_RSS)[1]
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_RSS, (brand(server), most))


def seen_on(pid: int) -> int | None:
    """The brand of a process, if it has one and is not somebody else's."""
    if sys.platform == "linux":
        with suppress(OSError):
            limit = resource.prlimit(pid, resource.RLIMIT_RSS)[0]
            return limit if limit >> 8 * BYTES == KIND else None
    return None


def brand(server: str) -> int:
    """The brand of a server."""
    return KIND << 8 * BYTES | int.from_bytes(hashlib.blake2b(server.encode(), digest_size=BYTES).digest(), "big")
