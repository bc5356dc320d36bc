"""JSON as it enters: the one alias for it, and the narrowings that turn it into Python types; pure."""

from typing import Any, TypeAlias, cast

Json: TypeAlias = Any
JsonObject: TypeAlias = dict[str, Any]


def object_of(value: Json) -> JsonObject | None:
    """The value when it is a JSON object."""
    return cast(JsonObject, value) if isinstance(value, dict) else None


def list_of(value: Json) -> list[Json] | None:
    """The value when it is a JSON array."""
    return cast(list[Json], value) if isinstance(value, list) else None
