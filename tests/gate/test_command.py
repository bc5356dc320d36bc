"""The command: exit codes, formats, places to read from, approvals, impact, pages and frozen lists."""

import json
from pathlib import Path

import pytest
from editing import Edit, at_version, changed, committed, document, laid_out, packed, requirement, small, written

from gemini_mcp_spec.cli import main
from gemini_mcp_spec.diff.comparison import diff
from gemini_mcp_spec.files.requirements import requirements
from gemini_mcp_spec.files.version import Bump, Version

CHAT = "server/tools/chat.json"
NARROWED = changed(CHAT, ["inputSchema", "required", 1], "cwd")
REWORDED = changed(CHAT, ["description"], "Starts a session.")
EXTENDED = changed(CHAT, ["inputSchema", "properties", "seed"], {"type": "string"})


def edited(folder: Path, *edits: Edit, version: str = "1.0.0") -> str:
    spec = small()
    for edit in edits:
        spec = edit.of(spec)
    return laid_out(at_version(spec, version), folder)


@pytest.fixture
def old(tmp_path: Path) -> str:
    return laid_out(small(), tmp_path / "old")


@pytest.mark.parametrize("words", [(), ("lint",), ("diff",), ("docs",), ("explain",), ("freeze",)])
def test_the_help_fits_a_terminal(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*words, "--help"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_lint_of_a_sound_specification_is_0(old: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", old]) == 0
    assert capsys.readouterr().out == "no mistakes\n"


def test_lint_of_a_mistake_is_1_and_names_place_rule_and_fix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = edited(tmp_path, changed(CHAT, ["name"], "talk"))
    assert main(["lint", spec]) == 1
    assert f'{spec}/{CHAT}:2:11: file-name: The file is named "chat", but its `name` is "talk". Make them equal.' in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize(
    "arguments",
    [["lint", "/nowhere"], ["lint", "HEAD:none"], ["diff", "a.whl", "HEAD"], ["diff", "--", "--output=x", "HEAD"]],
)
def test_a_specification_that_is_not_there_is_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["mend"], ["diff", "HEAD"], ["lint", "--format", "xml"]])
def test_a_wrong_usage_is_2(arguments: list[str]) -> None:
    assert main(arguments) == 2


