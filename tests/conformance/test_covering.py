"""Covering arrays: everything that is demanded meets, in few rows."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_mcp_conformance.talk.covering import Demand, cover, share

SIZES = st.lists(st.integers(1, 5), min_size=2, max_size=6)


def of_sizes(sizes: list[int]) -> dict[str, list[str]]:
    return {f"d{number}": [f"v{value}" for value in range(size)] for number, size in enumerate(sizes)}


@given(SIZES, st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_whatever_is_demanded_meets_in_some_row(sizes: list[int], strength: int) -> None:
    dimensions = of_sizes(sizes)
    rows = cover(dimensions, [Demand(tuple(dimensions), strength)])
    for names in combinations(dimensions, min(strength, len(dimensions))):
        met = {tuple(row[name] for name in names) for row in rows}
        assert met == set(product(*(dimensions[name] for name in names)))


def test_pairs_need_hardly_more_rows_than_the_largest_two_dimensions_have_pairs() -> None:
    dimensions = of_sizes([9, 8, 8, 4, 4, 4, 3, 3, 3, 2])
    assert 72 <= len(cover(dimensions, [Demand(tuple(dimensions), 2)])) <= 90


def test_a_cheap_value_is_taken_where_no_other_is_needed() -> None:
    dimensions = of_sizes([8, 8, 3])
    rows = cover(dimensions, [Demand(tuple(dimensions), 2)], cheap=["d2"])
    assert sum(row["d2"] == "v0" for row in rows) > len(rows) // 2


def test_the_same_question_has_the_same_rows() -> None:
    dimensions = of_sizes([4, 3, 3])
    assert cover(dimensions, [Demand(tuple(dimensions), 2)]) == cover(dimensions, [Demand(tuple(dimensions), 2)])


@pytest.mark.parametrize(("count", "met"), [(0, 0), (1, 3), (2, 6)])
def test_the_share_counts_what_meets_of_what_can(count: int, met: int) -> None:
    dimensions = of_sizes([2, 2, 2])
    rows = [{"d0": f"v{value}", "d1": f"v{value}", "d2": f"v{value}"} for value in range(count)]
    assert (share(dimensions, 2, rows).met, share(dimensions, 2, rows).possible) == (met, 12)
