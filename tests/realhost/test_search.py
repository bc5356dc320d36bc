"""Made-up inputs, put to the reference and to the published code of both versions: the answers are the same, in order.

SEARCH is how many inputs of each kind; a hundred without it. Whatever differs is mended or becomes a difference in
`exceptions`.
"""

import copy
import itertools
import json
import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
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

SAMPLE = 8
"""How many inputs show that one process may run all."""

ALONE = ("extensions", "mcp-add", "settings-validation")
"""Behaviours that need the whole program. One process runs all inputs; what differs gets a process of its own."""

ONE_VERSION = ("extensions", "mcp-add", "policy", "resources", "settings-validation")
"""Behaviours that only 0.61.0 has, or that the guide decides in the other profile."""

KINDS = [
    *((behaviour, profile) for behaviour in DOMAINS for profile in PROGRAMS),
    *((kind, "current") for kind in BEHAVIOURS),
    ("command lines", "documented"),
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
    monkeypatch.setenv("ONE_PROCESS", "1")
    counts: Counter[str] = Counter()
    behaviour = BEHAVIOURS[kind][0] if kind in BEHAVIOURS else kind
    differing = _differing(behaviour, profile, list(_inputs(kind, profile)), counts)
    if differing and behaviour in ALONE:
        monkeypatch.delenv("ONE_PROCESS")
        differing = _differing(behaviour, profile, [given for given, _ in differing], Counter())
    print(f"{kind} {profile}: {dict(counts)}")
    assert not differing, "\n".join(said for _, said in differing)
    assert counts["same"] * 3 > counts.total(), counts


def test_many_command_lines_in_one_process_get_the_answers_of_many_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = Path(os.environ[LOCATION]).parent / "current/node_modules/@google"
    monkeypatch.setenv("CORE", str(modules / "gemini-cli-core"))
    monkeypatch.setenv("GEMINI", str(modules / "gemini-cli" / PROGRAMS["current"]))
    inputs = list(itertools.islice(_inputs("command lines", "current"), SAMPLE))
    alone = _answers(inputs)
    monkeypatch.setenv("ONE_PROCESS", "1")
    assert _answers(inputs) == alone


def _answers(inputs: Sequence[JsonObject]) -> list[Json]:
    with Adapter(["node", str(ADAPTER)]) as adapter:
        return [adapter.ask(_request("mcp-add", "current", number, one), SECONDS) for number, one in enumerate(inputs)]


def _request(behaviour: str, profile: str, number: int, given: JsonObject) -> JsonObject:
    return {"id": str(number), "behaviour": behaviour, "profile": profile, "input": given}


def _differing(
    behaviour: str, profile: str, inputs: Sequence[JsonObject], counts: Counter[str]
) -> list[tuple[JsonObject, str]]:
    """The inputs of which both say different things without a reason, with what they say."""
    differing: list[tuple[JsonObject, str]] = []
    for start in range(0, len(inputs), LIFE):
        with Adapter(["node", str(ADAPTER)]) as adapter:
            for number, given in enumerate(inputs[start : start + LIFE], start):
                outcome, said = _compared(adapter, _request(behaviour, profile, number, given))
                counts[outcome] += 1
                differing += [(given, said)] if said else []
    return differing


def _inputs(kind: str, profile: str) -> Iterator[JsonObject]:
    chance = random.Random(f"{kind} {profile} {COUNT}")
    if kind in BEHAVIOURS:
        yield from (BEHAVIOURS[kind][1](chance) for _ in range(COUNT))
        return
    vectors: list[JsonObject] = spec.load_documents("host/vectors")[kind]
    known = [_asked(vector) for vector in vectors if vector["profile"] in (profile, "both")]
    for _ in range(COUNT):
        yield near(chance, known, DOMAINS[kind])


def _asked(vector: JsonObject) -> JsonObject:
    """The input of a vector; where its name says what is asked, that is put into it."""
    given: JsonObject = vector["input"]
    if set(given) != {"url"}:
        return given
    return {**given, "function": vector["id"].removeprefix("seed-").removeprefix("current-").split()[0]}


def _compared(adapter: Adapter, request: JsonObject) -> tuple[str, str]:
    """What came of one input: the same, an exception, or no answer, since JavaScript itself failed on it.

    Then both answers, when they differ without a reason.
    """
    try:
        theirs = adapter.ask(request, SECONDS)
    except (NoAnswer, CouldNotRun) as error:
        return f"no answer: {error}", ""
    if "adapterError" in table(theirs):
        return "no answer: a JavaScript error", ""
    ours: Json = answer(copy.deepcopy(request)).get("output")
    if json.dumps(ours) == json.dumps(theirs):
        return "same", ""
    why = reason(request["behaviour"], request["profile"], request["input"], ours, theirs)
    said = f"{json.dumps(request['input'])}\n  {json.dumps(ours)}\n  {json.dumps(theirs)}"
    return (why, "") if why else ("different", said)
