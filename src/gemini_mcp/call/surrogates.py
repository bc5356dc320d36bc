"""Removes from JSON values what JSON in UTF-8 cannot carry: lone surrogates, NaN and infinities. Pure."""

from math import isfinite
from typing import cast

from gemini_mcp.spec.values import SURROGATE, Json


def without_surrogates(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which JSON can write as an escape but UTF-8 cannot encode."""
    return text if text.isascii() else SURROGATE.sub("\ufffd", text)


def encodable(value: Json) -> Json:
    """The value without lone surrogates; the NaN and infinities that Python's decoder accepts become null."""
    if isinstance(value, list):
        return [encodable(item) for item in cast("list[Json]", value)]
    if isinstance(value, dict):
        return {without_surrogates(name): encodable(item) for name, item in cast("dict[str, Json]", value).items()}
    if isinstance(value, float) and not isfinite(value):
        return None
    return without_surrogates(value) if isinstance(value, str) else value
