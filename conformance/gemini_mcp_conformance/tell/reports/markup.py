"""HTML as values: text becomes Markup only when it is escaped. Pure, except for the reading of two files, once.

A page needs no other file: its style and its script, which lie beside this module, are written into it.
"""

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources

from gemini_mcp_conformance.tell.reports.printable import printable

VOID = frozenset({"br", "input", "meta"})


class Markup(str):
    """Text that is HTML."""


def element(name: str, /, *content: str, **attributes: str | bool | None) -> Markup:
    """One element; content that is not Markup is escaped. `class_` is `class`, `aria_label` is `aria-label`."""
    written = "".join(_attribute(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(content)}</{name}>")


def joined(parts: Iterable[str]) -> Markup:
    """Several pieces of content, one after the other."""
    return Markup("".join(part if isinstance(part, Markup) else html.escape(printable(part)) for part in parts))


def prose(text: str) -> Markup:
    """Sentences in which backticks mark code."""
    parts = re.split(r"`([^`\n]+)`", text)
    return joined(element("code", part) if index % 2 else part for index, part in enumerate(parts))


def definitions(values: Mapping[str, str]) -> Markup:
    """Names and values, side by side."""
    return element("dl", *(element("div", element("dt", name), element("dd", text)) for name, text in values.items()))


def page(title: str, *body: str) -> Markup:
    """A whole page with its style and its script inside, which allows itself no other."""
    style, script = _asset("page.css"), _asset("page.js")
    policy = f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(style)),
    )
    whole = element("html", head, element("body", *body, element("script", Markup(script))), lang="en")
    return Markup(f"<!doctype html>\n{whole}\n")


def _attribute(name: str, value: str | bool | None) -> str:
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{html.escape(printable(value))}"'


@cache
def _asset(name: str) -> str:
    return resources.files("gemini_mcp_conformance.tell.reports").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
