"""Made-up inputs, put to the reference and to the published code: the answers are the same, in every byte.

SEARCH is how many inputs of each kind; a hundred without it. Whatever differs is mended or becomes an exception here.
"""

import copy
import json
import os
import random
from pathlib import Path

import pytest
from inputs import BEHAVIOURS
from program import LOCATION

from gemini_mcp.host.adapter import answer
from gemini_mcp_conformance.host.asking import Adapter

ADAPTER = Path(__file__).parents[2] / "conformance" / "adapters" / "gemini-cli-core.mjs"
SECONDS = 60.0
COUNT = int(os.environ.get("SEARCH", "100"))


@pytest.mark.parametrize("kind", BEHAVIOURS)
def test_the_reference_answers_as_the_program(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    behaviour, make = BEHAVIOURS[kind]
    modules = Path(os.environ[LOCATION]) / "node_modules" / "@google"
    monkeypatch.setenv("CORE", str(modules / "gemini-cli-core"))
    monkeypatch.setenv("GEMINI", str(modules / "gemini-cli" / "bundle" / "gemini.js"))
    chance = random.Random(f"{kind} {COUNT}")
    differing: list[str] = []
    with Adapter(["node", str(ADAPTER)]) as program:
        for number in range(COUNT):
            given = make(chance)
            request = {"id": str(number), "behaviour": behaviour, "profile": "current", "input": given}
            theirs = program.ask(request, SECONDS)
            ours = answer(copy.deepcopy(request)).get("output")
            if json.dumps(ours) != json.dumps(theirs):
                differing.append(f"{json.dumps(given)}\n  {json.dumps(ours)}\n  {json.dumps(theirs)}")
    assert differing == []
