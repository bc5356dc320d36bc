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
        ({"uniqueItems": True, "items": {"type": "string"}}, ["x", 1], "params/a/1 must be string"),
        (
            {"uniqueItems": True, "items": {"type": "string"}},
            list("abba"),
            "params/a must NOT have duplicate items (items ## 2 and 1",
        ),
        (
            {"uniqueItems": True, "items": {"type": ["string", "number"]}},
            ["1", 1, 1],
            "params/a must NOT have duplicate items (items ## 2 and 1",
        ),
        ({"items": [{"type": "string"}], "additionalItems": {"type": "null"}}, [1, 1], "params/a/1 must be null"),
        ({"items": [{"type": "string"}], "additionalItems": False}, [1, 1], "params/a must NOT have more than 1 items"),
        ({"items": False, "prefixItems": [{"type": "null"}]}, [1], "params/a/0 boolean schema is false"),
        (
            {"dependencies": {"x": {"required": ["z"]}, "y": ["u", "v"]}},
            {"x": 1, "y": 1},
            "params/a must have properties u, v when",
        ),
        ({"type": "string", "pattern": "^a$"}, "a\n", 'params/a must match pattern "^a$"'),
        ({"type": "string", "pattern": "^[^\\s]$"}, "\u00a0", 'params/a must match pattern "^[^'),
        ({"type": "string", "pattern": "^.$"}, "\u2028", 'params/a must match pattern "^.$"'),
        ({"type": "string", "format": "regex"}, "a\\Zb", 'params/a must match format "regex"'),
    ],
)
def test_a_fault_has_the_words_of_ajv(inner: Any, value: Any, said: str) -> None:
    found = complaint(schema(inner), {"a": value}, "params")
    assert found is not None
    assert found.startswith(said)


@pytest.mark.parametrize(
    ("inner", "value", "said"),
    [
        ({"prefixItems": [{"type": "null"}]}, [1], "params/a/0 must be null"),
        ({"prefixItems": [{"type": "null"}], "items": False}, [None, 1], "params/a must NOT have more than 1 items"),
        ({"prefixItems": [{"type": "null"}], "items": False}, [1, 1], "params/a/0 must be null"),
        ({"dependentRequired": {"x": ["y"]}}, {"x": 1}, "params/a must have property y when property x is present"),
        ({"dependentSchemas": {"x": {"required": ["y"]}}}, {"x": 1}, "params/a must have required property 'y'"),
        ({"contains": {"const": 1}, "minContains": 2}, [1], "params/a must contain at least 2 valid item(s)"),
        (
            {"contains": {"const": 1}, "maxContains": 1},
            [1, 1],
            "params/a must contain at least 1 and no more than 1 valid item(s)",
        ),
    ],
)
def test_only_a_schema_of_2020_has_its_keywords(inner: Any, value: Any, said: str) -> None:
    draft = "https://json-schema.org/draft/2020-12/schema"
    assert complaint(schema(inner, **{"$schema": draft}), {"a": value}, "params") == said
    assert complaint(schema(inner), {"a": value}, "params") != said
    # The SDK has Ajv for draft-07 alone.
    assert complaint(schema(inner, **{"$schema": draft}), {"a": value}, "params", has_all=True) != said


def test_an_item_that_cannot_be_written_down_is_never_met_again() -> None:
    unique = schema({"uniqueItems": True, "items": {"type": "string"}})
    assert complaint(unique, {"a": ["__proto__", "__proto__"]}, "params") is None


@pytest.mark.parametrize("pattern", [r"\-", r"\A", "(?i)a", "(?P<n>a)", "(?>a)", "a++", "{a}", "a]"])
def test_a_pattern_that_javascript_refuses_judges_nothing(pattern: str) -> None:
    assert complaint(schema({"pattern": pattern}), {"a": "x"}, "params") is None


@pytest.mark.parametrize("pattern", [r"[\-]", r"\{a\}", "(?<n>a)", "(?<!b)(?=a)", "a+?", "[[&&]", r"\$", "[]", r"\x41"])
def test_a_pattern_that_javascript_takes_judges(pattern: str) -> None:
    assert complaint(schema({"pattern": pattern}), {"a": "x"}, "params") == f'params/a must match pattern "{pattern}"'


def test_behind_a_wrong_type_a_branch_is_judged_by_the_keywords_for_any_type_alone() -> None:
    said = "params/a must be null, params/a must be equal to constant, params/a must match a schema in anyOf"
    assert complaint(schema({"anyOf": [{"type": "null", "const": 1, "minimum": 5}]}), {"a": 2}, "params") == said
    said = "params/a must be null, params/a must match a schema in anyOf"
    assert complaint(schema({"anyOf": [{"type": "null", "minimum": 5}]}), {"a": 2}, "params") == said


def test_every_fault_is_told_only_where_all_are_asked_for() -> None:
    both = {"type": "object", "required": ["x", "y"]}
    assert complaint(both, {}, "params") == "params must have required property 'x'"
    assert complaint(both, {}, "data", has_all=True) == (
        "data must have required property 'x', data must have required property 'y'"
    )
    needed = {"dependencies": {"x": ["y", "z"]}}
    said = "data must have properties y, z when property x is present"
    assert complaint(needed, {"x": 1}, "data") == said
    assert complaint(needed, {"x": 1}, "data", has_all=True) == f"{said}, {said}"


def test_a_keyword_of_another_draft_does_not_delay_the_type() -> None:
    late: Any = {"type": "object", "const": 1, "dependentRequired": {}}
    assert complaint(schema(late), {"a": 2}, "params") == "params/a must be object"
    draft = "https://json-schema.org/draft/2020-12/schema"
    assert complaint(schema(late, **{"$schema": draft}), {"a": 2}, "params") == "params/a must be equal to constant"


@pytest.mark.parametrize(
    "more",
    [
        {"definitions": {"x": {"nullable": True}}},
        {"$defs": {"x": {"$ref": "#/$defs/none"}}},
        {"then": {"enum": []}},
        {"if": {"enum": []}, "then": {}},
        {"additionalItems": {"pattern": "("}},
        {"dependentSchemas": {"x": {"pattern": "("}}},
        {"anyOf": [True, {"pattern": "("}]},
    ],
)
def test_what_nothing_applies_is_not_compiled(more: Any) -> None:
    assert complaint({"required": ["x"], **more}, {}, "params") == "params must have required property 'x'"


@pytest.mark.parametrize(
    "more",
    [
        {"$schema": "http://json-schema.org/draft-04/schema#"},
        {"properties": {"x": {"$ref": "#/$defs/none"}}},
        {"properties": {"x": {"type": "string", "pattern": "("}}},
        {"type": "nonsense"},
        {"required": "a"},
        {"properties": {"x": {"enum": []}}},
        {"properties": {"x": {"nullable": True}}},
        {"properties": {"x": {"type": "string", "nullable": "yes"}}},
        {"properties": {"x": {"type": ["string", "null"], "nullable": False}}},
    ],
)
def test_a_schema_that_does_not_compile_judges_nothing(more: Any) -> None:
    assert complaint({"required": ["missing"], **more}, {}, "params") is None


def test_a_schema_that_refers_to_itself_is_judged() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#"}, "n": {"type": "integer"}}}
    assert complaint(tree, {"next": {"next": {"n": "x"}}}, "params") == "params/next/next/n must be integer"
