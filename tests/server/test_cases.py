"""Every case of the specification through the two pure functions of the server: the call's plan, then its result."""

import signal
from collections.abc import Mapping
from dataclasses import replace

import pytest

from gemini_mcp.call.invocation import Invocation, plan
from gemini_mcp.call.outcome import (
    Answer,
    Completed,
    NotStarted,
    Outcome,
    Signalled,
    TimedOut,
    View,
    answer_result,
    failure_result,
    newest_session,
    read,
    refusal_result,
)
from gemini_mcp.call.redaction import Secrets
from gemini_mcp.errors import CallerError
from gemini_mcp.spec import load_documents, load_server, written_out
from gemini_mcp.spec.values import Json

SERVER = load_server()
TOOLS = {tool.name: tool for tool in SERVER.tools}
CASES: Mapping[str, Json] = {
    name: written_out(case) for name, case in load_documents("server/cases").items() if "result" in case
}
"""A case with a JSON-RPC error in place of a result never reaches these functions."""


def planned(case: Json) -> Invocation:
    call = case["call"]
    return plan(TOOLS[call["name"]], call.get("arguments", {}), SERVER.invocation)


def shown(invocation: Invocation) -> Json:
    """An invocation as a case writes it: what is absent or empty is left out."""
    parts = {
        "argv": [SERVER.invocation.program, *invocation.argv],
        "env": {variable: f"{{files}}/{file}" for variable, file in invocation.env.items()},
        "files": dict(invocation.files),
        "stdin": invocation.stdin,
        "cwd": invocation.cwd,
    }
    return {name: part for name, part in parts.items() if part}


def ended(case: Json) -> Outcome:
    match case["outcome"]:
        case {"exit": code, "stdout": stdout, "stderr": stderr}:
            return Completed(code, stdout, stderr)
        case {"signal": number, "stderr": stderr}:
            return Signalled(signal.Signals(number).name, stderr)
        case {"timedOut": seconds, "stderr": stderr}:
            return TimedOut(seconds, stderr)
        case {"notStarted": condition, **more}:
            paths = {"cwd": case["invocation"].get("cwd"), "program": more.get("program")}
            argument = SERVER.invocation.tools[case["call"]["name"]].cwd or ""
            fields = {"where": "on PATH", "reason": more.get("reason", ""), "argument": argument}
            return NotStarted(condition, fields | {name: repr(path) for name, path in paths.items()})
        case other:
            raise AssertionError(f"{other!r} is no outcome")


def session(case: Json, answer: Answer, invocation: Invocation) -> str | None:
    if "listing" not in case:
        return answer.session or (invocation.resumes if invocation.resumes_by_id else None)
    assert answer.session is None
    assert not invocation.resumes_by_id
    return newest_session(Completed(**case["listing"]), SERVER.invocation.listing.entry)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_call_becomes_the_invocation_of_its_case(case: Json):
    if case["invocation"] is None:
        with pytest.raises(CallerError):
            planned(case)
    else:
        assert shown(planned(case)) == case["invocation"]


def test_a_tool_without_a_template_is_refused() -> None:
    with pytest.raises(CallerError, match="no-invocation"):
        plan(replace(TOOLS["chat"], name="more"), {"prompt": "hello"}, SERVER.invocation)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_outcome_becomes_the_result_of_its_case(case: Json):
    result = result_of(case)
    if "wording" in case:
        assert words_left_out(result) == words_left_out(case["result"])
    else:
        assert result == case["result"]


def result_of(case: Json) -> Json:
    try:
        invocation = planned(case)
    except CallerError as error:
        return refusal_result(error, SERVER.outcome)
    understood = read(ended(case), SERVER.outcome)
    if not isinstance(understood, Answer):
        return failure_result(understood, SERVER.outcome, Secrets(invocation.private))
    found = Answer(understood.text, session(case, understood, invocation), understood.warnings)
    return answer_result(found, SERVER.outcome, View())


def words_left_out(result: Json) -> Json:
    """An error without the words between its prefix and stderr."""
    prefix, separator = SERVER.outcome.prefix, SERVER.outcome.separator
    text = result["content"][0]["text"]
    assert text.startswith(prefix)
    return {**result, "content": [{"type": "text", "text": text.partition(separator)[2]}]}
