"""The words of Ajv; `tests/realhost` compares them with the program's."""

from typing import Any

import pytest

from gemini_mcp.host.rules.ajv import complaint


def schema(inner: Any, **more: Any) -> Any:
    return {"type": "object", "properties": {"a": inner}, **more}


@pytest.mark.parametrize(
    ("inner", "value", "said"),
    [
        ({"type": ["string", "null"]}, 1, "params/a must be string,null"),
        ({"type": "string", "nullable": True}, 1, "params/a must be string"),
        ({"type": "integer", "const": 2, "maximum": 1}, 5, "params/a must be equal to constant"),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            5,
            "params/a must be string, params/a must be null, params/a must match a schema in anyOf",
        ),
        ({"oneOf": [True, True]}, 5, "params/a must match exactly one schema in oneOf"),
        ({"type": "array", "uniqueItems": True}, [1, 2, 1], "params/a must NOT have duplicate items (items ## 0 and 2"),
        ({"type": "array", "items": {"type": "string", "minLength": 2}}, ["ab", "c"], "params/a/1 must NOT have fewer"),
        ({"type": "string", "format": "email"}, "x", 'params/a must match format "email"'),
        ({"type": "string", "pattern": "^a"}, "b", 'params/a must match pattern "^a"'),
        ({"if": {"const": 1}, "then": {"type": "string"}}, 1, "params/a must be string"),
        (False, 1, "params/a boolean schema is false"),
    ],
)
def test_a_fault_has_the_words_of_ajv(inner: Any, value: Any, said: str) -> None:
    found = complaint(schema(inner), {"a": value}, "params")
    assert found is not None
    assert found.startswith(said)


def test_every_fault_is_told_only_where_all_are_asked_for() -> None:
    both = {"type": "object", "required": ["x", "y"]}
    assert complaint(both, {}, "params") == "params must have required property 'x'"
    assert complaint(both, {}, "data", has_all=True) == (
        "data must have required property 'x', data must have required property 'y'"
    )


@pytest.mark.parametrize(
    "more",
    [
        {"$schema": "http://json-schema.org/draft-04/schema#"},
        {"properties": {"x": {"$ref": "#/$defs/none"}}},
        {"properties": {"x": {"type": "string", "pattern": "("}}},
        {"type": "nonsense"},
        {"required": "a"},
    ],
)
def test_a_schema_that_does_not_compile_judges_nothing(more: Any) -> None:
    assert complaint({"required": ["missing"], **more}, {}, "params") is None


def test_a_schema_that_refers_to_itself_is_judged() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#"}, "n": {"type": "integer"}}}
    assert complaint(tree, {"next": {"next": {"n": "x"}}}, "params") == "params/next/next/n must be integer"
