"""Vectors put to an adapter: input in, output compared with what is expected. Pure but for the adapter it asks."""

import json
from collections.abc import Iterator, Mapping, Sequence

from gemini_mcp_conformance.host.asking import Adapter, NoAnswer, Unsupported
from gemini_mcp_conformance.host.values import Json
from gemini_mcp_conformance.host.verdicts import COULD_NOT_RUN, FAIL, PASS, Finding

SHOWN = 300


def check(
    adapter: Adapter, vectors: Mapping[str, Sequence[Json]], profile: str, allow_observed: bool = False
) -> Iterator[Finding]:
    """A finding for every vector of the profile; `allow_observed` accepts what was seen of the real code too."""
    for behaviour, entries in vectors.items():
        for vector in entries:
            if vector["profile"] in (profile, "both"):
                yield _checked(adapter, behaviour, vector, profile, allow_observed)


def speaks_of(vectors: Mapping[str, Sequence[Json]], profile: str) -> frozenset[str]:
    """The requirements that vectors of the profile check."""
    return frozenset(
        requirement
        for entries in vectors.values()
        for vector in entries
        if vector["profile"] in (profile, "both")
        for requirement in vector["requirements"]
    )


def _checked(adapter: Adapter, behaviour: str, vector: Json, profile: str, allow_observed: bool) -> Finding:
    check, requirements = f"{behaviour}/{vector['id']}", tuple(vector["requirements"])
    try:
        output = adapter.ask(behaviour, profile, vector["input"], vector["id"])
    except Unsupported:
        return Finding(check, requirements, COULD_NOT_RUN, f"the adapter does not support `{behaviour}`")
    except NoAnswer as error:
        return Finding(check, requirements, FAIL, str(error), vector["input"])
    observed = vector.get("observed", {}).get("output") if allow_observed else None
    if output == vector["expected"] or (observed is not None and output == observed):
        return Finding(check, requirements, PASS)
    message = f"the host answers {_short(output)}, it should answer {_short(vector['expected'])}"
    return Finding(check, requirements, FAIL, message, vector["input"])


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
