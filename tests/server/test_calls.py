"""What a call does, with a real server and a fake gemini: every case of the specification, and what a case cannot say."""

import json
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest
from client import SESSION, Json, Place, Server, answer, play, text

from gemini_mcp.spec import load_documents, written_out
from gemini_mcp_conformance.fake import Call

PARIS = "The capital of France is Paris."

CASES: Mapping[str, Json] = {name: written_out(case) for name, case in load_documents("server/cases").items()}
PLAYED = {
    name: case
    for name, case in CASES.items()
    if "outcome" not in case or {"exit", "signal"} & case["outcome"].keys()
}
"""The others need a server of their own; they have tests of their own below and in `test_life.py`."""


def steps(outcome: Json) -> Sequence[Json]:
    end = {"exit": outcome["exit"]} if "exit" in outcome else {"signal": signal.Signals(outcome["signal"]).name[3:]}
    return ({"stdout": outcome["stdout"]}, {"stderr": outcome["stderr"]}, end)


def load(server: Server, case: Json) -> None:
    listing = steps(case["listing"]) if "listing" in case else None
    server.fake.load([play(*steps(case["outcome"]), listing=listing)] if case.get("outcome") else [])


def seen(call: Call, case: Json) -> Json:
    """What gemini saw of a call, as a case writes it."""
    env = {"GEMINI_SYSTEM_MD": "{files}/SYSTEM.md"} if call.system_md_path else {}
    parts = {
        "argv": ["gemini", *(os.fsdecode(element) for element in call.argv)],
        "env": env,
        "files": {"SYSTEM.md": (call.system_md or b"").decode()} if env else {},
        "stdin": (call.stdin or b"").decode(),
        "cwd": case["invocation"].get("cwd") and call.cwd,
    }
    return {name: part for name, part in parts.items() if part}


@pytest.mark.parametrize("case", PLAYED.values(), ids=PLAYED)
def test_a_call_goes_as_its_case_says(server: Server, case: Json) -> None:
    load(server, case)
    cwd = (case["invocation"] or {}).get("cwd")
    if cwd:
        case = cast("Json", json.loads(json.dumps(case).replace(cwd, str(server.place.cwd))))
    response = server.answer(server.request("tools/call", case["call"]))
    if "error" in case:
        assert response["error"]["code"] == case["error"]["code"]
    else:
        assert response["result"] == case["result"]
    started = server.fake.calls()
    assert [seen(call, case) for call in started if call.kind == "call"] == [case["invocation"]] * bool(case["invocation"])
    assert [call.kind for call in started if call.kind == "list"] == ["list"] * ("listing" in case)
    assert server.place.left() == []
