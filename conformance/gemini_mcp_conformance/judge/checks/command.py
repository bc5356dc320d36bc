"""What gemini is run with."""

from __future__ import annotations

from gemini_mcp.spec.values import Json
from gemini_mcp_conformance.judge.expectation import wanted
from gemini_mcp_conformance.judge.registry import check
from gemini_mcp_conformance.judge.selectors import reaching, served
from gemini_mcp_conformance.see.observation import Exchange, Run
from gemini_mcp_conformance.see.understanding import Other, Understood, UsageError
from gemini_mcp_conformance.tell.witness import argv_shown, shown


def complaints(exchange: Exchange, field: str, expected: Json) -> list[str]:
    """One for each run in which gemini understood something else."""
    if not exchange.runs:
        return [f"The port did not run gemini for {shown(exchange.arguments)}."]
    told = [run for run in exchange.runs if field != "prompt" or not is_cut(exchange, run)]
    wrong = [run for run in told if understood(run, field) != expected]
    return [f"{what(run, field)}, and should understand {called(field, expected)}." for run in wrong[:1]]


def understood(run: Run, field: str) -> Json:
    """What gemini understood of one thing; a run in which it understood nothing has no value equal to any other."""
    if not isinstance(run.understood, Understood):
        return run.understood
    return run.prompt if field == "prompt" else getattr(run.understood, field)


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
    name = {"resume": "session to resume", "output_format": "output format"}.get(field, field)
    return f"no {name}" if value is None else f"the {name} {shown(value)}"


@check("command:chat", judges=reaching("chat", "prompt"))
@check("command:chat-reply", judges=reaching("chat-reply", "prompt"))
def prompt_and_format_reach_gemini(exchange: Exchange) -> list[str]:
    needed = wanted(exchange)
    assert needed is not None
    return complaints(exchange, "prompt", needed.prompt) or complaints(exchange, "output_format", "json")


@check("command:chat:new-session", judges=reaching("chat"))
def chat_resumes_nothing(exchange: Exchange) -> list[str]:
    return complaints(exchange, "resume", None)


@check("command:chat-reply:session-id", judges=reaching("chat-reply", "sessionId"))
def reply_resumes_the_session(exchange: Exchange) -> list[str]:
    return complaints(exchange, "resume", exchange.arguments["sessionId"])


@check("command:chat-reply:latest", judges=reaching("chat-reply", without=("sessionId",)))
def reply_resumes_the_latest(exchange: Exchange) -> list[str]:
    return complaints(exchange, "resume", "latest")


@check("command:chat:model", judges=reaching("chat", "model"))
@check("command:chat-reply:model", judges=reaching("chat-reply", "model"))
def model_reaches_gemini(exchange: Exchange) -> list[str]:
    return complaints(exchange, "model", exchange.arguments["model"])


@check("command:chat:no-model", judges=reaching("chat", without=("model",)))
@check("command:chat-reply:no-model", judges=reaching("chat-reply", without=("model",)))
def no_model_is_none(exchange: Exchange) -> list[str]:
    return complaints(exchange, "model", None)


@check("command:once", judges=served(), anyway=True)
def prompt_runs_once(exchange: Exchange) -> list[str]:
    count = len(exchange.runs)
    return [] if count == 1 else [f"The port ran gemini {count} times for one call, and should run it once."]
