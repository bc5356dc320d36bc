"""What the reference makes of a call, of an outcome and of a list of sessions, as JSON. Pure.

The one module of the gate that asks the reference. What a template or a sentence means is decided there, not here.
"""

import json
import re
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from gemini_mcp.call.encoded import whole
from gemini_mcp.call.invocation import Invocation, plan
from gemini_mcp.call.listing import newest_session
from gemini_mcp.call.outcome import (
    Answer,
    Completed,
    Failure,
    NotStarted,
    Outcome,
    Signalled,
    TimedOut,
    View,
    answer_result,
    failure_result,
    read,
    refusal_result,
)
from gemini_mcp.call.redaction import Secrets
from gemini_mcp.call.stream import read_live, rule_of
from gemini_mcp.errors import CallerError
from gemini_mcp.gemini_cli.understanding import Other, UsageError, effective_prompt, understand, unknown_options
from gemini_mcp.spec import ServerSpec, ToolSpec
from gemini_mcp.spec.templates import invocation_spec
from gemini_mcp.spec.values import Json, is_object
from gemini_mcp.spec.wording import outcome_spec

_INVALID_PARAMS = -32602

Planner: TypeAlias = Callable[[str, Json, Mapping[str, Json]], Json]


def planner(invocation: Json) -> Planner:
    """What `invocation.json` makes of a tool's name, its schema and the arguments of a call.

    The command line with its files, environment and stdin; the name of a refusal; or None for a call that is not valid.
    """
    spec = invocation_spec(invocation)
    refusals = {entry["sentence"]: name for name, entry in invocation["refusals"].items()}

    def planned(tool: str, schema: Json, arguments: Mapping[str, Json]) -> Json:
        try:
            made = plan(ToolSpec(tool, {"inputSchema": schema}), arguments, spec)
        except CallerError as error:
            return {"refused": refusals[error.sentence]} if error.sentence in refusals else None
        return _shown(made, spec.program)

    return planned


def refusal(invocation: Json, tool: str, argument: str, text: str) -> str | None:
    """The name of the rule by which `invocation.json` refuses a text for an argument, whatever else a call holds."""
    try:
        made = planner(invocation)(tool, {"properties": {argument: {}}}, {argument: text})
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return made.get("refused") if is_object(made) else None


def answered(server: ServerSpec, call: Mapping[str, Json], outcome: Json, listing: Json) -> Mapping[str, Json]:
    """What a case of this call holds: `invocation`, and `result` or `error`; the rest only where an outcome is given.

    `listed` tells whether the sessions are asked for, `resumed` whether the call names the session, and `misfit`
    whether it is the schema of the tool that does not allow the call.
    """
    tool = next((tool for tool in server.tools if tool.name == call.get("name")), None)
    arguments = call.get("arguments", {})
    if tool is None or not is_object(arguments):
        return {"invocation": None, "error": {"code": _INVALID_PARAMS}}
    try:
        made = plan(tool, arguments, server.invocation)
    except CallerError as error:
        # A refusal has a sentence of its own; what the schema does not allow has one of `outcome.json`.
        return {"invocation": None, "result": refusal_result(error, server.outcome), "misfit": error.sentence is None}
    shown = {"invocation": _shown(made, server.invocation.program)}
    return {**shown, **_ended(server, tool.name, made, outcome, listing)} if is_object(outcome) else shown


def _shown(made: Invocation, program: str) -> Json:
    """An invocation as a case writes it: what is absent or empty is left out."""
    env = {variable: f"{{files}}/{file}" for variable, file in made.env.items()}
    held = {"stdin": made.stdin, "files": {**made.files}, "env": env, "cwd": made.cwd}
    return {"argv": [program, *made.argv], **{key: value for key, value in held.items() if value}}


def _ended(
    server: ServerSpec, tool: str, made: Invocation, outcome: Mapping[str, Json], listing: Json
) -> Mapping[str, Json]:
    understood = read(_outcome(server, tool, made, outcome), server.outcome)
    if not isinstance(understood, Answer):
        return {"result": failure_result(understood, server.outcome, Secrets(made.private)), "listed": False}
    resumed = made.resumes if made.resumes_by_id else None
    session = understood.session or resumed
    is_listed = session is None
    if is_listed and is_object(listing):
        printed = _completed(listing["exit"], listing["stdout"], listing["stderr"])
        session = newest_session(printed, server.invocation.listing.entry)
    answer = replace(understood, session=session)
    said = whole(answer_result(answer, server.outcome, View()))
    return {"result": said, "listed": is_listed, "resumed": session is not None and session == resumed}


