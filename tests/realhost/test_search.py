"""Made-up inputs, put to the reference and to the published code of both versions: the answers are the same, in order.

SEARCH is how many inputs of each kind; a hundred without it. Whatever differs is mended or becomes a difference in
`exceptions`.
"""

import copy
import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from exceptions import reason
from inputs import BEHAVIOURS
from near import DOMAINS, near
from program import LOCATION

from gemini_mcp import spec
from gemini_mcp.host.adapter import answer
from gemini_mcp.spec.values import Json, JsonObject, table
from gemini_mcp_conformance.host.asking import Adapter
from gemini_mcp_conformance.host.questions import NoAnswer
from gemini_mcp_conformance.judge.check import CouldNotRun

ADAPTER = Path(__file__).parents[2] / "conformance" / "adapters" / "gemini-cli-core.mjs"
PROGRAMS = {"current": "bundle/gemini.js", "documented": "dist/index.js"}
SECONDS = 60.0
LIFE = 100
"""How many inputs an adapter gets: some end in a loop of the published code, and it starts again four times only."""

COUNT = int(os.environ.get("SEARCH", "100"))

COSTLY = {"extensions": 10, "mcp-add": 10, "settings-validation": 20}
"""Behaviours that start the program for each input, by how many times fewer inputs they get."""

ONE_VERSION = ("extensions", "mcp-add", "policy", "resources", "settings-validation")
"""Behaviours that only 0.61.0 has, or that the guide decides in the other profile."""

KINDS = [
    *((behaviour, profile) for behaviour in DOMAINS for profile in PROGRAMS),
    *((kind, "current") for kind in BEHAVIOURS),
]


@pytest.mark.parametrize(
    ("kind", "profile"), [pair for pair in KINDS if pair[1] == "current" or pair[0] not in ONE_VERSION]
)
def test_the_reference_answers_as_the_program(kind: str, profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    modules = Path(os.environ[LOCATION]).parent / profile / "node_modules" / "@google"
    program = modules / "gemini-cli" / PROGRAMS[profile]
    assert program.exists(), f"{program} does not exist; conformance/adapters/check_real_host.py installs it"
    monkeypatch.setenv("CORE", str(modules / "gemini-cli-core"))
    monkeypatch.setenv("GEMINI", str(program))
    counts: Counter[str] = Counter()
    differing: list[str] = []
    behaviour = BEHAVIOURS[kind][0] if kind in BEHAVIOURS else kind
    inputs = list(_inputs(kind, profile))
    for start in range(0, len(inputs), LIFE):
        with Adapter(["node", str(ADAPTER)]) as adapter:
            for number, given in enumerate(inputs[start : start + LIFE], start):
                request = {"id": str(number), "behaviour": behaviour, "profile": profile, "input": given}
                counts[_compared(adapter, request, differing)] += 1
    print(f"{kind} {profile}: {dict(counts)}")
    assert differing == []
    assert counts["same"] * 3 > counts.total(), counts


def _inputs(kind: str, profile: str) -> Iterator[JsonObject]:
    chance = random.Random(f"{kind} {profile} {COUNT}")
    if kind in BEHAVIOURS:
        yield from (BEHAVIOURS[kind][1](chance) for _ in range(COUNT))
        return
    vectors: list[JsonObject] = spec.load_documents("host/vectors")[kind]
    known = [_asked(vector) for vector in vectors if vector["profile"] in (profile, "both")]
    for _ in range(max(10, COUNT // COSTLY.get(kind, 1))):
        yield near(chance, known, DOMAINS[kind])


def _asked(vector: JsonObject) -> JsonObject:
    """The input of a vector; where its name says what is asked, that is put into it."""
    given: JsonObject = vector["input"]
    if set(given) != {"url"}:
        return given
    return {**given, "function": vector["id"].removeprefix("seed-").removeprefix("current-").split()[0]}


def _compared(adapter: Adapter, request: JsonObject, differing: list[str]) -> str:
    """What came of one input: the same, an exception, or no answer, since JavaScript itself failed on it."""
    try:
        theirs = adapter.ask(request, SECONDS)
    except (NoAnswer, CouldNotRun) as error:
        return f"no answer: {error}"
    if "adapterError" in table(theirs):
        return "no answer: a JavaScript error"
    ours: Json = answer(copy.deepcopy(request)).get("output")
    if json.dumps(ours) == json.dumps(theirs):
        return "same"
    why = reason(request["behaviour"], request["profile"], request["input"], ours, theirs)
    if why is None:
        differing.append(f"{json.dumps(request['input'])}\n  {json.dumps(ours)}\n  {json.dumps(theirs)}")
    return why or "different"
