"""Containment over random schemas: what is proven holds for every value that is tried."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from judging import accepts, check_witness

from gemini_mcp.schema.candidates import candidates
from gemini_mcp.schema.containment import contained
from gemini_mcp.schema.judgement import Direction
from gemini_mcp.spec.values import Json, is_object
from gemini_mcp_spec.diff.rules import Severity
from gemini_mcp_spec.diff.schemas import compare

PAIRS = 500
THOROUGH = settings(
    max_examples=PAIRS, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)
NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = st.sampled_from([None, True, False, 0, 1, 2, 1.5, "", "a", "b", "ab", "1"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=6,
)
SMALL = st.integers(min_value=-1, max_value=3)
SIZES = st.integers(min_value=0, max_value=3)
PATTERNS = st.sampled_from(["^a", "b", "^[a-z]*$", "[0-9]", ""])


def nested(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """A schema of a few keywords, of which some hold schemas."""
    some = st.lists(inner, min_size=1, max_size=2)
    keywords: dict[str, st.SearchStrategy[Json]] = {
        "type": st.sampled_from(
            ["object", "array", "string", "integer", "number", ["string", "null"], ["object", "array"]]
        ),
        "enum": st.lists(SCALARS, min_size=1, max_size=3),
        "const": VALUES,
        "minimum": SMALL,
        "maximum": SMALL,
        "exclusiveMinimum": SMALL,
        "exclusiveMaximum": SMALL,
        "multipleOf": st.sampled_from([1, 2, 3]),
        "minLength": SIZES,
        "maxLength": SIZES,
        "pattern": PATTERNS,
        "minItems": SIZES,
        "maxItems": SIZES,
        "uniqueItems": st.booleans(),
        "items": inner,
        "contains": inner,
        "properties": st.dictionaries(NAMES, inner, min_size=1, max_size=2),
        "patternProperties": st.dictionaries(PATTERNS, inner, min_size=1, max_size=1),
        "additionalProperties": inner,
        "propertyNames": inner,
        "required": st.lists(NAMES, unique=True, max_size=2),
        "minProperties": SIZES,
        "maxProperties": SIZES,
        "dependentSchemas": st.dictionaries(NAMES, inner, min_size=1, max_size=1),
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=1), max_size=1),
        "allOf": some,
        "anyOf": some,
        "oneOf": some,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
    }
    chosen = st.lists(st.sampled_from(sorted(keywords)), max_size=4, unique=True)
    return chosen.flatmap(lambda names: st.fixed_dictionaries({name: keywords[name] for name in names}))


ANYTHING: Json = {}
SCHEMAS: st.SearchStrategy[Json] = st.recursive(st.booleans() | st.just(ANYTHING), nested, max_leaves=4)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Json, Json]:
    """Two schemas, mostly akin: the second is the first with some of its keywords taken from elsewhere."""
    one, other = draw(SCHEMAS), draw(SCHEMAS)
    if not is_object(one) or not is_object(other) or draw(st.integers(0, 4)) == 0:
        return one, other
    akin: Json = {**one, **other}
    kept = draw(st.lists(st.sampled_from(sorted(akin)), unique=True)) if akin else []
    return one, {name: akin[name] for name in kept}


@THOROUGH
@given(pairs(), st.lists(VALUES, max_size=12))
def test_no_value_contradicts_a_proof(pair: tuple[Json, Json], values: list[Json]) -> None:
    old, new = pair
    if contained(old, new):
        tried = [*values, *candidates((old,), (new,))]
        assert [value for value in tried if accepts(old, value) and not accepts(new, value)] == []


@pytest.mark.parametrize("direction", Direction)
@THOROUGH
@given(pair=pairs(), values=st.lists(VALUES, max_size=12))
def test_no_pair_is_compatible_that_a_value_tells_apart(
    direction: Direction, pair: tuple[Json, Json], values: list[Json]
) -> None:
    old, new = pair
    if all(change.severity is Severity.COMPATIBLE for change in compare(old, new, direction, "file.json")):
        tried = [*values, *candidates((old,), (new,))]
        assert [value for value in tried if accepts(old, value) != accepts(new, value)] == []


@THOROUGH
@given(pairs())
def test_every_witness_is_taken_by_the_side_that_it_names(pair: tuple[Json, Json]) -> None:
    old, new = pair
    for change in compare(old, new, Direction.REQUEST, "file.json"):
        check_witness(old, new, change)


@THOROUGH
@given(SCHEMAS)
def test_a_schema_does_not_differ_from_itself(schema: Json) -> None:
    assert list(compare(schema, schema, Direction.REQUEST, "file.json")) == []


@THOROUGH
@given(pairs())
def test_a_request_may_only_get_wider_and_a_result_must_stay(pair: tuple[Json, Json]) -> None:
    old, new = pair
    forth, back = contained(old, new), contained(new, old)
    requests = list(compare(old, new, Direction.REQUEST, "file.json"))
    results = list(compare(new, old, Direction.RESULT, "file.json"))
    broken = [any(change.severity.breaks for change in changes) for changes in (requests, results)]
    plain = [
        change.rule.endswith(("property-added", "property-removed", "-default")) for change in [*requests, *results]
    ]
    if not any(plain):
        assert broken == [not forth, not (forth and back)]
        assert any(change.severity is not Severity.COMPATIBLE for change in requests) is not (forth and back)


UNREADABLE: list[Json] = [
    *({"$ref": "#/nowhere"}, {"pattern": "("}, {"$ref": "#"}, {"allOf": [{"$ref": "#"}]}),
    *({"contains": {}}, {"prefixItems": [{}]}, {"items": {"patternProperties": {"a": {}}}}, {"x-other": 1}),
]
"""Schemas with a keyword that means nothing here, or that cannot be followed."""


@pytest.mark.parametrize("schema", UNREADABLE)
def test_a_schema_that_cannot_be_read_is_proven_only_of_itself(schema: Json) -> None:
    assert not contained({"type": "string"}, schema)
    assert contained(schema, schema)
