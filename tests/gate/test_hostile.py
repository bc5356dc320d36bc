"""A stranger's specification: whatever it holds, lint and diff end with an exit code and open nothing else."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from editing import Edit, changed, committed, laid_out, replaced, small, without, written
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gemini_mcp.spec.values import Json, is_array, is_object
from gemini_mcp_spec.cli import main
from gemini_mcp_spec.diff.comparison import diff
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.lint.complaint import located
from gemini_mcp_spec.lint.linter import lint
from gemini_mcp_spec.report import comparisons, complaints

CHAT, MANIFEST, SETTINGS = "server/tools/chat.json", "manifest.json", "host/settings.schema.json"
PROPERTIES = ["inputSchema", "properties"]
SECONDS = 60
"""How long one command may take on a machine that does much else; alone it takes a few."""

ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["$ref", "#", "(", "{name}", "{", "1.0.0", "chat", "prompt", "\ud800", "http://127.0.0.1:9/a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=4)
            | st.sampled_from(["id", "type", "$ref", "properties", "items", "enum", "not", "for", "where", "argument"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


def places(value: Json) -> Iterator[list[str | int]]:
    """Every place of a document but the first."""
    members = value.items() if is_object(value) else enumerate(value) if is_array(value) else ()
    for name, inner in members:
        yield [name]
        yield from ([name, *place] for place in places(inner))


PLACES = [(file, place) for file, held in sorted(small().documents.items()) for place in ([], *places(held))]


@st.composite
def edits(draw: st.DrawFn) -> Edit:
    """Any value in the place of one that is there, or none."""
    file = draw(st.sampled_from(sorted(small().documents)))
    place = draw(st.sampled_from([place for other, place in PLACES if other == file]))
    if not place:
        return written(file, draw(ANY))
    return without(file, place) if draw(st.integers(0, 5)) == 0 else changed(file, place, draw(ANY))


def told(old: SpecFiles, new: SpecFiles, changed: SpecFiles) -> None:
    """Lint and compare, and tell what was found in every format."""
    found = list(located(changed, lint(changed)))
    for form in complaints.FORMATS.values():
        form(found)
    if not changed.unreadable:
        for form in comparisons.FORMATS.values():
            form(diff(old, new), [])


@settings(
    max_examples=100,
    phases=[Phase.generate],
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(edits(), st.booleans())
def test_any_json_in_any_place_is_told_and_not_raised(edit: Edit, backwards: bool) -> None:
    edited = edit.of(small())
    told(*((edited, small()) if backwards else (small(), edited)), edited)
