"""Takes what is private out of a text before it is shown: text in, text out. Pure.

What counts as private is given; only ways to recognise a copy of it belong here.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from gemini_mcp.spec.wording import OutcomeSpec

SHORT = 8
"""A private text below this length is taken out only as a word of its own, or the rest would become unreadable."""


@dataclass(frozen=True)
class Secrets:
    """Texts of the caller that must not be echoed, and values of the operator that look like keys."""

    private: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


def keys_in(environ: Mapping[str, str], spec: OutcomeSpec) -> tuple[str, ...]:
    """The values of those variables whose names say that they are secret."""
    name = re.compile(spec.secret_names)
    return tuple(value for variable, value in environ.items() if len(value) >= SHORT and name.search(variable))


def withhold(text: str, secrets: Secrets, spec: OutcomeSpec) -> str:
    """`text` without copies of what is known to be private."""
    for private in secrets.private:
        for copy in _copies(private):
            text = _replace(text, copy, spec.private)
    for key in sorted(secrets.keys, key=len, reverse=True):
        text = text.replace(key, spec.masked)
    return text


def mask(text: str, spec: OutcomeSpec) -> str:
    """`text` without anything that looks like a key."""
    for pattern in spec.masks:
        text = re.sub(pattern, lambda _: spec.masked, text)
    return text


def _copies(private: str) -> list[str]:
    """The text as it is, without blanks around it, and as JSON writes it; the longest first."""
    forms = {private, private.strip()}
    forms |= {json.dumps(form, ensure_ascii=ascii_only)[1:-1] for form in tuple(forms) for ascii_only in (True, False)}
    return sorted((form for form in forms if form), key=len, reverse=True)


def _replace(text: str, copy: str, replacement: str) -> str:
    if len(copy) >= SHORT:
        return text.replace(copy, replacement)
    return re.sub(rf"(?<!\w){re.escape(copy)}(?!\w)", lambda _: replacement, text)
