"""Validators of JSON Schemas, and what an instance violates. Pure.

The one place that speaks to `jsonschema`. Formats are asserted, because a port's validator may assert them too.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Protocol, cast

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import UnknownType
from jsonschema.validators import extend  # pyright: ignore[reportUnknownVariableType]
from referencing import Registry
from referencing.exceptions import CannotDetermineSpecification, Unresolvable

from gemini_mcp.report.positions import Path
from gemini_mcp.schema.equality import key, keys
from gemini_mcp.schema.inline import LARGEST, RECURSIVE, canonical, inline, size
from gemini_mcp.schema.messages import extra_names, message
from gemini_mcp.schema.metaschema import metaschema
from gemini_mcp.schema.references import faults
from gemini_mcp.spec.values import Json, inside, is_array

_UNDECIDED = (
    Unresolvable,
    CannotDetermineSpecification,
    UnknownType,
    RecursionError,
    ArithmeticError,
    ValueError,
    re.error,
)
"""What a validator raises on a schema that means nothing to it."""


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


def _enum(_: object, values: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:
    if key(instance) not in keys(values):
        yield ValidationError("is not one of them")


def _unique(_: object, is_unique: Json, instance: Json, schema: Json) -> Iterator[ValidationError]:
    if is_unique and is_array(instance) and len(keys(instance)) < len(instance):
        yield ValidationError("holds a value twice")


_Closed = cast("Callable[..., Validator]", extend(Draft202012Validator, {"enum": _enum, "uniqueItems": _unique}))
"""As the library's, but the time that arrays take does not grow with the square of their values."""

_NOTHING_FETCHED: Registry[Json] = Registry()


def validator(schema: Json) -> Validator:
    """A validator of `schema`, which opens no file and no connection whatever it refers to."""
    return _Closed(schema, registry=_NOTHING_FETCHED, format_checker=Draft202012Validator.FORMAT_CHECKER)


def violations(validator: Validator, instance: Json) -> Iterator[Violation]:
    """Every violation by `instance`, for a choice of schemas the one that came nearest."""
    for error in _errors(validator, instance):
        if error is None:
            yield Violation((), "$ref", (), "its schema cannot be followed to an end")
            return
        nearest = _nearest(error)
        extra = extra_names(nearest)[:1] if nearest.validator == "additionalProperties" else []
        yield Violation(
            path=(*nearest.absolute_path, *extra),
            keyword=str(nearest.validator),
            schema_path=tuple(error.absolute_schema_path),
            message=message(nearest),
        )


def _errors(validator: Validator, instance: Json) -> Iterator[ValidationError | None]:
    try:
        yield from validator.iter_errors(instance)
    except _UNDECIDED:
        yield None


def _nearest(error: ValidationError) -> ValidationError:
    """The error inside a choice of schemas that lies deepest, in the branch that has fewest."""
    while error.context:
        # The branch that was meant fails deeper inside, and at fewer places.
        branches = Counter(_branch(inner) for inner in error.context)
        error = min(error.context, key=lambda inner: (-len(inner.absolute_path), branches[_branch(inner)]))
    return error


def _branch(error: ValidationError) -> str | int | None:
    return next(iter(error.schema_path), None)


def schema_violation(schema: Json, others: Mapping[str, Json] | None = None) -> Violation | None:
    """Why `schema` cannot be used, if so: it is no JSON Schema, too large, or refers to what is not there."""
    return beside(others or {})(schema)


def beside(others: Mapping[str, Json]) -> Callable[[Json], Violation | None]:
    """Why a schema cannot be used, if so, where it may refer to these documents."""
    known = canonical(others)
    return lambda schema: _schema_violation(canonical(schema), known)


@lru_cache(maxsize=256)
def _schema_violation(text: str, others_text: str) -> Violation | None:
    schema, others = json.loads(text), json.loads(others_text)
    if violation := next(violations(validator(metaschema()), schema), None):
        return violation
    for path, why in faults(schema, others):
        return Violation(path, "$ref", (), why)
    if max(size(schema), size(inline(schema, others))) > LARGEST:
        return Violation((), "size", (), f"it holds more than {LARGEST} values, so nothing can be proven of it")
    return None


def is_valid(instance: Json, schema: Json) -> bool | None:
    """Whether `schema` accepts `instance`; None where that cannot be decided."""
    return judge(schema)(instance)


def judge(schema: Json) -> Callable[[Json], bool | None]:
    """Whether `schema` accepts the value that is asked about; None where that cannot be decided."""
    text = canonical(schema)
    return (lambda instance: None) if RECURSIVE in text else partial(_judged, _validator(text))


@lru_cache(maxsize=4096)
def _validator(schema: str) -> Validator:
    return validator(json.loads(schema))


def accepts(validator: Validator, instance: Json) -> bool:
    """Whether `instance` is known to be valid."""
    return _judged(validator, instance) is True


def _judged(validator: Validator, instance: Json) -> bool | None:
    try:
        return validator.is_valid(instance)
    except _UNDECIDED:
        return None


def by_kind(metas: Mapping[str, Json]) -> Mapping[str, Validator]:
    """The validator of every kind whose document in `meta/` can be used; references are followed once."""
    others = by_id(metas)
    violation = beside(others)
    sound = {path: schema for path, schema in metas.items() if violation(schema) is None}
    return {_kind(path): validator(inline(schema, others)) for path, schema in sound.items()}


def by_id(metas: Mapping[str, Json]) -> Mapping[str, Json]:
    """The documents of `meta/` by the name under which they refer to each other."""
    return {schema["$id"]: schema for schema in metas.values() if isinstance(inside(schema, "$id"), str)}


def _kind(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".schema.json")
