"""What the tests of comparisons ask: what a schema accepts, how grave changes are, whether a witness is one. Pure."""

from collections.abc import Sequence

from jsonschema import Draft202012Validator

from gemini_mcp.schema.validation import Validator
from gemini_mcp.spec.values import Json
from gemini_mcp_spec.diff.change import Change
from gemini_mcp_spec.diff.rules import Severity


def accepts(schema: Json, value: Json) -> bool:
    """Whether the published validator accepts the value."""
    return _judge(schema).is_valid(value)


def _judge(schema: Json) -> Validator:
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


def gravest(changes: Sequence[Change]) -> Severity | None:
    """The gravest severity of some changes."""
    return min((change.severity for change in changes), key=list(Severity).index, default=None)


def check_witness(old: Json, new: Json, change: Change) -> None:
    """A witness, where there is one, is taken by the side that it names."""
    if change.witness:
        assert accepts(old, change.witness.value) is (change.witness.old != "rejected")
        assert accepts(new, change.witness.value) is (change.witness.new != "rejected")
