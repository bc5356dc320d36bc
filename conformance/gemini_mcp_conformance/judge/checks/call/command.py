"""What gemini is run with."""

from __future__ import annotations

from gemini_mcp.gemini_cli.understanding import Other, Understood, UsageError
from gemini_mcp.spec.families import Subject
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.judge.check import Complaints
from gemini_mcp_conformance.judge.deviation import PROMPT, differs, understood, wanted
from gemini_mcp_conformance.judge.expectation import heard, is_call
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import reaches, reaching, reaching_without
from gemini_mcp_conformance.see.observation import Exchange, Run
from gemini_mcp_conformance.see.timeline import leaves_stdin
from gemini_mcp_conformance.see.witness import argv_shown, shown
from gemini_mcp_conformance.spec.specification import Heard


def complaints(exchange: Exchange, *fields: str) -> Complaints:
    """What gemini understood otherwise than is specified of these fields."""
    if not exchange.runs:
        yield f"The port did not run gemini for {shown(exchange.arguments)}, and should."
    for run in exchange.runs:
        yield from differing(exchange, run, *fields)


def altered(exchange: Exchange, run: Run) -> Complaints:
    """What gemini was given otherwise than it should be."""
    return differing(exchange, run, PROMPT, *sorted(exchange.spec.option_names))


def differing(exchange: Exchange, run: Run, *fields: str) -> Complaints:
    """What gemini understood otherwise than is specified of these fields in one run."""
    expected = heard(exchange)
    if not isinstance(expected, Heard):
        return
    for field in fields:
        is_unread = field == PROMPT and is_cut(exchange, run)
        if not is_unread and differs(exchange, run, field):
            yield f"{what(run, field)}, and should hand over {called(field, wanted(expected, field))}."


def is_cut(exchange: Exchange, run: Run) -> bool:
    """Whether gemini has not read its stdin, which may hold the prompt."""
    reads = run.call.stdin_kind in ("pipe", "socket", "file")
    is_part = run.prompt is None or not run.call.stdin_eof
    return reads and is_part and leaves_stdin(exchange)


def what(run: Run, field: str) -> str:
    """What gemini makes of a command line, as the beginning of a complaint."""
    ran = f"The port ran gemini {argv_shown(run)}"
    match run.understood:
        case UsageError(reason):
            return f"{ran}, which gemini refuses ({reason})"
        case Other(kind):
            return f"{ran}, which gemini takes as {'a subcommand' if kind == 'subcommand' else f'`--{kind}`'}"
        case Understood():
            return f"{ran}, from which gemini understands {called(field, understood(run, field))}"


def called(field: str, value: Json) -> str:
    """A field with its value, for a complaint."""
    name = field if field == PROMPT else f"`--{field}`"
    return f"no {name}" if value is None else f"the {name} {shown(value)}"


def reaches_with_prompt(exchange: Exchange) -> bool:
    """Calls that reach gemini, without a prompt or with one that every port hands over."""
    name = exchange.spec.prompt(exchange.tool) if is_call(exchange) else None
    return reaches(exchange, *([name] if name is not None and name in exchange.arguments else []))


@check("command:{tool}", judges=reaches_with_prompt, about="command")
def prompt_reaches_gemini(exchange: Exchange) -> Complaints:
    return complaints(exchange, PROMPT)


def is_unreadable(exchange: Exchange) -> bool:
    """Calls of a tool whose specified command line gemini never understands: only that line can be compared."""
    return exchange.tool in exchange.spec.unreadable and bool(exchange.runs) and heard(exchange) is not None


@check("command:{tool}", judges=is_unreadable, any_outcome=True, about="command")
def same_is_made_of_the_command_line(exchange: Exchange) -> Complaints:
    for run in exchange.runs:
        if run.understood != heard(exchange):
            call = exchange.spec.specified(exchange.tool, exchange.arguments)
            yield f"The port ran gemini {argv_shown(run)}, and should run it {shown(list(call.argv))}."


def reads(exchange: Exchange) -> bool:
    """Whether gemini reads the command lines of a call as it should, so that its options can be told."""
    is_due = isinstance(heard(exchange), Heard)
    # One that gemini refuses or takes for something else is told once, by the check of the prompt.
    return not is_due or all(isinstance(run.understood, Understood) for run in exchange.runs)


@check("command:{tool}", judges=lambda exchange: reaches(exchange) and reads(exchange), about="command")
def fixed_options_reach_gemini(exchange: Exchange) -> Complaints:
    return complaints(exchange, *sorted(exchange.spec.constants(exchange.tool)))


@check(
    "command:{tool}:new-session",
    judges=lambda exchange: bool(exchange.runs) and reaches(exchange) and reads(exchange),
    about="command",
)
@check(
    "command:{tool}:latest",
    judges=lambda exchange, subject: reaching_without(exchange, subject) and reads(exchange),
    about="command",
)
def session_options_reach_gemini(exchange: Exchange) -> Complaints:
    return complaints(exchange, *sorted(exchange.spec.session_options))


@check(
    "command:{tool}:{argument}",
    judges=lambda exchange, subject: reaching(exchange, subject) and reads(exchange),
    about="command",
)
@check(
    "command:{tool}:no-{argument}",
    judges=lambda exchange, subject: bool(exchange.runs) and reaching_without(exchange, subject) and reads(exchange),
    about="command",
)
def argument_reaches_gemini(exchange: Exchange, subject: Subject) -> Complaints:
    given = exchange.spec.given_by(exchange.tool, subject["argument"])
    return complaints(exchange, *sorted(given or {PROMPT}))


@check("command:once", judges=reaches, any_outcome=True, about="not run")
def prompt_runs_once(exchange: Exchange) -> Complaints:
    if len(exchange.runs) != 1:
        yield f"The port ran gemini {len(exchange.runs)} times for one call, and should run it once."
