"""One requirement gets one verdict, whatever its checks have found: the order in which verdicts outweigh each other."""

from dataclasses import replace
from itertools import permutations

import pytest

from gemini_mcp.spec import Requirement, load_requirements
from gemini_mcp_conformance.judge.check import CheckOf, CouldNotRun, NotApplicable
from gemini_mcp_conformance.judge.finding import Finding
from gemini_mcp_conformance.judge.judgement import VERDICTS, Judgement, Verdict
from gemini_mcp_conformance.judge.verdict import Circumstances, decide

PING = next(each for each in load_requirements() if each.id == "lifecycle:ping")
CHECKED = Circumstances(frozenset({PING.id}), replay=lambda finding: f"replay {finding.conversation}")


def finding(outcome: Verdict, requirement: str = PING.id) -> Finding:
    return Finding(requirement, f"conversation-{outcome}", "check", outcome, f"It is {outcome}.", f"seen {outcome}")


def judged(*outcomes: Verdict, circumstances: Circumstances = CHECKED, requirement: Requirement = PING) -> Judgement:
    [judgement] = decide([requirement], map(finding, outcomes), circumstances)
    return judgement


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        (("pass",), "pass"),
        (("fail",), "fail"),
        (("could-not-run",), "could-not-run"),
        (("not-applicable",), "not-applicable"),
        (("harness-error",), "harness-error"),
        (("harness-error", "fail"), "harness-error"),
        (("harness-error", "pass"), "harness-error"),
        (("harness-error", "could-not-run"), "harness-error"),
        (("harness-error", "not-applicable"), "harness-error"),
        (("fail", "pass"), "fail"),
        (("fail", "could-not-run"), "fail"),
        (("fail", "not-applicable"), "fail"),
        (("pass", "could-not-run"), "pass"),
        (("pass", "not-applicable"), "pass"),
        (("could-not-run", "not-applicable"), "could-not-run"),
        (("harness-error", "fail", "pass", "could-not-run", "not-applicable"), "harness-error"),
    ],
)
def test_what_outweighs_decides_in_any_order(outcomes: tuple[Verdict, ...], verdict: Verdict) -> None:
    assert {judged(*some).verdict for some in permutations(outcomes)} == {verdict}


def test_the_first_decisive_finding_is_told() -> None:
    judgement = judged("pass", "fail", "could-not-run")
    assert (judgement.message, judgement.witness) == ("It is fail.", "seen fail")


@pytest.mark.parametrize("verdict", [verdict for verdict in VERDICTS if verdict != "undecided"])
def test_only_a_failure_has_a_command_that_shows_it_again(verdict: Verdict) -> None:
    assert judged(verdict).replay == ("replay conversation-fail" if verdict == "fail" else None)


@pytest.mark.parametrize(
    ("circumstances", "verdict", "message"),
    [
        (CHECKED, "could-not-run", "Nothing that was observed shows it."),
        (replace(CHECKED, cut="The budget was spent."), "could-not-run", "The budget was spent."),
        (replace(CHECKED, absent={"lifecycle": "It has none."}), "not-applicable", "It has none."),
        (replace(CHECKED, absent={PING.id: "It has none."}), "not-applicable", "It has none."),
        (replace(CHECKED, checked=frozenset[str]()), "undecided", "No check of the suite decides it."),
        (replace(CHECKED, checked=frozenset[str](), cut="x"), "undecided", "No check of the suite decides it."),
    ],
)
def test_what_nothing_was_found_about_says_why(circumstances: Circumstances, verdict: Verdict, message: str) -> None:
    judgement = judged(circumstances=circumstances)
    assert (judgement.verdict, judgement.message) == (verdict, message)


def test_an_excluded_requirement_says_why_it_is_not_checked() -> None:
    judgement = judged(requirement=replace(PING, excluded="Nobody can see it."))
    assert (judgement.verdict, judgement.message) == ("not-applicable", "Nobody can see it.")


def test_a_finding_about_something_else_is_silent() -> None:
    assert decide([PING], [finding("fail", "lifecycle:gone")], CHECKED) == decide([PING], [], CHECKED)


def complaining(seen: list[str]) -> list[str]:
    match seen:
        case ["optional"]:
            raise NotApplicable("It is optional.")
        case ["silent"]:
            raise CouldNotRun("It was not asked.")
        case ["raises"]:
            raise LookupError("nothing here")
        case _:
            return seen


@pytest.mark.parametrize(
    ("seen", "conclusion"),
    [
        ([], ("pass", "")),
        (["It is wrong.", "It is late."], ("fail", "It is wrong. It is late.")),
        (["optional"], ("not-applicable", "It is optional.")),
        (["silent"], ("could-not-run", "It was not asked.")),
        (["raises"], ("harness-error", "The check 'name' raised LookupError: nothing here.")),
        (["a", "b", "c"], None),
    ],
)
def test_a_check_concludes_what_its_function_says(seen: list[str], conclusion: tuple[str, str] | None) -> None:
    check = CheckOf[list[str]](
        requirement="area:id",
        name="name",
        sentence="A sentence.",
        judges=lambda seen: len(seen) < 3,
        complain=complaining,
    )
    assert check.verdict(seen) == conclusion
