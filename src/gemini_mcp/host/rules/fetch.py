"""The addresses and headers that `fetch` of Node refuses before it connects, as the Fetch Standard has it. Pure."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain

from gemini_mcp.host.rules.javascript import units
from gemini_mcp.host.rules.urls import Url

BLOCKED_PORTS = frozenset(
    (
        *(1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109),
        *(110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530),
        *(531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045),
        *(4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080),
    )
)
"""Ports of other protocols, which a page of the web must not reach."""

CREDENTIALS = "Request cannot be constructed from a URL that includes credentials: {url}"
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NO_VALUE = re.compile(r"[\0\n\r]")
BLANKS = "\t\n\r "
"""What is cut off at both ends of a header's value."""

_SCHEMES = {
    "file": "not implemented... yet...",
    "about": "about scheme is not supported",
    "blob": "invalid method",
}


@dataclass(frozen=True)
class Refused:
    """What the error says, and what an SSE client makes of it; `{url}` stands for the address."""

    said: str
    said_by_sse: str
    remedy: str


def refused(url: Url) -> Refused | None:
    """Why the address is refused; nothing when it is not."""
    if url.user:
        return Refused(CREDENTIALS, CREDENTIALS, "Pass user and password as a header, with `headers`.")
    if url.scheme not in ("http", "https"):
        cause = _SCHEMES.get(url.scheme, "unknown scheme")
        return _failed(cause, "Give it an address that begins with `http://` or `https://`.")
    if url.port in BLOCKED_PORTS:
        return _failed("bad port", "Let the server listen on another port; browsers block this one, too.")
    return None


def refused_headers(headers: Mapping[str, str], show: Callable[[str], str] = str) -> Refused | None:
    """Why the headers are refused; nothing when they are not. Of a value only what `show` makes of it is said."""
    for text in chain.from_iterable(headers.items()):
        wide = next(((place, unit) for place, unit in enumerate(units(text)) if ord(unit) > 0xFF), None)
        if wide is not None:
            return _of_header(
                f"Cannot convert argument to a ByteString because the character at index {wide[0]} has a value of "
                f"{ord(wide[1])} which is greater than 255."
            )
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            return _of_header(f'Headers.append: "{name}" is an invalid header name.')
        if _NO_VALUE.search(value.strip(BLANKS)):
            return _of_header(f'Headers.append: "{show(value.strip(BLANKS))}" is an invalid header value.')
    return None


def _of_header(said: str) -> Refused:
    kept = said.replace("{", "{{").replace("}", "}}")
    return Refused(kept, kept, "Correct the name or the value in `headers`.")


def _failed(cause: str, remedy: str) -> Refused:
    return Refused("fetch failed", f"TypeError: fetch failed: {cause}", remedy)
