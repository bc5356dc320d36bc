"""What the records of `invocation.json` can answer themselves."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_mcp.spec.templates import occurs

PATTERNS = (
    "[\ud800-\udfff]",
    r"[\ud800-\udfff]",
    "\\u0000",
    "[^a-z]",
    "[é\\]]",
    "[]é]",
    "é|a",
    "[é][a]",
    r"^$(?!\n)",
)


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=st.text(st.characters() | st.sampled_from("é]a\0\ud800")))
def test_a_pattern_occurs_where_python_finds_it(pattern: str, text: str) -> None:
    assert occurs(pattern, text) == (re.search(pattern, text) is not None)
