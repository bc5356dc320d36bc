"""Vectors as checks: input in, output compared with what is expected. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from gemini_mcp_conformance.host.checking import Check, Questions
from gemini_mcp_conformance.host.values import Json

SHOWN = 300


def checks(vectors: Mapping[str, Sequence[Json]], profile: str, allow_observed: bool = False) -> Iterator[Check]:
    """A check for every vector of the profile; `allow_observed` accepts what was seen of the real code too."""
    for behaviour, entries in vectors.items():
        for vector in entries:
            if vector["profile"] in (profile, "both"):
                name, requirements = f"{behaviour}/{vector['id']}", tuple(vector["requirements"])
                yield Check(name, requirements, partial(_complaint, behaviour, vector, allow_observed))


def _complaint(behaviour: str, vector: Json, allow_observed: bool, questions: Questions) -> str | None:
    output = questions.ask(behaviour, vector["input"], vector["id"])
    if output == vector["expected"]:
        return None
    if allow_observed and "observed" in vector and output == vector["observed"]["output"]:
        return None
    return f"the host answers {_short(output)}, it should answer {_short(vector['expected'])}"


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
