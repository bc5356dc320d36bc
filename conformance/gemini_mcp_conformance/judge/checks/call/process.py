"""What gemini inherits, and what it may keep open."""

from __future__ import annotations

from collections.abc import Mapping

from gemini_mcp.spec.values import inside
from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.judge.expectation import end_of, fate, is_call
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.play.target import INHERITED
from gemini_mcp_conformance.see.call import PIPES
from gemini_mcp_conformance.see.observation import Exchange
from gemini_mcp_conformance.see.timeline import leaves_stdin
from gemini_mcp_conformance.see.witness import argv_shown, reply, shown
from gemini_mcp_conformance.spec.interpreter import is_withheld
from gemini_mcp_conformance.spec.reading import read

COMMON = ("PATH", "HOME", "TMPDIR")
"""Variables of every port; their values differ from run to run."""


def runs_gemini(exchange: Exchange) -> bool:
    return is_call(exchange) and bool(exchange.all_runs)


@check("process:stdin", judges=runs_gemini)
def stdin_is_not_the_servers(exchange: Exchange) -> Complaints:
    for run in exchange.all_runs:
        # A port that reads its client elsewhere may have put something in its place that is at its end. A gemini that
        # was ended may not have come to it.
        is_harmless = not run.call.stdin and (run.call.stdin_eof or run.call.ended is None)
        if run.call.stdin_saved:
            yield f"The port left its own stdin open in gemini {argv_shown(run)} as another descriptor."
        if run.call.stdin_inherited and not is_harmless:
            yield f"The port ran gemini {argv_shown(run)} with its own stdin, and should give it another."


@check("process:stdin:ended", judges=runs_gemini)
def stdin_is_at_its_end(exchange: Exchange) -> Complaints:
    endless = [run for run in exchange.all_runs if run.call.stdin_kind in PIPES and not run.call.stdin_eof]
    endless += [run for run in exchange.all_runs if run.call.stdin_kind == "terminal"]
    for run in [] if leaves_stdin(exchange) else endless:
        yield f"The port left the stdin of gemini {argv_shown(run)} open, a {run.call.stdin_kind}, and should end it."


@check("process:environment", judges=runs_gemini)
def environment_is_the_servers(exchange: Exchange) -> Complaints:
    for run in exchange.all_runs:
        for name, expected in INHERITED.items():
            found = run.call.environ.get(name)
            if found != expected and not is_own(exchange, name):
                yield f"The port gave gemini {name} as {shown(found)}, and should pass on its own, {shown(expected)}."
        if (home := _other_home(exchange, run.call.environ)) is not None:
            yield f"The port gave gemini {shown(home)} as HOME, and should pass on its own."
        for name in COMMON:
            if name not in run.call.environ and not is_own(exchange, name):
                yield f"The port ran gemini without {name}, and should pass on its own."


def _other_home(exchange: Exchange, environ: Mapping[str, str]) -> str | None:
    """The HOME of a run, if it is not the one that the suite has made; then it has also made this other variable."""
    home, own = environ.get("HOME"), exchange.place.home
    is_made = environ.get("XDG_CONFIG_HOME", "").startswith(f"{own}/")
    return home if is_made and home != own else None


def is_own(exchange: Exchange, name: str) -> bool:
    """Whether a variable of gemini is another than the server's: one that names a file, or that may be withheld."""
    return name in exchange.spec.variables or is_withheld(name, exchange.spec.invocation)


def leaves_holder(exchange: Exchange) -> bool:
    """Whether gemini answers or fails, and leaves a process behind that holds its output open."""
    # A port may refuse a long prompt.
    is_served = fate(exchange) == "served" or (fate(exchange) == "either" and bool(exchange.runs))
    if len(exchange.scripts) != 1 or not is_served or exchange.silence in ("cancelled", "ended"):
        return False
    if not any(inside(step, "child", "holds") in ("stdout", "stderr") for step in exchange.scripts[0].play):
        return False
    answers = read(end_of(exchange).stdout, exchange.spec.outcome).kind == "answer"
    return answers or end_of(exchange).exit not in (0, None)


@check("process:held-output", judges=leaves_holder, any_outcome=True, about="text")
def held_output_delays_no_answer(exchange: Exchange) -> Complaints:
    expected = read(end_of(exchange).stdout, exchange.spec.outcome).text
    if exchange.answer is None:
        yield "The port did not answer while a process that gemini left behind held its output open, and should."
    elif end_of(exchange).exit == 0 and not (exchange.is_success and exchange.text == expected):
        yield f"{reply(exchange, 'the call')}, and should answer with the text {shown(expected)}."
