"""A stranger's specification: whatever it holds, lint and diff end with an exit code and open nothing else."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from editing import Edit, changed, committed, laid_out, replaced, small, without, written
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gemini_mcp.spec.values import Json, is_array, is_object
from gemini_mcp_spec.diff.comparison import diff
from gemini_mcp_spec.files.spec_files import SpecFiles
from gemini_mcp_spec.lint.complaint import located
from gemini_mcp_spec.lint.linter import lint
from gemini_mcp_spec.report import comparisons, complaints

CHAT, MANIFEST, SETTINGS = "server/tools/chat.json", "manifest.json", "host/settings.schema.json"
PROPERTIES = ["inputSchema", "properties"]
SECONDS = 60
"""How long one command may take on a machine that does much else; alone it takes a few."""
EXAMPLES = 300 if "THOROUGH" in os.environ else 20
"""Edits that are drawn."""

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


def test_a_key_that_comes_or_goes_is_told_in_every_format() -> None:
    edited = without("server/invocation.json", ["temporary", "directory"]).of(small())
    told(small(), edited, edited)
    told(edited, small(), edited)


@pytest.mark.parametrize("pattern", ["(?P<x>a)", "(", "[z-a]", "a++", "(?#c)a", "\\p{L}+", "(?(1)a|b)", "\\"])
def test_a_pattern_that_cannot_be_read_is_told_in_every_format(pattern: str) -> None:
    edited = argument({"type": "string", "pattern": pattern}).of(small())
    told(small(), edited, edited)
    told(edited, small(), edited)


@pytest.mark.slow
@settings(
    max_examples=EXAMPLES,
    phases=[Phase.generate],
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(edits(), st.booleans())
def test_any_json_in_any_place_is_told_and_not_raised(edit: Edit, backwards: bool) -> None:
    edited = edit.of(small())
    told(*((edited, small()) if backwards else (small(), edited)), edited)


def run(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, which ends in time or fails the test."""
    command = [sys.executable, "-m", "gemini_mcp_spec.cli", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, encoding="utf-8", timeout=SECONDS, check=False)


def argument(schema: Json) -> Edit:
    """The argument `model` has this schema."""
    return changed(CHAT, [*PROPERTIES, "model"], schema)


def listed(count: int) -> Json:
    return {"type": "string", "enum": [f"value {index}" for index in range(count)]}


LAUGHS = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]} for n in range(40)}
HUGE = {f"p{index}": {"type": "string", "description": "x" * 40, "minLength": 3} for index in range(6_000)}
UNPROVEN = "nothing can be proven of this schema"
RUNAWAY = "a pattern that never ends"
HOSTILE: dict[str, tuple[Edit, Edit, str]] = {
    "a reference to itself": (argument({}), changed(CHAT, ["inputSchema"], {"$ref": "#"}), UNPROVEN),
    "a schema that is a text": (argument({}), changed(CHAT, ["inputSchema"], "nope"), UNPROVEN),
    "a schema of 0.6 MB": (argument({}), changed(CHAT, PROPERTIES, HUGE), UNPROVEN),
    "references that multiply": (
        argument({}),
        changed(CHAT, ["inputSchema", "$defs"], {**LAUGHS, "a40": {"$ref": "#/$defs/a0/allOf/0/not"}}),
        UNPROVEN,
    ),
    "a least length beyond all memory": (
        argument({"type": "string"}),
        argument({"type": "string", "minLength": 10**12}),
        "minLength",
    ),
    "a limit beyond all memory": (
        argument({}),
        changed("server/invocation.json", ["forms", "prompt", 0, "longerThan"], 10**12),
        "longerThan",
    ),
    "6,000 values": (argument(listed(6000)), argument(listed(5999)), 'loses ["value 5999"]'),
    "an older version": (argument({}), changed(MANIFEST, ["version"], "0.9.0"), "The version 0.9.0 is too low"),
    "a tool that is an array": (argument({}), written(CHAT, []), "should hold an object"),
    "a manifest that is an array": (argument({}), written(MANIFEST, []), "should hold an object"),
    "invalid JSON": (argument({}), replaced(CHAT, '"name":', '"name"'), "The file is no JSON"),
    RUNAWAY: (
        argument({"type": "string"}),
        argument({"type": "string", "pattern": "^(a|a)*b$", "minLength": 60}),
        "Raise --budget",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_ends_in_few_lines_and_no_traceback(name: str, tmp_path: Path) -> None:
    before, after, said = HOSTILE[name]
    old, new = laid_out(before.of(small()), tmp_path / "old"), laid_out(after.of(small()), tmp_path / "new")
    budget = ("--budget", "2") if name == RUNAWAY else ()
    for ended in (run(*budget, "lint", new), run(*budget, "diff", old, new)):
        told = ended.stdout + ended.stderr
        assert ended.returncode in (0, 1, 2)
        assert "Traceback" not in told
        assert len(told.splitlines()) < 100
    assert said in told


@pytest.mark.slow
@pytest.mark.parametrize("place", [CHAT, SETTINGS, "meta/case.schema.json", "server/results/error.schema.json"])
def test_no_reference_is_fetched(place: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/a.json"
        key = [*PROPERTIES, "model"] if place == CHAT else ["properties", "model"]
        old = laid_out(small(), tmp_path / "old")
        new = laid_out(changed(place, key, {"$ref": address}).of(small()), tmp_path / "new")
        assert run("lint", new).returncode == 1
        assert run("diff", old, new).returncode in (0, 1)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_link_out_of_the_specification_is_not_followed(tmp_path: Path) -> None:
    spec = laid_out(small(), tmp_path / "spec")
    (tmp_path / "secret.json").write_text('{"secret": 1}', encoding="utf-8")
    os.symlink(tmp_path / "secret.json", tmp_path / "spec/server/cases/secret.json")
    ended = run("lint", spec)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "leads out of the specification" in ended.stderr


def test_a_folder_that_holds_no_specification_is_one_line_and_is_not_looked_through(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    os.symlink("/etc/hostname", tmp_path / "below/package.json")
    ended = run("lint", str(tmp_path))
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1
    assert "holds no specification" in ended.stderr


def test_a_ref_that_a_shallow_clone_lacks_names_the_depth(tmp_path: Path) -> None:
    committed(small(), tmp_path / "whole")
    clone = ["git", "clone", "-q", "--depth=1", f"file://{tmp_path / 'whole'}", str(tmp_path / "clone")]
    subprocess.run(clone, timeout=30, check=True)
    ended = run("diff", "v1.0.0", "spec", cwd=tmp_path / "clone")
    assert ended.returncode == 2
    assert "fetch-depth: 0" in ended.stderr


def test_an_unreadable_side_of_a_comparison_is_told_alone(tmp_path: Path) -> None:
    old = laid_out(replaced(CHAT, '"name":', '"title": "a", "name":').of(small()), tmp_path / "old")
    ended = run("diff", old, laid_out(changed(CHAT, ["name"], "talk").of(small()), tmp_path / "new"))
    assert (ended.returncode, len(ended.stdout.splitlines())) == (1, 2)
    assert 'the key "title" twice' in ended.stdout
