"""Whom an edit of the specification breaks: the reference at an older one, or a port in Node; and why."""

import json
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from command import ROOT, Ended, suite
from command import port as small
from sample_report import HOSTILE, broken, foreign, kept, report_of, undecided, unrun
from syrupy.assertion import SnapshotAssertion

from gemini_mcp_conformance.judge.judgement import Judgement
from gemini_mcp_conformance.tell.impact import Impact, exit_code, impact
from gemini_mcp_conformance.tell.matrix.impact_pages import render_html, render_markdown, render_text
from gemini_mcp_conformance.tell.matrix.ports import Failure, Port
from gemini_mcp_conformance.tell.report import Command, Report

SPEC = ROOT / "spec"
NODE = ("node", str(ROOT / "tests/ports/node/node-events.mjs"))
REFERENCE = (sys.executable, "-m", "gemini_mcp.cli", "--spec")
LATEST = ("--only", "command:chat-reply:latest")
OLDER = {"older reference": (*REFERENCE, str(SPEC)), "node": NODE}


def edited(folder: Path, file: str, edit: Callable[[str], str]) -> Path:
    """A copy of the specification with one file edited."""
    shutil.copytree(SPEC, folder)
    path = folder / file
    path.write_text(edit(path.read_text(encoding="utf-8")), encoding="utf-8")
    return folder


def without_requirement(id: str) -> Callable[[str], str]:
    """Demands less."""

    def edit(text: str) -> str:
        requirements = [each for each in json.loads(text)["requirements"] if each["id"] != id]
        return json.dumps({"requirements": requirements})

    return edit


def flips(home: Path, old: Path, new: Path, ports: Mapping[str, Sequence[str]], *words: str) -> Ended:
    tables = (f"[[port]]\nname = {json.dumps(name)}\ncommand = {json.dumps(argv)}\n" for name, argv in ports.items())
    (home / "PORTS.toml").write_text("".join(tables), encoding="utf-8")
    return suite(home, "impact", str(old), str(new), "PORTS.toml", "--examples", "0", "--jobs", "2", *words)


