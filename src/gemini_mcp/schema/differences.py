"""How two schemas differ, keyword by keyword. Pure.

Each keyword is judged beside all others: it narrows when what the old schema accepts is not proven to satisfy it.
Keywords that are read together are judged together.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from gemini_mcp.report.positions import Path
from gemini_mcp.report.values import shown, shown_beside
from gemini_mcp.schema.conjuncts import GROUPS
from gemini_mcp.schema.containment import contained
from gemini_mcp.schema.effort import Effort
from gemini_mcp.schema.equality import key
from gemini_mcp.schema.inline import ANNOTATIONS, DEFINITIONS, LARGEST, bare, canonical, size
from gemini_mcp.schema.patterns import Difference, difference
from gemini_mcp.spec.values import Json, is_object

_READ_WITH = {other: keyword for keyword in ("$ref", "if") for other in GROUPS[keyword]}
"""The keyword that speaks for each that is read with it."""

PATTERN = "pattern"
"""The keyword whose values are compared by a search, because there is no proof."""


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
    effort = Effort()
    if canonical(old) == canonical(new):
        return []
    if max(size(old), size(new)) > LARGEST:
        message = f"the schema holds more than {LARGEST} values, so nothing is proven of the change"
        return [SchemaChange((), "schema", True, True, message, None, None)]
    found = list(_Differences(effort).changes(_object(old), _object(new), ()))
    narrower = not contained(bare(old), bare(new), effort)
    wider = not contained(bare(new), bare(old), effort)
    # A keyword may narrow what another one widens: where the whole is proven not to narrow, no part does.
    kept = [replace(change, narrower=change.narrower and narrower, wider=change.wider and wider) for change in found]
    explained = (any(change.narrower for change in kept), any(change.wider for change in kept))
    is_searched = any(change.keyword == PATTERN and change.old and change.new for change in kept)
    # The parts together may also do what none of them does alone.
    if canonical(bare(old)) != canonical(bare(new)) and explained != (narrower, wider) and not is_searched:
        kept.append(SchemaChange((), "schema", narrower, wider, "the schema is another", bare(old), bare(new)))
    return kept


def _object(schema: Json) -> Mapping[str, Json]:
    if is_object(schema):
        return schema
    return {} if schema is True else {"not": {}}


class _Differences:
    """The differences of two schemas and of what they hold, as far as the effort allows."""

    def __init__(self, effort: Effort) -> None:
        self.effort = effort

    def changes(self, old: Mapping[str, Json], new: Mapping[str, Json], path: Path) -> Iterator[SchemaChange]:
        yield from self._properties(old, new, path)
        for keyword in _nested(old, new):
            yield from self.changes(_object(old[keyword]), _object(new[keyword]), (*path, keyword))
        for keyword in _differing(old, new):
            if keyword in ANNOTATIONS:
                message = f"`{keyword}` {_was(old, new, keyword)}"
                yield SchemaChange((*path, keyword), keyword, False, False, message, old.get(keyword), new.get(keyword))
            else:
                yield self._judged(old, new, path, keyword)

    def _judged(self, old: Mapping[str, Json], new: Mapping[str, Json], path: Path, keyword: str) -> SchemaChange:
        keys = GROUPS.get(keyword, (keyword,))
        before = {key: bare({key: old[key]})[key] for key in keys if key in old}
        after = {key: bare({key: new[key]})[key] for key in keys if key in new}
        if keyword == "additionalProperties":
            before, after = _loosened(before), _loosened(after)
        narrower = not contained(bare(old), after, self.effort)
        wider = not contained(bare(new), before, self.effort)
        if keyword == PATTERN and (apart := _told_apart(old.get(keyword), new.get(keyword))):
            narrower, wider = apart.lost is not None, apart.gained is not None
        different = [key for key in keys if canonical(old.get(key)) != canonical(new.get(key))]
        named = keyword if keyword in different else next((key for key in different if key in {**old, **new}), keyword)
        message = _message(old, new, named)
        return SchemaChange((*path, named), named, narrower, wider, message, old.get(named), new.get(named))

    def _properties(self, old: Mapping[str, Json], new: Mapping[str, Json], path: Path) -> Iterator[SchemaChange]:
        before, after = old.get("properties", {}), new.get("properties", {})
        for name in sorted(before.keys() & after.keys()):
            yield from self.changes(_object(before[name]), _object(after[name]), (*path, "properties", name))
        moved = sorted(before.keys() ^ after.keys())
        if not moved:
            return
        whole, other = bare(old), bare(new)
        for name in moved:
            changed = self._removed if name in before else self._added
            yield changed(whole, other, before.get(name, after.get(name)), (*path, "properties", name))

    def _added(self, old: Mapping[str, Json], new: Mapping[str, Json], added: Json, place: Path) -> SchemaChange:
        name = place[-1]
        narrower = not contained(old, {"properties": {name: bare(added)}}, self.effort)
        closed = "additionalProperties" in old
        keyword = "property-limited" if narrower and closed else "property-added"
        wider = closed and not contained(new, old, self.effort)
        return SchemaChange(place, keyword, narrower, wider, f"the property `{name}` is new", None, added)

    def _removed(self, old: Mapping[str, Json], new: Mapping[str, Json], gone: Json, place: Path) -> SchemaChange:
        name = place[-1]
        wider = not contained(new, {"properties": {name: bare(gone)}}, self.effort)
        # Only values that have the property can be refused for having it.
        narrower = not contained({**old, "required": [name]}, new, self.effort)
        return SchemaChange(place, "property-removed", narrower, wider, f"the property `{name}` is gone", gone, None)


def _nested(old: Mapping[str, Json], new: Mapping[str, Json]) -> list[str]:
    """The keywords whose schemas are compared keyword by keyword in their turn."""
    both = [keyword for keyword in ("items", "additionalProperties") if keyword in old and keyword in new]
    return [keyword for keyword in both if keyword == "items" or all(is_object(side[keyword]) for side in (old, new))]


def _differing(old: Mapping[str, Json], new: Mapping[str, Json]) -> list[str]:
    apart = DEFINITIONS | {"properties", *_nested(old, new)}
    keys = [key for key in {**old, **new} if key not in apart]
    different = [key for key in keys if key not in old or key not in new or canonical(old[key]) != canonical(new[key])]
    return list(dict.fromkeys(_READ_WITH.get(key, key) for key in different))


def _told_apart(old: Json, new: Json) -> Difference | None:
    return difference(old, new) if isinstance(old, str) and isinstance(new, str) else None


def _loosened(part: Mapping[str, Json]) -> Mapping[str, Json]:
    """Only what is said of further properties: those with a name are judged by themselves."""
    return {**part, **({"properties": dict.fromkeys(part["properties"], True)} if "properties" in part else {})}


def _message(old: Mapping[str, Json], new: Mapping[str, Json], keyword: str) -> str:
    if keyword == "required":
        gone, added = _moved(old, new, keyword)
        parts = [f"{_listed(added)} is required now"] * bool(added) + [f"{_listed(gone)} is optional now"] * bool(gone)
        return " and ".join(parts) or "`required` has another order"
    if keyword == "enum" and {keyword} <= old.keys() & new.keys():
        gone, added = _moved(old, new, keyword)
        parts = [f"loses {shown(gone)}"] * bool(gone) + [f"gains {shown(added)}"] * bool(added)
        return "`enum` " + (" and ".join(parts) or "has another order")
    if keyword == "$ref" and old.get(keyword) == new.get(keyword):
        return f"`{keyword}` leads back to another schema"
    return f"`{keyword}` {_was(old, new, keyword)}"


def _moved(old: Mapping[str, Json], new: Mapping[str, Json], keyword: str) -> tuple[list[Json], list[Json]]:
    """What the array under a keyword loses, and what it gains."""
    before, after = ({key(value): value for value in side.get(keyword, [])} for side in (old, new))
    gone = [value for text, value in before.items() if text not in after]
    return gone, [value for text, value in after.items() if text not in before]


def _was(old: Mapping[str, Json], new: Mapping[str, Json], keyword: str) -> str:
    if keyword not in old:
        return f"is new: {shown(new[keyword])}"
    if keyword not in new:
        return f"is gone; it was {shown(old[keyword])}"
    before, after = old[keyword], new[keyword]
    return f"was {shown_beside(before, after)} and is {shown_beside(after, before)}"


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
