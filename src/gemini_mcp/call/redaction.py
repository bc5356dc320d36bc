"""Removes private texts and keys from a text before it is shown. Pure.

The caller says what is private. Only ways to recognise a copy of it belong here.
"""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias
from urllib.parse import quote, quote_plus

from gemini_mcp.spec.wording import OutcomeSpec

SHORT = 8
"""A private text shorter than this is removed only where it is a whole word: the letter `a` cannot go everywhere."""

LEFT_AS_THEY_ARE = ("", "/", "!'()*", ";,/?:@&=+$!'()*#")
"""What is not percent-encoded: in queries, in paths, and by `encodeURIComponent` and `encodeURI` of JavaScript."""

Forms: TypeAlias = tuple[tuple[str, str], ...]
"""How private texts appear, each with what is shown in its place."""


@dataclass(frozen=True)
class Secrets:
    """Texts of the caller that must not be shown, and values of variables that hold keys."""

    private: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


def keys_in(environ: Mapping[str, str], spec: OutcomeSpec) -> tuple[str, ...]:
    """The values of variables whose names say that they are secret."""
    name = re.compile(spec.secret_names)
    return tuple(value for variable, value in environ.items() if len(value) >= SHORT and name.search(variable))


def withhold(text: str, secrets: Secrets, spec: OutcomeSpec) -> str:
    """`text` without copies of what is private."""
    for form, replacement in forms_of(secrets, spec):
        text = _replace(text, form, replacement)
    return text


def forms_of(secrets: Secrets, spec: OutcomeSpec) -> Forms:
    """How all that is private may appear, with what is shown in its place."""
    # The longest first, since one may hold another, and one key begin with another.
    texts = sorted(secrets.private, key=len, reverse=True)
    private = [(copy, spec.private) for text in texts for copy in _copies(text)]
    return (*private, *((form, spec.masked) for form in _forms_of_keys(secrets.keys)))


@lru_cache(maxsize=1)
def _forms_of_keys(keys: tuple[str, ...]) -> tuple[str, ...]:
    """How keys may appear, which are the same for all calls; the longest form first."""
    return tuple(sorted({form for key in keys for form in _forms(key)}, key=len, reverse=True))


def withhold_parts(text: str, forms: Forms) -> str:
    """`text`, which is a piece of a longer one, without what is private and without parts of it at its ends."""
    for form, replacement in forms:
        text = _without_parts(_replace(text, form, replacement), form, replacement)
    return text


def mask(text: str, spec: OutcomeSpec) -> str:
    """`text` without anything that looks like a key."""
    for pattern in spec.masks:
        text = re.sub(pattern, lambda _: spec.masked, text)
    return text


def _copies(private: str) -> list[str]:
    """How a private text may appear: as it is, stripped, and escaped as in JSON; the longest form first.

    A blank one tells nothing, and stands everywhere.
    """
    forms = {private, private.strip()} if private.strip() else set[str]()
    forms |= {_in_json(form, ascii_only) for form in tuple(forms) for ascii_only in (True, False)}
    return sorted((form for form in forms if form), key=len, reverse=True)


def _forms(key: str) -> Iterator[str]:
    """How a key may appear: as it is, escaped as in JSON and in JSON within JSON, percent-encoded as a whole or where
    it must be, in hexadecimal, and inside a text that is in base64.
    """
    yield key
    escaped = [_in_json(key, ascii_only) for ascii_only in (True, False)]
    yield from (*escaped, *(_in_json(form, ascii_only=False) for form in escaped))
    raw = key.encode("utf-8", "surrogateescape")
    yield from (raw.hex(), raw.hex().upper())
    percents = (*(quote(raw, safe=safe) for safe in LEFT_AS_THEY_ARE), quote_plus(raw), _in_form(raw), _whole(raw))
    for percent in percents:
        yield from (percent, re.sub("%..", lambda code: code[0].lower(), percent))
    for before, cut in enumerate((0, 2, 3)):
        # Three bytes are four characters. What stands before the key shifts it, and shares the first character.
        whole = (before + len(raw)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(before) + raw)[cut:whole].decode("ascii")


def _in_json(text: str, ascii_only: bool) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def _whole(raw: bytes) -> str:
    """Every byte percent-encoded."""
    return "".join(f"%{byte:02X}" for byte in raw)


def _in_form(raw: bytes) -> str:
    """How browsers and Node send a value in a form."""
    return quote_plus(raw, safe="*").replace("~", "%7E")


def _replace(text: str, copy: str, replacement: str) -> str:
    if len(copy) >= SHORT:
        return text.replace(copy, replacement)
    return re.sub(rf"(?<!\w){re.escape(copy)}(?!\w)", lambda _: replacement, text)


def _without_parts(text: str, form: str, replacement: str) -> str:
    if len(form) < SHORT or len(text) < SHORT:
        return text
    if text in form:
        return replacement
    begins = next((size for size in _ends(form[-len(text) :], text[:SHORT]) if text.startswith(form[-size:])), 0)
    text = replacement + text[begins:] if begins else text
    ends = next((size for size in _ends(text[-len(form) :], form[:SHORT]) if form.startswith(text[-size:])), 0)
    return text[:-ends] + replacement if ends else text


def _ends(text: str, beginning: str) -> Iterator[int]:
    """How long the ends of `text` are that begin so; the longest first."""
    start = text.find(beginning)
    while start >= 0:
        yield len(text) - start
        start = text.find(beginning, start + 1)
