"""What the suite reads from gemini's stdout. The cases of the specification show the rest of its rules."""

from gemini_mcp_conformance.spec import specification
from gemini_mcp_conformance.spec.reading import read

OUTCOME = specification.load().outcome


def test_an_object_with_a_bare_control_character_is_no_json() -> None:
    keys = OUTCOME.answer
    whole, broken = (b'{"%s": "one%stwo"}' % (keys["text"].encode(), end) for end in (b"\\n", b"\n"))
    assert [read(stdout, OUTCOME).kind for stdout in (whole, broken)] == ["answer", "error"]
