"""URLs as the WHATWG parser reads them, as far as a server's address needs it. Pure."""

import re
from dataclasses import dataclass
from urllib.parse import quote

_ABSOLUTE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_DEFAULT_PORT = {"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21"}
_KEPT = "!$&'()*+,;=:@/%[]~|^"


class InvalidUrl(ValueError):
    """The text is no URL."""

    def __init__(self) -> None:
        super().__init__("Invalid URL")


@dataclass(frozen=True)
class Url:
    """A parsed URL: `host` has the port unless it is the scheme's own, `path` begins with a slash, `user` ends with
    an at sign."""

    scheme: str
    host: str
    path: str
    query: str = ""
    user: str = ""

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}"

    @property
    def hostname(self) -> str:
        return self.host.rsplit(":", 1)[0] if re.search(r":\d+$", self.host) else self.host

    @property
    def port(self) -> int | None:
        match = re.search(r":(\d+)$", self.host)
        return int(match.group(1)) if match else None

    def __str__(self) -> str:
        separator = "://" if self.scheme in _DEFAULT_PORT else ":"
        return f"{self.scheme}{separator}{self.user}{self.host}{self.path}{self.query}"


def parse(text: str) -> Url:
    """The URL the text is; raises InvalidUrl."""
    match = _ABSOLUTE.fullmatch(text.strip())
    if match is None:
        raise InvalidUrl
    scheme, rest = match.group(1).lower(), match.group(2)
    if scheme not in _DEFAULT_PORT:
        return Url(scheme, "", rest)
    authority, path, query = _cut(rest.lstrip("/\\").partition("#")[0])
    user, at, host = authority.rpartition("@")
    whole = quote(_without_dots(path.replace("\\", "/") or "/"), safe=_KEPT)
    return Url(scheme, _host(scheme, host), whole, quote(query, safe=_KEPT + "?"), user + at)


def _cut(rest: str) -> tuple[str, str, str]:
    end = min((place for place in map(rest.find, "/\\?") if place >= 0), default=len(rest))
    path, mark, query = rest[end:].partition("?")
    return rest[:end], path, mark + query


def _without_dots(path: str) -> str:
    """The path without segments that mean the same place or the one above."""
    kept: list[str] = []
    segments = path.removeprefix("/").split("/")
    for index, segment in enumerate(segments):
        dots = segment.lower().replace("%2e", ".")
        if dots == "..":
            kept = kept[:-1]
        if dots not in (".", ".."):
            kept.append(segment)
        elif index == len(segments) - 1:
            kept.append("")
    return "/" + "/".join(kept)


def _host(scheme: str, host: str) -> str:
    name, colon, port = host.rpartition(":") if re.search(r":\d*$", host) else (host, "", "")
    name = _ascii(name.lower())
    if not name or re.search(r"[\s#%<>^|\\]", name) or (port and int(port) > 65535):
        raise InvalidUrl
    kept = f":{int(port)}" if colon and port and port != _DEFAULT_PORT[scheme] else ""
    return f"{name}{kept}"


def _ascii(name: str) -> str:
    try:
        return name if name.isascii() else name.encode("idna").decode("ascii")
    except UnicodeError:
        raise InvalidUrl from None
