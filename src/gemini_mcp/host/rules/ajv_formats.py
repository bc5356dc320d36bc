"""The formats that Ajv knows with `ajv-formats`, as Gemini CLI uses them. Pure.

An IPv6 address inside brackets is taken by its characters; everything else is as exact as there.
"""

import calendar
import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gemini_mcp.host.rules.patterns import Uncompilable, compiled
from gemini_mcp.spec.values import Json

_CHARACTER = r"[a-z0-9\-._~!$&'()*+,;=:@]|%[0-9a-f]{2}"
_HOST = rf"(?:\[[0-9a-f:.v]+\]|(?:{_CHARACTER.replace(':@', '')})*)"
_AUTHORITY = rf"(?:(?:{_CHARACTER.replace(':@', ':')})*@)?{_HOST}(?::\d*)?"
_PATH = rf"(?:{_CHARACTER})+(?:/(?:{_CHARACTER})*)*"
_TAIL = rf"(?:\?(?:{_CHARACTER}|[/?])*)?(?:#(?:{_CHARACTER}|[/?])*)?"
_REST = rf"(?:/?/{_AUTHORITY}(?:/(?:{_CHARACTER})*)*|/(?:{_PATH})?|{_PATH})"
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d(?:\.\d+)?)(z|([+-])(\d\d)(?::?(\d\d))?)?", re.IGNORECASE | re.ASCII)
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)


@dataclass(frozen=True)
class Format:
    """Which values a format is about, and which of them fit."""

    kind: type | tuple[type, ...]
    fits: Callable[[Json], bool]


def _text(pattern: str) -> Format:
    whole = re.compile(pattern, re.IGNORECASE | re.ASCII)
    return Format(str, lambda text: whole.fullmatch(text) is not None)


def _is_date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    if match is None or not 1 <= int(match[2]) <= 12:
        return False
    year, month = int(match[1]), int(match[2])
    days = 29 if month == 2 and calendar.isleap(year) else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]
    return 1 <= int(match[3]) <= days


def _is_time(text: str, needs_zone: bool) -> bool:
    match = _TIME.fullmatch(text)
    if match is None or (needs_zone and match[4] is None):
        return False
    hour, minute, second = int(match[1]), int(match[2]), float(match[3])
    sign, ahead, more = -1 if match[5] == "-" else 1, int(match[6] or 0), int(match[7] or 0)
    if ahead > 23 or more > 59:
        return False
    if hour <= 23 and minute <= 59 and second < 60:
        return True
    # A leap second can only be the last second of a day in UTC (RFC 3339, appendix D).
    utc = minute - more * sign
    utc_hour = hour - ahead * sign - (1 if utc < 0 else 0)
    return utc_hour in (23, -1) and utc in (59, -1) and second < 61


def _is_date_time(text: str, needs_zone: bool) -> bool:
    parts = re.split(r"[tT]|\s", text)
    return len(parts) == 2 and _is_date(parts[0]) and _is_time(parts[1], needs_zone)


def _is_address(kind: type[ipaddress.IPv4Address] | type[ipaddress.IPv6Address]) -> Callable[[Json], bool]:
    def fits(text: Json) -> bool:
        try:
            kind(text)
        except ValueError:
            return False
        return "%" not in text

    return fits


def _is_regex(text: Json) -> bool:
    # To ajv-formats, `\Z` is another language's anchor; at the start of the text it overlooks it.
    if re.search(r"[^\\]\\Z", text):
        return False
    try:
        compiled(text)
    except Uncompilable:
        return False
    return True


def _is_integer(bits: int) -> Callable[[Json], bool]:
    return lambda value: float(value).is_integer() and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)


_NUMBER = (int, float)

FORMATS: Mapping[str, Format] = {
    "date": Format(str, _is_date),
    "time": Format(str, lambda text: _is_time(text, True)),
    "date-time": Format(str, lambda text: _is_date_time(text, True)),
    "iso-time": Format(str, lambda text: _is_time(text, False)),
    "iso-date-time": Format(str, lambda text: _is_date_time(text, False)),
    "duration": _text(r"P(?!$)(?-i:(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?|(\d+W)?)"),
    "uri": Format(str, lambda text: bool(re.search(r"[/:]", text)) and _URI.fits(text)),
    "uri-reference": _text(rf"(?:[a-z][a-z0-9+\-.]*:)?(?:{_REST})?{_TAIL}"),
    "uri-template": _text(
        r"(?:(?:[^\x00-\x20\"'<>%\\^`{|}]|%[0-9a-f]{2})|\{[+#./;?&=,!@|]?(?:[a-z0-9_]|%[0-9a-f]{2})+"
        r"(?::[1-9][0-9]{0,3}|\*)?(?:,(?:[a-z0-9_]|%[0-9a-f]{2})+(?::[1-9][0-9]{0,3}|\*)?)*\})*"
    ),
    "email": _text(
        r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
        r"@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
    ),
    "hostname": _text(
        r"(?=.{1,253}\.?$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[-0-9a-z]{0,61}[0-9a-z])?)*\.?"
    ),
    "ipv4": Format(str, _is_address(ipaddress.IPv4Address)),
    "ipv6": Format(str, _is_address(ipaddress.IPv6Address)),
    "regex": Format(str, _is_regex),
    "uuid": _text(r"(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"),
    "json-pointer": _text(r"(?:/(?:[^~/]|~0|~1)*)*"),
    "relative-json-pointer": _text(r"(?:0|[1-9][0-9]*)(?:#|(?:/(?:[^~/]|~0|~1)*)*)"),
    "byte": _text(r"(?:[a-z0-9+/]{4})*(?:[a-z0-9+/]{2}==|[a-z0-9+/]{3}=)?"),
    "int32": Format(_NUMBER, _is_integer(32)),
    # JavaScript has doubles only: ajv-formats takes any integer for one of 64 bits.
    "int64": Format(_NUMBER, lambda value: float(value).is_integer()),
}

_URI = _text(rf"[a-z][a-z0-9+\-.]*:{_REST}{_TAIL}")
