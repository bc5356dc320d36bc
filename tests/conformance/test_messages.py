"""What the author of a port reads of a failure: who ended, how long was waited, what was asked, what to run again."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from command import port, suite
from sample_report import CONTEXT, SAMPLE

from gemini_mcp_conformance.judge.judgement import Evidence, Judgement
from gemini_mcp_conformance.play.patience import Patience
from gemini_mcp_conformance.play.target import Target
from gemini_mcp_conformance.run.options import Options
from gemini_mcp_conformance.run.plan import gather
from gemini_mcp_conformance.run.run import run
from gemini_mcp_conformance.run.selection import Selection
from gemini_mcp_conformance.see.attribution import same_id
from gemini_mcp_conformance.tell.reports import FORMATS


def findings(report: Path) -> dict[str, dict[str, str]]:
    return {each["id"]: each for each in json.loads(report.read_text(encoding="utf-8"))["requirements"]}


def test_a_port_that_dies_is_told_with_what_its_stderr_says(tmp_path: Path) -> None:
    done = suite(tmp_path, "smoke", "-v", to=port("panics"))
    assert 'Its stderr ends: "panic: runtime' in " ".join(done.out.replace("|", " ").split())


def test_silence_is_told_with_its_seconds_and_no_answer_is_called_one(tmp_path: Path) -> None:
    done = suite(tmp_path, "smoke", "-v", "--patience", "0.1", to=port("silent-call"))
    said = " ".join(done.out.replace("|", " ").split())
    assert "no answer within 3 s" in said
    assert "with null" not in said


def test_patience_multiplies_every_wait() -> None:
    usual, patient = vars(Patience()), vars(Patience().times(3))
    waits = ("answer", "start", "end", "files", "first", "launch")
    assert all(patient[name] == 3 * usual[name] for name in waits)


def test_a_failure_is_replayed_alone(tmp_path: Path) -> None:
    suite(tmp_path, "smoke", "--patience", "0.1", to=port("silent-call"))
    done = suite(tmp_path, "replay", "case-chat", "--only", "command:chat", "--patience", "0.1", to=port("silent-call"))
    assert [line for line in done.out.splitlines() if line.startswith("FAIL")] == ["FAIL  command:chat  (MUST)"]
    assert "replay case-chat --only command:chat --" in done.out


def test_the_request_that_a_failure_is_about_is_shown_to_its_end() -> None:
    sent = ("{}", json.dumps({"arguments": {"prompt": "x" * 500, "model": "the-end"}}), "{}", "{}", "{}")
    broken = Judgement(
        "a:b", "MUST", "It MUST.", "fail", "It does not.", evidence=Evidence("It asked.", sent, asked=(1,))
    )
    text = FORMATS["terminal"](replace(SAMPLE, judgements=(broken,)), replace(CONTEXT, details=True))
    (line,) = [line for line in text.splitlines() if line.startswith("  sent ")]
    assert "xxx…xxx" in text
    assert "the-end" in text
    assert line.count("sent") == 1


def test_a_command_line_that_gemini_refuses_fails_no_option() -> None:
    only = ("command:chat:no-model", "prompt:verbatim:dash")
    options = Options(Target(port("splits-prompt")), Selection(only=only), jobs=1)
    shown = [each for each in gather(options)[0] if each.id.startswith("chat-prompt-dash")]
    verdicts = {each.id: each.verdict for each in run(options, shown).judgements}
    assert verdicts == {"command:chat:no-model": "pass", "prompt:verbatim:dash": "fail"}


def test_a_program_that_repeats_what_it_is_sent_is_no_port(tmp_path: Path) -> None:
    done = suite(tmp_path, "smoke", to=("cat",))
    assert (done.code, "sent the suite's own messages back" in done.out) == (4, True)


def test_the_first_look_names_the_next_step(tmp_path: Path) -> None:
    assert suite(tmp_path, "smoke", to=port("correct")).out.startswith("The port starts and answers. Now `run`.")


def test_what_does_not_apply_is_counted_with_its_areas(tmp_path: Path) -> None:
    done = suite(tmp_path, "run", "--only", "http:*", "--only", "lifecycle:ping", to=port("correct"))
    assert "do not apply (http); -v lists them." in " ".join(done.out.split())


def test_a_list_can_show_the_sentences(tmp_path: Path) -> None:
    assert "  The server MUST report `gemini-mcp-server` as its name." in suite(tmp_path, "list", "-v").out


@pytest.mark.parametrize("direction", ["server", "host"])
def test_a_list_fits_a_usual_terminal(tmp_path: Path, direction: str) -> None:
    told = suite(tmp_path, "list", "-v", "--direction", direction).out.splitlines()
    assert max(map(len, told)) <= 80
    assert [line for line in told if line != line.rstrip()] == []


def test_ids_are_compared_exactly() -> None:
    assert not same_id(json.loads("9007199254740993"), json.loads("9007199254740992.0"))
    assert same_id(2**53 - 1, float(2**53 - 1))
