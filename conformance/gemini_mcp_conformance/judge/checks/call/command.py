"""What gemini is run with."""

from __future__ import annotations

from gemini_mcp.spec.families import Subject
from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.judge.expectation import heard
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import of_tool, reaches, reaching, reaching_without, served
from gemini_mcp_conformance.see.observation import Exchange, Run
from gemini_mcp_conformance.see.understanding import Other, Understood, UsageError
from gemini_mcp_conformance.spec.specification import Heard
from gemini_mcp_conformance.tell.witness import argv_shown, shown

PROMPT = "prompt"
"""What stands for the prompt among the names of gemini's options."""


def complaints(exchange: Exchange, *fields: str) -> list[str]:
    """One for the first run in which gemini understood something else of these fields than is specified."""
    if not exchange.runs:
        return [f"The port did not run gemini for {shown(exchange.arguments)}."]
    return [complaint for run in exchange.runs for complaint in differing(exchange, run, *fields)][:1]


def misheard(exchange: Exchange, run: Run) -> list[str]:
    """What gemini was given otherwise than it should be."""
    return differing(exchange, run, PROMPT, *sorted(exchange.spec.option_names))


def differing(exchange: Exchange, run: Run, *fields: str) -> list[str]:
    """A complaint about the first of these fields that gemini understood otherwise than is specified."""
    return [complaint for field in fields for complaint in _wrong(exchange, run, field)][:1]


def _wrong(exchange: Exchange, run: Run, field: str) -> list[str]:
    expected = heard(exchange)
    if not isinstance(expected, Heard):
        return []
    if is_cut(exchange, run) and field == PROMPT:
        return []
    wanted = expected.prompt if field == PROMPT else expected.values.get(field)
    if understood(run, field) == wanted:
        return []
    return [f"{what(run, field)}, and should understand {called(field, wanted)}."]


def understood(run: Run, field: str) -> Json:
    """What gemini understood of one thing; a run in which it understood nothing has no value equal to any other."""
    if not isinstance(run.understood, Understood):
        return run.understood
    return run.prompt if field == PROMPT else run.understood.values.get(field)


def is_cut(exchange: Exchange, run: Run) -> bool:
    """Whether the call was stopped before gemini had all of its stdin, where a prompt may be."""
    reads = run.call.stdin_kind in ("pipe", "socket", "file")
    return reads and exchange.silence in ("cancelled", "ended") and run.prompt is None


def what(run: Run, field: str) -> str:
    """What gemini makes of a command line, for a complaint."""
    argv = argv_shown(run)
    match run.understood:
        case UsageError(reason):
            return f"gemini refuses the command line {argv} ({reason})"
        case Other(kind):
            return f"gemini takes {argv} as {'a subcommand' if kind == 'subcommand' else f'`--{kind}`'}"
        case Understood():
            return f"From {argv} gemini understands {called(field, understood(run, field))}"


def called(field: str, value: Json) -> str:
    """One thing that gemini may understand, with its value."""
    name = field if field == PROMPT else f"`--{field}`"
    return f"no {name}" if value is None else f"the {name} {shown(value)}"


@check(
    "command:{tool}", judges=lambda exchange, subject: of_tool(exchange, subject) and reaches(exchange), about="prompt"
)
def prompt_reaches_gemini(exchange: Exchange, subject: Subject) -> list[str]:
    return complaints(exchange, PROMPT)


@check(
    "command:{tool}", judges=lambda exchange, subject: of_tool(exchange, subject) and reaches(exchange), about="options"
)
def fixed_options_reach_gemini(exchange: Exchange, subject: Subject) -> list[str]:
    return complaints(exchange, *sorted(exchange.spec.constants(subject["tool"])))


@check(
    "command:{tool}:new-session",
    judges=lambda exchange, subject: of_tool(exchange, subject) and reaches(exchange),
    about="options",
)
def nothing_is_resumed(exchange: Exchange, subject: Subject) -> list[str]:
    return complaints(exchange, *sorted(exchange.spec.session_options))


@check("command:{tool}:latest", judges=reaching_without, about="options")
def latest_session_is_resumed(exchange: Exchange, subject: Subject) -> list[str]:
    return complaints(exchange, *sorted(exchange.spec.session_options))


@check("command:{tool}:{argument}", judges=reaching, about="options")
@check("command:{tool}:no-{argument}", judges=reaching_without, about="options")
def argument_reaches_gemini(exchange: Exchange, subject: Subject) -> list[str]:
    given = exchange.spec.given_by(subject["tool"], subject["argument"])
    return complaints(exchange, *sorted(given or {PROMPT}))


@check("command:once", judges=served, anyway=True, about="process")
def prompt_runs_once(exchange: Exchange) -> list[str]:
    count = len(exchange.runs)
    return [] if count == 1 else [f"The port ran gemini {count} times for one call, and should run it once."]
