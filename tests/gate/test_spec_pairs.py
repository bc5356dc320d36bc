"""Labelled changes of the specification: each is judged as its label says, both ways, with a witness and its place."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from editing import Edit, at_version, changed, small
from labelled import CHANGES, EXAMPLES, PORTS, REST, STATEMENTS, Label

from gemini_mcp_spec.diff.comparison import Comparison, diff
from gemini_mcp_spec.diff.rules import Severity
from gemini_mcp_spec.files.version import Bump

BOTH_WAYS = [
    pytest.param(name, label, backwards, id=f"{name}, {'backwards' if backwards else 'forwards'}")
    for name, row in CHANGES.items()
    for label, backwards in zip(row[1:], (False, True), strict=True)
]
KEPT_FOREVER = ("a released list changes", "a released list goes")
SHOWN_BY_NAME = {*STATEMENTS, *EXAMPLES, *REST}
"""Changes that are shown by what they name: a statement, an example, an entry of the manifest."""
WITHOUT_WITNESS = {
    *("tool-removed", "tool-promise", "argument-optional", "locale-removed", "mask-removed", "template-removed"),
    *("template-published", "outcome-prefix", "outcome-separator", "outcome-meta", "outcome-answer"),
    "outcome-stdout",
    *("invocation-temporary", "invocation-listing", "rules-changed", "rules-removed"),
}
"""Rules whose break is the old and the new value themselves: no call or value says more."""


def edits_of(name: str) -> Sequence[Edit]:
    """The edits of a row."""
    edits = CHANGES[name][0]
    return [edits] if isinstance(edits, Edit) else edits


@cache
def compared(name: str, backwards: bool = False) -> Comparison:
    old = new = small()
    for edit in edits_of(name):
        new = edit.of(new)
    return diff(*((new, old) if backwards else (old, new)))


def under(comparison: Comparison, version: str) -> Comparison:
    """The same changes under another version."""
    manifest = replace(comparison.new, files={"manifest.json": comparison.new.files["manifest.json"]})
    return replace(comparison, new=at_version(manifest, version))


@pytest.mark.parametrize(("name", "label", "backwards"), BOTH_WAYS, scope="module")
def test_a_change_is_judged_as_its_label_says(name: str, label: Label, backwards: bool) -> None:
    changes = compared(name, backwards).changes
    gravest = min((change.severity for change in changes), key=list(Severity).index, default=None)
    assert (gravest, compared(name, backwards).bump) == label


@pytest.mark.parametrize(("name", "label", "backwards"), BOTH_WAYS, scope="module")
def test_a_break_is_refused_below_the_next_major_version(name: str, label: Label, backwards: bool) -> None:
    assert under(compared(name, backwards), "1.9.0").is_refused is (label[1] is Bump.MAJOR)
    assert under(compared(name, backwards), "2.0.0").is_refused is (name in KEPT_FOREVER and label == PORTS)


@pytest.mark.parametrize(("name", "label", "backwards"), BOTH_WAYS, scope="module")
def test_a_change_is_told_where_the_edit_is(name: str, label: Label, backwards: bool) -> None:
    edits = edits_of(name)
    for change in compared(name, backwards).changes:
        places = [edit.place for edit in edits if edit.file == change.file]
        assert any(_is_near(change.path, tuple(place)) for place in places)


def _is_near(path: Sequence[str | int], place: Sequence[str | int]) -> bool:
    """Whether one place holds the other; a referenced schema is told where it is used."""
    length = min(len(path), len(place))
    return path[:length] == place[:length] or (place[0] == "$defs" and path[-1] in place)


@pytest.mark.parametrize(("name", "label", "backwards"), BOTH_WAYS, scope="module")
def test_a_break_is_shown_by_what_both_sides_make_of_a_value(name: str, label: Label, backwards: bool) -> None:
    breaks = [change for change in compared(name, backwards).changes if change.severity.breaks]
    unshown = {change.rule for change in breaks if change.witness is None} - WITHOUT_WITNESS
    assert unshown == set() or name in SHOWN_BY_NAME
    assert [change.rule for change in breaks if change.witness and change.witness.old == change.witness.new] == []


def test_there_are_enough_changes() -> None:
    assert len(CHANGES) >= 158


def test_a_specification_does_not_differ_from_itself() -> None:
    assert diff(small(), small()).changes == ()


@pytest.mark.parametrize(
    ("name", "version", "needed"), [("a tool comes", "2.0.0", "1.1.0"), ("a title changes", "1.1.0", "1.0.1")]
)
def test_a_version_that_is_higher_than_needed_is_a_hint(name: str, version: str, needed: str) -> None:
    new = changed("manifest.json", ["version"], version).of(compared(name).new)
    hints = [change for change in diff(small(), new).changes if change.rule == "version-higher"]
    assert [(hint.old, hint.new, hint.severity) for hint in hints] == [(needed, version, Severity.NOTICE)]


def test_a_call_shows_what_a_template_does_otherwise() -> None:
    change = compared("another default session is resumed").changes[0]
    assert change.witness is not None
    assert change.witness.value["name"] == "chat-reply"
    assert "sessionId" not in change.witness.value["arguments"]
    assert [argv["argv"][2] for argv in (change.witness.old, change.witness.new)] == ["latest", "1"]


def test_a_call_shows_what_is_refused_now() -> None:
    change = compared("an argument is refused").changes[0]
    assert change.witness is not None
    assert change.witness.value["arguments"]["cwd"].startswith("-")
    assert change.witness.new == "refused: option-like"


def test_an_exit_code_shows_that_it_is_told_otherwise() -> None:
    change = compared("a sentence holds for fewer exit codes").changes[0]
    assert change.witness is not None
    assert change.witness.value == {"exit": 40, "stderr": ""}
