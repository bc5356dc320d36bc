"""What checks forgive and show, on made exchanges. `tests/ports` proves that they accuse whom they should accuse."""

import json
from dataclasses import replace

import pytest

from gemini_mcp.gemini_cli.understanding import understand
from gemini_mcp.spec import load_requirements
from gemini_mcp_conformance.judge import checks
from gemini_mcp_conformance.judge.check import CheckOfExchange, Conclusion
from gemini_mcp_conformance.judge.judging import judge, uses
from gemini_mcp_conformance.judge.registry import checks_for
from gemini_mcp_conformance.judge.twins import gist
from gemini_mcp_conformance.see.call import Call, Stat
from gemini_mcp_conformance.see.observation import Exchange, Line, Observation, Place, Run, Silence
from gemini_mcp_conformance.spec import specification
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.messages import request

SPEC = specification.load()
ARGV = (b"Why?", b"--output-format", b"json")
CALL = Call(
    number=1,
    kind="call",
    argv=ARGV,
    cwd="/work",
    environ={},
    stdin=None,
    stdin_kind="null",
    stdin_eof=True,
    stdin_inherited=False,
    stdin_saved=False,
    given={},
    stat=Stat(1, "R", 1, 1),
    children=(),
    started=0,
    ended=1,
    files="",
    is_prepared=False,
    is_unplayed=False,
)


def failed(stderr: str, text: str, tool: str = "chat") -> Exchange:
    """A call whose gemini wrote `stderr` and exited with 1, and that was answered with an error of this text."""
    asked = request(1, "tools/call", {"name": tool, "arguments": {"prompt": "Why?"}})
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"isError": True, "content": [{"type": "text", "text": text}]}}
    return Exchange(
        spec=SPEC,
        conversation="made",
        step=0,
        request=asked,
        scripts=(Script("fails", ({"stderr": stderr}, {"exit": 1})),),
        sent=Line(0, 0.0, True, b"", asked),
        place=Place("/", "/work", "/home", "/tmp"),
        revision="2025-11-25",
        transport="stdio",
        answers=(Line(1, 0.1, False, b"", answer),),
        runs=(Run(CALL, understand(ARGV), "Why?"),),
    )


def concluded(requirement: str, exchange: Exchange) -> list[Conclusion | None]:
    checks.load()
    chosen = checks_for(each for each in load_requirements() if each.id == requirement)
    return [check.verdict(exchange) for check in chosen if isinstance(check, CheckOfExchange)]


@pytest.mark.parametrize("key", ["AIzaSyD-0123456789abcdefghijklmnopqrstuv", "sk-0123456789abcdefghij"])
def test_a_message_with_a_key_need_not_be_repeated(key: str) -> None:
    stderr = json.dumps({"error": {"message": f"The key {key} is refused."}})
    masked = failed(stderr, "Error executing gemini: The key [masked] is refused.\nStderr: [masked]")
    assert concluded("error:json-on-stderr", masked) == [None]


def test_a_message_without_a_key_must_be_repeated() -> None:
    silent = failed(json.dumps({"error": {"message": "The model is gone."}}), "Error executing gemini: No.\nStderr: ")
    assert [found and found[0] for found in concluded("error:json-on-stderr", silent)] == ["fail"]


def test_a_message_of_several_lines_may_stand_on_one() -> None:
    folded = failed(json.dumps({"error": {"message": "One.\nTwo."}}), "Error executing gemini: One. Two.\nStderr: ")
    assert [found and found[0] for found in concluded("error:json-on-stderr", folded)] == ["pass"]


@pytest.mark.parametrize("path", ["/서울", r"/\uc11c\uc6b8", "file:///%EC%84%9C%EC%9A%B8", "/seoul"])
def test_a_refused_directory_may_be_named_with_escapes(path: str) -> None:
    asked = request(1, "tools/call", {"name": "chat", "arguments": {"prompt": "Why?", "cwd": "/서울"}})
    told = replace(failed("", f"Error executing gemini: No `cwd` {path}."), request=asked, runs=(), cwd="missing")
    verdict = "fail" if path == "/seoul" else "pass"
    assert [found and found[0] for found in concluded("cwd:reason", told)] == [verdict]