def streamed(server: ServerSpec, stream: Mapping[str, Json]) -> tuple[Json, Json]:
    """What a stream becomes, and what the same run becomes without one; the words of gemini itself are left out."""
    live, plain, code = stream["live"], stream["plain"], stream["exit"]
    assert server.live is not None
    lines = "".join(json.dumps(line) + "\n" for line in live["lines"])
    made = read_live(_completed(code, lines, live["stderr"]), server.outcome, server.live, None)
    said = read(_completed(code, plain["stdout"], plain["stderr"]), server.outcome)
    return _without_gemini(server, made), _without_gemini(server, said)


def _without_gemini(server: ServerSpec, read: Answer | Failure) -> Json:
    if isinstance(read, Answer):
        return whole(answer_result(read, server.outcome, View()))
    shown = failure_result(replace(read, said=None), server.outcome, Secrets())
    return {**shown, "content": shown["content"][0]["text"].partition(server.outcome.separator)[0]}


def unfound(server: ServerSpec, streams: Iterable[Mapping[str, Json]]) -> Sequence[int]:
    """The events that lines of these streams tell, and that none of them tells with the value that they should have."""
    rules = server.live.rules if server.live else ()
    lines = [line for stream in streams for line in stream["live"]["lines"]]
    told = [(rule, line) for line in lines if (rule := rule_of(line, rules)) and rule.value]
    lacking = [rule for rule, _ in told if not any(rule.value in line for other, line in told if other is rule)]
    return sorted({next(index for index, rule in enumerate(rules) if rule is one) for one in lacking})


def _outcome(server: ServerSpec, tool: str, made: Invocation, outcome: Mapping[str, Json]) -> Outcome:
    match outcome:
        case {"exit": int(code), "stdout": str(stdout), "stderr": str(stderr)}:
            return _completed(code, stdout, stderr)
        case {"signal": number, "stderr": str(stderr)}:
            return Signalled(signal.Signals(number).name, stderr)
        case {"timedOut": seconds, "stderr": str(stderr)}:
            return TimedOut(seconds, stderr)
        case {"notStarted": str(condition), **more}:
            paths = {"cwd": made.cwd, "program": more.get("program")}
            argument = server.invocation.tools[tool].cwd or ""
            fields = {"where": "on PATH", "reason": more.get("reason", ""), "argument": argument}
            return NotStarted(condition, fields | {name: repr(path) for name, path in paths.items()})
        case _:
            raise ValueError(f"{outcome!r} is no outcome")


def _completed(code: int, stdout: str, stderr: str) -> Completed:
    return Completed(code, stdout.encode("utf-8", "replace"), stderr)


def understood(invocation: Json) -> Json:
    """What gemini makes of the command line and stdin of an invocation, with all that surrounds the run."""
    program, *argv = invocation["argv"]
    around = [program, invocation.get("files"), invocation.get("env"), invocation.get("cwd")]
    match understand(argv, unknown_options(argv)):
        case UsageError(reason):
            return [*around, reason]
        case Other(kind):
            return [*around, kind]
        case asked:
            stdin = invocation.get("stdin")
            return [*around, effective_prompt(asked, stdin and stdin.encode("utf-8", "replace")), asked.values]


def listed_session(entry: str, listing: str) -> str | None:
    """The session that a list of sessions names as the newest, by the pattern of its entries."""
    return newest_session(_completed(0, listing, ""), entry)


def masked(masks: Sequence[Json], text: str, by: str = "*") -> str:
    """A text behind masks."""
    for mask in masks:
        text = re.sub(str(mask), by, text)
    return text


def sentences_by_exit(outcome: Json, stderr: str = "") -> Mapping[int | None, str | None]:
    """The id of the sentence that `outcome.json` chooses for each exit code of a gemini that wrote just this."""
    spec = outcome_spec(outcome)
    # Each sentence says its id, so that the reference's own text names the one that it chose.
    named = tuple(replace(sentence, text=sentence.id) for sentence in spec.sentences)
    spec = replace(spec, prefix="", separator="\n", sentences=named)

    def said(code: int) -> str | None:
        try:
            failure = Failure("exit", stderr=stderr, exit=code)
            return failure_result(failure, spec, Secrets())["content"][0]["text"].partition("\n")[0]
        except StopIteration:
            return None

    return {code: said(code) for code in range(1, 256)}
