"""Makes of a value from JSON one that JSON in UTF-8 can carry: a value in, one without half characters out. Pure."""

import re
from math import isfinite
from typing import cast

from gemini_mcp.spec.values import Json


def whole(text: str) -> str:
    """JSON can spell half a character, which no UTF-8 can carry."""
    return text if text.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", text)


def sayable(value: Json) -> Json:
    """The value with its texts whole; Python reads numbers that JSON does not have, which become null."""
    if isinstance(value, list):
        return [sayable(item) for item in cast("list[Json]", value)]
    if isinstance(value, dict):
        return {whole(name): sayable(item) for name, item in cast("dict[str, Json]", value).items()}
    if isinstance(value, float) and not isfinite(value):
        return None
    return whole(value) if isinstance(value, str) else value