@pytest.mark.parametrize(
    ("logged", "verdict"),
    [(b"gemini-of-tomorrow", "pass"), (b"id=the-id-of-a-request", "pass"), (b"How is it made?!", "fail")],
)
def test_what_a_prompt_has_in_common_with_what_is_public_may_be_logged(logged: bytes, verdict: str) -> None:
    named = ({"prompt": "How is it made?!", "model": "gemini-of-tomorrow"}, {"prompt": "gemini-of-tomorrow"})
    given = (*named, {"prompt": "This is the-id-of-a-request"})
    asked = [request("the-id-of-a-request", "tools/call", {"name": "chat", "arguments": each}) for each in given]
    calls = tuple(replace(failed("", ""), request=each) for each in asked)
    lines = tuple(line for each in calls for line in each.answers)
    seen = Observation(Conversation("made", "", ()), SPEC, calls[0].place, "stdio", lines, calls, stderr=logged)
    checks.load()
    chosen = checks_for(each for each in load_requirements() if each.id == "stdio:stderr:private")
    assert [found.outcome for found in judge(seen, chosen)] == [verdict]


def test_a_failure_shows_the_runs_of_the_call_that_it_is_about() -> None:
    silent = failed(json.dumps({"error": {"message": "The model is gone."}}), "Error executing gemini: No.\nStderr: ")
    other = Run(replace(CALL, number=2, argv=(b"And then?",)), understand(ARGV), "And then?")
    told = failed("", "Error executing gemini: Yes.")
    exchanges = (replace(told, runs=(other,)), silent)
    seen = Observation(Conversation("made", "", ()), SPEC, silent.place, "stdio", exchanges=exchanges)
    checks.load()
    chosen = checks_for(each for each in load_requirements() if each.id == "error:json-on-stderr")
    shown = [found.evidence.runs for found in judge(seen, chosen) if found.evidence is not None]
    assert [[run.argv for run in runs] for runs in shown] == [[("Why?", "--output-format", "json")]]


def test_a_call_of_a_tool_that_resumes_rests_on_the_argument_for_the_session() -> None:
    assert "tools:chat-reply:session-id" in uses(failed("", "", "chat-reply"))


def missing(silence: Silence = "", *runs: Run) -> Exchange:
    """A call without its prompt, which got no answer."""
    asked = request(1, "tools/call", {"name": "chat", "arguments": {"model": "m" * 131_072}})
    return replace(failed("", ""), request=asked, answers=(), runs=runs, silence=silence)


def test_a_call_that_must_be_refused_need_not_be_answered_once_it_is_cancelled() -> None:
    ran = Run(CALL, understand(ARGV), "Why?")
    made = (missing("cancelled"), missing("cancelled", ran), missing("timeout"))
    found = [concluded("arguments:prompt:missing", each)[0] for each in made]
    assert [each and each[0] for each in found] == ["could-not-run", "fail", "fail"]


@pytest.mark.parametrize(
    ("requirement", "given"), [("arguments:empty:cwd", {"cwd": ""}), ("arguments:nul", {"model": "a\0b"})]
)
def test_a_call_that_may_be_served_need_not_be_once_it_is_cancelled(requirement: str, given: dict[str, str]) -> None:
    asked = request(1, "tools/call", {"name": "chat", "arguments": {"prompt": "Why?", **given}})
    assert not any(concluded(requirement, replace(missing("cancelled"), request=asked)))


def test_a_port_may_say_first_that_no_command_line_can_hold_an_argument() -> None:
    told = failed("", "Error executing gemini: The command line is too long.")
    assert [
        each and each[0] for each in concluded("arguments:refused:is-error", replace(missing(), answers=told.answers))
    ] == ["pass"]


def test_errors_over_http_may_tell_other_numbers_than_over_stdio() -> None:
    words = ("took 1.2 s", "took 0.9 s", "failed")
    here, there, other = (failed("no", f"Error executing gemini: It {each}.\nStderr: no") for each in words)
    assert gist(here) == gist(there)
    assert gist(here) != gist(other)
