"""Whoever changes the specification changes no Python: the reference follows, and a former port is told of it.

By default each kind of change is judged on the conversations that can show it; with EVOLUTION set, each change alone
and on all of them.
"""

import os
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path

import pytest
from changes import ADDED, REMOVED, TOGETHER, Change
from drafts import SPEC, copied
from evolving import SECONDS, judge, judged

from gemini_mcp_conformance.tell.report import CONFORMS, DOES_NOT, Report

pytestmark = pytest.mark.slow

WHOLE = "EVOLUTION" in os.environ
CHANGES = [change for together in TOGETHER for change in together]
ACCUSING = [change for change in CHANGES if change.breaks and (WHOLE or not change.variant)]
HARMLESS = [change for change in CHANGES if not change.breaks]
FEW = 5
"""A former port is accused by fewer requirements."""
BESIDE = "concurrency:"
"""No change is about calls that run beside each other."""
SHOWN = ("tools", "*-everything", "outcome-*-exit-1-usage", "sequence-sessions", "concurrency-chats")


@pytest.fixture(scope="module")
def process() -> Iterator[Executor]:
    with judge() as started:
        yield started


def failed(report: Report) -> list[str]:
    return [each.id for each in report.with_verdict("fail")]


def edited(folder: Path, *changes: Change) -> Path:
    """A copy of the specification with the changes; lint has nothing against it."""
    root, complaints = copied(folder, [change.edit for change in changes], WHOLE)
    assert complaints == []
    return root


@pytest.mark.parametrize("together", [[each] for each in CHANGES] if WHOLE else TOGETHER, ids=lambda some: some[0].name)
def test_the_reference_follows(process: Executor, together: tuple[Change, ...], tmp_path: Path) -> None:
    spec = edited(tmp_path, *together)
    shown = None if WHOLE else (*SHOWN, *(glob for change in together for glob in change.shown))
    report = process.submit(judged, spec, spec, shown).result(SECONDS)
    assert (failed(report), report.with_verdict("harness-error")) == ([], ())
    assert report.exit == CONFORMS


@pytest.mark.parametrize("change", ACCUSING, ids=lambda change: change.name)
def test_a_former_port_is_told_what_changed(process: Executor, change: Change, tmp_path: Path) -> None:
    spec = edited(tmp_path, change)
    report = process.submit(judged, spec, SPEC, None if WHOLE else ("tools", *change.shown)).result(SECONDS)
    accused = failed(report)
    assert report.exit == DOES_NOT
    assert set(change.breaks) & set(accused)
    assert len(accused) < FEW
    assert not any(each.startswith(BESIDE) for each in accused)


def test_a_former_port_is_not_accused_of_what_it_need_not_follow(process: Executor, tmp_path: Path) -> None:
    spec = edited(tmp_path, *HARMLESS)
    report = process.submit(judged, spec, SPEC, None if WHOLE else SHOWN).result(SECONDS)
    assert (failed(report), report.exit) == ([], CONFORMS)
    assert REMOVED not in {each.id for each in report.judgements}


def test_an_added_requirement_is_undecided(process: Executor, tmp_path: Path) -> None:
    spec = edited(tmp_path, *HARMLESS)
    report = process.submit(judged, spec, SPEC, (), (ADDED,)).result(SECONDS)
    assert [(each.id, each.verdict) for each in report.judgements] == [(ADDED, "undecided")]
    assert report.exit == CONFORMS
