"""Texts at the edges of a pattern: each alternative, both ends of each range, and what is beside them."""

import re

import pytest

from gemini_mcp_conformance.spec.patterns import near_misses, samples
from gemini_mcp_conformance.spec.schema import sample

PATTERNS = ("^-", "^[-+]", "^(?:-|(?:auto|pro)$)", "[\\u0000-\\u001f\\u007f]", "^$(?!\\n)", "^[^a-z]{2,3}$", "(?<=a )b")


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("^[-+]", {"-b", "+b"}),
        ("^(?:auto|pro)$", {"auto", "pro"}),
        ("^[-\u2010-\u2015]", {"-b", "\u2010b", "\u2015b"}),
        ("[\\u0000-\\u001f\\u007f]", {"a\x00b", "a\x1fb", "a\x7fb"}),
        ("^(?:default)?$", {"default", ""}),
        ("(?<=a )b", {"aa bb"}),
    ],
)
def test_each_choice_of_a_pattern_is_sampled(pattern: str, texts: set[str]) -> None:
    assert set(samples(pattern)) == texts


@pytest.mark.parametrize("pattern", PATTERNS)
def test_samples_match_and_near_misses_do_not(pattern: str) -> None:
    assert samples(pattern)
    assert near_misses(pattern)
    assert all(re.search(pattern, text) for text in samples(pattern))
    assert not any(re.search(pattern, text) for text in near_misses(pattern))


def test_the_neighbours_of_a_range_are_near_misses() -> None:
    assert {"@b", "[b"} <= set(near_misses("^[A-Z]"))


@pytest.mark.parametrize("pattern", ["[.?!]$", "^Q: ", "^<.*>$", "^[a-z]+[.]$"])
def test_other_wishes_are_other_texts_whatever_a_pattern_demands_around_them(pattern: str) -> None:
    found = [sample({"type": "string", "pattern": pattern}, wished) for wished in ("First", "Fourth", "Fifth")]
    assert len({*map(str, found)}) == 3
    assert all(re.search(pattern, str(each)) for each in found)


def test_a_frame_hides_no_end_that_may_be_empty() -> None:
    assert samples("key-[a-z]*")[-1] == "key-"
