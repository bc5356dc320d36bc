"""Changes of a schema: the old and the new one in, what differs keyword by keyword out. Pure.

Each keyword is judged beside all others: it narrows when what the old schema accepts is not proven to satisfy it.
Keywords that are read together are judged together.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from gemini_mcp.spec.values import Json, is_object
from gemini_mcp_spec.files.positions import Path
from gemini_mcp_spec.schema.conjuncts import GROUPS
from gemini_mcp_spec.schema.containment import contained
from gemini_mcp_spec.schema.inline import ANNOTATIONS, DEFINITIONS, bare, canonical
from gemini_mcp_spec.schema.patterns import Difference, difference

_READ_WITH = {other: keyword for keyword in ("$ref", "if") for other in GROUPS[keyword]}
"""The keyword that speaks for each that is read with it."""

PATTERN = "pattern"
"""The keyword whose values are compared by a search, because there is no proof."""

_LONGEST = 80


@dataclass(frozen=True)
class SchemaChange:
    """One difference: where, by which keyword, and whether fewer or more values are accepted."""

    path: Path
    keyword: str
    narrower: bool
    wider: bool
    message: str
    old: Json
    new: Json


def changes(old: Json, new: Json) -> list[SchemaChange]:
    """How two inlined schemas differ; nothing where they are equal."""
    found = list(_changes(_object(old), _object(new), ()))
    narrower, wider = not contained(bare(old), bare(new)), not contained(bare(new), bare(old))
    kept = [replace(change, narrower=change.narrower and narrower, wider=change.wider and wider) for change in found]
    explained = (any(change.narrower for change in kept), any(change.wider for change in kept))
    is_searched = any(change.keyword == PATTERN and change.old and change.new for change in kept)
    if canonical(bare(old)) != canonical(bare(new)) and explained != (narrower, wider) and not is_searched:
        kept.append(SchemaChange((), "schema", narrower, wider, "the schema is another", bare(old), bare(new)))
    return kept


def _object(schema: Json) -> Mapping[str, Json]:
    if is_object(schema):
        return schema
    return {} if schema is True else {"not": {}}


def _changes(old: Mapping[str, Json], new: Mapping[str, Json], path: Path) -> Iterator[SchemaChange]:
    yield from _property_changes(old, new, path)
    for keyword in _shared_schemas(old, new):
        yield from _changes(_object(old[keyword]), _object(new[keyword]), (*path, keyword))
    for keyword in _differing(old, new):
        if keyword in ANNOTATIONS:
            message = f"`{keyword}` {_was(old, new, keyword)}"
            yield SchemaChange((*path, keyword), keyword, False, False, message, old.get(keyword), new.get(keyword))
        else:
            yield _judged(old, new, path, keyword)


def _shared_schemas(old: Mapping[str, Json], new: Mapping[str, Json]) -> set[str]:
    """The keywords under which both sides hold one schema that is compared by itself."""
    more = (
        {"additionalProperties"} if all(is_object(side.get("additionalProperties")) for side in (old, new)) else set()
    )
    return more | ({"items"} & old.keys() & new.keys())


def _differing(old: Mapping[str, Json], new: Mapping[str, Json]) -> list[str]:
    apart = DEFINITIONS | {"properties"} | _shared_schemas(old, new)
    keys = [key for key in {**old, **new} if key not in apart]
    different = [key for key in keys if key not in old or key not in new or canonical(old[key]) != canonical(new[key])]
    return list(dict.fromkeys(_READ_WITH.get(key, key) for key in different))


def _judged(old: Mapping[str, Json], new: Mapping[str, Json], path: Path, keyword: str) -> SchemaChange:
    keys = GROUPS.get(keyword, (keyword,))
    before = {key: bare({key: old[key]})[key] for key in keys if key in old}
    after = {key: bare({key: new[key]})[key] for key in keys if key in new}
    if keyword == "additionalProperties":
        before, after = _loosened(before), _loosened(after)
    narrower, wider = not contained(bare(old), after), not contained(bare(new), before)
    if keyword == PATTERN and (apart := _told_apart(old.get(keyword), new.get(keyword))):
        narrower, wider = apart.lost is not None, apart.gained is not None
    different = [key for key in keys if canonical(old.get(key)) != canonical(new.get(key))]
    shown = keyword if keyword in different else next((key for key in different if key in {**old, **new}), keyword)
    return SchemaChange(
        (*path, shown), shown, narrower, wider, _message(old, new, shown), old.get(shown), new.get(shown)
    )


def _told_apart(old: Json, new: Json) -> Difference | None:
    return difference(old, new) if isinstance(old, str) and isinstance(new, str) else None


def _loosened(part: Mapping[str, Json]) -> Mapping[str, Json]:
    """Only what is said of further properties: those with a name are judged by themselves."""
    return {**part, **({"properties": dict.fromkeys(part["properties"], True)} if "properties" in part else {})}


def _property_changes(old: Mapping[str, Json], new: Mapping[str, Json], path: Path) -> Iterator[SchemaChange]:
    before, after = old.get("properties", {}), new.get("properties", {})
    for name in sorted({*before, *after}):
        place = (*path, "properties", name)
        if name in before and name in after:
            yield from _changes(_object(before[name]), _object(after[name]), place)
        elif name in after:
            narrower = not contained(bare(old), {"properties": {name: bare(after[name])}})
            closed = "additionalProperties" in old
            keyword = "property-limited" if narrower and closed else "property-added"
            wider = closed and not contained(bare(new), bare(old))
            yield SchemaChange(place, keyword, narrower, wider, f"the property `{name}` is new", None, after[name])
        else:
            wider = not contained(bare(new), {"properties": {name: bare(before[name])}})
            narrower = not contained({**bare(old), "required": [name]}, bare(new))
            message = f"the property `{name}` is gone"
            yield SchemaChange(place, "property-removed", narrower, wider, message, before[name], None)


def _message(old: Mapping[str, Json], new: Mapping[str, Json], keyword: str) -> str:
    if keyword == "required":
        gone, added = _moved(old, new, keyword)
        parts = [f"{_listed(added)} is required now"] * bool(added) + [f"{_listed(gone)} is optional now"] * bool(gone)
        return " and ".join(parts) or "`required` has another order"
    if keyword == "enum" and {keyword} <= old.keys() & new.keys():
        gone, added = _moved(old, new, keyword)
        parts = [f"loses {_shown(gone)}"] * bool(gone) + [f"gains {_shown(added)}"] * bool(added)
        return "`enum` " + (" and ".join(parts) or "has another order")
    if keyword == "$ref" and old.get(keyword) == new.get(keyword):
        return f"`{keyword}` leads back to another schema"
    return f"`{keyword}` {_was(old, new, keyword)}"


def _moved(old: Mapping[str, Json], new: Mapping[str, Json], keyword: str) -> tuple[list[Json], list[Json]]:
    """What the array under a keyword loses, and what it gains."""
    before, after = old.get(keyword, []), new.get(keyword, [])
    return [value for value in before if value not in after], [value for value in after if value not in before]


def _was(old: Mapping[str, Json], new: Mapping[str, Json], keyword: str) -> str:
    if keyword not in old:
        return f"is new: {_shown(new[keyword])}"
    if keyword not in new:
        return f"is gone; it was {_shown(old[keyword])}"
    return f"was {_shown(old[keyword])} and is {_shown(new[keyword])}"


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _shown(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
