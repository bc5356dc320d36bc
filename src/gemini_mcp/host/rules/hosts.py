"""Hosts of URLs as the URL Standard of the WHATWG has them read: names, IPv4 and IPv6 addresses. Pure."""

import ipaddress
import re
import unicodedata
from urllib.parse import unquote_to_bytes

import idna

_FORBIDDEN = re.compile(r"[\x00\t\n\r #/:<>?@\[\\\]^|]")
_FORBIDDEN_IN_NAME = re.compile(r"[\x00-\x20#/:<>?@\[\\\]^|%\x7f]")
_NUMBER = re.compile(r"0[xX][0-9A-Fa-f]*|[0-9]+", re.ASCII)


class InvalidUrl(ValueError):
    """The text is no URL."""

    def __init__(self) -> None:
        super().__init__("Invalid URL")


def utf8(text: str) -> bytes:
    """The bytes of the text; a lone surrogate becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")


def special_host(text: str) -> str:
    """The host of a URL whose scheme is known: a name in ASCII, or an address; raises InvalidUrl."""
    if text.startswith("["):
        return _ipv6(text)
    name = _ascii(unquote_to_bytes(utf8(text)).decode("utf-8", "replace"))
    if not name or _FORBIDDEN_IN_NAME.search(name):
        raise InvalidUrl
    return _ipv4(name) if _ends_in_number(name) else name


def opaque_host(text: str) -> str:
    """The host of any other URL."""
    if text.startswith("["):
        return _ipv6(text)
    if _FORBIDDEN.search(text):
        raise InvalidUrl
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else f"%{byte:02X}" for byte in utf8(text))


def _ascii(name: str) -> str:
    """The name with each label beyond ASCII as Punycode."""
    try:
        mapped = name.lower() if name.isascii() else idna.uts46_remap(name, std3_rules=False, transitional=False)
        return ".".join(_label(label) for label in mapped.split("."))
    except (idna.IDNAError, UnicodeError):
        raise InvalidUrl from None


def _label(label: str) -> str:
    # UTS 46 refuses a label that begins with a combining mark, and Punycode of what it would map.
    if label and unicodedata.category(label[0]).startswith("M"):
        raise InvalidUrl
    if not label.isascii() and label.startswith("xn--"):
        raise InvalidUrl
    if not label.isascii():
        return f"xn--{label.encode('punycode').decode('ascii')}"
    if label.startswith("xn--") and not _is_punycode(label[4:].encode("ascii").decode("punycode")):
        raise InvalidUrl
    return label


def _is_punycode(name: str) -> bool:
    """Whether a label of Punycode may stand for the name: one beyond ASCII that UTS 46 leaves as it is."""
    return not name.isascii() and idna.uts46_remap(name, std3_rules=False, transitional=False) == name


def _ends_in_number(name: str) -> bool:
    labels = name.split(".")
    if labels[-1] == "" and len(labels) > 1:
        labels.pop()
    return re.fullmatch(r"[0-9]+|0[xX][0-9A-Fa-f]*", labels[-1]) is not None


def _ipv4(name: str) -> str:
    parts = name.removesuffix(".").split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        raise InvalidUrl
    numbers = [_number(part) for part in parts]
    # The last part fills the bytes that are left: `127.1` is 127.0.0.1.
    whole = sum(number << (8 * (3 - index)) for index, number in enumerate(numbers[:-1])) + numbers[-1]
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= 256 ** (5 - len(numbers)):
        raise InvalidUrl
    return str(ipaddress.IPv4Address(whole))


def _number(part: str) -> int:
    try:
        if part[:2] in ("0x", "0X"):
            return int(part[2:] or "0", 16)
        # A leading zero means octal: `010` is 8.
        return int(part, 8 if len(part) > 1 and part.startswith("0") else 10)
    except ValueError:
        raise InvalidUrl from None


def _ipv6(text: str) -> str:
    if not text.endswith("]") or "%" in text:
        raise InvalidUrl
    try:
        address = ipaddress.IPv6Address(text[1:-1])
    except ValueError:
        raise InvalidUrl from None
    return f"[{_compressed(address)}]"


def _compressed(address: ipaddress.IPv6Address) -> str:
    """The address in groups of hexadecimal digits; `str` writes the last two groups of some addresses as IPv4."""
    groups = [f"{int(group, 16):x}" for group in address.exploded.split(":")]
    runs = re.findall(r"(?:0,)+", "".join(f"{group}," if group == "0" else "x," for group in groups))
    longest = max(runs, key=len, default="")
    # Two groups of zeros or more are written as `::`; a group counts two characters here.
    if len(longest) < 4:
        return ":".join(groups)
    zeros = len(longest) // 2
    start = next(place for place in range(9 - zeros) if groups[place : place + zeros] == ["0"] * zeros)
    return f"{':'.join(groups[:start])}::{':'.join(groups[start + zeros :])}"
