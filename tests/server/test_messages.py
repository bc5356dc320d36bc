"""Lines of the stdio transport, without a transport."""

import json
from collections.abc import Mapping

import pytest
from mcp_types import JSONRPCResponse

from gemini_mcp.spec.values import Json
from gemini_mcp.transport.messages import PIECE, write

VALUES: Mapping[str, Json] = {
    "nothing": {},
    "every kind of value": {"a": [1, 2.5, True, None, [], {}, ["b", {"c": ""}]]},
    "what needs escapes": {"a": 'quote " backslash \\ line\n control \x00\x1f', '"': "\N{PARROT}"},
    "an emoji where the text is cut": {"a": "x" * (PIECE - 1) + "\N{PARROT}" + "y" * PIECE},
    "an escape where the text is cut": {"a": "x" * (PIECE - 1) + '"\\\n' + "y" * PIECE},
    "a lone surrogate": {"a": ["\ud83e", "x" * PIECE + "\udd9c"]},
}


@pytest.mark.parametrize("result", VALUES.values(), ids=VALUES.keys())
def test_a_message_is_one_line_that_says_what_the_message_says(result: Json) -> None:
    line = write(JSONRPCResponse(jsonrpc="2.0", id=1, result=result))
    assert line.find(b"\n") == len(line) - 1
    assert json.loads(line) == {"jsonrpc": "2.0", "id": 1, "result": result}
