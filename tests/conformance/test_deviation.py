"""What went wrong with a call: the kind of fault that the complaints about it have in common, on made exchanges."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from gemini_mcp.gemini_cli.understanding import Understood, effective_prompt, understand
from gemini_mcp_conformance.judge.deviation import RESUMED, deviation, kind
from gemini_mcp_conformance.judge.twins import unlike
from gemini_mcp_conformance.see.attribution import Pending, claimed
from gemini_mcp_conformance.see.call import Call, Given, Stat
from gemini_mcp_conformance.see.observation import Exchange, Line, Observation, Place, Run
from gemini_mcp_conformance.spec import specification
from gemini_mcp_conformance.spec.script import Script
from gemini_mcp_conformance.spec.specification import Specification
from gemini_mcp_conformance.talk.conversation import Conversation
from gemini_mcp_conformance.talk.steps import call

PARIS = Script("paris", ({"stdout": '{"response": "Paris."}'}, {"exit": 0}))
PLACE = Place("/place", "/place/work", "/place/home", "/place/tmp")
LINE = Line(0, 0.0, True, b"")
QUESTION = "Where is it?"


@cache
def spec() -> Specification:
    return specification.load(None)


def ran(*argv: str, number: int = 1, survivors: frozenset[int] = frozenset()) -> Run:
    given = tuple(element.encode() for element in argv)
    stat = Stat(7, "S", 7, 1)
    given_files: dict[str, Given] = {}
    journalled = (b"", "null", True, False, False, given_files, stat, (), 1, 2, "/none", False, False)
    started = Call(number, "call", given, PLACE.work, {}, *journalled)
    understood = understand(given)
    prompt = effective_prompt(understood, b"") if isinstance(understood, Understood) else None
    return Run(started, understood, prompt, survivors)


def answer(text: str, is_error: bool = False) -> tuple[Line, ...]:
    result = {"content": [{"type": "text", "text": text}], "isError": is_error}
    return (replace(LINE, sent=False, message={"id": 1, "result": result}),)


def exchange(*runs: Run, name: str = "chat", **more: Any) -> Exchange:
    request = {"id": 1, "method": "tools/call", "params": {"name": name, "arguments": {"prompt": QUESTION}}}
    made = Exchange(spec(), "c", 0, request, (PARIS,), LINE, PLACE, "2025-11-25", "stdio", runs=runs)
    return replace(made, **{"answers": answer("Paris."), **more})


USUAL = ran(QUESTION, "--output-format", "json")


def test_a_call_that_is_right_deviates_in_nothing() -> None:
    assert deviation(exchange(USUAL)) == ""


def test_an_answer_after_the_suite_has_given_up_is_none() -> None:
    assert deviation(exchange(USUAL, silence="timeout")) == "unanswered"


def test_a_cancelled_call_whose_gemini_lives_on_is_one_fault() -> None:
    assert deviation(exchange(replace(USUAL, survivors=frozenset({7})), silence="cancelled", answers=())) == "left"


def test_a_call_that_is_refused_while_it_is_cancelled_did_not_run() -> None:
    refused = exchange(answers=answer("No.", is_error=True), silence="cancelled")
    assert deviation(refused) == "not run"


def test_an_error_that_is_not_marked_as_one_is_a_wrong_answer() -> None:
    bare: dict[str, Any] = {"id": 1, "method": "tools/call", "params": {"name": "chat", "arguments": {}}}
    refusal = answer(f"{spec().outcome.prefix} The prompt is missing.")
    assert deviation(exchange(request=bare, answers=refusal)) == "succeeded"
    assert deviation(exchange(request=bare, answers=answer("Paris."))) == "served"


def test_a_call_of_an_unknown_tool_that_ran_was_served() -> None:
    assert deviation(exchange(USUAL, name="no-such-tool")) == "served"
    assert deviation(exchange(USUAL, name="no-such-tool", silence="cancelled", answers=())) == "served"
    assert deviation(exchange(name="no-such-tool", answers=answer("No.", is_error=True))) == ""


@pytest.mark.parametrize("about", ["command", "directory", "file"])
def test_what_gemini_is_given_is_not_judged_by_a_call_that_did_not_run(about: str) -> None:
    free = exchange(answers=answer("No.", is_error=True), scripts=())
    assert kind(free, about) == "not run"


@pytest.mark.parametrize(
    ("argv", "found"),
    [
        (("Who is it?", "--output-format", "json"), "command prompt"),
        ((QUESTION, "--output-format", "json", "-m", "another"), "command model"),
        ((QUESTION, "--output-format", "json", "-r", "latest"), RESUMED),
        (("Who is it?", "--output-format", "json", "-m", "another"), "command"),
        ((QUESTION, "--output-format", "json", "-m", "--"), "command"),
        ((QUESTION, "--output-format"), "command"),
    ],
)
def test_a_fault_of_the_command_line_is_named_by_its_field(argv: tuple[str, ...], found: str) -> None:
    assert kind(exchange(ran(*argv)), "command") == found


def test_ways_in_which_an_answer_is_wrong_are_one_kind() -> None:
    assert kind(exchange(USUAL, answers=answer("No.", is_error=True)), "text") == "answer"
    assert kind(exchange(USUAL, answers=answer("Rome.")), "session") == "answer"
    assert kind(exchange(USUAL), "session") == "session"


def test_a_result_that_is_another_over_stdio_is_told_apart() -> None:
    conversation = Conversation("c", "C.", ())
    there = Observation(conversation, spec(), PLACE, "stdio", exchanges=(exchange(USUAL), exchange(USUAL)))
    here = replace(there, twin=there, exchanges=(exchange(USUAL), exchange(USUAL, answers=answer("Rome."))))
    assert [each for each, _ in unlike(here)] == [here.exchanges[1]]
    assert not list(unlike(there))


def pending(step: int, prompt: str, mark: int, **more: Any) -> Pending:
    message = {"id": step, "method": "tools/call", "params": {"name": "chat", "arguments": {"prompt": prompt}}}
    return Pending(spec(), step, call("chat", {"prompt": prompt}, PARIS), message, mark, **more)


def test_a_run_that_starts_after_the_suite_has_given_up_belongs_to_its_call() -> None:
    given_up = pending(0, "The first question", 0, last=0, silence="timeout")
    follower = pending(1, "Another one", 0, last=2)
    late, due = ran("The first question", number=1), ran("Another one", number=2)
    by_step, unclaimed = claimed((given_up, follower), (late, due))
    assert by_step == {0: (late,), 1: (due,)}
    assert not unclaimed


def test_a_run_that_read_no_prompt_belongs_to_the_call_that_was_cancelled() -> None:
    """Its other arguments look like the prompt of the call that follows."""
    cancelled = pending(0, "The first question", 0, last=0, silence="cancelled")
    follower = pending(1, "touch canary-prompt", 0, last=2)
    cut = ran("--output-format", "json", "-m", "touch canary-model", number=1)
    cut = replace(cut, call=replace(cut.call, ended=None))
    due = ran("touch canary-prompt", number=2)
    by_step, unclaimed = claimed((cancelled, follower), (cut, due))
    assert by_step == {0: (cut,), 1: (due,)}
    assert not unclaimed


def test_a_run_without_a_prompt_that_a_signal_ends_belongs_to_the_call_that_plays_the_signal() -> None:
    cancelled = pending(0, "The first question", 0, last=0, silence="cancelled")
    dying = call("chat", {"model": "a-model"}, Script("dies", ({"signal": "TERM"},)))
    follower = Pending(spec(), 1, dying, {"id": 1, "params": dying.params}, 0, last=1)
    ended = ran("--output-format", "json", "-m", "a-model", number=1)
    ended = replace(ended, call=replace(ended.call, ended=None))
    by_step, unclaimed = claimed((cancelled, follower), (ended,))
    assert by_step == {1: (ended,)}
    assert not unclaimed
