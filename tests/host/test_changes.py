"""What a server tells of its lists while the host runs is offered from then on; scenarios show what is asked for."""

import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from gemini_mcp import spec
from gemini_mcp.host.adapter.scenario import reply
from gemini_mcp.spec.values import Json, JsonObject
from gemini_mcp_conformance.host.scenarios import Stage


@pytest.mark.parametrize(
    ("kind", "step", "found"),
    [
        ("prompts", {"prompt": "/new"}, {"type": "submit_prompt", "content": '"hello"'}),
        ("resources", {"expand": "@a:a:new"}, "the text"),
    ],
)
def test_what_comes_while_the_host_runs_can_be_used(kind: str, step: JsonObject, found: Json) -> None:
    scenario: Json = spec.load_documents("host/scenarios")[f"{kind}-changed"]
    answer: Json = {"messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}]}
    script = {"answers": {"new": answer}, "reads": {"a:new": {"contents": [{"uri": "a:new", "text": "the text"}]}}}
    played: Json = {
        **scenario,
        "servers": {"a": {**scenario["servers"]["a"], **script}},
        "steps": [step, *scenario["steps"], step],
    }
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        given = Stage(Path(folder), played, stack).input()
        request: JsonObject = {"id": "1", "behaviour": "scenario", "profile": "current", "input": given}
        before, *_, after = reply(request)["output"]["steps"]
    assert str(found) not in str(before)
    assert str(found) in str(after)
