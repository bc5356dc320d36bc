"""Labelled pairs of schemas: each is judged as its label says in both directions, and its witness is right."""

import json
from pathlib import Path

import pytest
from judging import check_witness, gravest

from gemini_mcp.schema.judgement import Direction
from gemini_mcp.spec.values import Json
from gemini_mcp_spec.diff.schemas import compare

FILES = {Direction.REQUEST: "requests.json", Direction.RESULT: "results.json"}
PAIRS = [
    pytest.param(direction, old, new, label, id=f"{direction.value}: {pair['name']}, {way}")
    for direction, file in FILES.items()
    for pair in json.loads((Path(__file__).parent / "pairs" / file).read_text(encoding="utf-8"))
    for way, old, new, label in (
        ("forwards", pair["old"], pair["new"], pair["forwards"]),
        ("backwards", pair["new"], pair["old"], pair["backwards"]),
    )
]
WITHOUT_WITNESS = {
    "a keyword comes that nobody knows",
    "a schema that contains itself",
    "a bound of integers is written otherwise, backwards",
    "multipleOf becomes coarser, backwards",
}
"""Pairs that break because nothing proves them safe, not because a value shows it."""


@pytest.mark.parametrize(("direction", "old", "new", "label"), PAIRS)
def test_a_pair_is_judged_as_its_label_says(direction: Direction, old: Json, new: Json, label: str | None) -> None:
    assert gravest(list(compare(old, new, direction, "file.json"))) == label


@pytest.mark.parametrize(("direction", "old", "new", "label"), PAIRS)
def test_every_witness_is_taken_by_the_side_that_it_names(
    direction: Direction, old: Json, new: Json, label: str | None
) -> None:
    for change in compare(old, new, direction, "file.json"):
        check_witness(old, new, change)


@pytest.mark.parametrize(("direction", "old", "new", "label"), PAIRS)
def test_every_break_has_a_witness(
    direction: Direction, old: Json, new: Json, label: str | None, request: pytest.FixtureRequest
) -> None:
    if not any(name in request.node.callspec.id for name in WITHOUT_WITNESS):
        changes = list(compare(old, new, direction, "file.json"))
        assert [change.message for change in changes if change.severity.breaks and change.witness is None] == []
