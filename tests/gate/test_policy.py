"""`gate.json` and `explain`: severities, exceptions, deprecations, and the words about every rule."""

import pytest
from editing import Edit, at_version, changed, small, without, written

from gemini_mcp_spec.cli import main
from gemini_mcp_spec.diff.comparison import Comparison, diff
from gemini_mcp_spec.diff.rules import RULES, Severity
from gemini_mcp_spec.lint.linter import RULES as LINT_RULES
from gemini_mcp_spec.report.explanations import explained
from gemini_mcp_spec.report.pages import pages

CHAT = "server/tools/chat.json"
GONE = without(CHAT, ["inputSchema", "properties", "cwd"])
REMOVED = "request-property-removed"


def marked(until: str) -> Edit:
    return written("gate.json", {"deprecated": [{"tool": "chat", "argument": "cwd", "until": until}]})


def test_the_page_of_tools_says_what_is_deprecated() -> None:
    marks = [{"tool": "chat", "argument": "cwd", "until": "2.0.0"}, {"tool": "chat-reply", "until": "2027-01-31"}]
    held = pages(written("gate.json", {"deprecated": marks}).of(small()))
    english, korean = held["tools.md"].splitlines(), held["tools.ko.md"].splitlines()
    assert "**Deprecated, and may be gone from 2027-01-31 on.**" in english
    (row,) = [line for line in english if line.endswith("**Deprecated, and may be gone from 2.0.0 on.** |")]
    assert row.startswith("| `cwd` | string | no |")
    assert "**폐지 예정이며 2027-01-31부터 없어질 수 있습니다.**" in korean


def compared(before: list[Edit], after: list[Edit], today: str = "2026-07-28") -> Comparison:
    old = new = small()
    for edit in before:
        old = edit.of(old)
    for edit in after:
        new = edit.of(new)
    return diff(old, new, today)


@pytest.mark.parametrize(
    ("until", "version", "severity"),
    [
        ("1.0.0", "1.0.0", Severity.NOTICE),
        ("1.1.0", "1.1.0", Severity.NOTICE),
        ("1.1.0", "1.0.9", Severity.CALLERS),
        ("2026-07-28", "1.0.0", Severity.NOTICE),
        ("2026-07-29", "1.0.0", Severity.CALLERS),
    ],
)
def test_a_removal_is_no_surprise_from_its_version_or_date_on(until: str, version: str, severity: Severity) -> None:
    raised = changed("manifest.json", ["version"], version)
    [removal] = [one for one in compared([marked(until)], [marked(until), GONE, raised]).changes if one.rule == REMOVED]
    assert removal.severity is severity
    assert until in removal.message


def test_a_removal_that_was_never_announced_says_so() -> None:
    [removal] = [one for one in compared([], [GONE, marked("1.0.0")]).changes if one.rule == REMOVED]
    assert removal.severity is Severity.CALLERS
    assert "never marked as deprecated" in removal.message


def test_a_severity_of_the_policy_is_said_beside_the_change() -> None:
    policy = written("gate.json", {"severities": {REMOVED: "notice"}})
    comparison = compared([], [GONE, policy])
    [removal] = [one for one in comparison.changes if one.rule == REMOVED]
    assert removal.severity is Severity.NOTICE
    assert "By `gate.json` this is notice, and not breaking for callers." in removal.message
    assert "gate-changed" in {one.rule for one in comparison.changes}


def test_an_exception_with_a_reason_approves_what_it_covers() -> None:
    entry = {"rule": REMOVED, "file": "server/tools/*", "reason": "Nobody sends it."}
    comparison = compared([], [GONE, written("gate.json", {"exceptions": [entry]})])
    [removal] = [one for one in comparison.changes if one.rule == REMOVED]
    assert comparison.approved[removal.fingerprint] == "Nobody sends it. (exception in gate.json)"
    assert removal not in comparison.breaks
    other = written("gate.json", {"exceptions": [{**entry, "file": "server/cases/*"}]})
    assert removal in compared([], [GONE, other]).breaks


@pytest.mark.parametrize(
    "name", [*LINT_RULES, *RULES, "request-enum-narrower", "result-type-wider", "tool-outputSchema"]
)
def test_every_rule_is_explained(name: str) -> None:
    assert all(one.what and one.why and one.example and one.approval for one in explained(name))
    assert explained(name)


def test_a_rule_that_does_not_exist_suggests_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "tool-removd"]) == 2
    assert "Did you mean 'tool-removed'" in capsys.readouterr().err


def test_a_change_is_said_with_both_values_at_its_line() -> None:
    edit = changed("host/settings.schema.json", ["$defs", "server", "properties", "command", "minLength"], 2)
    [change] = compared([], [edit]).changes
    assert "`minLength` was 1 and is 2" in change.message
    assert change.witness is not None
    assert change.witness.value == {"mcpServers": {"extra": {"command": "a"}}}


def test_removing_a_keyword_that_has_no_proof_is_no_proven_break() -> None:
    listed = changed(CHAT, ["inputSchema", "properties", "cwd"], {"type": "array", "prefixItems": [{"type": "string"}]})
    free = changed(CHAT, ["inputSchema", "properties", "cwd"], {"type": "array"})
    loosened, tightened = (
        [
            one
            for one in diff(at_version(old.of(small()), "1.0.0"), new.of(small())).changes
            if "prefixItems" in one.rule
        ]
        for old, new in ((listed, free), (free, listed))
    )
    assert [one.severity.breaks for one in loosened] == [False]
    assert [one.severity.breaks for one in tightened] == [True]