def test_an_unapproved_break_below_its_version_is_1(
    old: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", old, edited(tmp_path / "new", NARROWED, version="1.1.0")]) == 1
    said = capsys.readouterr().out
    assert "breaking for callers: `chat`: `cwd` is required now." in said
    assert 'witness: {"prompt":' in said
    assert "The version 1.1.0 is too low: these changes need 2.0.0." in said


def test_a_break_with_its_version_is_0(old: str, tmp_path: Path) -> None:
    assert main(["diff", old, edited(tmp_path / "new", NARROWED, version="2.0.0")]) == 0
    assert main(["diff", old, edited(tmp_path / "candidate", NARROWED, version="2.0.0-rc.1")]) == 0


def test_an_approved_break_is_0_and_a_stale_approval_is_named(
    old: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change = diff(small(), NARROWED.of(small())).changes[0]
    entries = [{"fingerprint": name, "reason": "Nobody sends it."} for name in (change.fingerprint, "0123456789ab")]
    approval = written("approved-breaks.json", {"approved": entries})
    assert main(["diff", old, edited(tmp_path / "new", NARROWED, approval, version="1.0.1")]) == 0
    said = capsys.readouterr().out
    assert "approved: Nobody sends it." in said
    assert "The approval 0123456789ab fits no change." in said


def test_an_approval_without_a_reason_approves_nothing(old: str, tmp_path: Path) -> None:
    change = diff(small(), NARROWED.of(small())).changes[0]
    approval = written("approved-breaks.json", {"approved": [{"fingerprint": change.fingerprint, "reason": " "}]})
    assert main(["diff", old, edited(tmp_path / "new", NARROWED, approval)]) == 1


def test_a_fingerprint_does_not_depend_on_other_changes() -> None:
    alone = diff(small(), NARROWED.of(small())).changes[0].fingerprint
    among = diff(small(), NARROWED.of(REWORDED.of(small()))).changes
    assert alone in {change.fingerprint for change in among}


@pytest.mark.parametrize(("edit", "version"), [(REWORDED, "1.0.1"), (EXTENDED, "1.1.0")])
def test_a_missing_minor_or_patch_bump_fails_only_when_strict(
    old: str, tmp_path: Path, edit: Edit, version: str, capsys: pytest.CaptureFixture[str]
) -> None:
    new = edited(tmp_path / "new", edit)
    assert (main(["diff", old, new]), main(["diff", "--strict", old, new])) == (0, 1)
    assert f"The version 1.0.0 is low: these changes need {version}." in capsys.readouterr().out
    assert main(["diff", "--strict", old, edited(tmp_path / "raised", edit, version=version)]) == 0


def test_a_version_that_falls_is_refused(old: str, tmp_path: Path) -> None:
    assert main(["diff", old, edited(tmp_path / "new", version="0.9.0")]) == 1


def test_git_refs_and_wheels_are_read(
    old: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    committed(small(), tmp_path)
    wheel = packed(NARROWED.of(small()), tmp_path / "a-1.0.0-py3-none-any.whl")
    monkeypatch.chdir(tmp_path)
    assert main(["diff", "HEAD", old]) == 0
    assert main(["diff", "main", "--format", "json", wheel]) == 1
    assert "no changes" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["text", "json", "markdown", "github"])
def test_every_format_names_the_break_its_fingerprint_and_the_version(
    old: str, tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["diff", old, edited(tmp_path / "new", NARROWED), "--format", form])
    said = capsys.readouterr().out
    fingerprint = diff(small(), NARROWED.of(small())).changes[0].fingerprint
    assert all(part in said for part in ("breaking for callers", fingerprint, "2.0.0"))


def test_a_long_text_of_a_witness_is_abbreviated(old: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit = changed(CHAT, ["inputSchema", "properties", "prompt", "maxLength"], 128_000)
    main(["diff", old, edited(tmp_path / "new", edit), "--format", "json"])
    witness = json.loads(capsys.readouterr().out)["changes"][0]["witness"]
    assert witness["value"]["prompt"] == {"repeat": "a", "times": 128_001}


def test_the_impact_names_the_ports_that_change_their_verdict(
    old: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = requirement("identity:version")
    entry = document("requirements.json")["requirements"][index]
    raised = {**entry, "level": "MUST", "sentence": entry["sentence"].replace("SHOULD", "MUST")}
    names: list[str] = []
    for name, verdict in (("good", "pass"), ("poor", "fail")):
        report = {
            "port": {"name": name, "version": "1"},
            "profile": "server",
            "strict": False,
            "requirements": [{"id": entry["id"], "verdict": verdict}],
        }
        names.append(str(tmp_path / f"{name}.json"))
        Path(names[-1]).write_text(json.dumps(report), encoding="utf-8")
    new = edited(tmp_path / "new", changed("requirements.json", ["requirements", index], raised), version="2.0.0")
    assert main(["diff", old, new, "--impact", names[0], "--impact", names[1]]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("impact")]
    assert lines == [
        f"impact: good 1 ({names[0]}): no verdict flips",
        f"impact: poor 1 ({names[1]}): identity:version: fail -> fails the run",
    ]


def test_a_changed_case_asks_for_another_run_of_its_requirements(
    old: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "port.json"
    verdicts = [{"id": name, "verdict": "pass"} for name in ("command:chat:model", "identity:name")]
    report.write_text(json.dumps({"port": None, "requirements": verdicts}), encoding="utf-8")
    new = edited(tmp_path / "new", changed("server/cases/chat-model.json", ["invocation", "argv", 4], "--other"))
    main(["diff", old, new, "--impact", str(report)])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("impact")]
    assert lines == [f"impact: {report}: command:chat:model: pass -> unknown: run again"]


def test_a_report_that_is_none_is_2(old: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text("[]", encoding="utf-8")
    assert main(["diff", old, old, "--impact", str(report)]) == 2


def test_pages_are_written_and_their_drift_is_1(old: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = tmp_path / "pages"
    assert main(["docs", old, "--output", str(pages), "--check"]) == 1
    assert main(["docs", old, "--output", str(pages)]) == 0
    assert main(["docs", old, "--output", str(pages), "--check"]) == 0
    assert "새로운 Gemini 세션을 시작하고" in (pages / "tools.ko.md").read_text(encoding="utf-8")
    (pages / "errors.md").write_text("changed", encoding="utf-8")
    capsys.readouterr()
    assert main(["docs", old, "--output", str(pages), "--check"]) == 1
    assert "errors.md" in capsys.readouterr().out


def test_only_pages_are_removed(old: str, tmp_path: Path) -> None:
    assert main(["docs", old, "--output", str(tmp_path)]) == 0
    page = (tmp_path / "errors.md").read_text(encoding="utf-8")
    (tmp_path / "former.md").write_text(page, encoding="utf-8")
    (tmp_path / "own.md").write_text("# Notes\n\nRun `gemini-mcp-server`.\n", encoding="utf-8")
    assert main(["docs", old, "--output", str(tmp_path), "--check"]) == 1
    assert main(["docs", old, "--output", str(tmp_path)]) == 0
    assert not (tmp_path / "former.md").exists()
    assert (tmp_path / "own.md").exists()


def test_an_excluded_requirement_is_marked_on_its_page(tmp_path: Path) -> None:
    without = changed("requirements.json", ["requirements", 0, "excluded"], "Nobody can see it.")
    assert main(["docs", edited(tmp_path / "new", without), "--output", str(tmp_path / "pages")]) == 0
    rows = (tmp_path / "pages/requirements.md").read_text(encoding="utf-8").splitlines()
    assert len([row for row in rows if "<br>excluded: Nobody can see it. |" in row]) == 1


def test_a_frozen_list_holds_the_requirements_of_its_version_and_no_later_one(old: str, tmp_path: Path) -> None:
    assert main(["freeze", old]) == 0
    frozen = json.loads((Path(old) / "released/1.0.0.json").read_text(encoding="utf-8"))
    assert frozen == {"version": "1.0.0", "requirements": [entry for _, _, entry in requirements(small())]}
    count = len(document("requirements.json")["requirements"])
    later = {**frozen["requirements"][0], "id": "identity:kind", "since": "1.1.0", "sentence": "It MUST be kind."}
    edits = changed("requirements.json", ["requirements", count], later), written("released/1.0.0.json", frozen)
    assert main(["lint", edited(tmp_path / "new", *edits, version="1.1.0")]) == 0


def test_a_released_list_that_changes_is_refused(old: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["freeze", old])
    new = Path(edited(tmp_path / "new"))
    main(["freeze", str(new)])
    file = new / "released/1.0.0.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"MUST"', '"MAY"', 1), encoding="utf-8")
    assert main(["diff", old, str(new)]) == 1
    assert "No version allows that: restore it." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "bump", "needed"),
    [
        ("1.2.3", Bump.NONE, "1.2.3"),
        ("1.2.3", Bump.PATCH, "1.2.4"),
        ("1.2.3", Bump.MINOR, "1.3.0"),
        ("1.2.3", Bump.MAJOR, "2.0.0"),
        ("0.2.3", Bump.MAJOR, "0.3.0"),
        ("0.2.3", Bump.MINOR, "0.2.4"),
        ("2.0.0-rc.1", Bump.PATCH, "2.0.0"),
    ],
)
def test_the_needed_version_follows_semantic_versioning(old: str, bump: Bump, needed: str) -> None:
    assert str(Version.parse(old).raised(bump)) == needed


def test_versions_are_ordered_as_semantic_versioning_says() -> None:
    tags = ["-alpha", "-alpha.1", "-alpha.beta", "-rc.2", "-rc.11", ""]
    names = [*(f"1.0.0{tag}" for tag in tags), "1.0.1", "1.10.0"]
    assert sorted(names, key=Version.parse) == names
