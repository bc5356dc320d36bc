"""Values as messages show them: short, and as JSON. Pure.

Readers of messages know JSON and not Python, so every value in a message is shown by these.
"""

import json

from gemini_mcp.spec.values import ABSENT, Json, is_array, is_object

_LONGEST = 80


def shown(value: Json) -> str:
    """The value as JSON, cut in the middle where it is long."""
    return shortened(json.dumps(abbreviated(value), ensure_ascii=False))


def shown_beside(value: Json, other: Json, longest: int = _LONGEST) -> str:
    """The value as JSON, where it is long cut so that what differs from the other one is seen; or that it is absent."""
    text, beside = (
        repr(one) if one is ABSENT else json.dumps(abbreviated(one), ensure_ascii=False) for one in (value, other)
    )
    if len(text) <= longest:
        return text
    same = next((index for index, pair in enumerate(zip(text, beside, strict=False)) if len({*pair}) > 1), len(beside))
    start = min(max(0, same - longest // 2), len(text) - longest)
    end = start + longest
    return "… " * (start > 0) + text[start:end] + " …" * (end < len(text))


def shortened(text: str) -> str:
    """The text, cut in the middle where it is long."""
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]} … {text[-half:]}"


def abbreviated(value: Json) -> Json:
    """The value with long texts of one character written as the specification writes them."""
    if isinstance(value, str) and len(value) > _LONGEST and len(set(value)) == 1:
        return {"repeat": value[0], "times": len(value)}
    if is_object(value):
        return {key: abbreviated(inner) for key, inner in value.items()}
    return [abbreviated(inner) for inner in value] if is_array(value) else value
