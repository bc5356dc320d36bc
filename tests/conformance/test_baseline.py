"""A baseline lets known failures pass, tells entries that no longer hold, and is written without losing a reason."""

import json
from pathlib import Path

import pytest
from sample_report import broken, faulty, foreign, kept, report_of, undecided, unrun

from gemini_mcp_conformance.errors import UsageError
from gemini_mcp_conformance.tell import baseline
from gemini_mcp_conformance.tell.baseline import Baseline, Entry

IDS = ("area:one", "area:two", "area:three")


def listing(*ids: str) -> Baseline:
    return Baseline("known.json", tuple(Entry(requirement, "later") for requirement in ids))


def test_a_known_failure_does_not_fail_the_run():
    applied = baseline.apply(report_of(broken("one"), exit=1), listing("area:one"), IDS)
    assert (applied.exit, applied.judgements[0].known, applied.notes) == (0, "later", ())


@pytest.mark.parametrize(
    ("judgements", "before", "known", "after", "reason"),
    [
        pytest.param((unrun("one"),), 3, "area:one", 0, "later", id="what is known not to run makes no run incomplete"),
        pytest.param((broken("one"), broken("two")), 1, "area:one", 1, "later", id="another failure fails the run"),
        pytest.param((faulty("one"),), 5, "area:one", 5, None, id="a fault of the suite is never known"),
        pytest.param((unrun("one"),), 4, "area:one", 4, "later", id="a port that never answered still did not"),
        pytest.param((kept("one"),), 3, "area:two", 3, None, id="a run that was cut short stays incomplete"),
    ],
)
def test_a_baseline_excuses_no_more_than_it_lists(
    judgements: tuple[baseline.Judgement, ...], before: int, known: str, after: int, reason: str | None
):
    applied = baseline.apply(report_of(*judgements, exit=before), listing(known), IDS)
    assert (applied.exit, applied.judgements[0].known) == (after, reason)


def test_a_known_failure_without_a_reason_says_so():
    applied = baseline.apply(report_of(broken("one"), exit=1), Baseline("b", (Entry("area:one"),)), IDS)
    assert applied.judgements[0].known == "The baseline gives no reason."


@pytest.mark.parametrize(
    ("judgement", "known", "claim"),
    [
        (kept("one"), "area:one", "passes now"),
        (foreign("one"), "area:one", "does not apply to the port"),
        (undecided("one"), "area:one", "is decided by no check"),
        (kept("one"), "area:typo", "is no requirement"),
    ],
)
def test_an_entry_that_no_longer_holds_is_told(judgement: baseline.Judgement, known: str, claim: str):
    applied = baseline.apply(report_of(judgement), listing(known), IDS)
    assert (applied.exit, applied.notes) == (0, (f"{known} {claim}; remove it from the baseline 'known.json'.",))


def test_an_entry_that_no_longer_holds_fails_a_strict_run():
    assert baseline.apply(report_of(kept("one"), strict=True), listing("area:one"), IDS).exit == 1


def test_an_entry_that_no_longer_holds_leaves_an_incomplete_run_incomplete():
    report = report_of(kept("one"), unrun("two"), strict=True, exit=3)
    assert baseline.apply(report, listing("area:one"), IDS).exit == 3


def test_an_entry_that_this_run_left_out_is_not_told():
    assert baseline.apply(report_of(kept("one"), strict=True), listing("area:two"), IDS).exit == 0


def test_an_update_lists_what_fails_and_what_could_not_run():
    report = report_of(kept("one"), unrun("two"), broken("three"), exit=1)
    updated = baseline.update(report, listing("area:one", "area:three"))
    assert set(updated.entries) == {Entry("area:two"), Entry("area:three", "later")}


def test_an_update_keeps_what_the_run_left_out():
    updated = baseline.update(report_of(broken("one"), exit=1), listing("area:two"))
    assert updated.entries == (Entry("area:two", "later"), Entry("area:one"))


def test_a_run_that_judged_nothing_makes_no_baseline():
    with pytest.raises(UsageError, match="does not judge the port"):
        baseline.update(report_of(unrun("one"), exit=4), listing())


def test_an_updated_baseline_lets_the_same_report_pass():
    report = report_of(broken("one"), unrun("two"), exit=1)
    assert baseline.apply(report, baseline.update(report, listing()), IDS).exit == 0


def test_a_baseline_reads_back_in_the_order_of_its_ids():
    one, two = Entry("area:one"), Entry("area:two", "later")
    assert baseline.parse(baseline.dump(Baseline("known.json", (two, one))), "known.json").entries == (one, two)


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ([], "it should be"),
        ({"known": {}}, "it should be"),
        ({"known": [], "more": 1}, "it should be"),
        ({"known": [{"reason": "x"}]}, "should be an object with `id`"),
        ({"known": [{"id": "a:b", "because": "x"}]}, "should be an object with `id`"),
        ({"known": [{"id": "a:b", "reason": 1}]}, "should be an object with `id`"),
        ({"known": [{"id": "a:b"}, {"id": "a:b"}]}, "it lists 'a:b' twice"),
    ],
)
def test_a_file_that_is_no_baseline_is_named_with_what_is_wrong(tmp_path: Path, document: object, complaint: str):
    path = tmp_path / "known.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        baseline.load(path)
    assert str(path) in str(caught.value)
    assert complaint in str(caught.value)


def test_a_baseline_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match=r"missing\.json' cannot be read"):
        baseline.load(tmp_path / "missing.json")
