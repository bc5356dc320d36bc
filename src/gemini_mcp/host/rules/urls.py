"""URLs as the URL Standard of the WHATWG has them read, as far as a server's address needs it. Pure.

What a host may be is in `hosts`.
"""

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from gemini_mcp.host.rules.hosts import InvalidUrl, opaque_host, special_host, utf8

__all__ = ["InvalidUrl", "Url", "encode_form", "parse", "with_query"]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_DEFAULT_PORT = {"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21", "file": ""}
_ENDS = "".join(map(chr, range(0x21)))
"""What is cut off at both ends of a URL."""

_QUERY = ' "#<>'
_SPECIAL_QUERY = f"{_QUERY}'"
_PATH = f"{_QUERY}?`{{}}"
_USER = f"{_PATH}/:;=@[\\]^|"
_SINGLE_DOT, _DOUBLE_DOT = re.compile(r"(?:\.|%2e)", re.I), re.compile(r"(?:\.|%2e){2}", re.I)


@dataclass(frozen=True)
class Url:
    """A parsed URL: `host` has the port unless it is the scheme's own, `user` ends with an at sign; a URL without a
    host has only a path."""

    scheme: str
    host: str | None
    path: str
    query: str = ""
    user: str = ""
    fragment: str = ""

    @property
    def origin(self) -> str:
        """The scheme and host, as Gemini CLI puts them together itself."""
        return f"{self.scheme}://{self.host or ''}"

    @property
    def hostname(self) -> str:
        host = self.host or ""
        return host.rsplit(":", 1)[0] if re.search(r":\d+$", host) else host

    @property
    def port(self) -> int | None:
        match = re.search(r":(\d+)$", self.host or "")
        return int(match.group(1)) if match else None

    def __str__(self) -> str:
        authority = "" if self.host is None else f"//{self.user}{self.host}"
        return f"{self.scheme}:{authority}{self.path}{self.query}{self.fragment}"


def parse(text: str) -> Url:
    """The URL the text is; raises InvalidUrl."""
    match = _SCHEME.fullmatch(re.sub(r"[\t\n\r]", "", text.strip(_ENDS)))
    if match is None:
        raise InvalidUrl
    scheme = match.group(1).lower()
    rest, hash_mark, fragment = match.group(2).partition("#")
    shown = hash_mark + _escaped(fragment, ' "<>`') if fragment or hash_mark else ""
    return _special(scheme, rest, shown) if scheme in _DEFAULT_PORT else _other(scheme, rest, shown)


def with_query(url: Url, values: dict[str, str]) -> str:
    """The URL with the values after those that its query has, all written as a form."""
    known = parse_qsl(url.query.removeprefix("?"), keep_blank_values=True)
    return (
        f"{Url(url.scheme, url.host, url.path, f'?{encode_form([*known, *values.items()])}', url.user, url.fragment)}"
    )


def encode_form(pairs: list[tuple[str, str]]) -> str:
    """The pairs as a form or a query."""
    # The form encoding of the URL Standard leaves `*` and escapes `~`; Python's does the reverse.
    return urlencode([(key, utf8(value)) for key, value in pairs], safe="*").replace("~", "%7E")


def _special(scheme: str, rest: str, fragment: str) -> Url:
    place, mark, query = rest.partition("?")
    shown = mark + _escaped(query, _SPECIAL_QUERY)
    if scheme == "file":
        authority, path = _file_parts(place.replace("\\", "/"))
        return Url(scheme, special_host(authority) if authority else "", _resolved(path), shown, "", fragment)
    # In http and its like, backslashes are slashes, and any number of them may follow the colon.
    authority, slash, path = place.replace("\\", "/").lstrip("/").partition("/")
    user, at, host = authority.rpartition("@")
    return Url(scheme, _with_port(scheme, host), _resolved(slash + path), shown, _user(user) if at else "", fragment)


def _file_parts(place: str) -> tuple[str, str]:
    if not place.startswith("//"):
        return "", place
    authority, slash, path = place[2:].partition("/")
    return ("" if authority.lower() == "localhost" else authority), slash + path


def _other(scheme: str, rest: str, fragment: str) -> Url:
    place, mark, query = rest.partition("?")
    shown = mark + _escaped(query, _QUERY)
    if not place.startswith("/"):
        return Url(scheme, None, _escaped(place, ""), shown, "", fragment)
    if not place.startswith("//"):
        return Url(scheme, None, _resolved(place), shown, "", fragment)
    authority, slash, path = place[2:].partition("/")
    user, at, host = authority.rpartition("@")
    whole = _resolved(slash + path) if slash else ""
    return Url(scheme, _with_port(scheme, host), whole, shown, _user(user) if at else "", fragment)


def _with_port(scheme: str, host: str) -> str:
    match = re.fullmatch(r"(.*?)(?::(\d*))?", host, re.DOTALL | re.ASCII)
    name, port = (match[1], match[2] or "") if match else (host, "")
    is_special = scheme in _DEFAULT_PORT
    if (port and int(port) > 65535) or (not name and (is_special or ":" in host)):
        raise InvalidUrl
    read = special_host(name) if is_special else opaque_host(name)
    return f"{read}:{int(port)}" if port and str(int(port)) != _DEFAULT_PORT.get(scheme) else read


def _user(user: str) -> str:
    name, _, password = user.partition(":")
    shown = _escaped(name, _USER) + (f":{_escaped(password, _USER)}" if password else "")
    return f"{shown}@" if shown else ""


def _resolved(path: str) -> str:
    """The path without segments that mean the same place or the one above."""
    kept: list[str] = []
    segments = path.replace("\\", "/").removeprefix("/").split("/")
    for index, segment in enumerate(segments):
        is_last = index == len(segments) - 1
        if _DOUBLE_DOT.fullmatch(segment):
            kept = kept[:-1]
        if not (_SINGLE_DOT.fullmatch(segment) or _DOUBLE_DOT.fullmatch(segment)):
            kept.append(_escaped(segment, _PATH))
        elif is_last:
            kept.append("")
    return "/" + "/".join(kept)


def _escaped(text: str, marks: str) -> str:
    """The text with the marks, controls and everything beyond ASCII as percent escapes."""
    kept = (chr(byte) if 0x20 <= byte < 0x7F and chr(byte) not in marks else f"%{byte:02X}" for byte in utf8(text))
    return "".join(kept)
