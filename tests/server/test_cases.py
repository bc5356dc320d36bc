"""Every case of the specification through the pure functions of the server: the call's plan, then its result.

The gate's lint asks the same functions by the same module, so that what a case means is decided once.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

from gemini_mcp.call.invocation import plan
from gemini_mcp.errors import CallerError
from gemini_mcp.spec import load_documents, load_server, written_out
from gemini_mcp.spec.values import Json
from gemini_mcp_spec.reference.answers import answered

SERVER = load_server()
TOOLS = {tool.name: tool for tool in SERVER.tools}
CASES: Mapping[str, Json] = {
    name: written_out(case) for name, case in load_documents("server/cases").items() if "result" in case
}
"""A case with a JSON-RPC error in place of a result never reaches these functions."""


@cache
def answers(name: str) -> Mapping[str, Json]:
    """What the server makes of the call and the outcome of a case."""
    case = CASES[name]
    return answered(SERVER, case["call"], case.get("outcome"), case.get("listing"))


@pytest.mark.parametrize("name", CASES)
def test_a_call_becomes_the_invocation_of_its_case(name: str) -> None:
    assert answers(name)["invocation"] == CASES[name]["invocation"]


def test_a_tool_without_a_template_is_refused() -> None:
    with pytest.raises(CallerError, match="no-invocation"):
        plan(replace(TOOLS["chat"], name="more"), {"prompt": "hello"}, SERVER.invocation)


@pytest.mark.parametrize("name", CASES)
def test_an_outcome_becomes_the_result_of_its_case(name: str) -> None:
    case, result = CASES[name], answers(name)["result"]
    if "wording" in case:
        assert words_left_out(result) == words_left_out(case["result"])
    else:
        assert result == case["result"]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "listing" in case])
def test_the_sessions_are_asked_for_where_a_case_lists_them(name: str) -> None:
    assert answers(name)["listed"]


def words_left_out(result: Json) -> Json:
    """An error without the words between its prefix and stderr."""
    prefix, separator = SERVER.outcome.prefix, SERVER.outcome.separator
    text = result["content"][0]["text"]
    assert text.startswith(prefix)
    return {**result, "content": [{"type": "text", "text": text.partition(separator)[2]}]}
