"""The words for an error of the validator: a sentence without its full stop. Pure.

Another keyword with words of its own is one line in `_MESSAGES`.
"""

import json
from collections.abc import Mapping, Sequence

from jsonschema import ValidationError

from gemini_mcp.report.values import shortened, shown
from gemini_mcp.spec.values import Json, inside, items, table

_MESSAGES: Mapping[str, str] = {
    "additionalProperties": "{extra} is not allowed here",
    "const": "{value} should be {wanted}",
    "enum": "{value} is not one of {wanted}",
    "exclusiveMaximum": "{value} is not less than {wanted}",
    "exclusiveMinimum": "{value} is not more than {wanted}",
    "format": "{value} is no {wanted}",
    "maximum": "{value} is more than {wanted}",
    "maxItems": "{value} has more than {wanted} entries",
    "maxLength": "{value} is longer than {wanted} characters",
    "minimum": "{value} is less than {wanted}",
    "minItems": "{value} has fewer than {wanted} entries",
    "minLength": "{value} is shorter than {wanted} characters",
    "pattern": "{value} does not match {wanted}",
    "required": "{missing} is missing",
    "type": "{value} is not of the type {wanted}",
    "uniqueItems": "{value} holds a value twice",
}
"""What is said of a value that breaks a keyword; every value stands there as JSON."""


def message(error: ValidationError) -> str:
    """What is wrong with the value, with both sides as JSON."""
    keyword, wanted, value = str(error.validator), error.validator_value, error.instance
    said = _MESSAGES.get(keyword, "{value} is not allowed by `{keyword}` {wanted}")
    extra = [name for name in table(value) if name not in table(inside(error.schema, "properties"))]
    missing = [name for name in items(wanted) if name not in table(value)] if keyword == "required" else []
    words = {"value": value, "wanted": wanted}
    names = {"extra": _listed(extra), "missing": _listed(missing), "keyword": keyword}
    return said.format(**{name: shown(word) for name, word in words.items()}, **names)


def _listed(names: Sequence[Json]) -> str:
    return shortened(", ".join(json.dumps(name, ensure_ascii=False) for name in names))
