"""Validators: JSON Schemas in, violations by an instance out. Pure.

The one place that speaks to `jsonschema`. Formats are asserted, because a port's validator may assert them too.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import UnknownType
from referencing.exceptions import Unresolvable

from gemini_mcp.spec.values import Json, is_object
from gemini_mcp_spec.files.positions import Path
from gemini_mcp_spec.schema.inline import RECURSIVE, canonical, inline
from gemini_mcp_spec.schema.metaschema import metaschema

_LONGEST_MESSAGE = 240


class Validator(Protocol):
    """What is used of a `jsonschema` validator."""

    def is_valid(self, instance: Json) -> bool: ...

    def iter_errors(self, instance: Json) -> Iterator[ValidationError]: ...


@dataclass(frozen=True)
class Violation:
    """One thing that an instance has wrong: where, by which keyword of the schema, and in words."""

    path: Path
    keyword: str
    schema_path: Path
    message: str


def validator(schema: Json) -> Validator:
    """A validator of `schema`."""
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


def violations(validator: Validator, instance: Json) -> Iterator[Violation]:
    """Every violation by `instance`, for a choice of schemas the one that came nearest."""
    for error in _errors(validator, instance):
        if isinstance(error, Unresolvable):
            yield Violation((), "$ref", (), f"its schema refers to {error.ref!r}, which does not exist")
            return
        nearest = _nearest(error)
        yield Violation(
            path=tuple(nearest.absolute_path),
            keyword=str(nearest.validator),
            schema_path=tuple(error.absolute_schema_path),
            message=_short(nearest.message),
        )


def _errors(validator: Validator, instance: Json) -> Iterator[ValidationError | Unresolvable]:
    try:
        yield from validator.iter_errors(instance)
    except Unresolvable as error:
        yield error


def _nearest(error: ValidationError) -> ValidationError:
    """The error inside a choice of schemas that lies deepest, in the branch that has fewest."""
    while error.context:
        branches = Counter(_branch(inner) for inner in error.context)
        error = min(error.context, key=lambda inner: (-len(inner.absolute_path), branches[_branch(inner)]))
    return error


def _branch(error: ValidationError) -> str | int | None:
    return next(iter(error.schema_path), None)


def schema_violation(schema: Json) -> Violation | None:
    """What is wrong with `schema` as a JSON Schema, if anything."""
    return _schema_violation(canonical(schema))


@lru_cache(maxsize=256)
def _schema_violation(text: str) -> Violation | None:
    return next(violations(validator(metaschema()), json.loads(text)), None)


def is_valid(instance: Json, schema: Json) -> bool | None:
    """Whether `schema` accepts `instance`; None where that cannot be decided."""
    text = canonical(schema)
    return None if RECURSIVE in text else _judged(_validator(text), instance)


@lru_cache(maxsize=4096)
def _validator(schema: str) -> Validator:
    return validator(json.loads(schema))


def accepts(validator: Validator, instance: Json) -> bool:
    """Whether `instance` is known to be valid."""
    return _judged(validator, instance) is True


def _judged(validator: Validator, instance: Json) -> bool | None:
    try:
        return validator.is_valid(instance)
    except (Unresolvable, UnknownType, RecursionError, ArithmeticError, ValueError, re.error):
        return None


def by_kind(metas: Mapping[str, Json]) -> Mapping[str, Validator]:
    """The validator of every kind, from the documents of `meta/`; references are followed once, not for each value."""
    others = {schema["$id"]: schema for schema in metas.values() if is_object(schema) and "$id" in schema}
    return {_kind(path): validator(inline(schema, others)) for path, schema in metas.items()}


def _kind(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".schema.json")


def _short(message: str) -> str:
    if len(message) <= _LONGEST_MESSAGE:
        return message
    half = _LONGEST_MESSAGE // 2
    return f"{message[:half]} … {message[-half:]}"
