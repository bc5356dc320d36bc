"""Every vector of the host, answered by the reference."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gemini_mcp.host.adapter import BEHAVIOURS, answer

HOST = Path(__file__).parents[2] / "spec" / "host"
PROFILES = {"both": ("documented", "current")}
Json = Any


def load(behaviour: str) -> list[Json]:
    return json.loads((HOST / "vectors" / f"{behaviour}.json").read_text(encoding="utf-8"))


def vectors() -> Iterator[Json]:
    for file in sorted((HOST / "vectors").glob("*.json")):
        for vector in load(file.stem):
            for profile in PROFILES.get(vector["profile"], (vector["profile"],)):
                yield pytest.param(file.stem, profile, vector, id=f"{file.stem}:{vector['id']}:{profile}")


@pytest.mark.parametrize(("behaviour", "profile", "vector"), list(vectors()))
def test_the_reference_answers_as_expected(behaviour: str, profile: str, vector: Json) -> None:
    request = {"id": vector["id"], "behaviour": behaviour, "profile": profile, "input": vector["input"]}
    assert answer(json.loads(json.dumps(request))) == {"id": vector["id"], "output": vector["expected"]}


def test_every_behaviour_has_vectors_in_both_profiles() -> None:
    for behaviour in (*BEHAVIOURS, "oauth"):
        profiles = {vector["profile"] for vector in load(behaviour)}
        assert profiles & {"documented", "both"}, behaviour
        assert profiles & {"current", "both"}, behaviour


def test_every_vector_names_requirements_that_exist() -> None:
    entries = json.loads((HOST / "requirements.part.json").read_text(encoding="utf-8"))["requirements"]
    known = {entry["id"] for entry in entries}
    for file in (HOST / "vectors").glob("*.json"):
        for vector in load(file.stem):
            assert vector["requirements"], vector["id"]
            assert set(vector["requirements"]) <= known, vector["id"]


def test_every_exception_keeps_the_observation_and_says_why() -> None:
    exceptions = [vector for file in (HOST / "vectors").glob("*.json") for vector in load(file.stem)]
    for vector in exceptions:
        assert ("exception" in vector) == ("observed" in vector), vector["id"]
        if "observed" in vector:
            assert vector["observed"]["output"] != vector["expected"], vector["id"]


@pytest.mark.parametrize("vector", [v for v in load("settings-validation") if v["profile"] == "documented"])
def test_the_settings_schema_agrees_with_the_vectors(vector: Json) -> None:
    settings = vector["input"]["settings"]
    if isinstance(settings, str):
        return
    schema = json.loads((HOST / "settings.schema.json").read_text(encoding="utf-8"))
    is_refused = any(problem["isFatal"] for problem in vector["expected"]["problems"])
    is_address_fault = vector["id"].startswith("documented-bad-address")
    validator: Any = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(settings) == (not is_refused or is_address_fault)
