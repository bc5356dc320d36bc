"""What gemini inherits, and what it may keep open."""

from __future__ import annotations

from gemini_mcp.spec.values import inside
from gemini_mcp_conformance.judge.expectation import ending, fate, is_call
from gemini_mcp_conformance.judge.reading import read
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.play.target import INHERITED
from gemini_mcp_conformance.see.observation import Exchange, Run
from gemini_mcp_conformance.tell.witness import argv_shown, shown


def every_run(exchange: Exchange) -> tuple[Run, ...]:
    return (*exchange.runs, *exchange.listings)


def runs_gemini(exchange: Exchange) -> bool:
    return is_call(exchange) and bool(every_run(exchange))


@check("process:stdin", judges=runs_gemini)
def stdin_is_not_the_servers(exchange: Exchange) -> list[str]:
    own = [run for run in every_run(exchange) if run.call.stdin_inherited]
    return [f"The port ran gemini {argv_shown(run)} with its own stdin, and should give it another." for run in own[:1]]


@check("process:stdin:ended", judges=runs_gemini)
def stdin_is_at_its_end(exchange: Exchange) -> list[str]:
    open_ended = [run for run in exchange.runs if run.call.stdin_kind in ("pipe", "socket") and not run.call.stdin_eof]
    open_ended += [run for run in every_run(exchange) if run.call.stdin_kind == "terminal"]
    return [
        f"The port left the stdin of gemini {argv_shown(run)} open, a {run.call.stdin_kind}, and should end it."
        for run in open_ended[:1]
        if exchange.silence not in ("cancelled", "ended")
    ]


@check("process:environment", judges=runs_gemini)
def environment_is_the_servers(exchange: Exchange) -> list[str]:
    wrong = [
        (name, run.call.environ.get(name), expected)
        for run in every_run(exchange)
        for name, expected in INHERITED.items()
        if run.call.environ.get(name) != expected and name not in exchange.spec.variables
    ]
    return [
        f"In gemini's environment {name} is {shown(found)}, and should be {shown(expected)} as in the port's own."
        for name, found, expected in wrong[:1]
    ]


def leaves_holder(exchange: Exchange) -> bool:
    """Whether gemini answers and leaves a process behind that holds its output open."""
    if not is_call(exchange) or len(exchange.scripts) != 1 or fate(exchange) != "served":
        return False
    plays = exchange.scripts[0].play
    holds = any(inside(play, "child", "holds") == "stdout" for play in plays)
    ends = ending(exchange.scripts[0])
    answers = read(ends.stdout, exchange.spec.outcome.answer).kind == "answer"
    return holds and answers and ends.exit == 0 and not exchange.silence.startswith(("cancel", "end"))


@check("process:held-output", judges=leaves_holder, anyway=True)
def held_output_delays_no_answer(exchange: Exchange) -> list[str]:
    expected = read(ending(exchange.scripts[0]).stdout, exchange.spec.outcome.answer).text
    if exchange.answer is None:
        return ["The port did not answer while a process that gemini left behind held its output open, and should."]
    if exchange.is_success and exchange.text == expected:
        return []
    return [f"The port answered {shown(exchange.answer)}, and should answer with the text {shown(expected)}."]
