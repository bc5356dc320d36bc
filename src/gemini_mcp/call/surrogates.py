"""Removes from JSON values what JSON in UTF-8 cannot carry: lone surrogates, NaN and infinities. Pure."""

from math import isfinite
from typing import cast

from gemini_mcp.spec.values import SURROGATE, Json


def without_surrogates(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which JSON can write as an escape but UTF-8 cannot encode."""
    return text if text.isascii() else SURROGATE.sub("\ufffd", text)


def encodable(value: Json, levels: int = 1000) -> Json:
    """The value without lone surrogates; NaN, infinities and what is nested deeper than `levels` become null."""
    if isinstance(value, list | dict) and not levels:
        return None
    if isinstance(value, list):
        return [encodable(item, levels - 1) for item in cast("list[Json]", value)]
    if isinstance(value, dict):
        items = cast("dict[str, Json]", value).items()
        return {without_surrogates(name): encodable(item, levels - 1) for name, item in items}
    if isinstance(value, float) and not isfinite(value):
        return None
    return without_surrogates(value) if isinstance(value, str) else value
