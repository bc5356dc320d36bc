"""Vectors as checks: asks for the output of each input, and compares it with the expected one; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.host.questions import HostCheck, Questions, checks_of
from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.see.witness import shown


def checks(vectors: Mapping[str, Sequence[Json]], allow_observed: bool = False) -> Iterator[HostCheck]:
    """The checks of every vector; `allow_observed` accepts what was seen of the real code too."""
    for behaviour, entries in vectors.items():
        for vector in entries:
            name, sentence = f"{behaviour}/{vector['id']}", "The host answers as the vector expects."
            complain = partial(_complaints, behaviour, vector, allow_observed)
            yield from checks_of(name, sentence, vector["requirements"], vector["profile"], complain)


def _complaints(behaviour: str, vector: Json, allow_observed: bool, questions: Questions) -> Complaints:
    output = questions.ask(behaviour, vector["input"], vector["id"])
    observed = [vector["observed"]["output"]] if allow_observed and "observed" in vector else []
    if output in [vector["expected"], *observed]:
        return []
    return [f"The host answers {shown(output)}, and should answer {shown(vector['expected'])}."]