@pytest.mark.slow
def test_an_edit_names_every_port_that_it_breaks_and_why(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    new = edited(tmp_path / "new", "server/invocation.json", lambda text: text.replace('"latest"', '"newest"'))
    report = tmp_path / "impact.md"
    done = flips(tmp_path, SPEC, new, OLDER, *LATEST, f"--report=markdown={report}")
    assert (done.code, done.out) == (1, snapshot)
    assert report.read_text(encoding="utf-8") == snapshot


@pytest.mark.slow
def test_a_port_that_follows_the_specification_is_not_broken(tmp_path: Path) -> None:
    new = edited(tmp_path / "new", "server/invocation.json", lambda text: text.replace('"latest"', '"newest"'))
    done = flips(tmp_path, SPEC, new, {"follower": small("follows", "{spec}")}, *LATEST)
    assert (done.code, done.out.splitlines()[-1]) == (0, "0 of 1 ports break.")


@pytest.mark.slow
def test_an_edit_that_means_the_same_to_gemini_breaks_nobody(tmp_path: Path) -> None:
    new = edited(tmp_path / "new", "server/invocation.json", lambda text: text.replace('"-r"', '"--resume"'))
    done = flips(tmp_path, SPEC, new, {"node": NODE}, *LATEST, "--report=markdown=-", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert "| `node` | Nothing flips. |" in done.out


def test_an_edit_that_only_demands_something_new_says_so(tmp_path: Path) -> None:
    old = edited(tmp_path / "old", "requirements.json", without_requirement("lifecycle:ping"))
    done = flips(tmp_path, old, SPEC, {"node": NODE}, "--only", "lifecycle:ping")
    assert done.code == 0
    assert done.out.startswith("node: Nothing breaks: 1 newly demanded.\n")
    assert "  NEWLY DEMANDED  lifecycle:ping  (MUST, none → pass)\n" in done.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("spec", "missing", "PORTS.toml"), "The specification's file missing cannot"),
        (("spec", "spec", "missing.toml"), "The list of ports 'missing.toml' cannot be read"),
        (("spec", "spec", "PORTS.toml", "--only", "no:such"), "No requirement is selected."),
        (("spec", "spec", "PORTS.toml", "--report", "junit=-"), "There is no page format 'junit' for many ports."),
        (("spec", "spec", "PORTS.toml", "--", "node"), "No command is allowed here"),
        (("spec", "spec", "PORTS.toml", "--budget", "0"), "argument --budget"),
    ],
)
def test_wrong_usage_ends_with_2(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    (tmp_path / "spec").symlink_to(SPEC)
    done = suite(tmp_path, "impact", *words)
    assert (done.code, told in done.err, done.out) == (2, True, "")


def port(name: str = "node") -> Port:
    return Port(name, Command(("node", "server.js")))


def lowered(judgement: Judgement) -> Judgement:
    return replace(judgement, level="SHOULD")


@pytest.mark.parametrize(
    ("old", "new", "direction", "is_break"),
    [
        ((kept("a"),), (broken("a"),), "broken", True),
        ((unrun("a"),), (broken("a"),), "broken", True),
        ((lowered(broken("a")),), (broken("a"),), "broken", True),
        ((kept("a", "SHOULD"),), (broken("a", "SHOULD"),), "broken", False),
        ((), (broken("a"),), "newly demanded", True),
        ((foreign("a"),), (broken("a"),), "newly demanded", True),
        ((), (kept("a"),), "newly demanded", False),
        ((), (undecided("a"),), "newly demanded", False),
        ((broken("a"),), (kept("a"),), "mended", False),
        ((broken("a"),), (lowered(broken("a")),), "mended", False),
        ((broken("a"),), (), "no longer demanded", False),
        ((kept("a"),), (foreign("a"),), "no longer demanded", False),
        ((kept("a"),), (unrun("a"),), "unclear", False),
        ((broken("a"),), (undecided("a"),), "unclear", False),
    ],
)
def test_a_flip_has_a_direction(
    old: tuple[Judgement, ...], new: tuple[Judgement, ...], direction: str, is_break: bool
) -> None:
    (flip,) = impact(port(), report_of(*old), report_of(*new)).flips
    assert (flip.direction, flip.is_break) == (direction, is_break)


@pytest.mark.parametrize("judgement", [kept("a"), broken("a"), foreign("a"), undecided("a"), unrun("a")])
def test_what_stays_as_it_was_is_no_flip(judgement: Judgement) -> None:
    assert impact(port(), report_of(judgement), report_of(judgement)).flips == ()


def test_a_should_that_flips_breaks_under_strict() -> None:
    reports = report_of(kept("a", "SHOULD")), report_of(broken("a", "SHOULD"))
    assert [impact(port(), *reports, strict).breaks for strict in (False, True)] == [False, True]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (report_of(kept("a")), report_of(kept("a")), 0),
        (report_of(broken("a"), exit=1), report_of(broken("a"), exit=1), 0),
        (report_of(kept("a")), report_of(broken("a"), exit=1), 1),
        (report_of(kept("a")), report_of(unrun("a"), exit=3), 3),
        (report_of(kept("a")), Failure("It did not end."), 3),
        (report_of(kept("a")), report_of(broken("a"), exit=4), 4),
        (report_of(kept("a"), exit=5), report_of(broken("a"), exit=1), 5),
    ],
)
def test_the_worst_that_was_found_gives_the_exit_code(old: Report, new: Report | Failure, code: int) -> None:
    same = impact(port("same"), report_of(), report_of())
    assert exit_code([same, impact(port(), old, new)]) == code


def every_kind() -> list[Impact]:
    """A port with a flip of every kind, one that says hostile things, and one that could not be tested."""
    old = report_of(kept("a"), broken("b"), kept("c"), broken("d"), kept("e"))
    new = report_of(broken("a"), kept("b"), unrun("c"), kept("e"), broken("f", "SHOULD"), undecided("g"), exit=1)
    hostile = report_of(broken("a", message=HOSTILE), exit=1)
    return [
        impact(port(), old, new),
        impact(port("<b>hostile|"), report_of(kept("a")), hostile),
        impact(port("hangs"), report_of(kept("a")), Failure("The suite did not end within the budget of 60 s.")),
        impact(port("same"), report_of(kept("a")), report_of(kept("a"))),
    ]


class Body(HTMLParser):
    """The text and the tags of a page's main part."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.is_in = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.is_in = self.is_in or tag == "header"
        self._add("<" + " ".join([tag, *(f"{name}={value}" for name, value in attrs)]) + ">")

    def handle_endtag(self, tag: str) -> None:
        self.is_in = self.is_in and tag != "main"

    def handle_data(self, data: str) -> None:
        self._add(repr(data))

    def _add(self, line: str) -> None:
        if self.is_in:
            self.lines.append(line)


def test_the_text_says_what_flips(snapshot: SnapshotAssertion) -> None:
    assert render_text(every_kind()) == snapshot


def test_the_markdown_says_what_flips(snapshot: SnapshotAssertion) -> None:
    assert render_markdown(every_kind()) == snapshot


def test_the_page_says_what_flips(snapshot: SnapshotAssertion) -> None:
    page = render_html(every_kind())
    body = Body()
    body.feed(page)
    assert "\n".join(body.lines) == snapshot
    assert page.count("<script>") == 1
