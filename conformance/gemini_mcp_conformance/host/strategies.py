"""Strategies: generated inputs for the properties, and the expected result of sanitising a schema; pure."""

import json
from collections.abc import Iterator
from typing import cast

from hypothesis import strategies as st

from gemini_mcp.spec.values import Json, JsonObject, items, table

SINGLE = ("additionalItems", "contains", "else", "if", "items", "not", "propertyNames", "then")
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
MAPS = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")
"""Keywords of a JSON Schema that hold one schema, a list of them, and schemas by name."""
REMOVED = ("$schema", "additionalProperties")
"""Keywords that a host of the documented profile takes out of every schema."""

GOOD_LETTERS = "abcXYZ019_.-"
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_WORD = st.text("abcdefgXYZ_", min_size=1, max_size=8)

TOOL_NAMES = st.one_of(
    st.text(max_size=80), st.text("ab é🚀:/._-", max_size=90), st.text("x", min_size=55, max_size=70)
)
GOOD_NAMES = st.text(GOOD_LETTERS, max_size=63)
RIVALS = st.lists(st.sampled_from(["read", "write", "list"]), max_size=6)

_NAMES = st.sampled_from(["a", "b", "$schema", "additionalProperties", "default", "anyOf", "items"])
_VALUES: st.SearchStrategy[Json] = st.sampled_from(
    [None, 1, "x", {"$schema": "kept"}, [{"additionalProperties": False}], {"anyOf": [], "default": 1}]
)


def _schemas(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    positions: dict[str, st.SearchStrategy[Json]] = {
        **dict.fromkeys(SINGLE, inner),
        **{key: st.lists(inner, max_size=2) for key in LISTS},
        **{key: st.dictionaries(_NAMES, inner, max_size=3) for key in MAPS},
        "default": _VALUES,
        "enum": st.lists(_VALUES, max_size=2),
        "const": _VALUES,
        "examples": st.lists(_VALUES, max_size=2),
        "$schema": st.just("http://json-schema.org/draft-07/schema#"),
        "additionalProperties": st.one_of(st.booleans(), inner),
        "title": _TEXT,
    }
    return st.fixed_dictionaries({}, optional={**positions, "type": st.sampled_from(["string", "object", "array"])})


_SCHEMA: st.SearchStrategy[Json] = st.recursive(
    st.fixed_dictionaries({"type": st.sampled_from(["string", "integer"])}), _schemas, max_leaves=6
)


def _object_schema(schema: JsonObject, properties: JsonObject) -> JsonObject:
    return {**schema, "type": "object", "properties": properties}


def _text_block(text: str) -> JsonObject:
    return {"type": "text", "text": text}


SCHEMAS = st.builds(_object_schema, _schemas(_SCHEMA), st.dictionaries(_NAMES, _SCHEMA, max_size=3))

_TOOLS = st.sampled_from(["t", "tool", "a b", "t(x)", "T"])
FILTERS = st.tuples(
    _TOOLS,
    st.lists(st.one_of(_TOOLS, st.just("t(1)")), max_size=4),
    st.lists(st.one_of(_TOOLS, st.just("t(1)")), max_size=4),
)
_SERVERS = ["a", "b", "c d", "A"]
SERVER_LISTS = st.tuples(
    st.permutations(_SERVERS),
    st.lists(st.sampled_from([*_SERVERS, "z"]), max_size=4),
    st.lists(st.sampled_from([*_SERVERS, "z"]), max_size=4),
)
PLAIN_TEXTS = st.text(st.characters(exclude_characters="$", exclude_categories=["Cs"]), max_size=30)
VARIABLES = st.tuples(
    st.text("ABCdef_", min_size=1, max_size=8), st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
)
PROMPT_ARGUMENTS = st.dictionaries(
    _WORD,
    st.text(
        st.characters(exclude_characters='"\\', exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=12
    ),
    max_size=3,
)
_LINE = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=12)
TEXTS = st.lists(_LINE, min_size=1, max_size=4)
BLOCKS: st.SearchStrategy[Json] = st.lists(
    st.one_of(
        st.builds(_text_block, _LINE),
        st.just({"type": "image", "data": "aW1n", "mimeType": "image/png"}),
        st.just({"type": "audio", "data": "YXVk", "mimeType": "audio/wav"}),
        st.just({"type": "resource_link", "uri": "u:1", "name": "n"}),
        st.just({"type": "resource", "resource": {"uri": "u:2", "blob": "Qg=="}}),
        st.just({"type": "video"}),
    ),
    max_size=5,
)
ENVIRONMENTS = st.dictionaries(
    st.text("ABC_", min_size=1, max_size=6), st.text("abc xyz/:.", min_size=1, max_size=10), min_size=1, max_size=3
)
NAMED_ARGUMENTS = st.tuples(_WORD, st.lists(_WORD, max_size=3))
ARGUMENTS = st.lists(
    st.one_of(_WORD, st.sampled_from(["-e", "--port", "--scope", "-x", "--transport", "a=b", "x:y"])), max_size=5
)
AUTHORIZATIONS = st.tuples(_WORD, st.lists(st.text("ab:/._-~*", min_size=1, max_size=8), max_size=3), _WORD)
LIFETIMES = st.tuples(*[st.integers(-1_000_000, 10_000_000)] * 2)
PROMPTS = st.text(st.characters(exclude_characters="@", exclude_categories=["Cs"]), max_size=30)


def schema_positions(schema: Json, place: str = "") -> Iterator[tuple[str, JsonObject]]:
    """Every schema inside a schema, with where it stands."""
    if not isinstance(schema, dict):
        return
    node = cast(JsonObject, schema)
    yield place, node
    for key in (*SINGLE, *LISTS):
        inner = node.get(key)
        for index, one in enumerate(items(inner) or [inner]):
            yield from schema_positions(one, f"{place}/{key}/{index}")
    for key in MAPS:
        for name, one in table(node.get(key)).items():
            yield from schema_positions(one, f"{place}/{key}/{name}")


def expected_schema(schema: Json) -> Json:
    """The schema without the keywords that a host removes; works on a copy."""
    copy: Json = json.loads(json.dumps(schema))
    for _, inner in list(schema_positions(copy)):
        for keyword in REMOVED:
            inner.pop(keyword, None)
        if "anyOf" in inner:
            inner.pop("default", None)
    return copy
