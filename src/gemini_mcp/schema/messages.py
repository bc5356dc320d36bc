"""The words for an error of the validator: a sentence without its full stop. Pure.

Another keyword with words of its own is one line in `_MESSAGES`.
"""

import json
from collections.abc import Mapping, Sequence

from jsonschema import ValidationError

from gemini_mcp.report.values import shortened, shown
from gemini_mcp.spec.values import Json, inside, items, table

_MESSAGES: Mapping[str, str] = {
    "additionalProperties": "{extra} {are} not allowed here",
    "const": "{value} should be {wanted}",
    "enum": "{value} is not one of {wanted}",
    "exclusiveMaximum": "{value} is not less than {wanted}",
    "exclusiveMinimum": "{value} is not more than {wanted}",
    "format": "{value} is no {wanted}",
    "maximum": "{value} is more than {wanted}",
    "maxItems": "{value} has more than {wanted} {entries}",
    "maxLength": "{value} is longer than {wanted} {characters}",
    "minimum": "{value} is less than {wanted}",
    "minItems": "{value} has fewer than {wanted} {entries}",
    "minLength": "{value} is shorter than {wanted} {characters}",
    "pattern": "{value} does not match {wanted}",
    "required": "{missing} {are} missing",
    "type": "{value} is not of the type {wanted}",
    "uniqueItems": "{value} holds a value twice",
}
"""What is said of a value that breaks a keyword; every value stands there as JSON."""


def message(error: ValidationError) -> str:
    """What is wrong with the value, with both sides as JSON."""
    keyword, wanted, value = str(error.validator), error.validator_value, error.instance
    said = _MESSAGES.get(keyword, "{value} is not allowed by `{keyword}` {wanted}")
    extra = extra_names(error)
    missing = [name for name in items(wanted) if name not in table(value)] if keyword == "required" else []
    words = {"value": shown(value), "wanted": shown(wanted), "keyword": keyword}
    names = {"extra": _listed(extra), "missing": _listed(missing), "are": "is" if len(missing or extra) == 1 else "are"}
    counted = ("character", "entry") if wanted == 1 else ("characters", "entries")
    return said.format(**words, **names, characters=counted[0], entries=counted[1])


def extra_names(error: ValidationError) -> list[str]:
    """The keys of the value that its schema does not name."""
    return [name for name in table(error.instance) if name not in table(inside(error.schema, "properties"))]


def _listed(names: Sequence[Json]) -> str:
    return shortened(", ".join(json.dumps(name, ensure_ascii=False) for name in names))
