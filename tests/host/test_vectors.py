"""Every vector of the host, answered by the reference."""

import copy
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from gemini_mcp import spec
from gemini_mcp.host.adapter import BEHAVIOURS, answer
from gemini_mcp.spec.values import Json

PROFILES = {"both": ("documented", "current")}
VECTORS = spec.load_documents("host/vectors")
SETTINGS: Json = spec.read(spec.default_root() / "host/settings.schema.json")


def vectors() -> Iterator[Json]:
    for behaviour, entries in VECTORS.items():
        for vector in entries:
            for profile in PROFILES.get(vector["profile"], (vector["profile"],)):
                yield pytest.param(behaviour, profile, vector, id=f"{behaviour}:{vector['id']}:{profile}")


@pytest.mark.parametrize(("behaviour", "profile", "vector"), list(vectors()))
def test_the_reference_answers_as_expected(behaviour: str, profile: str, vector: Json) -> None:
    request = {"id": vector["id"], "behaviour": behaviour, "profile": profile, "input": copy.deepcopy(vector["input"])}
    assert answer(request) == {"id": vector["id"], "output": vector["expected"]}


@pytest.mark.parametrize("script", [{"pages": []}, {"toolsError": []}, {"toolsError": [-32603]}])
def test_a_list_that_is_shorter_than_in_any_vector_is_unsupported(script: Json) -> None:
    given = {"serverSpec": {"spec": script}}
    request = {"id": "1", "behaviour": "discovery", "profile": "documented", "input": given}
    assert answer(request) == {"id": "1", "unsupported": True}


def test_every_behaviour_has_vectors_in_both_profiles() -> None:
    assert set(VECTORS) == {*BEHAVIOURS, "oauth"}
    for behaviour, entries in VECTORS.items():
        profiles = {vector["profile"] for vector in entries}
        assert profiles & {"documented", "both"}, behaviour
        assert profiles & {"current", "both"}, behaviour


@pytest.mark.parametrize("vector", [v for v in VECTORS["settings-validation"] if v["profile"] == "documented"])
def test_the_settings_schema_agrees_with_the_vectors(vector: Json) -> None:
    settings = vector["input"]["settings"]
    if isinstance(settings, str):
        return
    is_refused = any(problem["isFatal"] for problem in vector["expected"]["problems"])
    is_address_fault = vector["id"].startswith("documented-bad-address")
    validator: Any = jsonschema.Draft202012Validator(SETTINGS)
    assert validator.is_valid(settings) == (not is_refused or is_address_fault)
